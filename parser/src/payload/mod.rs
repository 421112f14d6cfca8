//! Returns the values of a payload's fields, borrowed from the stream (FORMAT.md 8).
//!
//! Values are decoded when they are accessed, and not copied: texts stay UTF-16, and arrays and
//! objects are walked on access. A broken field affects only itself and, if its size is
//! unknown, the fields after it. Bytes that cannot be interpreted are returned as bytes.
//!
//! | module | content |
//! |---|---|
//! | [`fields`] | walk from field to field |
//! | [`reading`] | interpretation of ambiguous descriptions |
//! | [`extent`] | sizes of values, limits |
//! | [`decode`] | conversion of bytes to values |
//! | [`visit`](mod@visit) | fastest walk through all fields |
//! | `value`, `array`, `object`, `scalar`, `text` | types of values |
//! | `typed` | conversion of values to Rust types |
//! | `naming` | unique names of fields |
//! | `number_place`, `text_place` | places of numbers and of texts, found once a type |
//! | `value_name` | names of the values of enumerations and of bits |
//!
//! # Quirks
//! [`reading`] deals with values that writers store in another way than described. Also, writers
//! and documents of the format disagree in these points (FORMAT.md 14, 15):
//!
//! - Q8: an event without fields but with a payload is undescribed, not broken. Its bytes are
//!   [`Fields::rest`].
//! - Q13: a payload may be longer than its fields.
//! - Self-describing events wrap all fields in a nameless object, which
//!   [`Schema::payload_fields`](crate::Schema::payload_fields) removes.

mod array;
mod decode;
mod extent;
mod fields;
mod naming;
mod number_place;
mod object;
mod owned;
mod reading;
mod scalar;
mod text;
mod text_place;
mod typed;
mod value;
mod value_name;
mod visit;

pub use array::{Array, Elements};
pub(crate) use fields::field;
pub use fields::{FieldValue, Fields};
pub use naming::{FieldPath, distinct_names};
pub use number_place::NumberPlace;
pub use object::Object;
pub use owned::OwnedValue;
pub use scalar::{DateTime, Decimal};
pub use text::{Utf8, Utf16};
pub use text_place::TextPlace;
pub(crate) use typed::typed;
pub use typed::{FieldError, FromValue};
pub use value::Value;
pub use value_name::ValueName;
pub use visit::VisitValues;
pub(crate) use visit::visit;

use crate::error::Fault;
use std::fmt;

/// Maximum number of values in a payload, including nested values. It limits the work for types
/// without bytes, of which a payload may state any number.
const MAX_VALUES: u32 = 1 << 20;

/// Fault of a field of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PayloadFault {
    /// Offset of the field in the payload, in bytes.
    pub offset: usize,
    /// Fault, such as [`Fault::Truncated`].
    pub fault: Fault,
}

impl fmt::Display for PayloadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "payload byte {}: {}", self.offset, self.fault)
    }
}

impl std::error::Error for PayloadFault {}

/// Wrapper that shows only the first 16 bytes in `Debug`.
struct Cut<'a>(&'a [u8]);

impl fmt::Debug for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.0.get(..16).unwrap_or(self.0);
        shown.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        if shown.len() < self.0.len() { write!(f, "… ({} bytes)", self.0.len()) } else { Ok(()) }
    }
}
