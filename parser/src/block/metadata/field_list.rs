//! Reads field lists in their three forms: version 1 (V3 to V5), version 2 (in a tag of V5)
//! and version 6 (FORMAT.md 6.5, 6.7, 7.3).
//!
//! | form | content of a field | size of the field |
//! |---|---|---|
//! | V1 | i32 type code, nested list if an object, utf16z name | not stored |
//! | V2 | i32 size, utf16z name, i32 type code, element code or nested list | counts itself |
//! | V6 | u16 size, string name, u8 type code, element type or nested list | does not count itself |
//!
//! If a field cannot be decoded, the fields before it remain usable and the payload is opaque
//! *from that field on*. A field that is an object cannot be decoded if one of its members
//! cannot, because the object's length is then unknown.

use crate::bytes::{Parsed, i32, string_v6, u8, u16, utf16_to_string, utf16z};
use crate::error::{Fault, FaultAt, located};
use crate::schema::{Field, FieldType, MAX_FIELDS, MAX_TYPE_DEPTH};
use std::cell::Cell;

/// Result of reading a field list.
pub(crate) struct FieldList<'a> {
    /// Fields that could be decoded.
    pub(crate) fields: Vec<Field>,
    /// Reason why the remaining fields could not be decoded; `None` if all could.
    pub(crate) opaque: Option<Fault>,
    /// Input from the place at which reading stopped: after the list, or at the field that
    /// could not be decoded.
    pub(crate) stopped_at: &'a [u8],
    /// Input after the list, if the list's end is known.
    pub(crate) after: Option<&'a [u8]>,
}

// Type codes that are followed by more than the code.
const CODE_OBJECT: i32 = 1;
const CODE_ARRAY: i32 = 19;
const CODE_FIXED_ARRAY: i32 = 22;
const CODE_REL_LOC: i32 = 24;
const CODE_DATA_LOC: i32 = 25;

impl<'a> FieldList<'a> {
    /// Returns the fields if all could be decoded, else the fault.
    pub(crate) fn whole(self) -> Parsed<'a, Vec<Field>> {
        match (self.opaque, self.after) {
            (None, Some(after)) => Ok((after, self.fields)),
            (fault, _) => FaultAt::error(self.stopped_at, fault.unwrap_or(Fault::FieldList)),
        }
    }
}

/// Number of further fields, and of further nesting levels, that a description may have.
#[derive(Clone, Copy)]
struct Allowance<'r> {
    depth: usize,
    fields: &'r Cell<usize>,
}

impl Allowance<'_> {
    /// Returns the allowance one nesting level down; `None` at the limit.
    fn deeper(self) -> Option<Self> {
        Some(Allowance { depth: self.depth.checked_sub(1)?, ..self })
    }

    /// Counts one field. Returns `false` at the limit.
    fn take(self) -> bool {
        let left = self.fields.get().checked_sub(1);
        self.fields.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// Reads a list with the full allowance of one description.
fn described<'a>(read: impl FnOnce(Allowance<'_>) -> FieldList<'a>) -> FieldList<'a> {
    read(Allowance { depth: MAX_TYPE_DEPTH, fields: &Cell::new(MAX_FIELDS) })
}

/// Reads `count` fields with `field`; stops at the first that cannot be decoded.
fn fields<'a>(
    mut input: &'a [u8],
    count: u64,
    allowance: Allowance<'_>,
    mut field: impl FnMut(&'a [u8]) -> Parsed<'a, Field>,
) -> FieldList<'a> {
    // The count is not trusted: the loop ends when the bytes do, and nothing is reserved
    // for it.
    let mut read = Vec::new();
    for _ in 0..count {
        if !allowance.take() {
            let fault = Some(Fault::FieldLimit);
            return FieldList { fields: read, opaque: fault, stopped_at: input, after: None };
        }
        match field(input) {
            Ok((rest, field)) => {
                read.push(field);
                input = rest;
            }
            Err(error) => {
                let error = located(input, error);
                let stopped_at = input.get(error.at..).unwrap_or_default();
                return FieldList {
                    fields: read,
                    opaque: Some(error.fault),
                    stopped_at,
                    after: None,
                };
            }
        }
    }
    FieldList { fields: read, opaque: None, stopped_at: input, after: Some(input) }
}

