//! Counts the events of each provider in a file: `cargo run --example file -- FILE`.

use nettrace_parser::{PositionedFile, Reader};
use std::collections::BTreeMap;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: file FILE")?;
    let mut reader = Reader::new(PositionedFile::open(path)?);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    while let Some(event) = reader.next_event()? {
        match counts.get_mut(event.provider()) {
            Some(count) => *count = count.saturating_add(1),
            None => {
                counts.insert(event.provider().to_owned(), 1);
            }
        }
    }
    for (provider, count) in &counts {
        println!("{count:>10} {provider}");
    }
    // A cut or damaged file is no error: the outcome says what is missing.
    println!("{}", reader.outcome());
    Ok(())
}
