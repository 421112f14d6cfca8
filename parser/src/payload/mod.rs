//! Payloads: schema and bytes walked together, giving typed values borrowed from the stream
//! (format.md 8).
//!
//! Nothing is decoded before it is asked for, and nothing is copied: texts stay UTF-16, arrays and
//! objects are walked when they are looked into. A bad field spoils itself and, if its size is not
//! known, those behind it; what could not be understood is given as bytes.

mod extent;
mod reading;
mod scalar;
mod text;
mod value;

pub use scalar::{DateTime, Decimal};
pub use text::{Utf8, Utf16};
pub use value::{Array, Object, Value};

use crate::error::Fault;
use crate::schema::{Field, FieldType, Schema, ValueMap};
use extent::{Place, Walk};
use std::fmt;

/// Values that one payload may hold, nested ones included. Types that take no bytes multiply
/// without costing any.
pub(crate) const VALUE_LIMIT: u32 = 1 << 20;

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

/// One field of a payload, with its value.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FieldValue<'r> {
    /// The field's description.
    pub field: &'r Field,
    /// Offset in the payload, in bytes.
    pub offset: usize,
    /// The value, or what is wrong with it.
    pub value: Result<Value<'r>, PayloadFault>,
}

impl<'r> FieldValue<'r> {
    /// The field's name.
    pub fn name(&self) -> &'r str {
        &self.field.name
    }

    /// The names of the field's values, if the catalog knows them.
    pub fn map(&self) -> Option<&'static ValueMap> {
        self.field.map
    }

    /// The name of the value in [`FieldValue::map`]: one of a list, or the set bits joined by
    /// `|`. `None` when there is no map, or nothing in it fits.
    pub fn value_name(&self) -> Option<String> {
        let number = self.value.ok()?.as_u64()?;
        self.field.map?.name_of(number)
    }
}

/// The fields of one payload, in payload order.
///
/// ```
/// use nettrace_parser::{Reader, Value};
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = Reader::from_slice(&bytes);
/// let event = reader.next_event()?.unwrap();
/// let names: Vec<&str> = event.fields().map(|field| field.name()).collect();
/// assert_eq!(names, ["n", "s"]);
/// assert!(matches!(event.field("n"), Some(Value::I32(5))));
/// assert_eq!(event.field("s").unwrap().to_string(), "hey");
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Fields<'r> {
    walk: Walk<'r>,
    /// All fields; `next` counts them.
    fields: &'r [Field],
    next: usize,
    at: usize,
    /// Fields, by place, that the writer left out (see [`reading`]).
    omitted: u64,
    budget: u32,
    /// A field of unknown size was bad: those behind it cannot be found.
    is_stopped: bool,
    opaque: Option<Fault>,
}

impl<'r> Fields<'r> {
    pub(crate) fn new(schema: &'r Schema, payload: &'r [u8], pointer_size: u8) -> Fields<'r> {
        let (reading, omitted) = reading::of(schema, payload, pointer_size);
        Fields {
            walk: Walk::new(payload, reading),
            fields: schema.payload_fields(),
            next: 0,
            at: 0,
            omitted,
            budget: VALUE_LIMIT,
            is_stopped: false,
            opaque: schema.opaque,
        }
    }

    /// No fields at all: the payload is bytes.
    pub(crate) fn undescribed(payload: &'r [u8], pointer_size: u8) -> Fields<'r> {
        Fields {
            walk: Walk::new(payload, reading::Reading::usual(pointer_size)),
            fields: &[],
            next: 0,
            at: 0,
            omitted: 0,
            budget: VALUE_LIMIT,
            is_stopped: false,
            opaque: None,
        }
    }

    /// The payload's bytes that no field has taken so far. After the last field: surplus bytes,
    /// those behind a bad field, or those of an undescribed event.
    pub fn rest(&self) -> &'r [u8] {
        self.walk.payload.get(self.at..).unwrap_or_default()
    }

    /// Offset in the payload of [`Fields::rest`].
    pub fn rest_offset(&self) -> usize {
        self.at
    }

    /// Why the description ends before the payload's meaning does, if it does.
    pub fn opaque(&self) -> Option<Fault> {
        self.opaque
    }

    /// The field of a name; the walk goes on behind it.
    pub fn find(&mut self, name: &str) -> Option<FieldValue<'r>> {
        while let Some(field) = self.fields.get(self.next) {
            if field.name == name {
                return self.next();
            }
            self.pass();
        }
        None
    }

    /// Passes over the next field without making a value of it.
    fn pass(&mut self) {
        let Some(field) = self.fields.get(self.next) else { return };
        if field.register.is_some() || self.is_stopped || self.is_omitted() {
            self.next();
            return;
        }
        self.next += 1;
        let rest = self.rest();
        if rest.is_empty() {
            return;
        }
        match self.walk.extent(&field.kind, rest, Place::Record, &mut self.budget) {
            Ok(size) => self.at += size,
            Err(_) => self.is_stopped = true,
        }
    }

    fn is_omitted(&self) -> bool {
        self.omitted != 0 && self.next < 64 && self.omitted >> self.next & 1 == 1
    }
}

impl<'r> Iterator for Fields<'r> {
    type Item = FieldValue<'r>;

    #[inline]
    fn next(&mut self) -> Option<FieldValue<'r>> {
        loop {
            let field = self.fields.get(self.next)?;
            if self.is_stopped {
                return None;
            }
            let is_omitted = self.is_omitted();
            self.next += 1;
            let offset = self.at;
            let rest = self.rest();
            let is_absent = is_omitted || rest.is_empty() && !takes_no_bytes(&field.kind);
            if is_absent {
                if matches!(field.kind, FieldType::Padding(_)) {
                    continue;
                }
                return Some(FieldValue { field, offset, value: Ok(Value::Absent) });
            }
            return match self.walk.value(&field.kind, rest, &mut self.budget) {
                Ok((value, size)) => {
                    self.at += size;
                    if let Some(register) = field.register {
                        self.walk.keep(register, &value);
                    }
                    if matches!(field.kind, FieldType::Padding(_)) {
                        continue;
                    }
                    Some(FieldValue { field, offset, value: Ok(value) })
                }
                Err(fault) => {
                    match self.walk.size_despite_fault(&field.kind, rest) {
                        Some(size) => self.at += size,
                        None => self.is_stopped = true,
                    }
                    Some(FieldValue { field, offset, value: Err(PayloadFault { offset, fault }) })
                }
            };
        }
    }
}

/// Whether a value of this type may be there although no bytes are left.
fn takes_no_bytes(kind: &FieldType) -> bool {
    match kind {
        FieldType::Object(fields) => fields.iter().all(|field| takes_no_bytes(&field.kind)),
        FieldType::FixedArray(element, count) => *count == 0 || takes_no_bytes(element),
        // Its count was read before: zero elements are present, not absent.
        FieldType::Repeated(..) => true,
        _ => false,
    }
}

impl ValueMap {
    /// The name of a value, or the names of its bits joined by `|`; bits without a name are shown
    /// in hexadecimal behind them. `None` when nothing has a name.
    pub fn name_of(&self, value: u64) -> Option<String> {
        let name_of =
            |wanted: u64| self.entries.iter().find(|(entry, _)| *entry == wanted).map(|(_, name)| *name);
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
