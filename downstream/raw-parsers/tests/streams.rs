use nettrace_parser::raw::nom;
use nettrace_parser::{BlockKind, Reader, Version};
use nettrace_writer::{Block, Content, PartKind, Sink, Stream, tiny_v4, tiny_v6};
use raw_parsers::{Note, events, notes, stacks, types};

/// Returns the version of a stream, and the content of its first block of kind `kind`.
fn first(stream: &Stream, kind: BlockKind) -> (Version, Vec<u8>) {
    let mut reader = Reader::from_slice(&stream.bytes);
    reader.trace().unwrap();
    let version = reader.version().unwrap();
    loop {
        let block = reader.next_block().unwrap().expect("a block of this kind");
        if block.kind == kind {
            return (version, block.content.to_vec());
        }
    }
}

#[test]
fn the_events_of_a_stream_are_those_that_a_reader_sees() {
    for stream in [tiny_v4(), tiny_v6()] {
        let (version, content) = first(&stream, BlockKind::Event);
        let events = events(version, &content).unwrap().1;
        let ours: Vec<&[u8]> = events.into_iter().map(|(_, payload)| payload).collect();
        let mut reader = Reader::from_slice(&stream.bytes);
        let mut seen = Vec::new();
        while let Some(event) = reader.next_event().unwrap() {
            seen.push(event.payload().to_vec());
        }
        assert_eq!(ours, seen);
        let (_, content) = first(&stream, BlockKind::Stack);
        assert_eq!(stacks(&content).unwrap().1.first().map(|(id, _)| *id), Some(1));
    }
}

#[test]
fn the_types_of_a_stream_are_described_in_every_version() {
    for (stream, expected) in [
        (tiny_v4(), vec![(1, "Demo/7".to_owned()), (2, "Demo/8".to_owned())]),
        (tiny_v6(), vec![(1, "Demo/7".to_owned())]),
    ] {
        let (version, content) = first(&stream, BlockKind::Metadata);
        assert_eq!(types(version, &content).unwrap().1, expected);
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let stream = tiny_v4();
    let (version, content) = first(&stream, BlockKind::Metadata);
    let cut = &content[..content.len() - 70];
    let Err(nom::Err::Error(fault)) = types(version, cut) else { panic!("it is cut") };
    // The second definition begins after the header and the first definition.
    let part = stream.nth(PartKind::Metadata, 0);
    let offset = fault.offset_in(cut) + part.content.start;
    assert!(offset >= part.rows[1].start, "{fault} at {offset}");
}

#[test]
fn a_block_of_our_own_kind_is_read_by_us_and_skipped_by_others() {
    let tiny = tiny_v6();
    let end = tiny.parts.last().unwrap().start;
    let mut stream = Stream::with_header(tiny.version, &tiny.bytes[..end]);
    let mut content = Sink::new();
    content.u32(7).string("a note");
    stream.block(&Block::new(200, Content::raw(content.into_vec()))).end();
    assert_eq!(notes(&stream.bytes).unwrap().1, [Note { number: 7, text: b"a note" }]);
    let mut reader = Reader::from_slice(&stream.bytes);
    while reader.next_event().unwrap().is_some() {}
    assert!(reader.is_complete());
}
