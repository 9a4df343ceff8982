//! Numbers for people: in a table, and in sentences.

use comfy_table::{Cell, CellAlignment};

/// One row of a table: what it counts, and the numbers.
pub(crate) fn cells(label: &str, values: [String; 2]) -> Vec<Cell> {
    let values = values.map(|value| Cell::new(value).set_alignment(CellAlignment::Right));
    std::iter::once(Cell::new(label)).chain(values).collect()
}

/// `2000` as `2,000`.
pub(crate) fn count(number: impl Into<i64>) -> String {
    let number = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { format!("-{text}") } else { text }
}
