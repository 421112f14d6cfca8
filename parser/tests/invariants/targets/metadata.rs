//! Fuzz target: any bytes as the description of an event type, and as a payload of this type.

use super::blob::{begun, framing_lost};
use super::choices::Choices;
use crate::invariants::{
    Questions, assert_every_byte_is_explained, counted, in_pieces, of_slice, values,
};
use nettrace_parser::Reader;
use nettrace_testdata::synth::{Blob, Content, EventBlock, PartKind, Sink, Version};

pub(crate) fn metadata(bytes: &[u8], mut questions: Questions) {
    let mut choices = Choices::new(bytes);
    let version = Version::ALL[choices.below(4)];
    let payload = choices.u8();
    let payload = choices.bytes(usize::from(payload)).to_vec();
    let description = choices.rest();
    if description.len() > super::MAX_BYTES {
        return;
    }
    let mut stream = begun(version);
    if version == Version::V6 {
        // The bytes are whole rows, with their sizes.
        let mut content = Sink::new();
        content.u16(0).raw(description);
        stream.part(PartKind::Metadata, Content::raw(content.into_vec()));
    } else {
        // The id is fixed, so that events can refer to it.
        let mut definition = Sink::new();
        definition.u32(2).raw(description);
        stream.metadata_blobs(&EventBlock::new([Blob::definition(1, 0, definition.into_vec())]));
    }
    let event = |metadata_id, sequence_number| Blob {
        metadata_id,
        sequence_number,
        thread_id: 1,
        capture_thread_id: 1,
        payload: payload.clone(),
        ..Blob::default()
    };
    stream.event_block(&EventBlock::new([event(1, 1), event(2, 2), event(1, 3)])).end();
    let mut reader = Reader::from_slice(&stream.bytes);
    let mut given = Vec::new();
    let asks_copies = questions.ask(8);
    while let Some(event) = reader.next_event().expect("the stream begins well") {
        given.push(event.offset());
        values::look_at(&event, 5000);
        if asks_copies {
            let copy = format!("{:?} {:?}", event.metadata(), event.schema());
            assert!(!copy.is_empty());
        }
    }
    // A payload may contain blocks. If the type of an event is not defined, a reader of version 6
    // searches its payload for blocks, because it may be a sign that the length of the block is
    // wrong. Rows before such blocks are events nevertheless.
    let block =
        stream.parts.iter().rfind(|part| part.kind == PartKind::Event).expect("it was written");
    let in_block =
        |at: &u64| version == Version::V6 && payload.len() > 40 && *at >= block.start as u64;
    let limit = framing_lost(reader.damage()).filter(in_block).min().unwrap_or(u64::MAX);
    let mut left = given.iter();
    for row in block.rows.iter().filter(|row| row.end as u64 <= limit) {
        let is_there = left.any(|offset| *offset == row.start as u64);
        assert!(is_there, "no description spoils an event: {row:?} of {given:?}");
    }
    assert!(limit < u64::MAX || given.len() == 3, "no description makes an event: {given:?}");
    assert!(reader.is_complete());
    assert_every_byte_is_explained(&stream.bytes);
    if questions.ask(4) {
        counted::assert_linear(&stream.bytes);
    }
    if !questions.ask(2) {
        return;
    }
    let whole = of_slice(&stream.bytes);
    whole.assert_within(stream.bytes.len() as u64);
    let pieces = in_pieces(&stream.bytes, 1 + payload.len() % 13, payload.len() % 2 == 1);
    assert!(pieces == whole, "in pieces: {}", pieces.difference(&whole));
}
