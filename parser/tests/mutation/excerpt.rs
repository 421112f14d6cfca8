//! Excerpts of recorded traces with every kind of block of the trace, small enough to be read
//! often.

use nettrace_parser::{BlockKind, Item, Reader, Version as Read};
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{Content, PartKind, Stream, Version};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

/// A block of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) kind: PartKind,
    pub(crate) content: Vec<u8>,
    /// Positions of the rows of an event block, counted from the start of its content.
    pub(crate) rows: Vec<Range<usize>>,
}

/// Some blocks of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Excerpt {
    pub(crate) name: String,
    pub(crate) version: Version,
    /// Bytes before the first block.
    pub(crate) header: Vec<u8>,
    pub(crate) blocks: Vec<Block>,
}

/// Maximum number of bytes that are taken of a trace.
const MAX_BYTES: usize = 80 * 1024;
/// Maximum number of blocks of a kind.
const MAX_OF_A_KIND: usize = 3;

impl Excerpt {
    fn from_trace(name: &str, bytes: &[u8]) -> Excerpt {
        let mut reader = Reader::from_slice(bytes);
        let mut blocks: Vec<Block> = Vec::new();
        let mut counts: HashMap<PartKind, usize> = HashMap::new();
        let (mut header, mut size) = (None, 0);
        // Start of the content of the current block, if it was taken.
        let mut taken = None;
        while let Some(item) = reader.next_item().expect("it can be read") {
            match item {
                Item::Block(block) => {
                    taken = None;
                    let Some(kind) = part_kind(block.kind) else { continue };
                    header.get_or_insert(block.offset as usize);
                    let count = counts.entry(kind).or_default();
                    let content = block.content;
                    if *count >= MAX_OF_A_KIND || (*count > 0 && size + content.len() > MAX_BYTES) {
                        continue;
                    }
                    *count += 1;
                    size += content.len();
                    taken = Some(block.span.start);
                    blocks.push(Block { kind, content: content.to_vec(), rows: Vec::new() });
                }
                Item::Event(event) => {
                    let (Some(start), Some(block)) = (taken, blocks.last_mut()) else { continue };
                    let end = event.payload_offset() + event.payload().len() as u64;
                    block.rows.push((event.offset() - start) as usize..(end - start) as usize);
                }
                other => panic!("neither a block nor an event: {other:?}"),
            }
        }
        let version = match reader.version().expect("it has one") {
            Read::V3 => Version::V3,
            Read::V4 => Version::V4,
            _ => Version::V6,
        };
        let header = bytes[..header.expect("it has blocks")].to_vec();
        Excerpt { name: name.to_owned(), version, header, blocks }
    }

    /// Returns a stream of the blocks and an end mark.
    pub(crate) fn stream(&self) -> Stream {
        let mut stream = Stream::with_header(self.version, &self.header);
        for block in &self.blocks {
            stream.part(block.kind, Content::raw(block.content.as_slice()));
        }
        stream.end();
        stream
    }
}

fn part_kind(kind: BlockKind) -> Option<PartKind> {
    Some(match kind {
        BlockKind::Event => PartKind::Event,
        BlockKind::Metadata => PartKind::Metadata,
        BlockKind::SequencePoint => PartKind::SequencePoint,
        BlockKind::Stack => PartKind::Stack,
        BlockKind::Thread => PartKind::Thread,
        BlockKind::RemoveThread => PartKind::RemoveThread,
        BlockKind::LabelList => PartKind::LabelList,
        _ => return None,
    })
}

/// Returns one excerpt of each trace in the repository.
pub(crate) fn excerpts() -> &'static [Excerpt] {
    static EXCERPTS: OnceLock<Vec<Excerpt>> = OnceLock::new();
    EXCERPTS.get_or_init(|| {
        let traces = corpus::of_repository();
        let excerpts: Vec<_> =
            traces.iter().map(|trace| Excerpt::from_trace(trace.name(), &trace.bytes())).collect();
        assert!(excerpts.len() >= 15, "{} traces", excerpts.len());
        for version in Version::ALL {
            let is_there = excerpts.iter().any(|excerpt| excerpt.version == version);
            assert!(is_there || version == Version::V5, "{version:?}");
        }
        excerpts
    })
}
