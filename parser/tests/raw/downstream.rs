//! Tests of `raw` as other programs use it: with nom's combinators, their own error types and their
//! own kinds of blocks.

use crate::invariants::rows::{blobs, blocks};
use nettrace_parser::raw::{self, FaultAt, Parsed};
use nettrace_parser::{BlockKind, Fault, Label, Reader};
use nettrace_testdata::synth::{self, Content, Object, Stream, Trace, tiny_v4, tiny_v6};
use nom::bytes::take;
use nom::combinator::{all_consuming, complete, map, map_opt, map_parser};
use nom::error::context;
use nom::multi::{length_data, many0};
use nom::sequence::preceded;
use nom::{Err, IResult, Parser};

/// Parses the names of all event types of a version 6 metadata block, as a user would write it.
fn names(content: &[u8]) -> Parsed<'_, Vec<&[u8]>> {
    let name = map(raw::metadata_row_v6, |row| row.name);
    let row = context("metadata row", map_parser(raw::sized_row, name));
    context("metadata block", preceded(raw::metadata_block_header_v6, all_consuming(many0(row))))
        .parse(content)
}

fn block_of(bytes: &[u8], kind: BlockKind) -> Vec<u8> {
    let (_, blocks, _) = blocks(bytes).unwrap();
    blocks.iter().find(|block| block.kind == kind).unwrap().content.to_vec()
}

#[test]
fn a_users_parser_is_told_what_is_wrong_and_where() {
    let mut content = block_of(&tiny_v6().bytes, BlockKind::Metadata);
    assert_eq!(names(&content).unwrap().1, [b"Hi"]);
    // The row ends one byte after the block.
    let header = 2 + usize::from(u16::from_le_bytes([content[0], content[1]]));
    let size = u16::from_le_bytes([content[header], content[header + 1]]) + 1;
    content[header..header + 2].copy_from_slice(&size.to_le_bytes());
    let Err(Err::Error(at)) = raw::sized_row(&content[header..]) else {
        panic!("the row leaves the block")
    };
    assert_eq!((at.fault, at.rest), (Fault::RowSize(u64::from(size)), &content[header..]));
    // `many0` stops at the row, and the rest is refused.
    let Err(Err::Error(at)) = names(&content) else { panic!("the row leaves the block") };
    assert_eq!(
        (at.offset_in(&content), at.fault, at.context),
        (header, Fault::Truncated, "metadata block")
    );
}

#[test]
fn a_users_error_type_is_made_from_the_fault() {
    #[derive(Debug, PartialEq)]
    struct Oops(String);
    fn id(input: &[u8]) -> IResult<&[u8], u32, Oops> {
        raw::varuint32(input).map_err(|error| error.map(|at| Oops(at.fault.to_string())))
    }
    assert_eq!(id(&[5]), Ok((&[][..], 5)));
    assert_eq!(id(&[0x80]), Err(Err::Error(Oops("the bytes end too early".to_owned()))));
}

#[test]
fn noms_own_combinators_take_the_parts_as_they_take_their_own() {
    // A string is `length_data` of a varuint32.
    let mut string = complete(length_data(raw::varuint32));
    assert_eq!(string.parse(&b"\x02hi!"[..]), raw::string_v6(b"\x02hi!"));
    assert!(string.parse(&b"\x03hi"[..]).is_err());

    // Sums the payload bytes of all event blocks.
    for bytes in [tiny_v4().bytes, tiny_v6().bytes] {
        let (version, blocks, is_ended) = blocks(&bytes).unwrap();
        let events = blocks.iter().filter(|block| block.kind == BlockKind::Event);
        let payloads = events.flat_map(|block| blobs(version, block.content, 0).0);
        let sum: usize = payloads.map(|(_, blob)| blob.payload().len()).sum();
        let mut expected = 0;
        Reader::from_slice(&bytes).for_each(|event| expected += event.payload().len()).unwrap();
        assert_eq!((sum, is_ended), (expected, true));
    }

    // Selects the labels that are levels.
    let level = map_opt(raw::label, |(label, _)| match label {
        Label::Level(level) => Some(level),
        _ => None,
    });
    assert_eq!(many0(level).parse(&[9, 4, 0x89, 5, 7, 1][..]).unwrap(), (&[7, 1][..], vec![4, 5]));
}

#[test]
fn a_users_own_kind_of_block_is_read_among_the_others_in_both_framings() {
    let mut v6 = Stream::new(synth::Version::V6);
    v6.trace(&Trace::default()).block(&synth::Block::new(200, Content::raw(*b"\x05hello"))).end();
    let (mut rest, _) = raw::stream_header(&v6.bytes).unwrap();
    let mut notes = Vec::new();
    loop {
        let (content, (kind, size)) = raw::block_header_v6(rest).unwrap();
        let (behind, content) = take::<_, _, FaultAt<'_>>(size).parse(content).unwrap();
        match kind {
            0 => break,
            200 => notes.push(all_consuming(raw::string_v6).parse(content).unwrap().1),
            _ => {}
        }
        rest = behind;
    }
    assert_eq!(notes, [b"hello"]);

    let mut v4 = Stream::new(synth::Version::V4);
    let object = Object::new(synth::Version::V4, "NoteBlock", Content::raw(*b"\x05hello"));
    v4.trace(&Trace::default()).object(&object).end();
    let at = v4.parts[2].start;
    let (_, (object, span)) = raw::object_header(at as u64)(&v4.bytes[at..]).unwrap();
    assert_eq!((object.name, object.is_readable()), (&b"NoteBlock"[..], false));
    let content = &v4.bytes[span.start as usize..span.end() as usize];
    assert_eq!(all_consuming(raw::string_v6).parse(content).unwrap().1, b"hello");
}
