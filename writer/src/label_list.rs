//! Label list blocks (version 6).

use crate::bytes::{GuidBytes, Sink, count32};
use crate::layout::Content;

/// A label list block (version 6, [FORMAT.md 7.8]): u32 first index, u32 count, then lists of
/// labels.
///
/// ```
/// use nettrace_writer::{Label, LabelListBlock};
/// let lists = vec![vec![Label::OpCode(1), Label::Number("k".into(), -3)]];
/// let content = LabelListBlock::new(1, lists).content();
/// assert_eq!(content.bytes, [1, 0, 0, 0, 1, 0, 0, 0, 7, 1, 0x80 | 6, 1, b'k', 5]);
/// ```
///
/// [FORMAT.md 7.8]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#7.8
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelListBlock {
    /// Index of the first list; each following list has the next index.
    pub first_index: u32,
    /// Count to write instead of the number of `lists`.
    pub count: Option<u32>,
    /// The lists. An empty list cannot be stored, so it writes nothing.
    pub lists: Vec<Vec<Label>>,
    /// Bytes after the last list.
    pub trailing: Vec<u8>,
}

/// One label ([FORMAT.md 7.8] and 9.5): u8 kind, then its content. The last label of a
/// list has 0x80 added to its kind.
///
/// [FORMAT.md 7.8]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#7.8
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Label {
    /// Kind 1.
    ActivityId(GuidBytes),
    /// Kind 2.
    RelatedActivityId(GuidBytes),
    /// Kind 3, 16 bytes in display order.
    TraceId([u8; 16]),
    /// Kind 4.
    SpanId(u64),
    /// Kind 5.
    Text(String, String),
    /// Kind 6, a varint.
    Number(String, i64),
    /// Kind 7.
    OpCode(u8),
    /// Kind 8.
    Keywords(u64),
    /// Kind 9.
    Level(u8),
    /// Kind 10.
    Version(u8),
    /// Any kind below 0x80, with its content as bytes.
    Raw(u8, Vec<u8>),
}

impl Label {
    /// Returns the maximum size of the label in bytes: a byte for the kind, 5 for the length of a
    /// text, 10 for a number.
    pub(crate) fn max_bytes(&self) -> usize {
        match self {
            Label::Text(key, value) => 11 + key.len() + value.len(),
            Label::Number(key, _) => 16 + key.len(),
            Label::Raw(_, bytes) => 1 + bytes.len(),
            _ => 17,
        }
    }

    /// Writes the label. `last` is set for the last label of a list.
    pub fn encode(&self, sink: &mut Sink, last: bool) {
        let end = if last { 0x80 } else { 0 };
        match self {
            Label::ActivityId(guid) => sink.u8(end | 1).guid(guid),
            Label::RelatedActivityId(guid) => sink.u8(end | 2).guid(guid),
            Label::TraceId(id) => sink.u8(end | 3).raw(id),
            Label::SpanId(id) => sink.u8(end | 4).u64(*id),
            Label::Text(key, value) => sink.u8(end | 5).string(key).string(value),
            Label::Number(key, value) => sink.u8(end | 6).string(key).varint(*value),
            Label::OpCode(value) => sink.u8(end | 7).u8(*value),
            Label::Keywords(value) => sink.u8(end | 8).u64(*value),
            Label::Level(value) => sink.u8(end | 9).u8(*value),
            Label::Version(value) => sink.u8(end | 10).u8(*value),
            Label::Raw(kind, bytes) => sink.u8(end | kind).raw(bytes),
        };
    }
}

impl LabelListBlock {
    /// Creates a block of lists, with the correct count.
    pub fn new(first_index: u32, lists: Vec<Vec<Label>>) -> Self {
        LabelListBlock { first_index, count: None, lists, trailing: Vec::new() }
    }

    /// Returns the content of the block, with one row for each list.
    pub fn content(&self) -> Content {
        let mut header = Sink::new();
        header.u32(self.first_index).u32(self.count.unwrap_or(count32(self.lists.len())));
        let mut content = Content::raw(header.into_vec());
        for list in &self.lists {
            let mut row = Sink::new();
            for (at, label) in list.iter().enumerate() {
                label.encode(&mut row, at + 1 == list.len());
            }
            content.row(row.as_slice());
        }
        content.bytes.extend_from_slice(&self.trailing);
        content
    }
}
