//! Makes payloads of every row of the manifest's extract, with the fields that a reader must find
//! in them.
//!
//! The code that writes the types of the extract is independent: it shares nothing with the
//! catalog.

use super::{array, number, text};
use crate::splitmix::Random;
use nettrace_parser::{FieldValue, Value as Read};
use nettrace_testdata::synth::{
    EventType, Session, SessionThread, Step, Value as Written, Version,
};
use serde_json::Value;

/// Value that a reader has to find in a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expected {
    Bool(bool),
    Number(u64),
    Signed(i64),
    Float(f64),
    Pointer(u64),
    Guid([u8; 16]),
    Text(String),
    Bytes(Vec<u8>),
    Elements(Vec<Expected>),
    Record(Vec<ExpectedField>),
}

/// A field that a reader has to find.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExpectedField {
    name: String,
    is_hex: bool,
    map: Option<String>,
    value: Expected,
}

/// A payload: its values as written, and the fields that a reader has to find.
pub(crate) struct Payload {
    pub(crate) written: Vec<Written>,
    pub(crate) expected: Vec<ExpectedField>,
}

/// Writer of records of the extract's types.
struct Writer {
    pointer_size: u8,
    random: Random,
    /// Name and value of each count so far, innermost record last.
    counts: Vec<(String, usize)>,
}

impl Writer {
    fn record(&mut self, fields: &[Value], written: &mut Vec<Written>) -> Vec<ExpectedField> {
        let outer = self.counts.len();
        let mut expected = Vec::new();
        for field in fields {
            let name = text(field, "name");
            if text(field, "type") == "pad16" {
                written.push(Written::Raw(vec![0xaa, 0xbb]));
                continue;
            }
            let is_count =
                fields.iter().any(|other| other.get("count").and_then(Value::as_str) == Some(name));
            let value = match field.get("count").and_then(Value::as_str) {
                _ if is_count => self.count(field, written),
                None => self.one(field, written),
                Some(count) => {
                    let (_, count) =
                        self.counts.iter().rev().find(|(name, _)| name == count).unwrap();
                    self.many(field, *count, written)
                }
            };
            expected.push(ExpectedField {
                name: name.to_owned(),
                is_hex: field.get("hex").is_some(),
                map: field.get("map").map(|map| map.as_str().unwrap().to_owned()),
                value,
            });
        }
        self.counts.truncate(outer);
        expected
    }

    /// Writes the element count of a later field: a small number, sometimes zero.
    fn count(&mut self, field: &Value, written: &mut Vec<Written>) -> Expected {
        let count = (self.random.next() % 4) as u16;
        self.counts.push((text(field, "name").to_owned(), usize::from(count)));
        written.push(match text(field, "type") {
            "u16" => Written::U16(count),
            "u32" => Written::U32(u32::from(count)),
            other => panic!("count of type {other}"),
        });
        Expected::Number(u64::from(count))
    }

    fn many(&mut self, field: &Value, count: usize, written: &mut Vec<Written>) -> Expected {
        if text(field, "type") == "bytes" {
            let bytes: Vec<u8> = (0..count).map(|_| self.random.next() as u8).collect();
            written.push(Written::Raw(bytes.clone()));
            return Expected::Bytes(bytes);
        }
        Expected::Elements((0..count).map(|_| self.one(field, written)).collect())
    }

    fn one(&mut self, field: &Value, written: &mut Vec<Written>) -> Expected {
        let bits = self.random.next();
        let few = (bits % 4) as usize;
        let (value, expected) = match text(field, "type") {
            "bool32" => (Written::Boolean32(bits & 1 == 1), Expected::Bool(bits & 1 == 1)),
            "u8" => (Written::U8(bits as u8), Expected::Number(bits & 0xff)),
            "u16" => (Written::U16(bits as u16), Expected::Number(bits & 0xffff)),
            "u32" => (Written::U32(bits as u32), Expected::Number(bits & 0xffff_ffff)),
            "u64" => (Written::U64(bits), Expected::Number(bits)),
            "i32" => (Written::I32(bits as i32), Expected::Signed(i64::from(bits as i32))),
            "i64" => (Written::I64(bits as i64), Expected::Signed(bits as i64)),
            "f64" => {
                let value = bits as i32 as f64 / 64.0;
                (Written::F64(value), Expected::Float(value))
            }
            "ptr" if self.pointer_size == 4 => {
                (Written::U32(bits as u32), Expected::Pointer(bits & 0xffff_ffff))
            }
            "ptr" => (Written::U64(bits), Expected::Pointer(bits)),
            "guid" => {
                let guid = (u128::from(bits) << 64 | u128::from(!bits)).to_le_bytes();
                (Written::Guid(guid), Expected::Guid(guid))
            }
            "utf16z" => {
                let text = ["", "a", "häh", "語 𝄞"][few];
                (Written::Text(text.to_owned()), Expected::Text(text.to_owned()))
            }
            "ansiz" => {
                let text = ["", "a", "it failed", "x y"][few];
                let bytes = text.bytes().chain([0]).collect();
                (Written::Raw(bytes), Expected::Text(text.to_owned()))
            }
            "struct" => return Expected::Record(self.record(array(field, "struct"), written)),
            other => panic!("type {other}"),
        };
        written.push(value);
        expected
    }
}

