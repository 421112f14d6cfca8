//! Reads the blobs of one block from its bytes alone: `gzip -dc FILE.gz | cargo run --example
//! raw_blobs`.

use nettrace_parser::raw::nom::{Parser, combinator::all_consuming, multi::many0};
use nettrace_parser::raw::{self, Blob, BlobEncoding, BlobHeader, Parsed};
use nettrace_parser::{BlockKind, Reader, Version};
use std::io;

/// Reads all blobs of an event block's content.
fn blobs(version: Version, content: &[u8]) -> Parsed<'_, Vec<Blob<'_>>> {
    let (rest, is_compressed) = match version {
        Version::V3 => (content, false),
        _ => {
            let (rest, header) = raw::event_block_header(content)?;
            (rest, header.is_compressed)
        }
    };
    // A compressed header omits fields that have the value of the previous blob.
    let mut running = BlobHeader::default();
    let encoding = BlobEncoding::new(version, is_compressed);
    all_consuming(many0(raw::blob(encoding, &mut running))).parse(rest)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut reader = Reader::from_read(io::stdin().lock());
    reader.trace()?;
    let version = reader.version().ok_or("no version")?;
    while let Some(block) = reader.next_block()? {
        if block.kind == BlockKind::Event {
            let (_, blobs) = blobs(version, block.content).map_err(|error| error.to_string())?;
            for blob in blobs {
                println!(
                    "{:>6} at {} ticks, {} bytes",
                    blob.header.sequence,
                    blob.header.timestamp,
                    blob.payload().len()
                );
            }
            break;
        }
    }
    Ok(())
}
