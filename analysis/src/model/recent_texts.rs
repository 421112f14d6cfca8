//! What texts of payloads that came lately stand for.

use nettrace_parser::Utf16;
use nettrace_parser::unstable::first;

/// Number of texts that are remembered.
const MAX_TEXTS: usize = 256;
/// Maximum length of a text that is remembered, in bytes.
const MAX_TEXT_BYTES: usize = 1024;

/// What was found for texts, by the bytes of the texts in the payload: handles, or texts to show.
/// Events name the same types and methods again and again, and what is known saves decoding the
/// text. A text may replace another one, so memory is bounded however many texts there are.
#[derive(Debug, Clone)]
pub(crate) struct RecentTexts<T> {
    rows: Vec<RecentText<T>>,
}

#[derive(Debug, Clone)]
struct RecentText<T> {
    stored: Vec<u8>,
    /// `None` until the row is used.
    found: Option<T>,
}

impl<T> Default for RecentTexts<T> {
    fn default() -> RecentTexts<T> {
        RecentTexts { rows: Vec::new() }
    }
}

impl<T: Clone> RecentTexts<T> {
    /// Returns what a text stands for, which `find` returns if the text is not remembered.
    pub(crate) fn meaning_of(&mut self, text: Utf16<'_>, find: impl FnOnce(Utf16<'_>) -> T) -> T {
        let stored = text.bytes();
        if stored.len() > MAX_TEXT_BYTES {
            return find(text);
        }
        if self.rows.is_empty() {
            self.rows.resize_with(MAX_TEXTS, || RecentText { stored: Vec::new(), found: None });
        }
        let Some(row) = self.rows.get_mut(place_of(stored)) else { return find(text) };
        if let Some(found) = &row.found
            && row.stored == stored
        {
            return found.clone();
        }
        let found = find(text);
        row.stored.clear();
        row.stored.extend_from_slice(stored);
        row.found = Some(found.clone());
        found
    }
}

/// Returns the row for a text, by its length, its middle and its end. Texts that share a row only take
/// turns.
#[inline]
fn place_of(stored: &[u8]) -> usize {
    let word = |from: usize| stored.get(from..).and_then(first::<u64>).unwrap_or(0);
    let middle = word(stored.len() / 2);
    let end = word(stored.len().saturating_sub(8));
    let mixed = middle ^ end.rotate_left(32) ^ stored.len() as u64;
    let [.., highest] = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    usize::from(highest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TextHandle;

    #[test]
    fn a_text_is_looked_up_until_it_is_known() {
        let mut texts = RecentTexts::default();
        let (mut asked, long) = (0, [b'x'; MAX_TEXT_BYTES + 2]);
        for (bytes, handle) in [(&b"a\0"[..], 7), (b"b\0", 8), (b"a\0", 7), (&long, 9), (&long, 9)]
        {
            let found = texts.meaning_of(Utf16::new(bytes, true), |_| {
                asked += 1;
                TextHandle(handle)
            });
            assert_eq!(found, TextHandle(handle));
        }
        assert!((4..=5).contains(&asked), "the two short texts may share a row");
    }

    #[test]
    fn memory_is_bounded_however_many_texts_there_are() {
        let mut texts = RecentTexts::default();
        for number in 0..100_000_u32 {
            let bytes = number.to_le_bytes();
            let handle = TextHandle(number);
            assert_eq!(texts.meaning_of(Utf16::new(&bytes, true), |_| handle), handle);
        }
        assert_eq!(texts.rows.len(), MAX_TEXTS);
    }
}
