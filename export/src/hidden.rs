//! Characters that can make untrusted text look different from what it is.
//!
//! Names come from traces, processes and file systems and may contain anything. Control
//! characters end lines and move the cursor, bidirectional controls display text
//! backwards, and invisible characters make different names look the same.

use std::borrow::Cow;

/// Whether a character should not be shown to readers: control characters including
/// U+0080 to U+009F, bidirectional controls, line separators, invisible characters, and
/// letters without a shape, such as the fillers of Hangul.
pub fn is_hidden(c: char) -> bool {
    match c {
        ' '..='~' => false,
        c if is_moving(c) => true,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}' => {
            true
        }
        '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

/// Whether a character is escaped in JSON: it affects the text around it (control
/// characters, bidirectional controls, line separators), or is invisible and of no width,
/// so that different names look the same. `"\u200b"` reads back as the same text, so
/// programs that read JSON notice nothing. Runtimes write some of them (U+200B in argument
/// lists). All of them are one unit of UTF-16.
pub fn is_moving(c: char) -> bool {
    match c {
        ' '..='~' => false,
        c if c.is_control() => true,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => {
            true
        }
        '\u{2060}'..='\u{206f}' | '\u{feff}' => true,
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

/// Whether a UTF-16 unit [`is_moving`]. For units beyond ASCII, which are rare.
pub(crate) fn is_moving_unit(unit: u16) -> bool {
    char::from_u32(u32::from(unit)).is_some_and(is_moving)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_in_json_is_hidden_and_letters_are_neither() {
        let all = || (0..=0x0010_ffffu32).filter_map(char::from_u32);
        assert!(all().filter(|c| is_moving(*c)).all(is_hidden));
        for c in "\u{9b}\u{ad}\u{61c}\u{180e}\u{200b}\u{200d}\u{200f}\u{202e}\u{2060}\u{2065}\u{2066}\u{feff}".chars() {
            assert!(is_moving(c), "{c:?}");
        }
        for c in "\u{34f}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{2800}\u{3164}\u{ffa0}\u{e0041}".chars()
        {
            assert!(is_hidden(c) && !is_moving(c), "{c:?}");
        }
        assert!(!"aZ ~\u{a0}äλ日本ㅎ한កᠠ⠿👩\u{fe0f}\u{fffd}".contains(is_hidden));
        assert_eq!(printable("a\u{3164}\u{feff}b"), "a\u{fffd}\u{fffd}b");
        // Units are tested alone: none is part of a pair.
        assert!(all().filter(|c| is_moving(*c)).all(|c| c.len_utf16() == 1));
    }
}
