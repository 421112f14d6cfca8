//! Names as marks show them, each made once for all events with the name.

use super::mark_text::MarkText;
use crate::hash::HashMap;
use nettrace_parser::Utf16;

/// Maximum number of names that are kept. The text of any other name is made for each event.
const MAX_NAMES: usize = 1 << 12;
/// Maximum length of a name that is kept, in bytes.
const MAX_NAME_BYTES: usize = 1 << 10;

/// Texts that are shown, by the names that events have, as they are stored.
#[derive(Debug, Default)]
pub(super) struct ShownNames(HashMap<Box<[u8]>, MarkText>);

impl ShownNames {
    /// Returns the text of a name, which `show` makes the first time.
    pub(super) fn text(&mut self, name: Utf16<'_>, show: impl FnOnce(&str) -> String) -> MarkText {
        self.kept_or(name.bytes(), || show(&String::from(name)).into())
    }

    /// Returns a name as a text.
    pub(super) fn plain(&mut self, name: &str) -> MarkText {
        self.kept_or(name.as_bytes(), || MarkText::copied(name))
    }

    fn kept_or(&mut self, name: &[u8], make: impl FnOnce() -> MarkText) -> MarkText {
        if let Some(text) = self.0.get(name) {
            return text.clone();
        }
        let text = make();
        if self.0.len() < MAX_NAMES && name.len() <= MAX_NAME_BYTES {
            self.0.insert(name.into(), text.clone());
        }
        text
    }
}
