#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::restriction, clippy::pedantic))]

mod csv;
mod event_types;
mod expression;
mod filter;
mod glob;
pub mod hidden;
pub mod json;
pub mod long;
mod ndjson;
pub mod nearest;
mod page;
mod payload;
mod plain;
mod predicate;
mod selection;
mod shape;
mod text_value;
pub mod time_range;
pub mod units;
mod utf16;
mod writer;

pub use csv::{Csv, write_csv_value, write_csv_value_safe};
pub use event_types::{EventType, EventTypes, Shape, TypeIndex};
pub use filter::{
    EventPattern, Filter, FilterOptions, ProviderPattern, accepts_type, unmatched_types,
};
pub use glob::Glob;
pub use ndjson::{Ndjson, PayloadJson};
pub use page::Page;
pub use predicate::{
    Answers, COUNTER_GRAMMAR, CounterName, Fact, GRAMMAR, Predicate, PredicateError, Trigger,
};
pub use selection::{Chosen, Selection};
pub use shape::{Name, Names, Path};
pub use text_value::TextValues;
pub use time_range::TimeRange;
pub use writer::EventWriter;

use json::Json;
use nettrace_parser::Event;

/// Optional parts of an event.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Detail {
    /// The addresses of the stack's frames, innermost first.
    pub stacks: bool,
    /// Names of frames, in addition to their addresses; in text, in place of them.
    pub frames: bool,
    /// Stored values: ticks, keywords, opcode, processor, sequence number, offset and the
    /// payload's bytes.
    pub raw: bool,
    /// Times in UTC, in text.
    pub utc: bool,
    /// Writes integers that a double cannot represent exactly, from 2^53 on, as strings.
    pub big_ints_as_strings: bool,
}

/// Appends names as a JSON array.
fn write_names(out: &mut Vec<u8>, names: &[String]) {
    out.push(b'[');
    for (at, name) in names.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.string(name);
    }
    out.push(b']');
}

/// The opcode to show, and whether the stream stores it: if not, it is implied by a name
/// that ends in Start or Stop.
pub fn opcode(event: &Event<'_>) -> (u8, bool) {
    match event.opcode() {
        Some(opcode) => (opcode, true),
        None => (event.implied_opcode(), false),
    }
}
