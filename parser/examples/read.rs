//! Prints the exceptions of a stream from standard input, in time order: `gzip -dc FILE.gz | cargo
//! run --example read`.

use nettrace_parser::Reader;
use nettrace_parser::view::{Exception, View};
use std::io;

fn main() -> Result<(), nettrace_parser::Error> {
    let mut events = Reader::from_read(io::stdin().lock()).time_ordered();
    while let Some(event) = events.next_event()? {
        if let Some(exception) = Exception::from_event(&event) {
            let milliseconds = event.nanos().unwrap_or(0) / 1_000_000;
            println!("{milliseconds:>8} ms {}: {}", exception.type_name, exception.message);
        }
    }
    for finding in events.reader().damage().losses() {
        eprintln!("damage at {finding}");
    }
    if !events.reader().is_complete() {
        eprintln!("the stream ends without its end mark");
    }
    Ok(())
}
