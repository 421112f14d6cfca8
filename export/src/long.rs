//! Limits what a stream can repeat in each row without storing it again: names, which are
//! stored once, and elements that take no bytes. A megabyte of stream must not become
//! gigabytes of rows.

use std::borrow::Cow;

/// Maximum number of characters of a name (of a provider, an event, a field, a label and
/// its value) in a row. Longer names are cut off: `… (495904 more characters)`. Names in
/// real runtimes have a few hundred at most.
pub const MOST_NAME_CHARACTERS: usize = 4096;

/// Maximum number of elements without bytes that are shown individually. Larger arrays
/// are shown as their length.
pub const MOST_EMPTY_ELEMENTS: usize = 64;

/// A name as shown in rows.
///
/// ```
/// use nettrace_export::long::{MOST_NAME_CHARACTERS, cut};
/// assert_eq!(cut("Shop"), "Shop");
/// let long = "ä".repeat(MOST_NAME_CHARACTERS + 3);
/// assert!(cut(&long).ends_with("ä… (3 more characters)"));
/// ```
pub fn cut(name: &str) -> Cow<'_, str> {
    // A text has at least as many bytes as characters.
    if name.len() <= MOST_NAME_CHARACTERS {
        return Cow::Borrowed(name);
    }
    match name.char_indices().nth(MOST_NAME_CHARACTERS) {
        Some((end, _)) => {
            let (shown, rest) = name.split_at(end);
            Cow::Owned(format!("{shown}… ({} more characters)", rest.chars().count()))
        }
        None => Cow::Borrowed(name),
    }
}

/// Whether an array is shown as its length.
pub(crate) fn is_all_empty(array: &nettrace_parser::Array<'_>) -> bool {
    array.len() > MOST_EMPTY_ELEMENTS && array.bytes().is_empty()
}
