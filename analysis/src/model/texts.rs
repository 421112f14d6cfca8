//! Distinct texts, each kept once.

use super::handle::TextHandle;
use super::recent_texts::RecentTexts;
use crate::hash::HashMap;
use nettrace_parser::{Utf16, Value};
use std::sync::Arc;

#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    rows: Vec<Arc<str>>,
    handles: HashMap<Arc<str>, TextHandle>,
    scratch: String,
    recent: RecentTexts<TextHandle>,
}

impl Texts {
    /// Returns the handle of a text. A new text is added.
    pub(crate) fn intern(&mut self, text: &str) -> TextHandle {
        if let Some(handle) = self.handles.get(text) {
            return *handle;
        }
        let handle = TextHandle::next(self.rows.len());
        let row: Arc<str> = Arc::from(text);
        self.rows.push(Arc::clone(&row));
        self.handles.insert(row, handle);
        handle
    }

    /// Returns the handle of a payload's text. A new text is added.
    pub(crate) fn intern_stored(&mut self, text: Utf16<'_>) -> TextHandle {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        Value::Utf16(text).append_to(&mut scratch);
        let handle = self.intern(&scratch);
        self.scratch = scratch;
        handle
    }

    /// Returns the handle of a payload's text that many events have. A new text is added.
    pub(crate) fn intern_repeated(&mut self, text: Utf16<'_>) -> TextHandle {
        let mut recent = std::mem::take(&mut self.recent);
        let handle = recent.meaning_of(text, |text| self.intern_stored(text));
        self.recent = recent;
        handle
    }

    /// Returns the handle of a text that many events have. `None` if the value is no text. A new
    /// text is added.
    pub(crate) fn intern_value(&mut self, value: Value<'_>) -> Option<TextHandle> {
        match value {
            Value::Utf16(text) => Some(self.intern_repeated(text)),
            other => other.to_text().map(|text| self.intern(&text)),
        }
    }

    /// Returns the handle of a text. A new text is added while there are fewer than `max` texts.
    /// Returns `None` if there is no room.
    pub(crate) fn intern_up_to(&mut self, text: &str, max: usize) -> Option<TextHandle> {
        let is_kept = self.rows.len() < max || self.handles.contains_key(text);
        is_kept.then(|| self.intern(text))
    }

    /// Returns the text of a handle.
    pub(crate) fn get(&self, handle: TextHandle) -> &str {
        self.rows.get(handle.index()).map_or("", |row| row)
    }

    /// Returns all texts, in the order of their handles.
    #[cfg(feature = "gzip")]
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| &**row)
    }

    /// Returns the number of texts.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_one_handle() {
        let mut texts = Texts::default();
        let a = texts.intern("a");
        let b = texts.intern("b");
        assert_eq!((texts.intern_stored(Utf16::new(b"a\0", true)), texts.len()), (a, 2));
        assert_eq!([0, 1].map(|_| texts.intern_repeated(Utf16::new(b"b\0", true))), [b; 2]);
        assert_eq!((texts.get(a), texts.get(b)), ("a", "b"));
        assert_eq!((texts.intern_up_to("b", 2), texts.intern_up_to("c", 2)), (Some(b), None));
    }
}
