//! The converter of the writer's README, and the tests that it shows.

use nettrace_parser::{Error, Reader};

/// Converts a trace to a line for each event, by time: provider and id.
pub fn convert(trace: &[u8]) -> Result<Vec<String>, Error> {
    let mut events = Reader::from_slice(trace).time_ordered();
    let mut lines = Vec::new();
    while let Some(event) = events.next_event()? {
        lines.push(format!("{}/{}", event.provider(), event.id()));
    }
    Ok(lines)
}
