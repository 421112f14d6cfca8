//! Checks that the functions of `raw` and a reader decode the same rows of each event block, or
//! refuse them at the same place for the same reason. A reader decodes most rows with a fast
//! function; `raw` has only the careful one.

use nettrace_parser::raw::{self, Blob, BlobEncoding, BlobHeader, FaultAt, nom};
use nettrace_parser::{BlockKind, Class, Damage, Event, Fault, Reader, Span, Version};
use nom::Parser;
use nom::combinator::all_consuming;
use nom::multi::many0;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Fields of a row that `raw` and a reader both have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) offset: u64,
    payload_offset: u64,
    payload: (usize, u64),
    timestamp: u64,
    metadata_id: u32,
    sequence: u32,
    threads: [u64; 2],
    processor: Option<u32>,
    stack_id: u32,
    label_list: u32,
    stack: (usize, u64),
    activities: String,
    is_sorted: bool,
}

fn digest(bytes: &[u8]) -> (usize, u64) {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    (bytes.len(), hasher.finish())
}

impl Row {
    fn of_event(event: &Event<'_>, version: Version) -> Row {
        let activities = match version {
            Version::V6 { .. } => String::new(),
            _ => format!(
                "{} {}",
                event.activity_id().unwrap_or_default(),
                event.related_activity_id().unwrap_or_default()
            ),
        };
        let stack = if version == Version::V3 { event.stack().bytes() } else { &[] };
        Row {
            offset: event.offset(),
            payload_offset: event.payload_offset(),
            payload: digest(event.payload()),
            timestamp: event.timestamp_ticks(),
            metadata_id: event.metadata_id(),
            sequence: event.sequence_number(),
            threads: [event.raw_thread(), event.capture_thread()],
            processor: event.processor(),
            stack_id: event.stack_id(),
            label_list: event.label_list_id(),
            stack: digest(stack),
            activities,
            is_sorted: event.is_sorted(),
        }
    }

    fn of_blob(blob: &Blob<'_>, offset: u64, version: Version) -> Row {
        let header = &blob.header;
        let activities = match version {
            Version::V6 { .. } => String::new(),
            _ => format!("{} {}", header.activity, header.related_activity),
        };
        Row {
            offset,
            payload_offset: offset + u64::from(header.header_size),
            payload: digest(blob.payload()),
            timestamp: header.timestamp,
            metadata_id: header.metadata_id,
            sequence: header.sequence,
            threads: [header.thread, header.capture_thread],
            processor: (header.processor != u32::MAX).then_some(header.processor),
            stack_id: header.stack,
            label_list: header.label_list,
            stack: digest(blob.stack()),
            activities,
            is_sorted: header.is_sorted,
        }
    }
}

/// Offset of a refused row and the fault, if a block has one.
pub(crate) type Refused = Option<(u64, Fault)>;

/// Reads the content of a block of blobs, which begins at `start`, with the functions of `raw`.
/// Returns each blob and its offset.
pub(crate) fn blobs(
    version: Version,
    content: &[u8],
    start: u64,
) -> (Vec<(u64, Blob<'_>)>, Refused) {
    let position = |rest: &[u8]| start + (content.len() - rest.len()) as u64;
    let fault_of = |error: nom::Err<FaultAt<'_>>| match error {
        nom::Err::Error(at) => at.fault,
        other => panic!("errors are recoverable: {other:?}"),
    };
    let (mut rest, is_compressed) = match version {
        Version::V3 => (content, false),
        _ => match raw::event_block_header(content) {
            Ok((rest, header)) => (rest, header.is_compressed),
            Err(error) => return (Vec::new(), Some((start, fault_of(error)))),
        },
    };
    let encoding = BlobEncoding::new(version, is_compressed);
    let (mut blobs, mut running) = (Vec::new(), BlobHeader::default());
    while !rest.is_empty() {
        let before = running;
        let read = raw::blob(encoding, &mut running)(rest);
        match read {
            Ok((behind, blob)) => {
                assert!(behind.len() < rest.len() && blob.bytes.len() == rest.len() - behind.len());
                blobs.push((position(rest), blob));
                rest = behind;
            }
            Err(error) => {
                assert_eq!(running, before, "an error changes no state");
                return (blobs, Some((position(rest), fault_of(error))));
            }
        }
    }
    (blobs, None)
}

/// A block that was found with the functions of `raw` alone.
#[derive(Debug)]
pub(crate) struct FoundBlock<'a> {
    pub(crate) kind: BlockKind,
    pub(crate) offset: u64,
    pub(crate) span: Span,
    pub(crate) content: &'a [u8],
}

