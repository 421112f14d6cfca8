//! Parts of a stream with nom, and a kind of block that is ours.

use nettrace_parser::raw::nom::combinator::{all_consuming, complete, map};
use nettrace_parser::raw::nom::multi::many0;
use nettrace_parser::raw::nom::number::complete::le_u32;
use nettrace_parser::raw::nom::sequence::terminated;
use nettrace_parser::raw::nom::{IResult, Parser};
use nettrace_parser::raw::{self, Origin};
use nettrace_parser::{Block, BlockKind, Version};

/// Version and blocks of a whole stream, to its end mark.
pub fn blocks(stream: &[u8]) -> IResult<&[u8], (Version, Vec<Block<'_>>)> {
    let (rest, version) = raw::stream_header(stream)?;
    let blocks = many0(complete(raw::block(version, Origin::of(stream))));
    map(all_consuming(terminated(blocks, raw::end_of_stream(version))), |blocks| (version, blocks))
        .parse(rest)
}

/// Number and payload of each event of an event block.
pub fn events(version: Version, content: &[u8]) -> IResult<&[u8], Vec<(u32, &[u8])>> {
    let (rest, encoding) = raw::blob_encoding(version)(content)?;
    let mut running = raw::BlobHeader::default();
    let event = map(raw::blob(encoding, &mut running), |blob| (blob.header.sequence, blob.payload));
    all_consuming(many0(event)).parse(rest)
}

/// The stacks of a stack block: an id and addresses as bytes.
pub fn stacks(content: &[u8]) -> IResult<&[u8], Vec<(u32, &[u8])>> {
    let (rest, ids) = raw::id_range(content)?;
    let (rest, stacks) = all_consuming(many0(raw::stack_row)).parse(rest)?;
    Ok((rest, (ids.first..).zip(stacks).collect()))
}

/// What our own recorder puts into blocks of kind 200: a u32 and a text. Readers that do not know the kind skip it.
#[derive(Debug, PartialEq)]
pub struct Note<'a> {
    pub number: u32,
    pub text: &'a [u8],
}

pub fn note(content: &[u8]) -> IResult<&[u8], Note<'_>> {
    map(all_consuming((le_u32, raw::string_v6)), |(number, text)| Note { number, text }).parse(content)
}

/// The notes of a stream.
pub fn notes<'b>(blocks: &[Block<'b>]) -> Vec<Note<'b>> {
    let ours = blocks.iter().filter(|block| block.kind() == BlockKind::Unknown(200));
    ours.filter_map(|block| Some(note(block.content()).ok()?.1)).collect()
}
