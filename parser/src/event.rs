//! Shows a blob as an event, with type, time, thread, stack and payload.

use crate::blob::BlobHeader;
use crate::block::label_list::{Label, Labels, TraceId};
use crate::block::metadata::Metadata;
use crate::block::stack::Stack;
use crate::block::thread::Thread;
use crate::block::trace::Trace;
use crate::catalog::{CatalogEvent, KnownProvider};
use crate::context::{Context, Resolved};
use crate::payload::{self, FieldError, Fields, FromValue, Value, VisitValues};
use crate::schema::Schema;
use crate::source::index;
use crate::tables::{NO_SLOT, Slot};
use nettrace_guid::Guid;
use std::fmt;

/// One event. Its data is borrowed from the stream's bytes and the reader's tables.
#[derive(Clone, Copy)]
pub struct Event<'r> {
    pub(crate) header: &'r BlobHeader,
    /// Slots to which the header's ids referred when the event was read; `None` to look the ids
    /// up in the current tables.
    pub(crate) resolved: Option<Resolved>,
    /// Type of the event, if `resolved` is set.
    pub(crate) row: Option<&'r Metadata>,
    pub(crate) context: &'r Context,
    /// Bytes of the stream from the payload on.
    pub(crate) rest: &'r [u8],
    pub(crate) payload_at: u64,
}

