-- inbox, schema version 1, SQLite 3.37 or later (STRICT tables).
-- {inbox} is the table, {version} its version table; `inbox.ddl()` prints this file with the names filled in.
--
-- One row ("marker") per message and consumer. The unique index decides what is a duplicate.
-- Keys compare byte for byte. All times are integers: milliseconds since 1970-01-01 UTC by the database's
-- clock, because text times of different formats do not compare by value.
-- state: 0 claimed, 1 released, 2 processed, 3 parked. The defaults mean "processed":
-- a transactional handler inserts its marker in the transaction that does the work.

create table if not exists {version} (
    version       integer not null primary key,
    installed_at  integer not null default (cast((julianday('now') - 2440587.5) * 86400000 as integer))
) strict;

create table if not exists {inbox} (
    id             integer primary key autoincrement,
    message_id     text    not null check (length(cast(message_id as blob)) between 1 and 255),
    consumer       text    not null check (length(cast(consumer as blob)) between 1 and 200),
    state          integer not null default 2 check (state between 0 and 3),
    received_at    integer not null default (cast((julianday('now') - 2440587.5) * 86400000 as integer)),
    processed_at   integer          default (cast((julianday('now') - 2440587.5) * 86400000 as integer)),
    attempts       integer not null default 1,
    lost_leases    integer not null default 0,
    fence          integer not null default 1,
    token          blob             check (length(token) = 16),
    lease_until    integer,
    next_at        integer,
    first_call_at  integer,
    parked_at      integer,
    last_error     text             check (length(cast(last_error as blob)) <= 500),
    -- the handler's policy, stored at claim so that sweeper and operator act by it
    on_unknown     integer,
    max_attempts   integer,
    horizon_ms     integer,
    payload        text,
    fingerprint    blob,
    result         text,
    check ((state = 2) = (processed_at is not null)),
    check (state <> 0 or lease_until is not null)
) strict;

create unique index if not exists {unique_index} on {inbox_table} (message_id, consumer);
-- for prune: processed rows by age
create index if not exists {processed_index} on {inbox_table} (processed_at) where state = 2;
-- for sweeper and operator: the few rows that are not finished
create index if not exists {unfinished_index} on {inbox_table} (state, lease_until) where state <> 2;

insert into {version} (version) values (1) on conflict (version) do nothing;
