//! An event that is kept after the reader has gone on.

use crate::blob::BlobHeader;
use crate::block::label_list::Labels;
use crate::block::metadata::Metadata;
use crate::block::stack::Stack;
use crate::catalog::CatalogEvent;
use crate::clock::Clock;
use crate::event::Event;
use crate::payload::{self, FieldError, Fields, FromValue, Value};
use crate::schema::Schema;
use nettrace_guid::Guid;
use std::fmt;
use std::sync::Arc;

/// An event with its payload and its stack, for programs that keep some events of a stream, or send
/// them to another thread. All kept events of a type share its description.
///
/// ```
/// use nettrace_parser::{OwnedEvent, Reader};
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = Reader::from_slice(&bytes);
/// let mut kept: Vec<OwnedEvent> = Vec::new();
/// while let Some(event) = reader.next_event()? {
///     if event.display_name() == "Hi" {
///         kept.push(event.into_owned());
///     }
/// }
/// drop(reader);
/// std::thread::spawn(move || {
///     assert_eq!(kept.len(), 3);
///     assert_eq!(kept[0].get::<String>("s").unwrap(), "hey");
/// });
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Clone)]
pub struct OwnedEvent {
    header: BlobHeader,
    metadata: Option<Arc<Metadata>>,
    catalog: Option<&'static CatalogEvent>,
    version: u32,
    clock: Clock,
    pointer_size: u8,
    offset: u64,
    thread_id: Option<u64>,
    process_id: Option<u64>,
    activity_id: Option<Guid>,
    related_activity_id: Option<Guid>,
    labels: Box<[u8]>,
    stack: Box<[u8]>,
    payload: Box<[u8]>,
}

impl Event<'_> {
    /// Copies the event, so that it can be kept or sent to another thread.
    pub fn into_owned(self) -> OwnedEvent {
        OwnedEvent {
            header: *self.header,
            metadata: self.metadata().map(Metadata::shared),
            catalog: self.catalog(),
            version: self.version(),
            clock: self.context.clock,
            pointer_size: self.context.trace.pointer_size,
            offset: self.offset(),
            thread_id: self.thread_id(),
            process_id: self.process_id(),
            activity_id: self.activity_id(),
            related_activity_id: self.related_activity_id(),
            labels: self.labels().row().into(),
            stack: self.stack().bytes().into(),
            payload: self.payload().into(),
        }
    }
}

impl OwnedEvent {
    /// Returns the event's type; `None` if the stream does not define it.
    pub fn metadata(&self) -> Option<&Arc<Metadata>> {
        self.metadata.as_ref()
    }

    /// Returns the name of the provider; empty if the type is not defined.
    pub fn provider(&self) -> &str {
        self.metadata().map_or("", |metadata| &metadata.provider)
    }

    /// Returns the name of the event for people to read, as [`Event::display_name`].
    pub fn display_name(&self) -> &str {
        self.metadata().map_or("", |metadata| metadata.name_beside(self.catalog))
    }

    /// Returns the event's id within the provider; 0 if the type is not defined.
    pub fn id(&self) -> u32 {
        self.metadata().map_or(0, |metadata| metadata.event_id)
    }

    /// Returns the event's version, as [`Event::version`].
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Returns the OS id of the thread that the event is about; `None` if unknown.
    pub fn thread_id(&self) -> Option<u64> {
        self.thread_id
    }

    /// Returns the OS id of the thread's process, or else of the traced process.
    pub fn process_id(&self) -> Option<u64> {
        self.process_id
    }

    /// Returns the timestamp in ticks of the event clock.
    pub fn timestamp_ticks(&self) -> u64 {
        self.header.timestamp
    }

    /// Returns the nanoseconds since the session's start, as [`Event::nanos`].
    pub fn nanos(&self) -> Option<i64> {
        self.clock.nanos_since_start(self.header.timestamp)
    }

    /// Returns the time of the event in UTC, as [`Event::unix_nanos`].
    pub fn unix_nanos(&self) -> Option<i128> {
        self.clock.unix_nanos(self.header.timestamp)
    }

    /// Returns the activity id; `None` if there is none or it is zero.
    pub fn activity_id(&self) -> Option<Guid> {
        self.activity_id
    }

    /// Returns the related activity id; `None` if there is none or it is zero.
    pub fn related_activity_id(&self) -> Option<Guid> {
        self.related_activity_id
    }

    /// Returns all labels (version 6).
    pub fn labels(&self) -> Labels<'_> {
        Labels::new(&self.labels)
    }

    /// Returns the stack, innermost frame first; empty if there is none.
    pub fn stack(&self) -> Stack<'_> {
        Stack::new(&self.stack, self.pointer_size)
    }

    /// Returns the payload's bytes.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// Returns the payload's schema, as [`Event::schema`].
    pub fn schema(&self) -> Option<&Schema> {
        let metadata = self.metadata.as_deref()?;
        Some(self.catalog.map_or(&metadata.schema, |known| known.schema_of(&self.payload)))
    }

    /// Returns the payload's fields, in payload order.
    pub fn fields(&self) -> Fields<'_> {
        match self.schema() {
            Some(schema) => schema.fields(&self.payload, self.pointer_size),
            None => Fields::undescribed(&self.payload, self.pointer_size),
        }
    }

    /// Returns the value of a field. `None` if the field does not exist or is broken.
    pub fn field(&self, name: &str) -> Option<Value<'_>> {
        payload::field(self.schema()?, &self.payload, self.pointer_size, name)?.ok()
    }

    /// Returns the value of a field as a Rust type, as [`Event::get`].
    ///
    /// # Errors
    /// Those of [`Event::get`].
    pub fn get<'r, T: FromValue<'r>>(&'r self, name: &str) -> Result<T, FieldError> {
        let schema = self.schema();
        let value = schema
            .and_then(|schema| payload::field(schema, &self.payload, self.pointer_size, name));
        payload::typed(name, value)
    }

    /// Returns the stream offset of the event blob's first byte.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}

impl fmt::Debug for OwnedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "OwnedEvent({}/{} {:?} at {} ticks, thread {:?}, {} bytes)",
            self.provider(),
            self.id(),
            self.display_name(),
            self.timestamp_ticks(),
            self.thread_id,
            self.payload.len()
        )
    }
}