/// Returns a payload of an event of the extract, which depends on `seed`.
pub(crate) fn payload(event: &Value, pointer_size: u8, seed: u64) -> Payload {
    let mut writer = Writer { pointer_size, random: Random(seed), counts: Vec::new() };
    let mut written = Vec::new();
    let expected = writer.record(array(event, "fields"), &mut written);
    Payload { written, expected }
}

/// Returns a stream in which each event has a type of its own, without name and fields, as native
/// events have.
pub(crate) fn stream(
    types: &[(&str, &Value, u8)],
    payloads: &[Payload],
    pointer_size: u8,
) -> Vec<u8> {
    let types = types.iter().map(|(provider, event, version)| EventType {
        provider: (*provider).to_owned(),
        event_id: number(event, "id") as u32,
        version: *version,
        ..EventType::default()
    });
    let mut session = Session {
        types: types.collect(),
        threads: vec![SessionThread::new(11)],
        steps: payloads
            .iter()
            .enumerate()
            .map(|(at, payload)| Step::event(at, 0, 1, payload.written.clone()))
            .collect(),
        ..Session::new(Version::V4)
    };
    session.trace.pointer_size = i32::from(pointer_size);
    session.record().stream.bytes
}

/// Compares fields with the expected ones.
pub(crate) fn check<'r>(
    mut found: impl Iterator<Item = FieldValue<'r>>,
    expected: &[ExpectedField],
    at: &str,
) {
    for expected in expected {
        let at = format!("{at}.{}", expected.name);
        let found = found.next().unwrap_or_else(|| panic!("{at} is missing"));
        assert_eq!(found.name(), expected.name, "{at}");
        assert_eq!(found.field.is_hex, expected.is_hex, "{at}");
        assert_eq!(found.map().map(|map| map.name), expected.map.as_deref(), "{at}");
        check_value(
            &found.value.unwrap_or_else(|fault| panic!("{at}: {fault}")),
            &expected.value,
            &at,
        );
    }
    assert!(found.next().is_none(), "{at} has more fields");
}

fn check_value(found: &Read<'_>, expected: &Expected, at: &str) {
    let is_same = match (found, expected) {
        (Read::Bool(found), Expected::Bool(expected)) => found == expected,
        (Read::U8(found), Expected::Number(expected)) => u64::from(*found) == *expected,
        (Read::U16(found), Expected::Number(expected)) => u64::from(*found) == *expected,
        (Read::U32(found), Expected::Number(expected)) => u64::from(*found) == *expected,
        (Read::U64(found), Expected::Number(expected)) => found == expected,
        (Read::I32(found), Expected::Signed(expected)) => i64::from(*found) == *expected,
        (Read::I64(found), Expected::Signed(expected)) => found == expected,
        (Read::F64(found), Expected::Float(expected)) => found == expected,
        (Read::Pointer(found), Expected::Pointer(expected)) => found == expected,
        (Read::Guid(found), Expected::Guid(expected)) => found.to_bytes() == *expected,
        (Read::Utf16(_) | Read::Utf8(_), Expected::Text(expected)) => {
            found.to_string() == *expected
        }
        (Read::Bytes(found), Expected::Bytes(expected)) => found == expected,
        (Read::Array(found), Expected::Elements(expected)) => {
            assert_eq!(found.iter().count(), expected.len(), "{at}");
            for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
                check_value(&found, expected, &format!("{at}[{index}]"));
            }
            found.len() == expected.len()
        }
        (Read::Object(found), Expected::Record(expected)) => {
            check(found.fields(), expected, at);
            true
        }
        _ => false,
    };
    assert!(is_same, "{at}: found {found:?}, not {expected:?}");
}
