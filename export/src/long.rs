//! Limits the output for parts of a stream that take few or no bytes: names, which are stored once
//! and repeated in each row, and elements and fields without bytes. A megabyte of stream must not
//! become gigabytes of rows.

use nettrace_parser::Fields;
use std::borrow::Cow;

/// Maximum number of characters of a name (of a provider, an event, a field, a label and its value)
/// in a row. Longer names are cut off: `… (495904 more characters)`. Names in real runtimes have a
/// few hundred at most.
pub const MAX_NAME_CHARACTERS: usize = 4096;

/// Maximum number of bytes in the cut-off part of a label whose characters are counted.
const MAX_COUNTED_BYTES: usize = 1 << 13;

/// Maximum number of array elements that take no bytes and are still shown one by one. A larger
/// array is shown as its length.
pub const MAX_EMPTY_ELEMENTS: usize = 64;

/// Maximum number of fields beyond the end of the payload that are shown one by one. If there are
/// more, only their number is shown, because a type may have a thousand fields and an event without
/// bytes costs a stream little.
pub const MAX_MISSING_FIELDS: usize = 16;

/// Returns the number of fields beyond the end of the payload if it exceeds [`MAX_MISSING_FIELDS`].
/// Then only this number is shown.
pub(crate) fn missing(fields: &Fields<'_>) -> Option<usize> {
    Some(fields.missing()).filter(|count| *count > MAX_MISSING_FIELDS)
}

/// Returns a name as shown in rows.
///
/// ```
/// use nettrace_export::long::{MAX_NAME_CHARACTERS, cut};
/// assert_eq!(cut("Shop"), "Shop");
/// let long = "ä".repeat(MAX_NAME_CHARACTERS + 3);
/// assert!(cut(&long).ends_with("ä… (3 more characters)"));
/// ```
pub fn cut(name: &str) -> Cow<'_, str> {
    // A text has at least as many bytes as characters.
    if name.len() <= MAX_NAME_CHARACTERS {
        return Cow::Borrowed(name);
    }
    match name.char_indices().nth(MAX_NAME_CHARACTERS) {
        Some((end, _)) => {
            let (shown, rest) = name.split_at(end);
            let more = characters(rest.as_bytes());
            Cow::Owned(format!("{shown}… ({more} more characters)"))
        }
        None => Cow::Borrowed(name),
    }
}

/// Cuts a text as [`cut`] does. The text may not be UTF-8, and has more than
/// [`MAX_NAME_CHARACTERS`] bytes.
pub(crate) fn cut_bytes(name: &[u8]) -> String {
    // A character has at most four bytes. Later bytes are not decoded, because events may have one
    // long label a hundred thousand times.
    let begin = MAX_NAME_CHARACTERS.saturating_add(1).saturating_mul(4);
    let begin = name.get(..begin).unwrap_or(name);
    let text = String::from_utf8_lossy(begin);
    match text.char_indices().nth(MAX_NAME_CHARACTERS) {
        Some((end, _)) => {
            let (shown, cut_off) = text.split_at(end);
            let rest = name.get(begin.len()..).unwrap_or_default();
            let counted = rest.get(..MAX_COUNTED_BYTES).unwrap_or(rest);
            let count = characters(cut_off.as_bytes()).saturating_add(characters(counted));
            let at_least = if counted.len() < rest.len() { "at least " } else { "" };
            format!("{shown}… ({at_least}{count} more characters)")
        }
        None => text.into_owned(),
    }
}

/// Counts the characters of UTF-8. Each character has one byte that is not a continuation byte.
fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

/// Returns whether an array is shown as its length, because it has many elements and they take no
/// bytes.
pub(crate) fn is_all_empty(array: &nettrace_parser::Array<'_>) -> bool {
    array.len() > MAX_EMPTY_ELEMENTS && array.bytes().is_empty()
}
