//! Limits the resources that a stream may make its reader use.

/// Limits of a reader ([FORMAT.md 13.4](crate::format_guide#13.4)). The defaults suit every
/// real stream. What exceeds a limit is skipped or discarded, and reported. Example:
/// `let mut limits = Limits::default(); limits.queue_events = 1 << 16;`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum size in bytes of a block's content. Larger blocks are skipped. Default 64 MiB,
    /// at most 512 MiB; blocks of .NET are below 102,420 bytes.
    pub block_bytes: u32,
    /// Maximum number of event types, and of threads, that are defined at a time. Default
    /// 1,048,576 each.
    pub table_rows: usize,
    /// Maximum memory in bytes of each of these: stacks between two sequence points, labels
    /// between two sequence points, event types and threads that are defined at a time.
    /// Default 256 MiB.
    pub table_bytes: usize,
    /// Maximum number of events that wait for their turn in time order, 32 bytes each. Default
    /// 1,048,576, at most 4,194,304.
    pub queue_events: usize,
    /// Maximum number of bytes of the stream between the first and the last event that wait for
    /// their turn in time order. Default 256 MiB.
    pub queue_bytes: u64,
    /// Maximum number of bytes after the end mark that are examined, because damage may have
    /// caused the end mark. Default 1 MiB. Only [`check`](crate::check) waits for these bytes.
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
    /// Returns the limits with a block size that a reader can handle.
    pub(crate) fn bounded(self) -> Limits {
        Limits { block_bytes: self.block_bytes.min(MAX_BLOCK_BYTES), ..self }
    }

    /// Returns the maximum size of one table of event types or threads.
    pub(crate) fn room(&self) -> TableRoom {
        TableRoom { rows: self.table_rows, bytes: self.table_bytes }
    }
}
