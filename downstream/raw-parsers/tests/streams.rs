use nettrace_parser::raw::{FaultAt, nom};
use nettrace_parser::{BlockKind, Reader};
use nettrace_writer::{Block, Content, Sink, Stream, tiny_v4, tiny_v6};
use raw_parsers::{Note, blocks, events, notes, stacks, types};

#[test]
fn the_events_of_a_stream_are_those_that_a_reader_sees() {
    for stream in [tiny_v4(), tiny_v6()] {
        let (version, blocks) = blocks(&stream.bytes).unwrap().1;
        let of = |kind| blocks.iter().find(|block| block.kind() == kind).unwrap().content();
        let ours: Vec<Vec<u8>> = events(version, of(BlockKind::Event))
            .unwrap()
            .1
            .into_iter()
            .map(|(_, payload)| payload.to_vec())
            .collect();
        let mut reader = Reader::from_slice(&stream.bytes);
        let mut seen = Vec::new();
        while let Some(event) = reader.next_event().unwrap() {
            seen.push(event.payload().to_vec());
        }
        assert_eq!(ours, seen);
        let stacks = stacks(of(BlockKind::Stack)).unwrap().1;
        assert_eq!(stacks.first().map(|(id, _)| *id), Some(1));
    }
}

#[test]
fn the_types_of_a_stream_are_described_in_every_version() {
    for (stream, expected) in [
        (tiny_v4(), vec![(1, "Demo/7".to_owned()), (2, "Demo/8".to_owned())]),
        (tiny_v6(), vec![(1, "Demo/7".to_owned())]),
    ] {
        let (version, blocks) = blocks(&stream.bytes).unwrap().1;
        let block = blocks.iter().find(|block| block.kind() == BlockKind::Metadata).unwrap();
        assert_eq!(types::<()>(version, block.content()).unwrap().1, expected);
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let stream = tiny_v4();
    let (version, blocks) = blocks(&stream.bytes).unwrap().1;
    let block = blocks.iter().find(|block| block.kind() == BlockKind::Metadata).unwrap();
    let cut = &block.content()[..block.content().len() - 70];
    let Err(nom::Err::Error(fault)) = types::<FaultAt<'_>>(version, cut) else {
        panic!("it is cut")
    };
    // The second description begins behind the header and the first.
    let second = stream.nth(nettrace_writer::PartKind::Metadata, 0).rows[1].start;
    let offset =
        fault.offset_in(cut) + stream.nth(nettrace_writer::PartKind::Metadata, 0).content.start;
    assert!(offset >= second, "{fault} at {offset}");
}

#[test]
fn a_block_of_our_own_kind_is_read_by_us_and_skipped_by_others() {
    let tiny = tiny_v6();
    let end = tiny.parts.last().unwrap().start;
    let mut stream = Stream::with_header(tiny.version, &tiny.bytes[..end]);
    let mut content = Sink::new();
    content.u32(7).string("a note");
    stream.block(&Block::new(200, Content::raw(content.into_vec()))).end();
    let (_, blocks) = blocks(&stream.bytes).unwrap().1;
    assert_eq!(notes(&blocks), [Note { number: 7, text: b"a note" }]);
    let mut reader = Reader::from_slice(&stream.bytes);
    while reader.next_event().unwrap().is_some() {}
    assert!(reader.is_complete());
}
