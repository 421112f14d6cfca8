//! Holds the session and the tables, to which the ids of events refer.

use crate::blob::BlobHeader;
use crate::block::trace::Trace;
use crate::clock::Clock;
use crate::tables::{NO_SLOT, Slot, Tables};
use crate::version::Version;

/// Slots of the tables to which an event's ids refer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resolved {
    pub(crate) metadata: Slot,
    /// Slot of the stack; unused in version 3, where the stack follows the payload.
    pub(crate) stack: Slot,
    pub(crate) thread: Slot,
    pub(crate) labels: Slot,
}

/// Session and tables at the current position of the stream.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    version: Option<Version>,
    pub(crate) trace: Trace,
    pub(crate) clock: Clock,
    pub(crate) tables: Tables,
}

impl Context {
    /// Creates a context for a stream whose header has not been read.
    pub(crate) fn new() -> Context {
        Context {
            version: None,
            trace: Trace::UNKNOWN,
            clock: Clock::UNKNOWN,
            tables: Tables::default(),
        }
    }

    pub(crate) fn begin(&mut self, version: Version) {
        self.version = Some(version);
    }

    pub(crate) fn set_trace(&mut self, trace: Trace) {
        self.clock = trace.clock();
        self.trace = trace;
    }

    pub(crate) fn version(&self) -> Option<Version> {
        self.version
    }

    #[inline]
    pub(crate) fn is_v3(&self) -> bool {
        self.version == Some(Version::V3)
    }

    #[inline]
    pub(crate) fn is_v6(&self) -> bool {
        matches!(self.version, Some(Version::V6 { .. }))
    }

    /// Moves this state to `other`, so that another thread can read the events of this region. The
    /// next step reads a sequence point, which would discard stacks and labels. Takes over the
    /// memory of `other` for the next region.
    pub(crate) fn move_to(&mut self, other: &mut Context) {
        self.copy_session_to(other);
        self.tables.move_to(&mut other.tables);
    }

    /// Copies this state to `other` in the middle of a region.
    pub(crate) fn copy_to(&self, other: &mut Context) {
        self.copy_session_to(other);
        self.tables.copy_to(&mut other.tables);
    }

    /// Copies the session to `other`, unless it has one: a stream has only one session.
    fn copy_session_to(&self, other: &mut Context) {
        if other.version.is_none() {
            (other.version, other.clock) = (self.version, self.clock);
            other.trace.clone_from(&self.trace);
        }
    }

    /// Looks up the ids of an event of versions 4 to 6.
    #[inline(always)]
    pub(crate) fn resolved(&self, header: &BlobHeader) -> Resolved {
        let tables = &self.tables;
        let (thread, labels) = match (self.is_v6(), header.label_list) {
            (false, _) => (NO_SLOT, NO_SLOT),
            (true, 0) => (tables.threads.slot(header.thread), NO_SLOT),
            (true, list) => (tables.threads.slot(header.thread), tables.labels.slot(list)),
        };
        Resolved {
            metadata: tables.metadata.slot(u64::from(header.metadata_id)),
            stack: if header.stack == 0 { NO_SLOT } else { tables.stacks.slot(header.stack) },
            thread,
            labels,
        }
    }
}
