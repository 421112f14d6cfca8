//! Thread and RemoveThread blocks, which exist in version 6.

use crate::bytes::{Sink, count16};
use crate::layout::Content;

/// A Thread block (version 6, [FORMAT.md 7.6]): rows without a header.
///
/// ```
/// use nettrace_writer::{ThreadBlock, ThreadEntry, ThreadRow};
/// let mut worker = ThreadRow::new(1, 42, 300);
/// worker.entries.push(ThreadEntry::Name("w".into()));
/// let content = ThreadBlock::new(vec![worker]).content();
/// assert_eq!(content.bytes, [9, 0, 1, 2, 42, 3, 0xac, 2, 1, 1, b'w']);
/// ```
///
/// [FORMAT.md 7.6]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#7.6
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadBlock {
    /// Descriptions of threads.
    pub rows: Vec<ThreadRow>,
    /// Bytes after the last row.
    pub trailing: Vec<u8>,
}

/// A description of a thread: the size of the rest as a u16, its index as a varuint64, then
/// entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadRow {
    /// Row size to write instead of the correct one.
    pub size: Option<u16>,
    /// Index by which events refer to the thread.
    pub index: u64,
    /// Facts about the thread, in order.
    pub entries: Vec<ThreadEntry>,
}

/// A fact about a thread ([FORMAT.md 7.6]): its kind as a u8, then its content.
///
/// [FORMAT.md 7.6]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#7.6
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadEntry {
    /// Kind 1: name of the thread.
    Name(String),
    /// Kind 2: OS id of the process, as a varuint64.
    ProcessId(u64),
    /// Kind 3: OS id of the thread, as a varuint64.
    OsThreadId(u64),
    /// Kind 4: a key and its value, both strings.
    KeyValue(String, String),
    /// Bytes to write unchanged. The first one is the kind.
    Raw(Vec<u8>),
}

impl ThreadEntry {
    fn encode(&self, sink: &mut Sink) {
        match self {
            ThreadEntry::Name(name) => sink.u8(1).string(name),
            ThreadEntry::ProcessId(id) => sink.u8(2).varuint(*id),
            ThreadEntry::OsThreadId(id) => sink.u8(3).varuint(*id),
            ThreadEntry::KeyValue(key, value) => sink.u8(4).string(key).string(value),
            ThreadEntry::Raw(bytes) => sink.raw(bytes),
        };
    }
}

impl ThreadRow {
    /// Creates a row with the ids of a process and a thread.
    pub fn new(index: u64, process_id: u64, os_thread_id: u64) -> Self {
        let entries =
            vec![ThreadEntry::ProcessId(process_id), ThreadEntry::OsThreadId(os_thread_id)];
        ThreadRow { size: None, index, entries }
    }

    /// Returns the bytes of the row, including its size.
    pub fn encode(&self) -> Vec<u8> {
        let mut rest = Sink::new();
        rest.varuint(self.index);
        for entry in &self.entries {
            entry.encode(&mut rest);
        }
        let mut row = Sink::new();
        row.u16(self.size.unwrap_or_else(|| count16(rest.len()))).raw(rest.as_slice());
        row.into_vec()
    }
}

impl ThreadBlock {
    /// Creates a block with these rows.
    pub fn new(rows: Vec<ThreadRow>) -> Self {
        ThreadBlock { rows, trailing: Vec::new() }
    }

    /// Returns the content of the block.
    pub fn content(&self) -> Content {
        let mut content = Content::default();
        for row in &self.rows {
            content.row(&row.encode());
        }
        content.bytes.extend_from_slice(&self.trailing);
        content
    }
}

/// A RemoveThread block (version 6, [FORMAT.md 7.7]): pairs of varuint64 index and
/// varuint32 last sequence number.
///
/// ```
/// use nettrace_writer::RemoveThreadBlock;
/// assert_eq!(RemoveThreadBlock::new(vec![(1, 300)]).content().bytes, [1, 0xac, 2]);
/// ```
///
/// [FORMAT.md 7.7]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#7.7
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoveThreadBlock {
    /// Index of each removed thread, and its last sequence number.
    pub threads: Vec<(u64, u32)>,
    /// Bytes after the last thread.
    pub trailing: Vec<u8>,
}

impl RemoveThreadBlock {
    /// Creates a block that removes these threads.
    pub fn new(threads: Vec<(u64, u32)>) -> Self {
        RemoveThreadBlock { threads, trailing: Vec::new() }
    }

    /// Returns the content of the block.
    pub fn content(&self) -> Content {
        let mut content = Content::default();
        for (index, number) in &self.threads {
            let mut row = Sink::new();
            row.varuint(*index).varuint(u64::from(*number));
            content.row(row.as_slice());
        }
        content.bytes.extend_from_slice(&self.trailing);
        content
    }
}
