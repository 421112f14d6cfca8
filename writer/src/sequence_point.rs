//! Sequence points: the `SPBlock` object (versions 4 and 5) and the SequencePoint block (version
//! 6).

use crate::bytes::{Sink, count32};
use crate::layout::{Content, Version};

/// A sequence point: `SPBlock` in versions 4 and 5, a SequencePoint block in version 6. No later
/// event is older than the point. Its sequence numbers show which events were lost. A reader
/// forgets all stacks and label lists at the point.
///
/// [FORMAT.md 6.9] and 7.9; 9.4 says what a reader does:
///
/// | field | versions 4, 5 | version 6 |
/// |---|---|---|
/// | TimeStamp | u64 | u64 |
/// | Flags | – | u32: 1 forget threads, 2 forget metadata |
/// | ThreadCount | u32 | u32 |
/// | each thread | u64 id, u32 number | varuint64 index, varuint32 number |
///
/// ```
/// use nettrace_writer::{SequencePoint, Version};
/// let point = SequencePoint { ticks: 5, threads: vec![(11, 3), (12, 2)], ..SequencePoint::default() };
/// assert_eq!(point.content(Version::V4).bytes.len(), 8 + 4 + 2 * 12);
/// assert_eq!(point.content(Version::V6).bytes.len(), 8 + 4 + 4 + 2 * 2);
/// ```
///
/// [FORMAT.md 6.9]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#6.9
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SequencePoint {
    /// Time of the sequence point, in ticks.
    pub ticks: u64,
    /// Flags that say what readers must forget (version 6).
    pub flags: u32,
    /// Number of threads to write instead of the correct one.
    pub thread_count: Option<u32>,
    /// Id of each thread (its index in version 6) and the last sequence number of that thread.
    pub threads: Vec<(u64, u32)>,
    /// Bytes after the list of threads.
    pub extra: Vec<u8>,
}

impl SequencePoint {
    /// Flag of version 6: readers must forget all threads.
    pub const FORGET_THREADS: u32 = 1;
    /// Flag of version 6: readers must forget all metadata.
    pub const FORGET_METADATA: u32 = 2;

    /// Returns the block's content in the layout of `version`.
    pub fn content(&self, version: Version) -> Content {
        let mut header = Sink::new();
        header.u64(self.ticks);
        if version == Version::V6 {
            header.u32(self.flags);
        }
        header.u32(self.thread_count.unwrap_or(count32(self.threads.len())));
        let mut content = Content::raw(header.into_vec());
        for (thread, number) in &self.threads {
            let mut row = Sink::new();
            if version == Version::V6 {
                row.varuint(*thread).varuint(u64::from(*number));
            } else {
                row.u64(*thread).u32(*number);
            }
            content.row(row.as_slice());
        }
        content.bytes.extend_from_slice(&self.extra);
        content
    }
}
