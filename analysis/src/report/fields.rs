//! Fields of events without a typed view, which must be requested in payload order.

use crate::model::{TextHandle, Texts};
use nettrace_parser::{Event, Fields};

/// Walks through one event's fields.
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

    /// Returns a text; it is empty if the writer omitted it.
    pub(crate) fn text(&mut self, name: &str, texts: &mut Texts) -> Option<TextHandle> {
        let text = self.fields.find(name)?.value.ok()?.to_text().unwrap_or_default();
        Some(texts.intern(&text))
    }
}
