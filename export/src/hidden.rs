//! Characters of text from outside that show something else than what is there.
//!
//! Names come from traces, processes and file systems and may hold anything. Control characters end lines and move
//! cursors; marks of direction show a name backwards; others cannot be seen, so that two names look the same.

use std::borrow::Cow;

/// Whether a character must not reach a reader as it is: controls, also those from U+0080 to U+009F, marks of direction,
/// separators of lines, and what is not seen.
pub fn is_hidden(c: char) -> bool {
    match c {
        ' '..='~' => false,
        c if c.is_control() => true,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

/// Whether a character does something to the text around it: controls, marks of direction, separators of lines. These are
/// escaped in JSON. Of those that are merely not seen JSON keeps what the trace has: runtimes write some (U+200B in lists
/// of arguments), and who reads JSON compares bytes.
pub fn is_moving(c: char) -> bool {
    match c {
        ' '..='~' => false,
        c if c.is_control() => true,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => false,
    }
}

/// The text with U+FFFD for each character that [`is_hidden`].
///
/// ```
/// use nettrace_export::hidden::printable;
/// assert_eq!(printable("Shop"), "Shop");
/// assert_eq!(printable("gpj.\u{202e}exe\n"), "gpj.\u{fffd}exe\u{fffd}");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_hidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect())
}

/// Whether a unit of UTF-16 [`is_moving`].
pub(crate) fn is_moving_unit(unit: u16) -> bool {
    char::from_u32(u32::from(unit)).is_some_and(is_moving)
}
