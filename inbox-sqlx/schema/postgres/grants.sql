-- Least privilege, PostgreSQL: what each role of a service may do with the inbox, and nothing else.
-- The names `inbox_runtime` and `inbox_operator` stand for your roles. The tables belong to a third one, which runs
-- `inbox.install()` or your migrations. `usage` on the schema is needed as for any table.

-- Handlers. `delete` is for cleaning up after a body that committed its own transaction; without it the error names
-- the row and the statement to run. Neither role may change whose message a row is about.
grant select, insert, delete on {inbox} to inbox_runtime;
grant update (state, fence, token, attempts, lost_leases, lease_until, next_at, first_call_at, processed_at,
              parked_at, last_error, on_unknown, max_attempts, horizon_ms, payload)
    on {inbox} to inbox_runtime;

-- Sweeper without redelivery, operator, pruner. One with `on(..)` calls handlers, and needs what they need.
grant select, delete on {inbox} to inbox_operator;
grant update (state, fence, lost_leases, lease_until, next_at, first_call_at, processed_at, parked_at, last_error,
              max_attempts, payload)
    on {inbox} to inbox_operator;
