//! An event: a blob with its references resolved.

use crate::blob::BlobHeader;
use crate::block::label_list::{Label, Labels, TraceId};
use crate::block::metadata::Metadata;
use crate::block::stack::Stack;
use crate::block::thread::Thread;
use crate::block::trace::Trace;
use crate::catalog::{self, CatalogEvent};
use crate::clock::Clock;
use crate::guid::Guid;
use crate::payload::{Fields, Value};
use crate::schema::Schema;
use crate::view::KnownProvider;
use std::fmt;

/// One event, lent by the reader: everything is borrowed from the stream's bytes or the reader's
/// tables, nothing is copied.
#[derive(Clone, Copy)]
pub struct Event<'r> {
    pub(crate) header: &'r BlobHeader,
    pub(crate) metadata: Option<&'r Metadata>,
    pub(crate) thread: Option<&'r Thread>,
    pub(crate) labels: Labels<'r>,
    pub(crate) stack: Stack<'r>,
    pub(crate) payload: &'r [u8],
    pub(crate) offset: u64,
    pub(crate) has_thread_rows: bool,
    pub(crate) trace: &'r Trace,
    pub(crate) clock: &'r Clock,
}

impl<'r> Event<'r> {
    /// The event's type; `None` when the stream does not define it.
    pub fn metadata(&self) -> Option<&'r Metadata> {
        self.metadata
    }

    /// The metadata id that the stream gives for the type.
    pub fn metadata_id(&self) -> u32 {
        self.header.metadata_id
    }

    /// Provider name; empty when the type is not defined.
    pub fn provider(&self) -> &'r str {
        self.metadata.map_or("", |metadata| &metadata.provider)
    }

    /// The provider, if it is one that [views](crate::view) know.
    #[inline]
    pub fn known_provider(&self) -> KnownProvider {
        self.metadata.map_or(KnownProvider::Other, |metadata| metadata.known_provider)
    }

    /// Event name; empty for native runtime events, and when the type is not defined.
    pub fn name(&self) -> &'r str {
        self.metadata.map_or("", |metadata| &metadata.name)
    }

    /// Event id within the provider; 0 when the type is not defined.
    pub fn id(&self) -> u32 {
        self.metadata.map_or(0, |metadata| metadata.event_id)
    }

    /// Event version: the event's label, else the type's.
    pub fn version(&self) -> u32 {
        self.version_label().unwrap_or_else(|| self.metadata.map_or(0, |metadata| metadata.version))
    }

    fn version_label(&self) -> Option<u32> {
        self.labels.last(|label| match label {
            Label::Version(version) => Some(u32::from(version)),
            _ => None,
        })
    }

    /// Level, 0 log always to 5 verbose: the event's label, else the type's.
    pub fn level(&self) -> u32 {
        let label = self.labels.last(|label| match label {
            Label::Level(level) => Some(u32::from(level)),
            _ => None,
        });
        label.unwrap_or_else(|| self.metadata.map_or(0, |metadata| metadata.level))
    }

    /// Keywords: the event's label, else the type's.
    pub fn keywords(&self) -> u64 {
        let label = self.labels.last(|label| match label {
            Label::Keywords(keywords) => Some(keywords),
            _ => None,
        });
        label.unwrap_or_else(|| self.metadata.map_or(0, |metadata| metadata.keywords))
    }

    /// Opcode as stored: the event's label, else the type's. `None`: the stream does not say; see
    /// [`Event::implied_opcode`].
    pub fn opcode(&self) -> Option<u8> {
        let label = self.labels.last(|label| match label {
            Label::Opcode(opcode) => Some(opcode),
            _ => None,
        });
        label.or_else(|| self.metadata.and_then(|metadata| metadata.opcode))
    }

    /// The opcode that the name implies when none is stored: 1 for a name that ends in `Start`,
    /// 2 for `Stop`, in any case of letters; else 0 (format.md 15).
    pub fn implied_opcode(&self) -> u8 {
        let name = self.name().as_bytes();
        let ends_in = |ending: &[u8]| {
            name.len()
                .checked_sub(ending.len())
                .and_then(|at| name.get(at..))
                .is_some_and(|end| end.eq_ignore_ascii_case(ending))
        };
        match () {
            () if ends_in(b"Start") => 1,
            () if ends_in(b"Stop") => 2,
            () => 0,
        }
    }

    /// OS id of the thread the event is about; `None` when unknown (version 6).
    pub fn thread_id(&self) -> Option<u64> {
        if self.has_thread_rows {
            return self.thread.and_then(|thread| thread.os_thread_id);
        }
        Some(self.header.thread)
    }

    /// The thread's row (version 6).
    pub fn thread(&self) -> Option<&'r Thread> {
        self.thread
    }

    /// Id (versions 3 to 5) or index (version 6) of the thread that wrote the event.
    pub fn capture_thread(&self) -> u64 {
        self.header.capture_thread
    }

    /// OS id of the process the event is about: the thread's, else the traced process.
    pub fn process_id(&self) -> Option<u64> {
        let of_thread = self.thread.and_then(|thread| thread.process_id);
        of_thread.or(self.trace.process_id.map(u64::from))
    }

    /// Processor the event was written on; `None` when unknown, as runtimes on Linux leave it.
    pub fn processor(&self) -> Option<u32> {
        (self.header.processor != u32::MAX).then_some(self.header.processor)
    }

    /// The capture thread's number for this event; 0 in version 3, which has none.
    pub fn sequence_number(&self) -> u32 {
        self.header.sequence
    }

    /// Whether the stream promises that nothing behind this event is older.
    pub fn is_sorted(&self) -> bool {
        self.header.is_sorted
    }

    /// Timestamp in ticks of the event clock.
    #[inline]
    pub fn timestamp_ticks(&self) -> u64 {
        self.header.timestamp
    }

    /// Nanoseconds since the session's start, negative before it; `None` when the stream's clock
    /// has no frequency.
    #[inline]
    pub fn nanos(&self) -> Option<i64> {
        self.clock.nanos_since_start(self.header.timestamp)
    }

    /// UTC as nanoseconds since 1970-01-01; see [`Clock::unix_nanos`].
    pub fn unix_nanos(&self) -> Option<i128> {
        self.clock.unix_nanos(self.header.timestamp)
    }

    /// Activity id, if there is one that is not zero.
    pub fn activity_id(&self) -> Option<Guid> {
        let label = self.labels.last(|label| match label {
            Label::ActivityId(id) => Some(id),
            _ => None,
        });
        label.or(Some(self.header.activity)).filter(|id| !id.is_zero())
    }

    /// Related activity id, if there is one that is not zero.
    pub fn related_activity_id(&self) -> Option<Guid> {
        let label = self.labels.last(|label| match label {
            Label::RelatedActivityId(id) => Some(id),
            _ => None,
        });
        label.or(Some(self.header.related_activity)).filter(|id| !id.is_zero())
    }

    /// W3C trace id, by label (version 6).
    pub fn trace_id(&self) -> Option<TraceId> {
        self.labels.last(|label| match label {
            Label::TraceId(id) => Some(id),
            _ => None,
        })
    }

    /// W3C span id, by label (version 6).
    pub fn span_id(&self) -> Option<u64> {
        self.labels.last(|label| match label {
            Label::SpanId(id) => Some(id),
            _ => None,
        })
    }

    /// All labels (version 6).
    pub fn labels(&self) -> Labels<'r> {
        self.labels
    }

    /// The stack, innermost frame first; empty when there is none.
    #[inline]
    pub fn stack(&self) -> Stack<'r> {
        self.stack
    }

    /// The payload's bytes.
    #[inline]
    pub fn payload(&self) -> &'r [u8] {
        self.payload
    }

    /// The payload's schema: the catalog's for events that the stream does not describe, else the
    /// stream's (see [`crate::catalog`]). `None` for an undescribed payload.
    pub fn schema(&self) -> Option<&'r Schema> {
        match self.catalog() {
            Some(known) => Some(known.schema()),
            None => self.metadata.map(|metadata| &metadata.schema),
        }
    }

    /// The event in the built-in catalog, if its layout is taken from there.
    pub fn catalog(&self) -> Option<&'static CatalogEvent> {
        let metadata = self.metadata?;
        match self.version_label() {
            // Version 6: one description may stand for several versions of an event.
            Some(version) => catalog::for_event(metadata, version),
            None => metadata.catalog,
        }
    }

    /// The payload's fields, in payload order.
    pub fn fields(&self) -> Fields<'r> {
        match self.schema() {
            Some(schema) => Fields::new(schema, self.payload, self.trace.pointer_size),
            None => Fields::undescribed(self.payload, self.trace.pointer_size),
        }
    }

    /// The value of a field. `None` when there is no such field, or it is bad.
    pub fn field(&self, name: &str) -> Option<Value<'r>> {
        self.fields().find(name)?.value.ok()
    }

    /// Stream offset of the event blob's first byte.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Stream offset of the payload's first byte.
    pub fn payload_offset(&self) -> u64 {
        self.offset.saturating_add(u64::from(self.header.header_size))
    }

    /// What the session was.
    pub fn session(&self) -> &'r Trace {
        self.trace
    }
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
            self.payload.len()
        )
    }
}
