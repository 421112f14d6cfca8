use nettrace_parser::{BlockKind, Reader};
use nettrace_writer::{Block, Content, Sink, Stream, tiny_v4, tiny_v6};
use raw_parsers::{Note, blocks, events, notes, stacks};

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
