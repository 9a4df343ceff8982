//! MySQL and MariaDB: texts in all languages, and the verdict.

use super::super::Verdict::{InboxIndex, NotUnique, OtherIndex, Unreadable};
use super::{inbox, mysql};

#[test]
fn the_key_is_read_at_the_end_of_the_text() {
    for (message, verdict) in [
        // MariaDB, MySQL before and since 8.0.19.
        (
            "Duplicate entry 'm-1-credit' for key 'ix_inbox_message_id_consumer'",
            InboxIndex,
        ),
        (
            "Duplicate entry 'm-1-credit' for key 'inbox.ix_inbox_message_id_consumer'",
            InboxIndex,
        ),
        // The same index name on another table.
        (
            "Duplicate entry 'm-1' for key 'orders.ix_inbox_message_id_consumer'",
            OtherIndex,
        ),
        (
            "Duplicate entry 'm-1' for key 'inbox_audit.ix_inbox_message_id_consumer'",
            OtherIndex,
        ),
        (
            "Duplicate entry 'm-1' for key 'app.inbox.ix_inbox_message_id_consumer'",
            OtherIndex,
        ),
        // The surrogate id.
        ("Duplicate entry '7' for key 'PRIMARY'", OtherIndex),
        ("Duplicate entry '7' for key 'inbox.PRIMARY'", OtherIndex),
        // Names that contain ours, or are contained in it.
        (
            "Duplicate entry 'm-1' for key 'ix_inbox_message_id_consumer_2'",
            OtherIndex,
        ),
        (
            "Duplicate entry 'm-1' for key 'biz_ix_inbox_message_id_consumer'",
            OtherIndex,
        ),
        ("Duplicate entry 'm-1' for key 'ix_inbox'", OtherIndex),
        ("Duplicate entry 'm-1' for key 'consumer'", OtherIndex),
        // Business data.
        (
            "Duplicate entry '4711' for key 'orders_number_key'",
            OtherIndex,
        ),
        (
            "Duplicate entry '4711' for key 'orders.orders_number_key'",
            OtherIndex,
        ),
        // Values that spell an error message, with an honest key after them.
        (
            "Duplicate entry 'x' for key 'ix_inbox_message_id_consumer' for key 'orders_number_key'",
            OtherIndex,
        ),
        (
            "Duplicate entry 'inbox.ix_inbox_message_id_consumer' for key 'PRIMARY'",
            OtherIndex,
        ),
        (
            "Duplicate entry 'x' for key 'PRIMARY' for key 'ix_inbox_message_id_consumer'",
            InboxIndex,
        ),
        (
            "Duplicate entry ''' for key 'ix_inbox_message_id_consumer'",
            InboxIndex,
        ),
        (
            "Duplicate entry '\\x00-credit' for key 'ix_inbox_message_id_consumer'",
            InboxIndex,
        ),
        // No key, or not at the end.
        ("Duplicate entry 'm-1-credit' for key 2", Unreadable),
        (
            "Duplicate entry 'm-1-credit' for key 'ix_inbox_message_id_consumer' ",
            Unreadable,
        ),
        ("Duplicate entry 'm-1-credit' for key ''", Unreadable),
        (
            "Duplicate entry for key ix_inbox_message_id_consumer",
            Unreadable,
        ),
        ("ix_inbox_message_id_consumer'", Unreadable),
        ("'", Unreadable),
        ("", Unreadable),
    ] {
        for number in [1062, 1586, 1859] {
            assert_eq!(
                mysql(number, message).verdict(&inbox()),
                verdict,
                "{number} {message}"
            );
        }
    }
}

/// Every translation that MariaDB 10.11 has (`errmsg-utf8.txt`, `ER_DUP_ENTRY_WITH_KEY_NAME`, sent as 1062).
#[test]
fn every_language_of_mariadb() {
    const VALUE: &str = "x' for key 'PRIMARY";
    for (before, between, after, readable) in [
        ("重复条目'", "'键'", "'", true),
        ("Zdvojený klíč '", "' (číslo klíče '", "')", false),
        ("Ens værdier '", "' for indeks '", "'", true),
        ("Duplicate entry '", "' for key '", "'", true),
        ("Kattuv väärtus '", "' võtmele '", "'", true),
        ("Duplicata du champ '", "' pour la clef '", "'", true),
        ("Doppelter Eintrag '", "' für Schlüssel '", "'", true),
        ("დუბლირებული ჩანაწერი '", "' გასაღებისთვის '", "'", true),
        ("Διπλή εγγραφή '", "' για το κλειδί '", "'", true),
        ("Duplikalt bejegyzes '", "' a '", "' kulcs szerint", false),
        ("Valore duplicato '", "' per la chiave '", "'", true),
        ("'", "' は索引 '", "' で重複しています。", false),
        ("중복된 입력 값 '", "': key '", "'", true),
        ("Dubbele ingang '", "' voor zoeksleutel '", "'", true),
        ("Like verdier '", "' for nøkkel '", "'", true),
        ("Like verdiar '", "' for nykkel '", "'", true),
        ("Powtórzone wystąpienie '", "' dla klucza '", "'", true),
        ("Entrada '", "' duplicada para a chave '", "'", true),
        ("Cimpul '", "' e duplicat pentru cheia '", "'", true),
        ("Дублирующаяся запись '", "' по ключу '", "'", true),
        ("Dupliran unos '", "' za ključ '", "'", true),
        ("Opakovaný kľúč '", "' (číslo kľúča '", "')", false),
        ("Entrada duplicada '", "' para la clave '", "'", true),
        ("Dublett '", "' för nyckel '", "'", true),
        ("Дублюючий запис '", "' для ключа '", "'", true),
    ] {
        for (key, verdict) in [
            ("ix_inbox_message_id_consumer", InboxIndex),
            ("inbox.ix_inbox_message_id_consumer", InboxIndex),
            ("PRIMARY", OtherIndex),
            ("orders_number_key", OtherIndex),
        ] {
            let message = format!("{before}{VALUE}{between}{key}{after}");
            let expected = if readable { verdict } else { Unreadable };
            assert_eq!(
                mysql(1062, &message).verdict(&inbox()),
                expected,
                "{message}"
            );
        }
    }
}

#[test]
fn the_number_decides_whether_it_is_unique() {
    const OURS: &str = "Duplicate entry 'm-1-credit' for key 'ix_inbox_message_id_consumer'";
    // Foreign keys, not null, check, dead lock, lock wait timeout, data too long, key too long.
    for number in [1451, 1452, 1048, 4025, 3819, 1213, 1205, 1406, 1071, 0] {
        assert_eq!(mysql(number, OURS).verdict(&inbox()), NotUnique, "{number}");
        assert_eq!(mysql(number, OURS).index(), None);
    }
    // These two name the table, never the key, and a table may be called like our index.
    for (number, message) in [
        (
            1022,
            "Can't write; duplicate key in table 'ix_inbox_message_id_consumer'",
        ),
        (
            1169,
            "Can't write, because of unique constraint, to table 'ix_inbox_message_id_consumer'",
        ),
    ] {
        assert_eq!(mysql(number, message).verdict(&inbox()), Unreadable);
        assert_eq!(mysql(number, message).index(), None);
    }
}
