//! Label list blocks, which exist in version 6.

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
    /// Index of the first list. Each following list has the next index.
    pub first_index: u32,
    /// Number of lists to write instead of the correct one.
    pub count: Option<u32>,
    /// The lists. An empty list cannot be stored, so nothing is written for it.
    pub lists: Vec<Vec<Label>>,
    /// Bytes after the last list.
    pub trailing: Vec<u8>,
}

/// A label ([FORMAT.md 7.8] and 9.5): its kind as a u8, then its content. The last label of a list
/// has 0x80 added to its kind.
///
/// [FORMAT.md 7.8]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#7.8
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Label {
    /// Kind 1: id of the activity.
    ActivityId(GuidBytes),
    /// Kind 2: id of the related activity.
    RelatedActivityId(GuidBytes),
    /// Kind 3: id of a distributed trace, 16 bytes in the order in which they are displayed.
    TraceId([u8; 16]),
    /// Kind 4: id of a span in a distributed trace.
    SpanId(u64),
    /// Kind 5: a key and a text.
    Text(String, String),
    /// Kind 6: a key and a number, stored as a varint.
    Number(String, i64),
    /// Kind 7: opcode of the event.
    OpCode(u8),
    /// Kind 8: keywords of the event.
    Keywords(u64),
    /// Kind 9: level of the event.
    Level(u8),
    /// Kind 10: version of the event.
    Version(u8),
    /// A label of any kind below 0x80, with the bytes of its content.
    Raw(u8, Vec<u8>),
}

impl Label {
    /// Returns the maximum size of the label in bytes. The kind takes 1 byte, the length of a text
    /// 5, and a number 10.
    pub(crate) fn max_bytes(&self) -> usize {
        match self {
            Label::Text(key, value) => 11 + key.len() + value.len(),
            Label::Number(key, _) => 16 + key.len(),
            Label::Raw(_, bytes) => 1 + bytes.len(),
            _ => 17,
        }
    }

    /// Writes the label. `last` says whether it is the last label of its list.
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
    /// Creates a block of these lists, with the correct count.
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
