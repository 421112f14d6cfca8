//! As others use it: with their own error types, their own combinators, their own kinds
//! of blocks.

use nettrace_parser::raw::{self, FaultAt, FromFault, Origin};
use nettrace_parser::{Block, BlockKind, Fault, Label, Version};
use nettrace_testdata::synth::{self, Content, Object, Stream, Trace, tiny_v4, tiny_v6};
use nom::branch::alt;
use nom::combinator::{all_consuming, complete, map, map_opt, map_parser, verify};
use nom::error::{ContextError, Error, ErrorKind, FromExternalError, ParseError, context};
use nom::multi::{fold_many0, length_data, many0, many1};
use nom::sequence::{preceded, terminated};
use nom::{Err, IResult, Parser};

/// Collects what was met on the way, as nom-language's `VerboseError` does, and keeps
/// this crate's faults.
#[derive(Debug, PartialEq)]
struct Trail<'a>(Vec<(&'a [u8], Step)>);

#[derive(Debug, PartialEq)]
enum Step {
    Kind(ErrorKind),
    Within(&'static str),
    Fault(Fault),
}

impl<'a> ParseError<&'a [u8]> for Trail<'a> {
    fn from_error_kind(input: &'a [u8], kind: ErrorKind) -> Self {
        Trail(vec![(input, Step::Kind(kind))])
    }
    fn append(input: &'a [u8], kind: ErrorKind, mut other: Self) -> Self {
        other.0.push((input, Step::Kind(kind)));
        other
    }
}

impl<'a> ContextError<&'a [u8]> for Trail<'a> {
    fn add_context(input: &'a [u8], within: &'static str, mut other: Self) -> Self {
        other.0.push((input, Step::Within(within)));
        other
    }
}

impl<'a> FromExternalError<&'a [u8], Fault> for Trail<'a> {
    fn from_external_error(input: &'a [u8], _: ErrorKind, fault: Fault) -> Self {
        Trail(vec![(input, Step::Fault(fault))])
    }
}

/// A user's own parser over all of it: the names of the event types of a metadata block
/// of version 6.
fn names<'a, E: FromFault<'a> + ContextError<&'a [u8]>>(
    content: &'a [u8],
) -> IResult<&'a [u8], Vec<&'a [u8]>, E> {
    let name = map(raw::metadata_row_v6, |row| row.name);
    let row = context("metadata row", map_parser(raw::sized_row, name));
    context("metadata block", preceded(raw::metadata_block_header_v6, all_consuming(many0(row))))
        .parse(content)
}

fn block_of(bytes: &[u8], kind: BlockKind) -> Vec<u8> {
    let (rest, version) = raw::stream_header::<()>(bytes).unwrap();
    let blocks =
        many1(complete(raw::block::<()>(version, Origin::of(bytes)))).parse(rest).unwrap().1;
    blocks.iter().find(|block| block.kind() == kind).unwrap().content().to_vec()
}

