//! What a database error means for us, whichever database raised it.

/// The few kinds of failure the inbox acts upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Somebody else held a lock for longer than we were willing to wait.
    LockWait,
    /// The database chose us as the victim of a deadlock or of a serialization conflict:
    /// the same transaction, run again from its beginning, can succeed.
    Conflict,
    /// The savepoint that proves the transaction's identity does not exist.
    SavepointMissing,
    /// The transaction is aborted: every statement but a rollback fails.
    Aborted,
    /// There is a transaction already, where ours was to begin.
    AlreadyOpen,
    /// There was no transaction to end.
    NothingOpen,
    /// The schema of the inbox table does not exist.
    SchemaMissing,
    /// The inbox table or one of its columns does not exist.
    TableMissing,
    /// No unique index on exactly (`message_id`, `consumer`).
    IndexMissing,
    /// Something on the table stands between a claim and its marker.
    Intercepted,
    /// The role lacks a privilege.
    Forbidden,
    /// The database accepts no writes.
    ReadOnly,
    /// The server logs statements and refuses writes at READ COMMITTED.
    BinlogFormat,
    /// The server, or the connection to it, went away or has no room: later it can work.
    Unavailable,
    /// The server said so itself while committing, and it may have committed all the same.
    Ambiguous,
    /// Anything else: data, constraints, syntax.
    Other,
}

impl Fault {
    /// Whether running the same again, later, can succeed without anybody mending anything.
    pub(crate) fn is_transient(self) -> bool {
        matches!(
            self,
            Self::LockWait
                | Self::Conflict
                | Self::Aborted
                | Self::ReadOnly
                | Self::Unavailable
                | Self::Ambiguous
        )
    }
}
