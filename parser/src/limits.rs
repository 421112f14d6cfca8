//! How many resources a stream may make its reader use.

/// Limits of a reader ([FORMAT.md 13.4](crate::format_guide#13.4)). The defaults suit
/// every real stream; anything above a limit is skipped or discarded, and reported.
/// `Limits { queue_events: 1 << 16, ..Limits::default() }` sets one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Size of one block's content, in bytes. Larger blocks are skipped. Default 64 MiB,
    /// at most 512 MiB; runtimes stay below 102,420 bytes.
    pub block_bytes: u32,
    /// Number of event types, and of threads, that are defined at a time. Default
    /// 1,048,576 each.
    pub table_rows: usize,
    /// Memory in bytes for stacks, and for labels, between two sequence points; and for
    /// the event types, and the threads, that are defined at a time. Default 256 MiB
    /// each.
    pub table_bytes: usize,
    /// Events queued for time order, 32 bytes each. Default 1,048,576; the maximum is
    /// 4,194,304.
    pub queue_events: usize,
    /// Bytes of the stream between the first and the last queued event. Default 256 MiB.
    pub queue_bytes: u64,
    /// Bytes after the end mark that are examined, to report how many there are and
    /// whether the end mark comes from damage. Default 1 MiB. Only bytes that are
    /// available at once are examined, unless [`check`](crate::check) asks.
    pub tail_bytes: u64,
}

/// Upper bound of [`Limits::block_bytes`].
const MOST_BLOCK_BYTES: u32 = 512 << 20;

/// Capacity of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) rows: usize,
    pub(crate) bytes: usize,
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
        }
    }
}

impl Limits {
    /// The same, with a block's size within what a reader can handle.
    pub(crate) fn bounded(self) -> Limits {
        Limits { block_bytes: self.block_bytes.min(MOST_BLOCK_BYTES), ..self }
    }

    /// Capacity of one table of event types or threads.
    pub(crate) fn room(&self) -> Room {
        Room { rows: self.table_rows, bytes: self.table_bytes }
    }
}
