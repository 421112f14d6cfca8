//! Numbers in fields whose places are found once a type.

use nettrace_parser::Event;
use nettrace_parser::unstable::NumberPlace;

/// A field with a number that is not negative: its place in all payloads of the type. `None` if the
/// number has to be found by the name of the field in each payload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberField(Option<NumberPlace>);

impl NumberField {
    /// Returns the field with a name in events of the event's type.
    pub(crate) fn of_type(event: &Event<'_>, name: &str) -> NumberField {
        let pointer_size = event.session().pointer_size;
        NumberField(event.schema().and_then(|it| NumberPlace::find(it, name, pointer_size)))
    }

    /// Returns the number in an event of the type; `None` if it is negative or not there. `name`:
    /// that of the field.
    #[inline]
    pub(crate) fn read(self, event: &Event<'_>, name: &str) -> Option<u64> {
        match self.0 {
            Some(place) => place.read(event.payload()),
            None => event.field(name)?.as_u64(),
        }
    }

    /// Returns the number in a payload of the type; `None` if its place is not known, as well.
    #[inline(always)]
    pub(crate) fn read_at_place(self, payload: &[u8]) -> Option<u64> {
        self.0?.read(payload)
    }
}
