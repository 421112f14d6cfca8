//! Fields of events that have no typed view.

use crate::model::{TextHandle, Texts};
use nettrace_parser::{Event, Fields};

/// Finds fields of one event by name. They must be requested in the order of the payload.
pub(crate) struct Walk<'r> {
    fields: Fields<'r>,
}

impl<'r> Walk<'r> {
    pub(crate) fn new(event: &Event<'r>) -> Walk<'r> {
        Walk { fields: event.fields() }
    }

    pub(crate) fn number(&mut self, name: &str) -> Option<u64> {
        self.fields.find(name)?.value.ok()?.as_u64()
    }

    pub(crate) fn real(&mut self, name: &str) -> Option<f64> {
        self.fields.find(name)?.value.ok()?.as_f64().filter(|value| value.is_finite())
    }

    pub(crate) fn flag(&mut self, name: &str) -> Option<bool> {
        self.fields.find(name)?.value.ok()?.as_bool()
    }

    /// Returns a text, which is empty if the writer omitted it.
    pub(crate) fn text(&mut self, name: &str, texts: &mut Texts) -> Option<TextHandle> {
        let text = self.fields.find(name)?.value.ok()?.to_text().unwrap_or_default();
        Some(texts.intern(&text))
    }
}