#[test]
fn a_users_parser_gives_the_same_with_each_error_type() {
    let content = block_of(&tiny_v6().bytes, BlockKind::Metadata);
    let expected: Vec<&[u8]> = vec![b"Hi"];
    assert_eq!(names::<Error<&[u8]>>(&content).unwrap().1, expected);
    assert_eq!(names::<()>(&content).unwrap().1, expected);
    assert_eq!(names::<FaultAt<'_>>(&content).unwrap().1, expected);
    assert_eq!(names::<Trail<'_>>(&content).unwrap().1, expected);
}

#[test]
fn a_users_error_type_gets_the_fault_and_the_way_to_it() {
    // The row's size leaves the block by one.
    let mut content = block_of(&tiny_v6().bytes, BlockKind::Metadata);
    let header = 2 + usize::from(u16::from_le_bytes([content[0], content[1]]));
    let size = u16::from_le_bytes([content[header], content[header + 1]]) + 1;
    content[header..header + 2].copy_from_slice(&size.to_le_bytes());

    let mut row = context("metadata row", raw::sized_row::<Trail<'_>>);
    let Err(Err::Error(trail)) = row.parse(&content[header..]) else {
        panic!("the row leaves the block")
    };
    let fault = (&content[header..], Step::Fault(Fault::RowSize(u64::from(size))));
    assert_eq!(trail.0, [fault, (&content[header..], Step::Within("metadata row"))]);

    let Err(Err::Error(trail)) = names::<Trail<'_>>(&content) else {
        panic!("the row leaves the block")
    };
    let steps: Vec<&Step> = trail.0.iter().map(|(_, step)| step).collect();
    // `many0` ends at the row, and what is left is refused.
    assert_eq!(steps, [&Step::Kind(ErrorKind::Eof), &Step::Within("metadata block")]);

    let Err(Err::Error(at)) = names::<FaultAt<'_>>(&content) else {
        panic!("the row leaves the block")
    };
    assert_eq!(
        (at.offset_in(&content), at.fault, at.context),
        (header, Fault::Truncated, "metadata block")
    );
    let nom_error = raw::sized_row::<Error<&[u8]>>(&content[header..]).unwrap_err();
    assert_eq!(nom_error, Err::Error(Error::new(&content[header..], ErrorKind::LengthValue)));
}

#[test]
fn noms_own_combinators_take_the_parts_as_they_take_their_own() {
    // A string is length_data of a varuint32.
    let mut string = complete(length_data(raw::varuint32::<()>));
    assert_eq!(string.parse(&b"\x02hi!"[..]), raw::string_v6(b"\x02hi!"));
    assert_eq!(string.parse(&b"\x03hi"[..]), raw::string_v6(b"\x03hi"));

    // alt: whatever the framing is.
    for (bytes, version) in
        [(tiny_v4().bytes, Version::V4), (tiny_v6().bytes, Version::V6 { minor: 0 })]
    {
        let rest = raw::stream_header::<()>(&bytes).unwrap().0;
        let origin = Origin::of(&bytes);
        let object = map(raw::object::<()>(origin), |object| object.block);
        let mut either = alt((complete(object), complete(raw::block_v6(origin))));
        let (_, first) = either.parse(rest).unwrap();
        assert_eq!(first.kind(), BlockKind::Trace);
        // Nothing is collected: payload bytes of all event blocks.
        let block = complete(raw::block::<()>(version, origin));
        let events = map(
            verify(block, |block: &Block<'_>| block.kind() == BlockKind::Event),
            payload_bytes(version),
        );
        let others = map(complete(raw::block(version, origin)), |_| 0);
        let count = fold_many0(alt((events, others)), || 0, |sum, bytes| sum + bytes);
        let (_, sum) =
            all_consuming(terminated(count, raw::end_of_stream(version))).parse(rest).unwrap();
        let mut expected = 0;
        nettrace_parser::Reader::from_slice(&bytes)
            .for_each(|event| expected += event.payload().len())
            .unwrap();
        assert_eq!(sum, expected);
    }

    // Labels: those of a list that are levels.
    let level = map_opt(raw::label::<()>, |(label, _)| match label {
        Label::Level(level) => Some(level),
        _ => None,
    });
    assert_eq!(many0(level).parse(&[9, 4, 0x89, 5, 7, 1][..]).unwrap(), (&[7, 1][..], vec![4, 5]));
}

fn payload_bytes(version: Version) -> impl Fn(Block<'_>) -> usize {
    move |block| {
        let (rest, encoding) = raw::blob_encoding::<()>(version)(block.content()).unwrap();
        let mut running = raw::BlobHeader::default();
        let blobs = fold_many0(
            raw::blob::<()>(encoding, &mut running),
            || 0,
            |sum, blob| sum + blob.payload.len(),
        );
        all_consuming(blobs).parse(rest).unwrap().1
    }
}

/// A kind of block that the format does not know.
#[derive(Debug, PartialEq)]
enum Mine<'a> {
    Note(&'a [u8]),
    Known(BlockKind),
}

#[test]
fn a_users_own_kind_of_block_is_read_among_the_others_in_both_framings() {
    let mut v6 = Stream::new(synth::Version::V6);
    v6.trace(&Trace::default()).block(&synth::Block::new(200, Content::raw(*b"\x05hello"))).end();
    let bytes = &v6.bytes;
    let (rest, version) = raw::stream_header::<FaultAt<'_>>(bytes).unwrap();
    let origin = Origin::of(bytes);
    let is_note = |block: &Block<'_>| block.kind() == BlockKind::Unknown(200);
    let content =
        map(verify(raw::block_v6::<FaultAt<'_>>(origin), is_note), |block| block.content());
    let note = map(map_parser(content, all_consuming(raw::string_v6)), Mine::Note);
    let known = map(raw::block_v6(origin), |block| Mine::Known(block.kind()));
    let (rest, blocks) = many0(complete(alt((note, known)))).parse(rest).unwrap();
    assert_eq!(blocks, [Mine::Known(BlockKind::Trace), Mine::Note(b"hello")]);
    assert_eq!(raw::end_of_stream::<()>(version)(rest).unwrap().0, b"");

    let mut v4 = Stream::new(synth::Version::V4);
    let object = Object::new(synth::Version::V4, "NoteBlock", Content::raw(*b"\x05hello"));
    v4.trace(&Trace::default()).object(&object).end();
    let bytes = &v4.bytes;
    let (rest, version) = raw::stream_header::<FaultAt<'_>>(bytes).unwrap();
    let object = || raw::object::<FaultAt<'_>>(Origin::of(bytes));
    let content = map_opt(object(), |object| {
        (object.object_type.name == b"NoteBlock").then_some(object.block.content())
    });
    let note = map(map_parser(content, all_consuming(raw::string_v6)), Mine::Note);
    let known = map(object(), |object| Mine::Known(object.block.kind()));
    let (rest, blocks) = many0(complete(alt((note, known)))).parse(rest).unwrap();
    assert_eq!(blocks, [Mine::Known(BlockKind::Trace), Mine::Note(b"hello")]);
    assert_eq!(raw::end_of_stream::<()>(version)(rest).unwrap().0, b"");
}
