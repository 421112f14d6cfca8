//! Characters that can make untrusted text look different from what it is.
//!
//! Names come from traces, processes and file systems and may contain anything. Control
//! characters end lines and move the cursor, bidirectional controls display text
//! backwards, and invisible characters make different names look the same.

use std::borrow::Cow;

/// Whether a character should not be shown to readers: control characters including
/// U+0080 to U+009F, bidirectional controls, line separators, and invisible characters.
pub fn is_hidden(c: char) -> bool {
    match c {
        ' '..='~' => false,
        c if c.is_control() => true,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => {
            true
        }
        '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

/// Whether a character affects the text around it: control characters, bidirectional
/// controls, line separators. These are escaped in JSON. Merely invisible characters are
/// kept in JSON, because runtimes write some of them (U+200B in argument lists), and
/// programs that read JSON compare bytes.
pub fn is_moving(c: char) -> bool {
    match c {
        ' '..='~' => false,
        c if c.is_control() => true,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        _ => false,
    }
}

/// The text with U+FFFD in place of each character that [`is_hidden`].
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
    Cow::Owned(
        text.chars().map(|c| if is_hidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect(),
    )
}

/// Whether a UTF-16 unit [`is_moving`].
pub(crate) fn is_moving_unit(unit: u16) -> bool {
    char::from_u32(u32::from(unit)).is_some_and(is_moving)
}
