//! Payloads: walks schema and bytes together and returns typed values borrowed from the
//! stream (FORMAT.md 8).
//!
//! Nothing is decoded before it is accessed, and nothing is copied: texts stay UTF-16,
//! arrays and objects are walked when they are accessed. A broken field affects only
//! itself and, if its size is unknown, the fields after it. Bytes that cannot be
//! interpreted are returned as bytes.
//!
//! | module | what it does |
//! |---|---|
//! | [`fields`] | the walk from field to field |
//! | [`reading`] | which bytes an ambiguous description means |
//! | [`extent`] | how many bytes a value takes; limits |
//! | [`decode`] | values from bytes |
//! | [`visit`](mod@visit) | the fastest way through all of them |
//! | `value`, `array`, `object`, `scalar`, `text` | the values |
//! | `typed` | values as types of Rust |
//!
//! # Quirks
//! Where the format's documents and its writers disagree (numbers of FORMAT.md 14):
//!
//! - Q1: a date has 8 bytes, although the document for version 6 says 16; 16 bytes are
//!   used if only they fit ([`reading`]).
//! - Q8: an event without fields but with a payload is undescribed, not broken; its bytes
//!   are [`Fields::rest`].
//! - Q9: self-describing events store a boolean as one byte under the code for four
//!   ([`reading`]).
//! - Q10: they store a decimal as a double ([`reading`]).
//! - Q11: for a null text of a native event, runtimes before .NET 6 write nothing at all,
//!   not even a terminator ([`reading`]).
//! - Q12: older one-collect wrote counted texts under the code of a UTF-8 code unit
//!   ([`reading`]).
//! - Q13: payloads may be longer than their fields; that is not a fault.
//! - A nameless object around all fields of a self-describing event is removed: its
//!   members are the fields (FORMAT.md 15,
//!   [`Schema::payload_fields`](crate::Schema::payload_fields)).

mod array;
mod decode;
mod extent;
mod fields;
mod naming;
mod object;
mod reading;
mod scalar;
mod text;
mod typed;
mod value;
mod visit;

pub use array::{Array, Elements};
pub(crate) use fields::field;
pub use fields::{FieldValue, Fields};
pub use naming::{FieldPath, distinct_names};
pub use object::Object;
pub use scalar::{DateTime, Decimal};
pub use text::{Utf8, Utf16};
pub(crate) use typed::typed;
pub use typed::{FieldError, FromValue};
pub use value::Value;
pub use visit::VisitValues;
pub(crate) use visit::visit;

use crate::error::Fault;
use crate::schema::ValueMap;
use std::fmt;

/// Maximum number of values in one payload, including nested ones. Without a limit, types
/// that take no bytes could multiply for free.
const MAX_VALUES: u32 = 1 << 20;

/// What is wrong with one field of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PayloadFault {
    /// Offset in the payload, in bytes, of the field.
    pub offset: usize,
    /// What is wrong.
    pub fault: Fault,
}

impl fmt::Display for PayloadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "payload byte {}: {}", self.offset, self.fault)
    }
}

impl std::error::Error for PayloadFault {}

/// Shows only the first 16 bytes in `Debug`.
struct Cut<'a>(&'a [u8]);

impl fmt::Debug for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.get(..16).unwrap_or(self.0);
        shown.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        if shown.len() < self.0.len() { write!(f, "… ({} bytes)", self.0.len()) } else { Ok(()) }
    }
}

impl ValueMap {
    /// Returns the name of a value, or the names of its bits joined by `|`, followed by
    /// bits without a name in hexadecimal. `None` if nothing has a name.
    pub fn name_of(&self, value: u64) -> Option<String> {
        let name_of = |wanted: u64| {
            self.entries.iter().find(|(entry, _)| *entry == wanted).map(|(_, name)| *name)
        };
        if !self.is_bitmap || value == 0 {
            return name_of(value).map(str::to_owned);
        }
        let mut text = String::new();
        let mut left = value;
        for (bits, name) in self.entries.iter().filter(|(bits, _)| *bits != 0) {
            if value & bits == *bits {
                left &= !bits;
                if !text.is_empty() {
                    text.push('|');
                }
                text.push_str(name);
            }
        }
        if text.is_empty() {
            return None;
        }
        if left != 0 {
            text.push_str(&format!("|{left:#x}"));
        }
        Some(text)
    }
}
