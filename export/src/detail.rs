//! Optional parts of an event.

use crate::json::Json;
use nettrace_parser::Event;

/// Optional parts of an event to write.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Detail {
    /// Whether to write the addresses of the stack's frames, innermost first.
    pub stacks: bool,
    /// Whether to write the names of frames. NDJSON and CSV show them in addition to the addresses,
    /// text shows them instead.
    pub frames: bool,
    /// Whether to write stored values: ticks, keywords, opcode, processor, sequence
    /// number, offset and the payload's bytes.
    pub raw: bool,
    /// Whether to write times in UTC, in text.
    pub utc: bool,
    /// Whether to write integers from 2^53 on as strings, because a double cannot represent them
    /// exactly.
    pub big_ints_as_strings: bool,
}

/// Appends the names of frames as a JSON array.
pub(crate) fn write_names(out: &mut Vec<u8>, names: &[String]) {
    out.push(b'[');
    for (at, name) in names.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.string(name);
    }
    out.push(b']');
}

/// Returns the opcode to show, and whether the stream stores it. If it stores none, a name that
/// ends in Start or Stop implies the opcode.
pub(crate) fn opcode(event: &Event<'_>) -> (u8, bool) {
    match event.opcode() {
        Some(opcode) => (opcode, true),
        None => (event.implied_opcode(), false),
    }
}
