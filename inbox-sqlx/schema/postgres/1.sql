-- inbox, schema version 1, PostgreSQL 12 or later.
-- {inbox} is the table, {version} its version table; `inbox.ddl()` prints this file with the names filled in.
--
-- One row ("marker") per message and consumer. The unique index decides what is a duplicate.
-- Keys compare byte for byte (collate "C"); all times are the database's own clock.
-- state: 0 claimed, 1 released, 2 processed, 3 parked. The defaults mean "processed":
-- a transactional handler inserts its marker in the transaction that does the work.

create table if not exists {version} (
    version       integer     not null primary key,
    installed_at  timestamptz not null default clock_timestamp()
);

create table if not exists {inbox} (
    id             bigint      generated always as identity primary key,
    message_id     text        collate "C" not null check (octet_length(message_id) between 1 and 255),
    consumer       text        collate "C" not null check (octet_length(consumer) between 1 and 200),
    state          smallint    not null default 2 check (state between 0 and 3),
    received_at    timestamptz not null default clock_timestamp(),
    processed_at   timestamptz          default clock_timestamp(),
    attempts       integer     not null default 1,
    lost_leases    integer     not null default 0,
    fence          bigint      not null default 1,
    token          bytea                check (octet_length(token) = 16),
    lease_until    timestamptz,
    next_at        timestamptz,
    first_call_at  timestamptz,
    parked_at      timestamptz,
    last_error     text                 check (octet_length(last_error) <= 500),
    -- the handler's policy, stored at claim so that sweeper and operator act by it
    on_unknown     smallint,
    max_attempts   integer,
    horizon_ms     bigint,
    payload        text,
    fingerprint    bytea,
    result         text,
    check ((state = 2) = (processed_at is not null)),
    check (state <> 0 or lease_until is not null)
);

create unique index if not exists {unique_index} on {inbox} (message_id, consumer);
-- for prune: processed rows by age
create index if not exists {processed_index} on {inbox} (processed_at) where state = 2;
-- for sweeper and operator: the few rows that are not finished
create index if not exists {unfinished_index} on {inbox} (state, lease_until) where state <> 2;

insert into {version} (version) values (1) on conflict (version) do nothing;
