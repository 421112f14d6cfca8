//! Optional parts of an event.

use crate::json::Json;
use nettrace_parser::Event;

/// Optional parts of an event to write.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Detail {
    /// Whether to write the addresses of the stack's frames, innermost first.
    pub stacks: bool,
    /// Whether to write names of frames: in addition to their addresses, and in text instead of
    /// them.
    pub frames: bool,
    /// Whether to write stored values: ticks, keywords, opcode, processor, sequence
    /// number, offset and the payload's bytes.
    pub raw: bool,
    /// Whether to write times in UTC, in text.
    pub utc: bool,
    /// Whether to write integers that a double cannot represent exactly, from 2^53 on, as
    /// strings.
    pub big_ints_as_strings: bool,
}

/// Appends names as a JSON array.
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

/// Returns the opcode to show, and whether the stream stores it. If the stream does not, a name
/// that ends in Start or Stop implies the opcode.
pub(crate) fn opcode(event: &Event<'_>) -> (u8, bool) {
    match event.opcode() {
        Some(opcode) => (opcode, true),
        None => (event.implied_opcode(), false),
    }
}
