//! Reads a kind of block that the format does not define: `cargo run --example raw_own_block`.
//!
//! Readers skip blocks of unknown kinds, so a writer may add kinds of its own. Here a block of kind
//! 200 has remarks, each with a time.
#![allow(clippy::restriction, clippy::pedantic)]

use nettrace_parser::raw::nom::{Parser, bytes::take, combinator::all_consuming, multi::many0};
use nettrace_parser::raw::{self, FaultAt, Parsed};

/// A remark's time in ticks, and its text.
type Remark<'a> = (u64, &'a [u8]);

/// Reads the content of a block of remarks. Each remark is a time in ticks and a text.
fn remarks(content: &[u8]) -> Parsed<'_, Vec<Remark<'_>>> {
    all_consuming(many0((raw::varuint64, raw::string_v6))).parse(content)
}

/// Reads a stream. Returns its remarks, and the number of other blocks.
fn read(stream: &[u8]) -> Parsed<'_, (Vec<Remark<'_>>, usize)> {
    let (mut rest, _) = raw::stream_header(stream)?;
    let (mut found, mut others) = (Vec::new(), 0);
    loop {
        let (content, (kind, size)) = raw::block_header_v6(rest)?;
        let (after, content) = take::<_, _, FaultAt<'_>>(size).parse(content)?;
        match kind {
            0 => return Ok((after, (found, others))),
            200 => found.extend(remarks(content)?.1),
            _ => others += 1,
        }
        rest = after;
    }
}

/// Returns a block of version 6.
fn block(kind: u8, content: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = u32::try_from(content.len()).expect("a small block").to_le_bytes();
    [&[a, b, c, kind], content].concat()
}

fn main() {
    let header = [&b"Nettrace"[..], &[0; 4], &[6, 0, 0, 0], &[0; 4]].concat();
    // The Trace block is zero, except for an address size of 8.
    let session = [&[0; 32][..], &[8, 0, 0, 0], &[0; 4]].concat();
    let remarks = b"\x64\x05begin\xc8\x01\x03end";
    let stream = [header, block(1, &session), block(200, remarks), block(0, &[])].concat();

    let (rest, (remarks, others)) = read(&stream).expect("a whole stream");
    println!("{remarks:?} among {others} other blocks, {} bytes left", rest.len());
    assert_eq!(remarks, [(100, &b"begin"[..]), (200, b"end")]);
}