fn unreadable(input: &[u8], fault: Fault) -> FieldList<'_> {
    FieldList { fields: Vec::new(), opaque: Some(fault), stopped_at: input, after: None }
}

/// Reads an i32 count, which must not be negative.
fn count_i32(input: &[u8]) -> Parsed<'_, u64> {
    let (rest, count) = i32(input)?;
    match u64::try_from(count) {
        Ok(count) => Ok((rest, count)),
        Err(_) => FaultAt::error(input, Fault::FieldList),
    }
}

/// Reads a field list of version 1 or 2: an i32 count, then the fields.
fn list<'a, 'r>(
    input: &'a [u8],
    allowance: Allowance<'r>,
    field: fn(&'a [u8], Allowance<'r>) -> Parsed<'a, Field>,
) -> FieldList<'a> {
    match count_i32(input) {
        Ok((rest, count)) => fields(rest, count, allowance, |input| field(input, allowance)),
        Err(_) => unreadable(input, Fault::FieldList),
    }
}

/// Converts the list of an object's members to a type. All of them must be decoded, or the
/// object's length is unknown.
fn object(list: FieldList<'_>) -> Parsed<'_, FieldType> {
    let (rest, fields) = list.whole()?;
    Ok((rest, FieldType::Object(fields.into())))
}

fn name_utf16(input: &[u8]) -> Parsed<'_, String> {
    utf16z(input).map(|(rest, name)| (rest, utf16_to_string(name)))
}

/// Reads a field list of versions 3 to 5 ([FORMAT.md 6.5](crate::format_guide#6.5)). Unlike
/// [`Reader`](crate::Reader), which keeps the fields before a broken field, this function
/// rejects the list.
///
/// # Errors
/// [`Fault::TypeCode`]; [`Fault::TypeDepth`] and [`Fault::FieldLimit`] beyond the limits of
/// [FORMAT.md 13.4](crate::format_guide#13.4); [`Fault::FieldList`]; [`Fault::Truncated`].
pub fn whole_v1(input: &[u8]) -> Parsed<'_, Vec<Field>> {
    v1(input).whole()
}

/// Reads the field list in a [`MetadataTag`](super::MetadataTag) of kind 2 ([FORMAT.md
/// 6.7](crate::format_guide#6.7)).
///
/// # Errors
/// The errors of [`whole_v1`].
pub fn whole_v2(input: &[u8]) -> Parsed<'_, Vec<Field>> {
    v2(input).whole()
}

/// Reads a field list of version 6 ([FORMAT.md 7.3](crate::format_guide#7.3)).
///
/// # Errors
/// The errors of [`whole_v1`].
pub fn whole_v6(input: &[u8]) -> Parsed<'_, Vec<Field>> {
    v6(input).whole()
}

// -- version 1

/// Reads the list of versions 3 to 5: i32 count, then fields, type first.
pub(crate) fn v1(input: &[u8]) -> FieldList<'_> {
    described(|allowance| list(input, allowance, field_v1))
}

fn field_v1<'a>(input: &'a [u8], allowance: Allowance<'_>) -> Parsed<'a, Field> {
    let (rest, code) = i32(input)?;
    let (rest, kind) = if code == CODE_OBJECT {
        match allowance.deeper() {
            Some(allowance) => object(list(rest, allowance, field_v1))?,
            None => return FaultAt::error(input, Fault::TypeDepth),
        }
    } else {
        // Arrays and the types that came with version 6 are not allowed here.
        match FieldType::scalar(code) {
            Some(kind) => (rest, kind),
            None => return FaultAt::error(input, Fault::TypeCode(code)),
        }
    };
    let (rest, name) = name_utf16(rest)?;
    Ok((rest, Field::new(name, kind)))
}

// -- version 2

/// Reads the list of a V2Params tag: i32 count, then fields with sizes.
pub(crate) fn v2(input: &[u8]) -> FieldList<'_> {
    described(|allowance| list(input, allowance, field_v2))
}

fn field_v2<'a>(input: &'a [u8], allowance: Allowance<'_>) -> Parsed<'a, Field> {
    let (_, size) = i32(input)?;
    // The size counts itself; bytes beyond what the field needs are skipped.
    let split = usize::try_from(size).ok().filter(|size| *size >= 4);
    let Some((description, rest)) = split.and_then(|size| input.split_at_checked(size)) else {
        return FaultAt::error(input, Fault::FieldList);
    };
    let (description, _) = i32(description)?;
    let (description, name) = name_utf16(description)?;
    let (_, kind) = type_v2(description, allowance)?;
    Ok((rest, Field::new(name, kind)))
}

