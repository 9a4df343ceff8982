//! MySQL and MariaDB: the number says that it is a unique violation, the end of the text says of which key.
//!
//! The text follows the language of the server, and the value in it is neither escaped nor free of quotes. So nothing is
//! searched for: the key is the last quoted part, and must end the text. It does in most languages; where it does not
//! (Czech, Hungarian, Japanese, Slovak), the text counts as unreadable.
//!
//! <https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html>

use crate::TableName;

/// Whether the number is that of a unique violation.
pub(super) fn is_unique(number: u16) -> bool {
    matches!(
        number,
        // ER_DUP_KEY and ER_DUP_UNIQUE (of NDB) name only the table, so their text is never readable.
        1022 | 1169
        // ER_DUP_ENTRY, the usual one, and ER_DUP_ENTRY_WITH_KEY_NAME and ER_DUP_UNKNOWN_IN_INDEX.
        | 1062 | 1586 | 1859
    )
}

/// The key as the server prints it: `name`, or `table.name` since MySQL 8.0.19.
pub(super) fn printed_key(number: u16, message: &str) -> Option<&str> {
    if matches!(number, 1022 | 1169) {
        return None;
    }
    let (_, key) = message.strip_suffix('\'')?.rsplit_once('\'')?;
    (!key.is_empty()).then_some(key)
}

/// Whether the text ends with the key of the inbox; nothing if it does not end with a key.
pub(super) fn is_inbox(number: u16, message: &str, inbox: &TableName) -> Option<bool> {
    let key = printed_key(number, message)?;
    let index = inbox.index();
    Some(key == index || key.split_once('.') == Some((inbox.table(), index.as_str())))
}
