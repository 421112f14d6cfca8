//! Limits for the resources that a stream may make its reader use.

/// Limits of a reader ([FORMAT.md 13.4](crate::format_guide#13.4)). The defaults suit
/// every real stream; anything above a limit is skipped or discarded, and reported.
/// `Limits { queue_events: 1 << 16, ..Limits::default() }` sets one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a block's content in bytes. Larger blocks are skipped. Default 64
    /// MiB, at most 512 MiB; runtimes stay below 102,420 bytes.
    pub block_bytes: u32,
    /// Maximum number of event types, and of threads, that are defined at a time. Default
    /// 1,048,576 each.
    pub table_rows: usize,
    /// Maximum memory in bytes for stacks, and for labels, between two sequence points;
    /// and for the event types, and the threads, that are defined at a time. Default 256
    /// MiB each.
    pub table_bytes: usize,
    /// Maximum number of events queued for time order, 32 bytes each. Default 1,048,576;
    /// at most 4,194,304.
    pub queue_events: usize,
    /// Maximum number of bytes of the stream between the first and the last queued event.
    /// Default 256 MiB.
    pub queue_bytes: u64,
    /// Maximum number of bytes after the end mark that are examined, to report how many
    /// there are and whether the end mark comes from damage. Default 1 MiB. Only bytes
    /// that are available at once are examined, except by [`check`](crate::check).
    pub tail_bytes: u64,
}

/// Maximum of [`Limits::block_bytes`], in bytes.
const MAX_BLOCK_BYTES: u32 = 512 << 20;

/// Maximum size of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableRoom {
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
    /// Returns the limits with a block's size within what a reader can handle.
    pub(crate) fn bounded(self) -> Limits {
        Limits { block_bytes: self.block_bytes.min(MAX_BLOCK_BYTES), ..self }
    }

    /// Returns the maximum size of one table of event types or threads.
    pub(crate) fn room(&self) -> TableRoom {
        TableRoom { rows: self.table_rows, bytes: self.table_bytes }
    }
}