impl<'r> Event<'r> {
    /// Creates an event from its header. `window` holds the stream from position `start` on.
    /// Without `resolved`, ids are looked up when needed.
    #[inline(always)]
    pub(crate) fn new(
        context: &'r Context,
        header: &'r BlobHeader,
        resolved: Option<Resolved>,
        payload_at: u64,
        window: &'r [u8],
        start: u64,
    ) -> Event<'r> {
        let rest = window.get(index(payload_at, start)..).unwrap_or_default();
        let row = resolved.and_then(|resolved| context.tables.metadata.row(resolved.metadata));
        Event { header, resolved, row, context, rest, payload_at }
    }

    /// Creates an event whose type was looked up before.
    #[inline(always)]
    pub(crate) fn with_row(
        context: &'r Context,
        header: &'r BlobHeader,
        resolved: Resolved,
        row: Option<&'r Metadata>,
        payload_at: u64,
        window: &'r [u8],
        start: u64,
    ) -> Event<'r> {
        let rest = window.get(index(payload_at, start)..).unwrap_or_default();
        Event { header, resolved: Some(resolved), row, context, rest, payload_at }
    }

    /// Returns the event's type; `None` if the stream does not define it.
    #[inline(always)]
    pub fn metadata(&self) -> Option<&'r Metadata> {
        if self.resolved.is_some() {
            return self.row;
        }
        let metadata = &self.context.tables.metadata;
        metadata.row(metadata.slot(u64::from(self.header.metadata_id)))
    }

    /// Returns the id by which the stream refers to the event's type.
    #[inline]
    pub fn metadata_id(&self) -> u32 {
        self.header.metadata_id
    }

    /// Returns the name of the provider; empty if the type is not defined.
    #[inline]
    pub fn provider(&self) -> &'r str {
        self.metadata().map_or("", |metadata| &metadata.provider)
    }

    /// Returns the provider, as far as [views](crate::view) distinguish providers.
    #[inline]
    pub fn known_provider(&self) -> KnownProvider {
        self.metadata().map_or(KnownProvider::Other, |metadata| metadata.known_provider)
    }

    /// Returns the name of the event for people to read, such as `GC/Start` or `Request/Stop`, without
    /// its provider; see [`Metadata::display_name`]. Empty if neither the stream nor the
    /// [catalog](crate::catalog) has one.
    pub fn display_name(&self) -> &'r str {
        self.metadata().map_or("", |metadata| metadata.name_beside(self.catalog()))
    }

    /// Returns the name that the stream has for the event; empty for events of the native runtime,
    /// and if the type is not defined. [`Event::display_name`] knows those of the runtime, too.
    #[inline]
    pub fn name(&self) -> &'r str {
        self.metadata().map_or("", |metadata| &metadata.name)
    }

    /// Returns the event's id within the provider; 0 if the type is not defined.
    #[inline]
    pub fn id(&self) -> u32 {
        self.metadata().map_or(0, |metadata| metadata.event_id)
    }

    /// Returns the event's version from its label, or else from its type.
    #[inline]
    pub fn version(&self) -> u32 {
        self.version_label()
            .unwrap_or_else(|| self.metadata().map_or(0, |metadata| metadata.version))
    }

    fn version_label(&self) -> Option<u32> {
        self.label_place().and_then(|place| version_label(self.context, place))
    }

    /// Returns the level, from 0 (log always) to 5 (verbose), from the event's label, or else
    /// from its type.
    #[inline]
    pub fn level(&self) -> u32 {
        let label = self.labels().last(|label| match label {
            Label::Level(level) => Some(u32::from(level)),
            _ => None,
        });
        label.unwrap_or_else(|| self.metadata().map_or(0, |metadata| metadata.level))
    }

    /// Returns the keywords from the event's label, or else from its type.
    #[inline]
    pub fn keywords(&self) -> u64 {
        let label = self.labels().last(|label| match label {
            Label::Keywords(keywords) => Some(keywords),
            _ => None,
        });
        label.unwrap_or_else(|| self.metadata().map_or(0, |metadata| metadata.keywords))
    }

    /// Returns the opcode from the event's label, or else from its type. `None` if the stream
    /// stores no opcode; see [`Event::implied_opcode`].
    #[inline]
    pub fn opcode(&self) -> Option<u8> {
        let label = self.labels().last(|label| match label {
            Label::Opcode(opcode) => Some(opcode),
            _ => None,
        });
        label.or_else(|| self.metadata().and_then(|metadata| metadata.opcode))
    }

    /// Returns the opcode that the event's name implies: 1 if it ends in `Start`, 2 if it ends
    /// in `Stop`, in upper or lower case; else 0 ([FORMAT.md 15](crate::format_guide#15)).
    #[inline]
    pub fn implied_opcode(&self) -> u8 {
        let name = self.name().as_bytes();
        if name.last_chunk::<5>().is_some_and(|end| end.eq_ignore_ascii_case(b"Start")) {
            1
        } else if name.last_chunk::<4>().is_some_and(|end| end.eq_ignore_ascii_case(b"Stop")) {
            2
        } else {
            0
        }
    }

    /// Returns the OS id of the thread that the event is about; `None` if unknown
    /// (version 6).
    #[inline]
    pub fn thread_id(&self) -> Option<u64> {
        if self.context.is_v6() {
            return self.thread().and_then(|thread| thread.os_thread_id);
        }
        Some(self.header.thread)
    }

    /// Returns the thread's row in the stream (version 6).
    #[inline]
    pub fn thread(&self) -> Option<&'r Thread> {
        if !self.context.is_v6() {
            return None;
        }
        let slot = match self.resolved {
            Some(resolved) => resolved.thread,
            None => self.context.tables.threads.slot(self.header.thread),
        };
        self.context.tables.threads.row(slot)
    }

    /// Returns the id (versions 3 to 5) or index (version 6) of the thread that wrote the
    /// event.
    #[inline]
    pub fn capture_thread(&self) -> u64 {
        self.header.capture_thread
    }

    /// Returns the OS id of the thread that wrote the event; `None` if unknown (version 6, in which
    /// an index stands for the thread that has it when the event is read).
    pub fn capture_thread_id(&self) -> Option<u64> {
        if !self.context.is_v6() {
            return Some(self.header.capture_thread);
        }
        let threads = &self.context.tables.threads;
        threads.row(threads.slot(self.header.capture_thread))?.os_thread_id
    }

    /// Returns the OS id of the thread's process, or else of the traced process.
    #[inline]
    pub fn process_id(&self) -> Option<u64> {
        let of_thread = self.thread().and_then(|thread| thread.process_id);
        of_thread.or(self.context.trace.process_id.map(u64::from))
    }

    /// Returns the number of the processor on which the event was written; `None` if unknown,
    /// as with runtimes on Linux.
    #[inline]
    pub fn processor(&self) -> Option<u32> {
        (self.header.processor != u32::MAX).then_some(self.header.processor)
    }

    /// Returns the event's sequence number within its capture thread; 0 in version 3, which
    /// stores no sequence numbers.
    #[inline]
    pub fn sequence_number(&self) -> u32 {
        self.header.sequence
    }

    /// Returns whether the stream promises that no later event is older than this one.
    #[inline]
    pub fn is_sorted(&self) -> bool {
        self.header.is_sorted
    }

    /// Returns the timestamp in ticks of the event clock.
    #[inline]
    pub fn timestamp_ticks(&self) -> u64 {
        self.header.timestamp
    }

    /// Returns the nanoseconds since the session's start, negative before it; `None` if
    /// the stream's clock is unusable.
    #[inline]
    pub fn nanos(&self) -> Option<i64> {
        self.context.clock.nanos_since_start(self.header.timestamp)
    }

    /// Returns the time of the event in UTC, as nanoseconds since 1970-01-01; see
    /// [`Clock::unix_nanos`](crate::Clock::unix_nanos).
    #[inline]
    pub fn unix_nanos(&self) -> Option<i128> {
        self.context.clock.unix_nanos(self.header.timestamp)
    }

    /// Returns the activity id; `None` if there is none or it is zero. Ids repeat: activities that follow
    /// each other may have one id, and on .NET 10 and 11 several that run at once.
    #[inline]
    pub fn activity_id(&self) -> Option<Guid> {
        let id = match self.label_place() {
            None => self.header.activity,
            Some(place) => activity_label(self.context, place, false),
        };
        (!id.is_zero()).then_some(id)
    }

    /// Returns the related activity id; `None` if there is none or it is zero.
    #[inline]
    pub fn related_activity_id(&self) -> Option<Guid> {
        let id = match self.label_place() {
            None => self.header.related_activity,
            Some(place) => activity_label(self.context, place, true),
        };
        (!id.is_zero()).then_some(id)
    }

    /// Returns a number that identifies the event's stack until the next sequence point; 0
    /// without a stack, and in version 3. It is the stream's stack id in file order, and
    /// usually in time order too, because runtimes number stacks from 1.
    #[inline]
    pub fn stack_id(&self) -> u32 {
        match self.resolved {
            Some(resolved) => resolved.stack.wrapping_add(1),
            None => self.header.stack,
        }
    }

    /// Returns the stored id (versions 3 to 5) or index (version 6) of the thread that the event
    /// is about. [`Event::thread_id`] returns its OS id.
    #[inline]
    pub fn raw_thread(&self) -> u64 {
        self.header.thread
    }

    /// Returns the id of the event's label list (version 6); 0 without a list.
    #[inline]
    pub fn label_list_id(&self) -> u32 {
        self.header.label_list
    }

    /// Returns the number of payload bytes.
    #[inline]
    pub fn payload_size(&self) -> u32 {
        self.header.payload_size
    }

    /// Returns the W3C trace id from a label (version 6).
    #[inline]
    pub fn trace_id(&self) -> Option<TraceId> {
        self.labels().last(|label| match label {
            Label::TraceId(id) => Some(id),
            _ => None,
        })
    }

    /// Returns the W3C span id from a label (version 6).
    #[inline]
    pub fn span_id(&self) -> Option<u64> {
        self.labels().last(|label| match label {
            Label::SpanId(id) => Some(id),
            _ => None,
        })
    }

    /// Returns all labels (version 6).
    #[inline]
    pub fn labels(&self) -> Labels<'r> {
        self.label_place().map_or_else(Labels::default, |place| labels_at(self.context, place))
    }

    /// Returns the place of the event's labels; `None` without labels.
    #[inline(always)]
    fn label_place(&self) -> Option<LabelPlace> {
        match self.resolved {
            Some(resolved) => {
                (resolved.labels != NO_SLOT).then_some(LabelPlace::Slot(resolved.labels))
            }
            None => {
                (self.header.label_list != 0).then_some(LabelPlace::List(self.header.label_list))
            }
        }
    }

    /// Returns the stack, innermost frame first; empty if there is none.
    #[inline]
    pub fn stack(&self) -> Stack<'r> {
        let bytes = if self.context.is_v3() {
            // The stack follows the payload: a u32 size, then that many bytes.
            let stack = self.rest.get((self.header.payload_size as usize).wrapping_add(4)..);
            stack.and_then(|rest| rest.get(..self.header.stack_size as usize))
        } else {
            let slot = match self.resolved {
                Some(resolved) => resolved.stack,
                None if self.header.stack == 0 => NO_SLOT,
                None => self.context.tables.stacks.slot(self.header.stack),
            };
            self.context.tables.stacks.row(slot)
        };
        Stack::new(bytes.unwrap_or_default(), self.context.trace.pointer_size)
    }

    /// Returns the payload's bytes.
    #[inline]
    pub fn payload(&self) -> &'r [u8] {
        self.rest.get(..self.header.payload_size as usize).unwrap_or_default()
    }

    /// Returns the payload's schema, from the stream or from the [catalog](crate::catalog).
    /// `None` if the event's type is not defined. All events of a type share one schema,
    /// except for GCDynamicEvent ([`CatalogEvent::has_records`]).
    #[inline(always)]
    pub fn schema(&self) -> Option<&'r Schema> {
        let metadata = self.metadata()?;
        let catalog = match self.label_place() {
            None if metadata.catalog_schema.is_some() => return metadata.catalog_schema,
            None => metadata.catalog,
            Some(place) => labelled_catalog(self.context, place, metadata),
        };
        Some(catalog.map_or(&metadata.schema, |known| known.schema_of(self.payload())))
    }

    /// Returns the event's row in the catalog, if the catalog describes the payload.
    #[inline]
    pub fn catalog(&self) -> Option<&'static CatalogEvent> {
        let metadata = self.metadata()?;
        match self.label_place() {
            None => metadata.catalog,
            Some(place) => labelled_catalog(self.context, place, metadata),
        }
    }

    /// Returns the payload's fields, in payload order.
    #[inline(always)]
    pub fn fields(&self) -> Fields<'r> {
        match self.schema() {
            Some(schema) => Fields::new(schema, self.payload(), self.context.trace.pointer_size),
            None => Fields::undescribed(self.payload(), self.context.trace.pointer_size),
        }
    }

    /// Passes the payload's fields to a visitor, in payload order. This is the fastest
    /// way to read the fields that [`Event::fields`] returns.
    #[inline(always)]
    pub fn visit_fields<V: VisitValues<'r>>(&self, visitor: &mut V) {
        if let Some(schema) = self.schema() {
            payload::visit(schema, self.payload(), self.context.trace.pointer_size, visitor);
        }
    }

    /// Returns the value of a field. `None` if the field does not exist or is broken.
    ///
    /// A field whose offset is equal in all events of the type is read directly; for a field
    /// after a text, all fields before it are walked. [`Fields::find`] reads several fields of
    /// one event in one walk.
    #[inline]
    pub fn field(&self, name: &str) -> Option<Value<'r>> {
        payload::field(self.schema()?, self.payload(), self.context.trace.pointer_size, name)?.ok()
    }

    /// Returns the value of a field as a Rust type that implements [`FromValue`]: numbers,
    /// booleans, texts, GUIDs, dates and arrays.
    ///
    /// ```
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let mut reader = nettrace_parser::Reader::from_slice(&bytes);
    /// let event = reader.next_event()?.unwrap();
    /// let number: u32 = event.get("n")?;
    /// let text = event.get::<String>("s")?;
    /// assert_eq!((number, &*text), (5, "hey"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FieldError`] if the event's type has no such field, the value has another type
    /// or does not fit, the payload ends before the field, or the field is broken.
    #[inline]
    pub fn get<T: FromValue<'r>>(&self, name: &str) -> Result<T, FieldError> {
        let pointer_size = self.context.trace.pointer_size;
        let schema = self.schema();
        let value =
            schema.and_then(|schema| payload::field(schema, self.payload(), pointer_size, name));
        payload::typed(name, value)
    }

    /// Returns the stream offset of the event blob's first byte.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.payload_at.wrapping_sub(u64::from(self.header.header_size))
    }

    /// Returns the stream offset of the payload's first byte.
    #[inline]
    pub fn payload_offset(&self) -> u64 {
        self.payload_at
    }

    /// Returns the session of the stream: start time, process, pointer size and clock.
    #[inline]
    pub fn session(&self) -> &'r Trace {
        &self.context.trace
    }
}

