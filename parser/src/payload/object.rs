//! Gives access to the fields of an object.

use super::extent::Payload;
use super::fields::{FieldValue, Fields};
use super::value::Value;
use crate::schema::Field;
use std::fmt;

/// Object, which is a field that consists of fields. They are decoded when accessed.
#[derive(Clone, Copy)]
pub struct Object<'r> {
    payload: Payload<'r>,
    fields: &'r [Field],
    start: u32,
    end: u32,
}

impl<'r> Object<'r> {
    pub(super) fn new(
        payload: Payload<'r>,
        fields: &'r [Field],
        start: usize,
        end: usize,
    ) -> Object<'r> {
        let position = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Object { payload, fields, start: position(start), end: position(end) }
    }

    /// Returns the fields, in payload order.
    pub fn fields(&self) -> Fields<'r> {
        Fields::of_object(self.payload, self.fields, self.start as usize, self.end as usize)
    }

    /// Returns the value of a field. `None` if the field does not exist or is broken.
    pub fn field(&self, name: &str) -> Option<Value<'r>> {
        self.fields().find(name)?.value.ok()
    }

    /// Returns the descriptions of the fields.
    #[cfg(feature = "serde")]
    pub(crate) fn described(&self) -> &'r [Field] {
        self.fields
    }

    /// Returns the bytes of all fields.
    pub fn bytes(&self) -> &'r [u8] {
        self.payload.bytes.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// Compares names and values of the fields. A broken field equals no other field.
impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |(one, other): (FieldValue<'_>, FieldValue<'_>)| {
            one.name() == other.name() && one.value.is_ok() && one.value.ok() == other.value.ok()
        };
        self.fields.len() == other.fields.len() && self.fields().zip(other.fields()).all(is_same)
    }
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.fields().map(|field| (field.name(), field.value))).finish()
    }
}

impl fmt::Display for Object<'_> {
    /// Writes the fields as `{Name=value, Other=[1, 2]}`, and a fault in angle brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (index, field) in self.fields().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{}=", field.name())?;
            match field.value {
                Ok(value) => fmt::Display::fmt(&value, f)?,
                Err(fault) => write!(f, "<{fault}>")?,
            }
        }
        f.write_str("}")
    }
}