fn type_v2<'a>(input: &'a [u8], allowance: Allowance<'_>) -> Parsed<'a, FieldType> {
    let Some(allowance) = allowance.deeper() else {
        return FaultAt::error(input, Fault::TypeDepth);
    };
    let (rest, code) = i32(input)?;
    match code {
        CODE_ARRAY => {
            let (rest, element) = type_v2(rest, allowance)?;
            Ok((rest, FieldType::Array(Box::new(element))))
        }
        CODE_OBJECT => object(list(rest, allowance, field_v2)),
        code => match FieldType::scalar(code) {
            Some(kind) => Ok((rest, kind)),
            None => FaultAt::error(input, Fault::TypeCode(code)),
        },
    }
}

// -- version 6

/// Reads the list of version 6: u16 count, then fields with sizes. Thanks to the sizes, the
/// list's end can be found even if a field cannot be decoded.
pub(crate) fn v6(input: &[u8]) -> FieldList<'_> {
    let mut list = described(|allowance| list_v6(input, allowance));
    if list.opaque.is_some() {
        list.after = skip_v6(input);
    }
    list
}

fn list_v6<'a>(input: &'a [u8], allowance: Allowance<'_>) -> FieldList<'a> {
    match u16(input) {
        Ok((rest, count)) => {
            fields(rest, u64::from(count), allowance, |input| field_v6(input, allowance))
        }
        Err(_) => unreadable(input, Fault::FieldList),
    }
}

/// Returns the input after a list. Only the sizes of its fields are read.
fn skip_v6(input: &[u8]) -> Option<&[u8]> {
    let (mut rest, count) = u16(input).ok()?;
    for _ in 0..count {
        let (after, size) = u16(rest).ok()?;
        rest = after.get(usize::from(size)..)?;
    }
    Some(rest)
}

fn field_v6<'a>(input: &'a [u8], allowance: Allowance<'_>) -> Parsed<'a, Field> {
    let (rest, size) = u16(input)?;
    let Some((description, rest)) = rest.split_at_checked(usize::from(size)) else {
        return FaultAt::error(input, Fault::FieldList);
    };
    let (description, name) = string_v6(description)?;
    let (_, kind) = type_v6(description, allowance)?;
    Ok((rest, Field::new(String::from_utf8_lossy(name).into_owned(), kind)))
}

fn type_v6<'a>(input: &'a [u8], allowance: Allowance<'_>) -> Parsed<'a, FieldType> {
    let Some(allowance) = allowance.deeper() else {
        return FaultAt::error(input, Fault::TypeDepth);
    };
    let (rest, code) = u8(input)?;
    match i32::from(code) {
        CODE_ARRAY => {
            let (rest, element) = type_v6(rest, allowance)?;
            Ok((rest, FieldType::Array(Box::new(element))))
        }
        CODE_FIXED_ARRAY => {
            let (rest, element) = type_v6(rest, allowance)?;
            let (rest, count) = u16(rest)?;
            Ok((rest, FieldType::FixedArray(Box::new(element), count)))
        }
        CODE_REL_LOC => located_type(rest, allowance, FieldType::RelLoc),
        CODE_DATA_LOC => located_type(rest, allowance, FieldType::DataLoc),
        CODE_OBJECT => object(list_v6(rest, allowance)),
        code => match FieldType::scalar_v6(code) {
            Some(kind) => Ok((rest, kind)),
            None => FaultAt::error(input, Fault::TypeCode(code)),
        },
    }
}

/// Reads the type of a RelLoc or DataLoc. Their values state a size in bytes, so the elements
/// must have a fixed size.
fn located_type<'a>(
    input: &'a [u8],
    allowance: Allowance<'_>,
    make: impl Fn(Box<FieldType>) -> FieldType,
) -> Parsed<'a, FieldType> {
    let (rest, element) = type_v6(input, allowance)?;
    match element.fixed_size() {
        Some(_) => Ok((rest, make(Box::new(element)))),
        None => FaultAt::error(input, Fault::FieldList),
    }
}