/// Place of an event's labels.
#[derive(Clone, Copy)]
enum LabelPlace {
    Slot(Slot),
    /// Id of a label list.
    List(u32),
}

/// Returns the labels at a place. This function does not take the event, so that a loop over
/// a block can keep the event in registers: most events have no labels.
#[inline(never)]
fn labels_at(context: &Context, place: LabelPlace) -> Labels<'_> {
    let slot = match place {
        LabelPlace::Slot(slot) => slot,
        LabelPlace::List(list) => context.tables.labels.slot(list),
    };
    Labels::new(context.tables.labels.row(slot).unwrap_or_default())
}

fn version_label(context: &Context, place: LabelPlace) -> Option<u32> {
    labels_at(context, place).last(|label| match label {
        Label::Version(version) => Some(u32::from(version)),
        _ => None,
    })
}

/// Returns the catalog's row for a type, in the version that the label states, if any.
#[cold]
#[inline(never)]
fn labelled_catalog(
    context: &Context,
    place: LabelPlace,
    metadata: &Metadata,
) -> Option<&'static CatalogEvent> {
    match version_label(context, place) {
        // In version 6 one description may serve several versions of an event.
        Some(version) => metadata.known(version),
        None => metadata.catalog,
    }
}

/// Returns the activity id, or if `is_related` the related activity id, in the labels (version 6);
/// zero if there is none.
#[cold]
#[inline(never)]
fn activity_label(context: &Context, place: LabelPlace, is_related: bool) -> Guid {
    let id = labels_at(context, place).last(|label| match label {
        Label::ActivityId(id) if !is_related => Some(id),
        Label::RelatedActivityId(id) if is_related => Some(id),
        _ => None,
    });
    id.unwrap_or(Guid::ZERO)
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Event({}/{} {:?} at {} ticks, thread {:?}, {} bytes)",
            self.provider(),
            self.id(),
            self.name(),
            self.timestamp_ticks(),
            self.thread_id(),
            self.payload().len()
        )
    }
}
