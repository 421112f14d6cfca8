//! Fuzz target: any bytes as the rows of an event block, decoded by the fast function, which looks
//! at many bytes at once, and by the careful function, which is used at the end of a stream.

use super::choices::Choices;
use crate::invariants::{Questions, assert_every_byte_is_explained, counted, in_pieces, of_slice};
use nettrace_parser::{Class, Damage, Reader};
use nettrace_testdata::synth::{
    Blob, BlobLayout, Content, Definition, EventBlock, MetadataBlock, MetadataRow, PartKind,
    Stream, ThreadBlock, ThreadRow, Trace, Version,
};

pub(crate) fn blob(bytes: &[u8], mut questions: Questions) {
    let mut choices = Choices::new(bytes);
    let version = Version::ALL[choices.below(4)];
    let is_compressed = choices.u8() & 1 == 1;
    let rows = choices.rest();
    if rows.len() > super::MAX_BYTES {
        return;
    }
    let layout = if is_compressed { BlobLayout::Compressed } else { BlobLayout::Uncompressed };
    let mut content = EventBlock::default().layout(layout).content(version).bytes;
    content.extend_from_slice(rows);
    let mut stream = begun(version);
    stream.part(PartKind::Event, Content::raw(content));
    // The careful function decodes the last rows, because nothing follows them.
    let last = stream.bytes.clone();
    // The fast function decodes all rows, because many bytes follow them.
    stream.event_block(&EventBlock::new([]));
    stream.bytes.extend_from_slice(&[0; 200]);
    // Rows may contain objects and blocks, because of which the reader may not believe the size of
    // the block. The bytes after the block decide that, so only rows before are compared.
    let limit = sound_until(&last).min(sound_until(&stream.bytes));
    let is_sized = !is_compressed || version == Version::V3;
    let (careful, fast) =
        (rows_until(&last, limit, is_sized), rows_until(&stream.bytes, limit, is_sized));
    assert_eq!(careful, fast, "the same rows with and without bytes behind them");
    assert_every_byte_is_explained(&last);
    if questions.ask(4) {
        counted::assert_linear(&last);
    }
    if !questions.ask(2) {
        return;
    }
    let whole = of_slice(&last);
    whole.assert_within(last.len() as u64);
    let pieces = in_pieces(&last, 1 + rows.len() % 13, !is_compressed);
    assert!(pieces == whole, "in pieces: {}", pieces.difference(&whole));
}

/// Returns the end of the first block whose size was not believed; the maximum if there is none.
fn sound_until(bytes: &[u8]) -> u64 {
    let mut reader = Reader::from_slice(bytes);
    while let Ok(Some(_)) = reader.next_event() {}
    framing_lost(reader.damage()).min().unwrap_or(u64::MAX)
}

/// Returns the ends of blocks whose size was not believed.
pub(super) fn framing_lost(damage: &Damage) -> impl Iterator<Item = u64> {
    damage
        .losses()
        .filter(|finding| finding.class == Class::FramingLost)
        .map(|finding| finding.lost_offset)
}

/// Returns the range and the header of each row before `limit`. If `is_sized`, rows store their
/// end, which may lie after the payload.
fn rows_until(
    bytes: &[u8],
    limit: u64,
    is_sized: bool,
) -> Vec<(u64, u64, u64, u64, u32, usize, bool)> {
    let mut reader = Reader::from_slice(bytes);
    let mut rows = Vec::new();
    while let Some(event) = reader.next_event().expect("the stream begins well") {
        let size = bytes[event.offset() as usize..]
            .first_chunk()
            .map_or(0, |size| u32::from_le_bytes(*size));
        let sized = event.offset() + 4 + u64::from(size);
        let end =
            if is_sized { sized } else { event.payload_offset() + event.payload().len() as u64 };
        if end > limit {
            break;
        }
        rows.push((
            event.offset(),
            event.timestamp_ticks(),
            event.capture_thread(),
            u64::from(event.metadata_id()),
            event.sequence_number(),
            event.payload().len(),
            event.is_sorted(),
        ));
    }
    rows
}

/// Returns a stream that defines the ids that rows may refer to.
pub(super) fn begun(version: Version) -> Stream {
    let mut stream = Stream::new(version);
    stream.trace(&Trace::default());
    if version == Version::V6 {
        let row = MetadataRow { metadata_id: 1, provider: "Fuzz".into(), ..MetadataRow::default() };
        stream.metadata_rows(&MetadataBlock::new(vec![row]));
        stream.thread_block(&ThreadBlock::new(vec![ThreadRow::new(1, 42, 300)]));
    } else {
        let definition =
            Definition { metadata_id: 1, provider: "Fuzz".into(), ..Definition::default() };
        stream.metadata_blobs(&EventBlock::new([Blob::definition(1, 0, definition.encode())]));
    }
    stream
}
