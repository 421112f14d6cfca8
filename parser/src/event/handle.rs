//! Fields that are looked up once per event type.

use super::Event;
use crate::payload::{FieldError, FieldPlace, FromValue, PayloadFault, Value, typed};
use crate::schema::Schema;

/// A field name that is looked up once per event type. [`Event::get`] looks it up for
/// every event, which takes longer the more fields there are.
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
/// One handle can be used for events of all types and of different streams.
#[derive(Debug, Clone)]
pub struct FieldHandle {
    name: Box<str>,
    /// The field's place in types seen so far, indexed by a type's number.
    known: Box<[Known]>,
}

/// A type, and the field's place in it.
#[derive(Debug, Clone, Copy)]
struct Known {
    key: SchemaKey,
    place: Option<FieldPlace>,
}

/// Types whose places are cached. Their serials are consecutive, so this many types do
/// not evict each other.
const PLACES: usize = 64;

/// Identifies a description of payloads among all that this process has ever read,
/// together with the address size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchemaKey {
    /// The type's [`serial`](crate::Metadata::serial).
    pub(crate) serial: u64,
    /// Address of the catalog's description, which lives as long as the process; 0 for
    /// the stream's.
    pub(crate) catalog: usize,
    pub(crate) pointer_size: u8,
}

impl SchemaKey {
    /// A key that no type has.
    const NONE: SchemaKey = SchemaKey { serial: 0, catalog: 0, pointer_size: 0 };

    #[expect(clippy::cast_possible_truncation, reason = "the last bits are what is wanted")]
    fn index(self) -> usize {
        // The versions of an event share a serial.
        (self.serial as usize).wrapping_add(self.catalog >> 6) % PLACES
    }
}

impl FieldHandle {
    /// A handle for the field with this name.
    pub fn new(name: &str) -> FieldHandle {
        FieldHandle { name: name.into(), known: Box::default() }
    }

    /// The field's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The field's value in an event, as a Rust type: see [`Event::get`].
    ///
    /// # Errors
    /// As [`Event::get`].
    #[inline]
    pub fn get<'r, T: FromValue<'r>>(&mut self, event: &Event<'r>) -> Result<T, FieldError> {
        let value = self.find(event);
        typed(&self.name, value)
    }

    /// The field's value in an event; `None` if there is no such field or it is broken,
    /// like [`Event::field`]. Cheaper than an error if most events do not have the field.
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

    /// Looks up the field in a description that is not in the cache.
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
