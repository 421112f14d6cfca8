//! Fields that are found once for each type of event.

use super::Event;
use crate::payload::{FieldError, FieldPlace, FromValue, PayloadFault, Value, typed};
use crate::schema::Schema;

/// A field by its name, which is looked for once for each type of event. [`Event::get`] looks for it each time, and
/// that takes the longer the more fields there are.
///
/// ```
/// use nettrace_parser::{FieldHandle, Reader};
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut number = FieldHandle::new("n");
/// let mut sum = 0;
/// Reader::from_slice(&bytes).for_each(|event| sum += number.get::<u64>(&event).unwrap_or(0))?;
/// assert_eq!(sum, 20);
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
///
/// One handle serves events of any types, of any streams.
#[derive(Debug, Clone)]
pub struct FieldHandle {
    name: Box<str>,
    /// Where it is in types that were met, at the place that a type's number gives.
    known: Box<[Known]>,
}

/// A type, and where the field is in it.
#[derive(Debug, Clone, Copy)]
struct Known {
    key: SchemaKey,
    place: Option<FieldPlace>,
}

/// Types whose places are kept. Their numbers follow each other, so as many types do not get into each other's way.
const PLACES: usize = 64;

/// Tells a description of payloads from all others that there are or were, with the size of addresses in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchemaKey {
    /// The type's [`serial`](crate::Metadata::serial).
    pub(crate) serial: u64,
    /// Where the catalog's description lies, for as long as the process lives; 0 for the stream's.
    pub(crate) catalog: usize,
    pub(crate) pointer_size: u8,
}

impl SchemaKey {
    /// No type has it.
    const NONE: SchemaKey = SchemaKey { serial: 0, catalog: 0, pointer_size: 0 };

    #[expect(clippy::cast_possible_truncation, reason = "the last bits are what is wanted")]
    fn index(self) -> usize {
        // Versions of one event share their number.
        (self.serial as usize).wrapping_add(self.catalog >> 6) % PLACES
    }
}

impl FieldHandle {
    /// A field of this name.
    pub fn new(name: &str) -> FieldHandle {
        FieldHandle { name: name.into(), known: Box::default() }
    }

    /// The field's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The field's value in an event, as a type: see [`Event::get`].
    ///
    /// # Errors
    /// As [`Event::get`].
    #[inline]
    pub fn get<'r, T: FromValue<'r>>(&mut self, event: &Event<'r>) -> Result<T, FieldError> {
        let value = self.find(event);
        typed(&self.name, value)
    }

    /// The field's value in an event; `None` when there is no such field, or it is bad, as [`Event::field`] has it.
    /// Cheaper than an error where most events have no such field.
    #[inline]
    pub fn value<'r>(&mut self, event: &Event<'r>) -> Option<Value<'r>> {
        self.find(event)?.ok()
    }

    #[inline]
    fn find<'r>(&mut self, event: &Event<'r>) -> Option<Result<Value<'r>, PayloadFault>> {
        let (schema, key) = event.schema_and_key()?;
        let place = match self.known.get(key.index()) {
            Some(known) if known.key == key => known.place,
            _ => self.look_up(schema, key),
        };
        place?.value(schema, event.payload(), key.pointer_size)
    }

    /// The place in a description that was not met, or not lately.
    #[cold]
    fn look_up(&mut self, schema: &Schema, key: SchemaKey) -> Option<FieldPlace> {
        if self.known.is_empty() {
            self.known = [Known { key: SchemaKey::NONE, place: None }; PLACES].into();
        }
        let place = FieldPlace::of(schema, &self.name, key.pointer_size);
        if let Some(known) = self.known.get_mut(key.index()) {
            *known = Known { key, place };
        }
        place
    }
}
