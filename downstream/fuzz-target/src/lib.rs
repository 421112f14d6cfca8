//! A converter that is fuzzed: `fuzz/` for cargo-fuzz, `tests/stable.rs` without it.

use nettrace_parser::{Error, Reader};

/// Returns a line for each event: time, name and fields.
pub fn convert(trace: &[u8]) -> Result<Vec<String>, Error> {
    let mut events = Reader::from_slice(trace);
    let mut lines = Vec::new();
    while let Some(event) = events.next_event()? {
        let mut line = format!("{:?} {}/{}", event.nanos(), event.provider(), event.id());
        for field in event.fields() {
            match field.value {
                Ok(value) => line += &format!(" {}={value}", field.name()),
                Err(error) => line += &format!(" {}: {error}", field.name()),
            }
        }
        lines.push(line);
    }
    Ok(lines)
}
