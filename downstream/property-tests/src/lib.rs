//! The converter of the writer's README, with the tests shown there.

use nettrace_parser::{Error, Reader};

/// Converts a trace to a line of provider and id for each event, in time order.
pub fn convert(trace: &[u8]) -> Result<Vec<String>, Error> {
    let mut events = Reader::from_slice(trace).time_ordered();
    let mut lines = Vec::new();
    while let Some(event) = events.next_event()? {
        lines.push(format!("{}/{}", event.provider(), event.id()));
    }
    Ok(lines)
}
