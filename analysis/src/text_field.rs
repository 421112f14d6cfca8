//! Texts in fields whose places are found once a type.

use nettrace_parser::unstable::TextPlace;
use nettrace_parser::{Event, Utf16, Value};

/// A field with a text: its place in all payloads of the type. `None` if the text has to be found by
/// the name of the field in each payload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextField(Option<TextPlace>);

impl TextField {
    /// Returns the field with a name in events of the event's type.
    pub(crate) fn of_type(event: &Event<'_>, name: &str) -> TextField {
        let pointer_size = event.session().pointer_size;
        TextField(event.schema().and_then(|it| TextPlace::find(it, name, pointer_size)))
    }

    /// Returns the field's value in an event of the type; `None` if it is not there. `name`: that of the
    /// field.
    #[inline]
    pub(crate) fn read<'r>(self, event: &Event<'r>, name: &str) -> Option<Value<'r>> {
        let text = self.read_at_place(event.payload()).map(Value::Utf16);
        text.or_else(|| event.field(name))
    }

    /// Returns the text in a payload of the type; `None` if its place is not known, or if the text has
    /// no end.
    #[inline(always)]
    pub(crate) fn read_at_place(self, payload: &[u8]) -> Option<Utf16<'_>> {
        self.0?.read(payload)
    }
}
