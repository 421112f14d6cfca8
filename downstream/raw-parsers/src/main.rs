//! `raw-parsers TRACE`: prints the number of blocks of each kind, and the bytes of payloads in
//! event blocks.

use nettrace_parser::{BlockKind, Reader};
use std::collections::BTreeMap;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: raw-parsers TRACE")?;
    let stream = std::fs::read(path)?;
    let mut reader = Reader::from_slice(&stream);
    reader.trace()?;
    let version = reader.version().ok_or("no version")?;
    let mut counts = BTreeMap::new();
    let (mut events, mut bytes) = (0, 0);
    while let Some(block) = reader.next_block()? {
        *counts.entry(block.kind.as_str()).or_insert(0) += 1;
        if block.kind == BlockKind::Event {
            let (_, found) =
                raw_parsers::events(version, block.content).map_err(|error| error.to_string())?;
            events += found.len();
            bytes += found.iter().map(|(_, payload)| payload.len()).sum::<usize>();
        }
    }
    println!("{counts:?}, {events} events with {bytes} bytes of payload");
    Ok(())
}
