-- inbox, schema version 1, MySQL 8.0.16 or later and MariaDB 10.6 or later.
-- {inbox} is the table, {version} its version table; `inbox.ddl()` prints this file with the names filled in.
--
-- One row ("marker") per message and consumer. The unique index decides what is a duplicate.
-- VARBINARY: keys compare byte for byte; every text collation would merge different keys (case, accents,
-- trailing spaces, emoji). All times are UTC by the database's own clock.
-- state: 0 claimed, 1 released, 2 processed, 3 parked. The defaults mean "processed":
-- a transactional handler inserts its marker in the transaction that does the work.

create table if not exists {version} (
    version       int         not null primary key,
    installed_at  datetime(6) not null default (utc_timestamp(6))
) engine = InnoDB;

create table if not exists {inbox} (
    id             bigint         not null auto_increment primary key,
    message_id     varbinary(255) not null check (length(message_id) > 0),
    consumer       varbinary(200) not null check (length(consumer) > 0),
    state          tinyint        not null default 2 check (state between 0 and 3),
    received_at    datetime(6)    not null default (utc_timestamp(6)),
    processed_at   datetime(6)        null default (utc_timestamp(6)),
    attempts       int            not null default 1,
    lost_leases    int            not null default 0,
    fence          bigint         not null default 1,
    token          binary(16)         null,
    lease_until    datetime(6)        null,
    next_at        datetime(6)        null,
    first_call_at  datetime(6)        null,
    parked_at      datetime(6)        null,
    last_error     varchar(500)   character set utf8mb4 null,
    -- the handler's policy, stored at claim so that sweeper and operator act by it
    on_unknown     tinyint            null,
    max_attempts   int                null,
    horizon_ms     bigint             null,
    payload        longtext       character set utf8mb4 null,
    fingerprint    varbinary(64)      null,
    result         longtext       character set utf8mb4 null,
    unique key {unique_index} (message_id, consumer),
    -- for prune: processed rows by age
    key {processed_index} (state, processed_at),
    -- for sweeper and operator: the few rows that are not finished
    key {unfinished_index} (state, lease_until),
    check ((state = 2) = (processed_at is not null)),
    check (state <> 0 or lease_until is not null)
) engine = InnoDB;

insert into {version} (version)
select 1 from (select 1 as present) as one where not exists (select 1 from {version} where version = 1);
