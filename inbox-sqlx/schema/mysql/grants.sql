-- Least privilege, MySQL and MariaDB: what each account of a service may do with the inbox, and nothing else.
-- The names `inbox_runtime` and `inbox_operator` stand for your accounts. A third one runs `inbox.install()` or your
-- migrations.

-- Handlers. `delete` is for cleaning up after a body that committed its own transaction; without it the error names
-- the row and the statement to run. Neither account may change whose message a row is about.
grant select, insert, delete,
      update (state, fence, token, attempts, lost_leases, lease_until, next_at, first_call_at, processed_at,
              parked_at, last_error, on_unknown, max_attempts, horizon_ms, payload)
    on {inbox} to inbox_runtime;

-- Sweeper without redelivery, operator, pruner. One with `on(..)` calls handlers, and needs what they need.
grant select, delete,
      update (state, fence, lost_leases, lease_until, next_at, first_call_at, processed_at, parked_at, last_error,
              max_attempts, payload)
    on {inbox} to inbox_operator;
