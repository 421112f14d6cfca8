//! What a stream repeats in each row without paying for it again: names that stand in it once, and elements that take no
//! bytes. A megabyte of stream must not become gigabytes of rows.

use std::borrow::Cow;

/// Characters of a name (of a provider, an event, a field, a label and its value) that rows show. What is cut is said
/// behind them: `… (495904 more characters)`. Runtimes have names of some hundred at most.
pub const MOST_NAME_CHARACTERS: usize = 4096;

/// Elements without bytes that are shown one by one. Arrays of more are shown as their number.
pub const MOST_EMPTY_ELEMENTS: usize = 64;

/// A name as rows show it.
///
/// ```
/// use nettrace_export::long::{MOST_NAME_CHARACTERS, cut};
/// assert_eq!(cut("Shop"), "Shop");
/// let long = "ä".repeat(MOST_NAME_CHARACTERS + 3);
/// assert!(cut(&long).ends_with("ä… (3 more characters)"));
/// ```
pub fn cut(name: &str) -> Cow<'_, str> {
    // Characters are no more than bytes.
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

/// Whether an array is shown as the number of its elements.
pub(crate) fn is_all_empty(array: &nettrace_parser::Array<'_>) -> bool {
    array.len() > MOST_EMPTY_ELEMENTS && array.bytes().is_empty()
}
