//! Finds characters that can make untrusted text look like another text.
//!
//! Names come from traces, processes and file systems and may contain anything. Control
//! characters end lines and move the cursor, bidirectional controls display text
//! backwards, and invisible characters make different names look the same.

use std::borrow::Cow;
use std::io::Write;

/// Returns whether a character should not be shown to readers: control characters
/// including U+0080 to U+009F, bidirectional controls, line separators, invisible
/// characters, letters without a shape, such as the fillers of Hangul, variation
/// selectors, tags, and U+FFFE and U+FFFF, which are no characters.
///
/// In JSON such characters are escaped, and `"\u200b"` reads back as the same text. Runtimes write
/// some of them (U+200B in argument lists).
pub fn is_hidden(c: char) -> bool {
    match c {
        ' '..='~' => false,
        c if c.is_control() => true,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' => true,
        '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Returns the text with U+FFFD in place of each character that [`is_hidden`].
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

/// Appends text without control characters, in quotes if `is_quoted` is set.
pub(crate) fn escaped(out: &mut Vec<u8>, text: &str, is_quoted: bool) {
    if is_quoted {
        out.push(b'"');
    }
    let mut rest = text;
    loop {
        let plain = rest.bytes().position(|byte| !is_plain(byte, is_quoted));
        let (run, after) = plain.and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
        out.extend_from_slice(run.as_bytes());
        let mut chars = after.chars();
        let Some(c) = chars.next() else { break };
        match is_hidden(c) || is_quoted && matches!(c, '"' | '\\') {
            true => drop(write!(out, "{}", c.escape_default())),
            false => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        rest = chars.as_str();
    }
    if is_quoted {
        out.push(b'"');
    }
}

/// Returns whether a byte is a character that is shown as it is.
pub(crate) fn is_plain(byte: u8, is_quoted: bool) -> bool {
    matches!(byte, b' '..=b'~') && !(is_quoted && matches!(byte, b'"' | b'\\'))
}

/// Returns whether a UTF-16 unit beyond ASCII is a hidden character; see [`is_hidden`].
pub(crate) fn is_hidden_unit(unit: u16) -> bool {
    char::from_u32(u32::from(unit)).is_some_and(is_hidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_without_a_shape_are_hidden_and_letters_are_not() {
        for c in "\u{9b}\u{ad}\u{61c}\u{180e}\u{200b}\u{200d}\u{200f}\u{202e}\u{2060}\u{2065}\u{2066}\u{feff}\
            \u{34f}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{2800}\u{3164}\u{ffa0}\u{fe00}\u{fe0f}\u{fffe}\u{ffff}\
            \u{e0041}\u{e0100}"
            .chars()
        {
            assert!(is_hidden(c), "{c:?}");
        }
        assert!(!"aZ ~\u{a0}äλ日本ㅎ한កᠠ⠿👩\u{fffd}".contains(is_hidden));
        assert_eq!(printable("a\u{3164}\u{feff}b"), "a\u{fffd}\u{fffd}b");
    }
}
