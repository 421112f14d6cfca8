//! A kind of block that the format does not know, read among those that it does: `cargo
//! run --example raw_own_block`.
//!
//! Readers skip blocks of unknown kinds, so a writer may add its own: here one of kind
//! 200 that holds remarks, each with a time.
#![allow(clippy::restriction, clippy::pedantic)]

use nettrace_parser::raw::nom::branch::alt;
use nettrace_parser::raw::nom::combinator::{all_consuming, complete, map, map_parser, verify};
use nettrace_parser::raw::nom::multi::many0;
use nettrace_parser::raw::nom::sequence::terminated;
use nettrace_parser::raw::nom::{IResult, Parser};
use nettrace_parser::raw::{self, FromFault, Origin};
use nettrace_parser::{Block, BlockKind};

const REMARKS: BlockKind = BlockKind::Unknown(200);

/// Ticks, and what is remarked.
type Remark<'a> = (u64, &'a [u8]);

/// What a stream holds for us.
#[derive(Debug, PartialEq)]
enum Part<'a> {
    Remarks(Vec<Remark<'a>>),
    Other(BlockKind),
}

/// Our block's content: ticks and a text each, to its end. Whatever the error type is.
fn remarks<'a, E: FromFault<'a>>(content: &'a [u8]) -> IResult<&'a [u8], Vec<Remark<'a>>, E> {
    all_consuming(many0((raw::varuint64, raw::string_v6))).parse(content)
}

/// A whole stream, with our blocks and all others.
fn parts<'a, E: FromFault<'a>>(stream: &'a [u8]) -> IResult<&'a [u8], Vec<Part<'a>>, E> {
    let (rest, version) = raw::stream_header(stream)?;
    let block = raw::block(version, Origin::of(stream));
    let ours = map(verify(block.clone(), |block: &Block<'_>| block.kind() == REMARKS), |block| {
        block.content()
    });
    let ours = map(map_parser(ours, remarks), Part::Remarks);
    let others = map(block, |block| Part::Other(block.kind()));
    // All of the stream is at hand, so that more is needed is an error.
    let parts = many0(complete(alt((ours, others))));
    terminated(parts, complete(raw::end_of_stream(version))).parse(rest)
}

/// A block of version 6.
fn block(kind: u8, content: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = u32::try_from(content.len()).expect("a small block").to_le_bytes();
    [&[a, b, c, kind], content].concat()
}

fn main() {
    let header = [&b"Nettrace"[..], &[0; 4], &[6, 0, 0, 0], &[0; 4]].concat();
    // Of the session only the size of its addresses is known.
    let session = [&[0; 32][..], &[8, 0, 0, 0], &[0; 4]].concat();
    let remarks = b"\x64\x05begin\xc8\x01\x03end";
    let stream = [header, block(1, &session), block(200, remarks), block(0, &[])].concat();

    let (rest, parts) = parts::<raw::FaultAt<'_>>(&stream).expect("a whole stream");
    println!("{parts:?}, {} bytes left", rest.len());
    assert_eq!(
        parts,
        [Part::Other(BlockKind::Trace), Part::Remarks(vec![(100, b"begin"), (200, b"end")])]
    );
}
