//! Parses parts of a stream with nom, also a kind of block that this program has defined.

use nettrace_parser::Version;
use nettrace_parser::raw::nom::Parser;
use nettrace_parser::raw::nom::bytes::take;
use nettrace_parser::raw::nom::combinator::{all_consuming, map, map_parser};
use nettrace_parser::raw::nom::multi::many0;
use nettrace_parser::raw::nom::number::complete::le_u32;
use nettrace_parser::raw::nom::sequence::preceded;
use nettrace_parser::raw::{self, Blob, BlobEncoding, BlobHeader, FaultAt, Parsed};

/// Parses the blobs of an event block, or of a metadata block before version 6.
fn blobs(version: Version, content: &[u8]) -> Parsed<'_, Vec<Blob<'_>>> {
    let (rest, is_compressed) = match version {
        Version::V3 => (content, false),
        _ => map(raw::event_block_header, |header| header.is_compressed).parse(content)?,
    };
    let mut running = BlobHeader::default();
    let blob = raw::blob(BlobEncoding::new(version, is_compressed), &mut running);
    all_consuming(many0(blob)).parse(rest)
}

/// Parses an event block. Returns the sequence number and the payload of each event.
pub fn events(version: Version, content: &[u8]) -> Parsed<'_, Vec<(u32, &[u8])>> {
    let (rest, blobs) = blobs(version, content)?;
    Ok((rest, blobs.iter().map(|blob| (blob.header.sequence, blob.payload())).collect()))
}

/// Parses a stack block. Returns the id of each stack, and its addresses as bytes.
pub fn stacks(content: &[u8]) -> Parsed<'_, Vec<(u32, &[u8])>> {
    let (rest, (first, _)) = raw::id_range(content)?;
    let (rest, stacks) = all_consuming(many0(raw::stack_row)).parse(rest)?;
    Ok((rest, (first..).zip(stacks).collect()))
}

/// Parses a metadata block. Returns the metadata id of each event type, and a text of provider and
/// event id.
pub fn types(version: Version, content: &[u8]) -> Parsed<'_, Vec<(u32, String)>> {
    if let Version::V6 { .. } = version {
        let row = map(map_parser(raw::sized_row, raw::metadata_row_v6), |row| {
            (row.id, format!("{}/{}", String::from_utf8_lossy(row.provider), row.event_id))
        });
        return preceded(raw::metadata_block_header_v6, all_consuming(many0(row))).parse(content);
    }
    let (rest, blobs) = blobs(version, content)?;
    let mut types = Vec::new();
    for blob in blobs {
        let (_, described) = raw::metadata_payload(blob.payload())?;
        types.push((described.id, format!("{}/{}", described.provider, described.event_id)));
    }
    Ok((rest, types))
}

/// Content of a block of kind 200, which an imaginary recorder writes: a u32 and a text. Other
/// readers skip blocks of this kind.
#[derive(Debug, PartialEq)]
pub struct Note<'a> {
    pub number: u32,
    pub text: &'a [u8],
}

pub fn note(content: &[u8]) -> Parsed<'_, Note<'_>> {
    map(all_consuming((le_u32, raw::string_v6)), |(number, text)| Note { number, text })
        .parse(content)
}

/// Reads the notes of a stream of version 6.
pub fn notes(stream: &[u8]) -> Parsed<'_, Vec<Note<'_>>> {
    let (mut rest, _) = raw::stream_header(stream)?;
    let mut notes = Vec::new();
    loop {
        let (content, (kind, size)) = raw::block_header_v6(rest)?;
        let (after, content) = take::<_, _, FaultAt<'_>>(size).parse(content)?;
        match kind {
            0 => return Ok((after, notes)),
            200 => notes.push(note(content)?.1),
            _ => {}
        }
        rest = after;
    }
}
