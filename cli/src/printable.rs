//! Text from outside, on a terminal.

/// The text without characters that show something else than what is there: names come from traces and file systems and
/// may hold anything; they must not end a line, move a cursor, or run backwards.
pub(crate) fn printable(text: &str) -> String {
    nettrace_export::hidden::printable(text).into_owned()
}
