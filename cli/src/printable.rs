//! Text from outside, on a terminal.

/// The text without control characters: names come from traces and file systems and may hold anything; they
/// must not end a line or move a cursor.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
