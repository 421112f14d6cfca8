//! How much a stream may ask of its reader.

/// Limits of a reader ([FORMAT.md 13.4](crate::format_guide#13.4)). The defaults suit every real stream; what is
/// above them is
/// skipped or given up, and reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Content of one block, in bytes. Larger blocks are skipped unread. Default 64 MiB, at most
    /// 512 MiB; runtimes stay below 102,420 bytes.
    pub block_bytes: u32,
    /// Event types, and threads, that are known at a time. Default 1,048,576 each.
    pub table_rows: usize,
    /// Stacks, and labels, between two sequence points, and the event types and threads that are known
    /// at a time, in bytes. Default 256 MiB each.
    pub table_bytes: usize,
    /// Events that wait to be put in time order, 32 bytes each. Default 1,048,576; more than 4,194,304 count as that many.
    pub queue_events: usize,
    /// Bytes of the stream between the first and the last event that wait. Default 256 MiB.
    pub queue_bytes: u64,
    /// Bytes behind the end mark that are looked at: they tell whether damage made the mark, and how many there are.
    /// Default 1 MiB. Nothing is waited for there, unless [`Limits::waits_for_tail`] says so.
    pub tail_bytes: u64,
    /// Whether bytes behind the end mark are waited for, as [`check`](crate::check) does: a pipe that is held open holds
    /// up the reader then. Default `false`.
    pub waits_for_tail: bool,
    /// Whether events are left out that are [doubted](crate::Event::is_doubted). Default no: they are given, and marked.
    pub only_sound: bool,
}

/// How much a table may hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) rows: usize,
    pub(crate) bytes: usize,
}

impl Room {
    /// No bound of its own.
    pub(crate) const ANY: Room = Room { rows: usize::MAX, bytes: usize::MAX };
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            block_bytes: 64 << 20,
            table_rows: 1 << 20,
            table_bytes: 256 << 20,
            queue_events: 1 << 20,
            queue_bytes: 256 << 20,
            tail_bytes: 1 << 20,
            waits_for_tail: false,
            only_sound: false,
        }
    }
}

impl Limits {
    /// What one table of event types or threads may hold.
    pub(crate) fn room(&self) -> Room {
        Room { rows: self.table_rows, bytes: self.table_bytes }
    }

    /// The default limits.
    pub fn new() -> Limits {
        Limits::default()
    }

    /// Sets [`Limits::block_bytes`].
    pub fn block_bytes(mut self, bytes: u32) -> Limits {
        self.block_bytes = bytes.min(512 << 20);
        self
    }

    /// Sets [`Limits::table_rows`].
    pub fn table_rows(mut self, rows: usize) -> Limits {
        self.table_rows = rows;
        self
    }

    /// Sets [`Limits::table_bytes`].
    pub fn table_bytes(mut self, bytes: usize) -> Limits {
        self.table_bytes = bytes;
        self
    }

    /// Sets [`Limits::queue_events`].
    pub fn queue_events(mut self, events: usize) -> Limits {
        self.queue_events = events;
        self
    }

    /// Sets [`Limits::only_sound`].
    pub fn only_sound(mut self, only_sound: bool) -> Limits {
        self.only_sound = only_sound;
        self
    }

    /// Sets [`Limits::queue_bytes`].
    pub fn queue_bytes(mut self, bytes: u64) -> Limits {
        self.queue_bytes = bytes;
        self
    }

    /// Sets [`Limits::tail_bytes`].
    pub fn tail_bytes(mut self, bytes: u64) -> Limits {
        self.tail_bytes = bytes;
        self
    }

    /// Sets [`Limits::waits_for_tail`].
    pub fn waits_for_tail(mut self, waits: bool) -> Limits {
        self.waits_for_tail = waits;
        self
    }
}
