//! Text from outside, on a terminal.

/// The text without control characters: names come from traces, processes and file systems and may hold anything;
/// they must not end a line, move a cursor, or turn the direction of what follows.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if is_control(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Also the separators of lines, and what embeds or overrides a direction.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
