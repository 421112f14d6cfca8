//! The blobs of one block, from nothing but its bytes: `gzip -dc FILE.gz | cargo run
//! --example raw_blobs`.

use nettrace_parser::raw::nom::{Err, IResult, Parser, combinator::all_consuming, multi::many0};
use nettrace_parser::raw::{self, Blob, BlobHeader, FaultAt, Origin};
use nettrace_parser::{BlockKind, Version};
use std::io::{self, Read};

/// All blobs of an event block's content.
fn blobs(version: Version, content: &[u8]) -> IResult<&[u8], Vec<Blob<'_>>, FaultAt<'_>> {
    let (rest, encoding) = raw::blob_encoding(version)(content)?;
    // What a compressed header does not say is as in the blob before.
    let mut running = BlobHeader::default();
    all_consuming(many0(raw::blob(encoding, &mut running))).parse(rest)
}

fn first_event_block(stream: &[u8]) -> Result<(), Err<FaultAt<'_>>> {
    let (mut rest, version) = raw::stream_header(stream)?;
    loop {
        let (behind, block) = raw::block(version, Origin::of(stream))(rest)?;
        if block.kind() == BlockKind::Event {
            for Blob { header, payload, .. } in blobs(version, block.content())?.1 {
                println!(
                    "{:>6} at {} ticks, {} bytes",
                    header.sequence,
                    header.timestamp,
                    payload.len()
                );
            }
            return Ok(());
        }
        rest = behind;
    }
}

fn main() -> io::Result<()> {
    let mut stream = Vec::new();
    io::stdin().read_to_end(&mut stream)?;
    first_event_block(&stream).map_err(|error| io::Error::other(error.to_string()))
}
