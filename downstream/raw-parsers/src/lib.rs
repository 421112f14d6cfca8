//! Parts of a stream with nom, and a kind of block that is ours.

use nettrace_parser::raw::nom::combinator::{all_consuming, complete, map, map_parser};
use nettrace_parser::raw::nom::multi::many0;
use nettrace_parser::raw::nom::number::complete::le_u32;
use nettrace_parser::raw::nom::sequence::{preceded, terminated};
use nettrace_parser::raw::nom::{IResult, Parser};
use nettrace_parser::raw::{self, FromFault, Origin};
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

/// The event types that a metadata block describes: the id that events use, provider and
/// event id.
///
/// Any error type will do: `FaultAt` says what is wrong and where, `()` costs nothing.
pub fn types<'a, E: FromFault<'a>>(
    version: Version,
    content: &'a [u8],
) -> IResult<&'a [u8], Vec<(u32, String)>, E> {
    if let Version::V6 { .. } = version {
        let row = map(map_parser(raw::sized_row, raw::metadata_row_v6), |row| {
            (row.id, format!("{}/{}", String::from_utf8_lossy(row.provider), row.event_id))
        });
        return preceded(raw::metadata_block_header_v6, all_consuming(many0(row))).parse(content);
    }
    let (rest, encoding) = raw::blob_encoding(version)(content)?;
    let mut running = raw::BlobHeader::default();
    let payload = map(raw::blob(encoding, &mut running), |blob| blob.payload);
    let described = map(map_parser(payload, raw::metadata_payload), |described| {
        (described.id, format!("{}/{}", described.provider, described.event_id))
    });
    all_consuming(many0(described)).parse(rest)
}

/// What our own recorder puts into blocks of kind 200: a u32 and a text. Readers that do
/// not know the kind skip it.
#[derive(Debug, PartialEq)]
pub struct Note<'a> {
    pub number: u32,
    pub text: &'a [u8],
}

pub fn note(content: &[u8]) -> IResult<&[u8], Note<'_>> {
    map(all_consuming((le_u32, raw::string_v6)), |(number, text)| Note { number, text })
        .parse(content)
}

/// The notes of a stream.
pub fn notes<'b>(blocks: &[Block<'b>]) -> Vec<Note<'b>> {
    let ours = blocks.iter().filter(|block| block.kind() == BlockKind::Unknown(200));
    ours.filter_map(|block| Some(note(block.content()).ok()?.1)).collect()
}
