//! Distinct texts, each kept once.

use super::handle::TextHandle;
use crate::hash::HashMap;
use std::sync::Arc;

#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    rows: Vec<Arc<str>>,
    handles: HashMap<Arc<str>, TextHandle>,
    scratch: String,
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

    /// Returns the handle of the text that a value displays. A new text is added.
    pub(crate) fn intern_shown(&mut self, text: impl std::fmt::Display) -> TextHandle {
        use std::fmt::Write;
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        // Writing to a String cannot fail.
        let _ = write!(scratch, "{text}");
        let handle = self.intern(&scratch);
        self.scratch = scratch;
        handle
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
        assert_eq!((texts.intern_shown('a'), texts.len()), (a, 2));
        assert_eq!((texts.get(a), texts.get(b)), ("a", "b"));
        assert_eq!((texts.intern_up_to("b", 2), texts.intern_up_to("c", 2)), (Some(b), None));
    }
}
