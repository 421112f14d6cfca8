//! What an event is resolved against: the session and the tables.

use crate::blob::BlobHeader;
use crate::block::trace::Trace;
use crate::clock::Clock;
use crate::serial::Serial;
use crate::tables::{NO_SLOT, Slot, Tables};
use crate::version::Version;

/// What an event's ids stand for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resolved {
    pub(crate) metadata: Slot,
    /// Version 3: not used, the stack follows the payload.
    pub(crate) stack: Slot,
    pub(crate) thread: Slot,
    pub(crate) labels: Slot,
}

/// The session and the tables, as they are now.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// Tells sessions apart. Contexts of one stream have the same.
    session: Serial,
    version: Option<Version>,
    pub(crate) trace: Trace,
    pub(crate) clock: Clock,
    pub(crate) tables: Tables,
}

impl Resolved {
    /// All of it is unknown.
    pub(crate) const NOTHING: Resolved =
        Resolved { metadata: NO_SLOT, stack: NO_SLOT, thread: NO_SLOT, labels: NO_SLOT };
}

impl Context {
    /// Before the stream's header was read.
    pub(crate) fn new() -> Context {
        Context {
            session: Serial::default(),
            version: None,
            trace: Trace::UNKNOWN,
            clock: Clock::UNKNOWN,
            tables: Tables::default(),
        }
    }

    pub(crate) fn begin(&mut self, version: Version) {
        self.version = Some(version);
        self.session = Serial::next();
    }

    pub(crate) fn set_trace(&mut self, trace: Trace) {
        self.clock = trace.clock();
        self.trace = trace;
        self.session = Serial::next();
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

    /// Makes another what this is, for those who read the events of this stretch elsewhere, when a
    /// sequence point is about to forget stacks and labels. The other gives its memory for what comes.
    pub(crate) fn move_to(&mut self, other: &mut Context) {
        self.copy_session_to(other);
        self.tables.move_to(&mut other.tables);
    }

    /// The same in the middle of a stretch.
    pub(crate) fn copy_to(&self, other: &mut Context) {
        self.copy_session_to(other);
        self.tables.copy_to(&mut other.tables);
    }

    /// A context without rows for events of the same session.
    pub(crate) fn of_session(&self) -> Context {
        let mut context = Context::new();
        self.copy_session_to(&mut context);
        context
    }

    /// Takes another session, without rows, in the memory that is there.
    pub(crate) fn begin_session_of(&mut self, other: &Context) {
        self.forget();
        other.copy_session_to(self);
    }

    /// Forgets everything, but the memory that stacks and labels took.
    pub(crate) fn forget(&mut self) {
        self.version = None;
        self.tables.forget();
    }

    /// Whether two contexts are of the same session. Two readers of one stream have the same, too.
    #[inline]
    pub(crate) fn is_of_session(&self, other: &Context) -> bool {
        self.session.number() == other.session.number()
            || self.version == other.version && self.trace == other.trace
    }

    /// A stream has one session; another context that knows of one knows this one.
    fn copy_session_to(&self, other: &mut Context) {
        if other.version.is_none() {
            (other.version, other.clock) = (self.version, self.clock);
            other.session = self.session;
            other.trace.clone_from(&self.trace);
        }
    }

    /// What the ids of an event of versions 4 to 6 stand for now.
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
