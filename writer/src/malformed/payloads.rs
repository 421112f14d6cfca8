//! Payloads that do not agree with the fields of their event types.

use super::Cases;
use crate::{Field, FieldType, Value, Version};

fn fields(types: impl IntoIterator<Item = FieldType>) -> Vec<Field> {
    types
        .into_iter()
        .zip(["a", "b", "c"])
        .map(|(field_type, name)| Field::new(name, field_type))
        .collect()
}

pub(super) fn all_versions(cases: &mut Cases) {
    for version in [Version::V3, Version::V4, Version::V6] {
        let mut with = |name: &str, types: &[FieldType], values: &[Value]| {
            cases.typed(version, &format!("payload-{name}"), fields(types.iter().cloned()), values);
        };
        let int = || FieldType::Int32;
        let text = || FieldType::Text;
        with("empty", &[int()], &[]);
        with("ends-between-fields", &[int(), int()], &[Value::I32(1)]);
        with("ends-in-a-field", &[int(), int()], &[Value::I32(1), Value::U16(2)]);
        with("longer", &[int()], &[Value::I32(1), Value::Raw(vec![2; 3])]);
        with("undescribed", &[], &[Value::I32(1)]);
        let open = Value::Units("open".encode_utf16().collect());
        with("text-without-end", &[text(), int()], &[open]);
        with("text-of-an-odd-length", &[text()], &[Value::Raw(vec![b'a', 0, b'b'])]);
        with(
            "text-with-half-a-pair",
            &[text(), int()],
            &[Value::Units(vec![0xd800, 0]), Value::I32(1)],
        );
        with("boolean-of-2", &[FieldType::Boolean32], &[Value::U32(2)]);
        with("date-at-the-end-of-time", &[FieldType::DateTime], &[Value::FileTime(u64::MAX)]);
        with("of-65000-bytes", &[int()], &[Value::Raw(vec![7; 65_000])]);
    }
}

pub(super) fn version_6(cases: &mut Cases) {
    let mut with = |name: &str, types: &[FieldType], values: &[Value]| {
        cases.typed(Version::V6, &format!("payload-{name}"), fields(types.iter().cloned()), values);
    };
    let int = || FieldType::Int32;
    let bytes = || FieldType::Byte.array();
    let rel = || FieldType::RelLoc(Box::new(FieldType::Utf8CodeUnit));
    let data = || FieldType::DataLoc(Box::new(FieldType::Char));
    with("array-count-too-large", &[bytes(), int()], &[Value::U16(40_000), Value::I32(1)]);
    with("array-count-cut", &[int(), bytes()], &[Value::I32(1), Value::U8(1)]);
    let objects = FieldType::Object(vec![]).array();
    with("array-of-65535-empty-objects", &[objects], &[Value::U16(0xffff)]);
    let at = |place: u32, size: u32| Value::U32(size << 16 | place);
    with("located-outside", &[rel(), int()], &[at(4, 100), Value::I32(1)]);
    with("located-after-the-end", &[data(), int()], &[at(0xffff, 0xffff), Value::I32(1)]);
    with("located-size-odd", &[data(), int()], &[at(4, 3), Value::I32(1)]);
    with("located-on-itself", &[data(), int()], &[at(0, 8), Value::I32(1)]);
    with("located-cut", &[int(), rel()], &[Value::I32(1), Value::U16(4)]);
    with("located-empty", &[rel(), int()], &[at(0, 0), Value::I32(1)]);
    with(
        "varint-of-eleven-bytes",
        &[FieldType::VarInt, int()],
        &[Value::Raw(vec![0x80; 11]), Value::I32(1)],
    );
    with("varuint-cut", &[FieldType::VarUInt], &[Value::Raw(vec![0x80; 3])]);
    let utf8 = Value::Array([0xe8, 0xaa, 0xff, b'x'].map(Value::U8).to_vec());
    with("text-not-utf8", &[FieldType::Utf8CodeUnit.array()], &[utf8]);
}