/// Returns the blocks up to the first one that is cut or has wrong framing, and whether the end of
/// the stream follows.
pub(crate) fn blocks(bytes: &[u8]) -> Option<(Version, Vec<FoundBlock<'_>>, bool)> {
    let (rest, version) = raw::stream_header(bytes).ok()?;
    let (mut at, mut blocks) = (bytes.len() - rest.len(), Vec::new());
    loop {
        let input = &bytes[at..];
        let (kind, span, end_tag) = if let Version::V6 { .. } = version {
            let Ok((_, (number, len))) = raw::block_header_v6(input) else { break };
            let kind = match number {
                0 => return Some((version, blocks, at + 4 + len as usize == bytes.len())),
                // Kinds have numbers from 1 on.
                1..=8 => BlockKind::all().nth(usize::from(number) - 1).unwrap(),
                other => BlockKind::Unknown(other),
            };
            (kind, Span { start: at as u64 + 4, len }, 0)
        } else if input.first() == Some(&1) {
            return Some((version, blocks, input.len() == 1));
        } else {
            let Ok((_, (object, span))) = raw::object_header(at as u64)(input) else { break };
            let kind = if object.is_readable() { object.kind() } else { BlockKind::Unknown(0) };
            (kind, span, 1)
        };
        let end = span.end() as usize;
        let Some(content) = bytes.get(span.start as usize..end) else { break };
        if end_tag == 1 && bytes.get(end) != Some(&6) {
            break;
        }
        blocks.push(FoundBlock { kind, offset: at as u64, span, content });
        at = end + end_tag;
    }
    Some((version, blocks, false))
}

/// Returns the offsets of blocks whose kind or size in the header the reader does not believe.
fn is_doubt(damage: &Damage) -> impl Iterator<Item = u64> {
    let doubts = damage.findings().iter().filter(|finding| {
        finding.class == Class::FramingLost
            // In these cases the reader knows the kind of the block by its content.
            || matches!(
                finding.fault,
                Fault::BlockSize(_)
                    | Fault::ChangedKind(_)
                    | Fault::Padding(_)
                    | Fault::TypeName
                    | Fault::MinimumVersion(_)
            )
    });
    doubts.map(|finding| finding.block_offset.min(finding.offset))
}

/// Numbers of rows and of refused rows on which both ways agree.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Agreed {
    pub(crate) rows: usize,
    /// Number of blocks with a refused row.
    pub(crate) refused: usize,
}

/// Compares the rows of `raw` and of a reader for each event block, up to the first block whose
/// size the reader does not believe.
pub(crate) fn assert_raw_rows_are_the_readers(bytes: &[u8]) -> Agreed {
    let mut agreed = Agreed::default();
    let Some((version, blocks, _)) = blocks(bytes) else { return agreed };
    let mut reader = Reader::from_slice(bytes);
    let mut one_by_one = Vec::new();
    loop {
        match reader.next_event() {
            Ok(Some(event)) => one_by_one.push(Row::of_event(&event, version)),
            Ok(None) => break,
            Err(_) => return agreed,
        }
    }
    let mut fast = Vec::new();
    let mut other = Reader::from_slice(bytes);
    other
        .for_each(|event| fast.push(Row::of_event(&event, version)))
        .expect("the stream begins well");
    assert!(fast == one_by_one, "for_each gives what next_event gives");

    let damage = reader.damage();
    let limit = is_doubt(damage).min().unwrap_or(u64::MAX);
    let mut events = one_by_one.into_iter().peekable();
    for block in blocks.iter().filter(|block| block.kind == BlockKind::Event) {
        let span = block.span;
        if block.offset >= limit || span.end() > limit || u64::from(span.len) > 1 << 26 {
            break;
        }
        let (blobs, refused) = blobs(version, block.content, span.start);
        let blobs =
            blobs.iter().filter(|(_, blob)| version != Version::V3 || blob.header.metadata_id != 0);
        for (offset, blob) in blobs {
            let event = events.next();
            assert_eq!(event, Some(Row::of_blob(blob, *offset, version)), "{block:?}");
            agreed.rows += 1;
        }
        agreed.refused += usize::from(refused.is_some());
        let is_behind = events.peek().is_none_or(|event| event.offset >= span.end());
        assert!(is_behind, "{block:?}: a reader gives {:?}, raw gives {refused:?}", events.peek());
        let of_block = damage.losses().find(|finding| {
            // A contradiction between rows is not a fault of the row.
            finding.block_offset == block.offset
                && finding.class != Class::Contradiction
                && matches!(finding.context, "event blob" | "event block header")
        });
        // Findings beyond these are only counted.
        if damage.findings().len() < 64 {
            let told = of_block.map(|finding| (finding.offset, finding.fault));
            assert_eq!(told, refused, "{block:?}");
        }
    }
    agreed
}

/// Reads all of the input with `row`, and returns the rows.
pub(crate) fn all<'a, T>(
    row: impl Parser<&'a [u8], Output = T, Error = FaultAt<'a>>,
    input: &'a [u8],
) -> Vec<T> {
    let (_, rows) = all_consuming(many0(row)).parse(input).expect("rows to the end");
    rows
}

/// Returns whether a stream consists of intact blocks and its end.
pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    blocks(bytes).is_some_and(|(.., is_ended)| is_ended)
}
