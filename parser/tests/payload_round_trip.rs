//! Tests that random payloads of the independent writer are read back equal: field by field, by a
//! search for a name, and by a call of the event.

use nettrace_parser::{Event, Reader, Value};
use nettrace_testdata::cases;
use nettrace_testdata::synth::{
    Decimal, EventType, ExpectedEvent, Field, FieldType, Session, SessionThread, Step,
    Value as Written, Version, strategy,
};
use proptest::prelude::*;

/// Returns whether a value of type `kind` was read as it was written.
fn is(read: &Value<'_>, written: &Written, kind: &FieldType) -> bool {
    match (read, written) {
        (Value::Bool(read), Written::Boolean32(written) | Written::Boolean8(written)) => {
            read == written
        }
        (Value::Char(read), Written::Char(written)) => read == written,
        (Value::I8(read), Written::I8(written)) => read == written,
        (Value::U8(read), Written::U8(written)) => read == written,
        (Value::Utf8(read), Written::U8(written)) => read.bytes() == [*written],
        (Value::I16(read), Written::I16(written)) => read == written,
        (Value::U16(read), Written::U16(written)) => read == written,
        (Value::I32(read), Written::I32(written)) => read == written,
        (Value::U32(read), Written::U32(written)) => read == written,
        (Value::I64(read), Written::I64(written) | Written::VarInt(written)) => read == written,
        (Value::U64(read), Written::U64(written) | Written::VarUInt(written)) => read == written,
        (Value::F32(read), Written::F32(written)) => read.to_bits() == written.to_bits(),
        (Value::F64(read), Written::F64(written)) => read.to_bits() == written.to_bits(),
        (Value::Decimal(read), Written::Decimal(written)) => read.to_string() == decimal(written),
        (Value::DateTime(read), Written::FileTime(written)) => {
            *read == nettrace_parser::DateTime::from_file_time(*written)
        }
        (Value::Guid(read), Written::Guid(written)) => read.to_bytes() == *written,
        (Value::Utf16(read), Written::Text(written)) => {
            read.is_terminated() && *read == written.as_str() && read.to_string() == *written
        }
        (_, Written::Object(written)) => is_object(read, written, kind),
        (_, Written::Array(written) | Written::FixedLengthArray(written)) => {
            are(read, written, kind)
        }
        (_, Written::RelLoc(written) | Written::DataLoc(written)) => are(read, written, kind),
        _ => false,
    }
}

fn decimal(written: &Decimal) -> String {
    let scale = usize::from(written.scale);
    let mut digits = format!("{:0>width$}", written.mantissa, width = scale + 1);
    if scale > 0 {
        digits.insert(digits.len() - scale, '.');
    }
    if written.is_negative { format!("-{digits}") } else { digits }
}

fn is_object(read: &Value<'_>, written: &[Written], kind: &FieldType) -> bool {
    let (Value::Object(object), FieldType::Object(fields)) = (read, kind) else { return false };
    let members: Vec<_> = object.fields().collect();
    members.len() == written.len()
        && members.iter().zip(fields).zip(written).all(|((read, field), written)| {
            read.name() == field.name
                && read.value.is_ok_and(|value| is(&value, written, &field.field_type))
        })
}

fn are(read: &Value<'_>, written: &[Written], kind: &FieldType) -> bool {
    let (FieldType::Array(element)
    | FieldType::FixedLengthArray(element, _)
    | FieldType::RelLoc(element)
    | FieldType::DataLoc(element)) = kind
    else {
        return false;
    };
    match (read, &**element) {
        (Value::Utf16(text), FieldType::Char) => text
            .units()
            .eq(written.iter().map(|unit| if let Written::Char(unit) = unit { *unit } else { 0 })),
        (Value::Utf8(text), FieldType::Utf8CodeUnit) => text.bytes() == bytes(written),
        (Value::Bytes(read), FieldType::Byte) => *read == bytes(written),
        (Value::Array(array), element) => {
            array.len() == written.len()
                && array.iter().len() == written.len()
                && array.iter().zip(written).all(|(read, written)| is(&read, written, element))
        }
        _ => false,
    }
}

fn bytes(written: &[Written]) -> Vec<u8> {
    written.iter().map(|byte| if let Written::U8(byte) = byte { *byte } else { 0 }).collect()
}

/// Returns the fields and values without a nameless object around them.
fn meant(expected: &ExpectedEvent) -> (Vec<Field>, Vec<Written>) {
    if let ([Field { name, field_type: FieldType::Object(members), .. }], [Written::Object(values)]) =
        (&*expected.fields, &*expected.values)
        && name.is_empty()
    {
        return (members.clone(), values.clone());
    }
    (expected.fields.clone(), expected.values.clone())
}

fn check(event: &Event<'_>, expected: &ExpectedEvent) -> Result<(), TestCaseError> {
    prop_assert_eq!(event.payload(), expected.blob.payload.as_slice());
    if expected.fields.is_empty() {
        prop_assert_eq!(event.fields().count(), 0);
        prop_assert_eq!(event.fields().rest(), event.payload());
        return Ok(());
    }
    let (fields, values) = meant(expected);
    let mut walk = event.fields();
    for (field, written) in fields.iter().zip(&values) {
        let read = walk.next();
        let read = read.as_ref().map(|read| (read.name(), read.offset, read.value));
        let Some((name, offset, Ok(value))) = read else {
            return Err(TestCaseError::fail(format!("{field:?}: {read:?}")));
        };
        prop_assert_eq!(name, &field.name);
        prop_assert!(
            is(&value, written, &field.field_type),
            "{:?}: {:?}, not {:?}",
            field,
            value,
            written
        );
        if fields.iter().filter(|other| other.name == field.name).count() == 1 {
            let found = event.fields().find(&field.name).expect("a field of that name");
            prop_assert_eq!(found.offset, offset);
            prop_assert!(
                found.value.is_ok_and(|value| is(&value, written, &field.field_type)),
                "find"
            );
            let asked = event.field(&field.name).expect("a field of that name");
            prop_assert!(
                is(&asked, written, &field.field_type),
                "{:?}: {:?}, not {:?}",
                field,
                asked,
                written
            );
        }
    }
    prop_assert!(walk.next().is_none());
    // Elements of RelLoc and DataLoc lie after the fields.
    let has_located = format!("{fields:?}").contains("Loc(");
    prop_assert!(has_located || walk.rest().is_empty(), "{:?}", walk);
    Ok(())
}

fn check_session(session: &Session) -> Result<(), TestCaseError> {
    let recording = session.record();
    let mut reader = Reader::from_slice(&recording.stream.bytes);
    for expected in &recording.events {
        let event = reader.next_event().expect("a readable stream").expect("an event");
        check(&event, expected)?;
    }
    prop_assert!(reader.next_event().expect("a readable stream").is_none());
    Ok(())
}

/// Returns a session of one event with these fields and values.
pub(crate) fn one_event(version: Version, fields: Vec<Field>, values: Vec<Written>) -> Session {
    Session {
        types: vec![EventType {
            provider: "Synth".into(),
            name: "E".into(),
            fields,
            ..EventType::default()
        }],
        threads: vec![SessionThread::new(11)],
        steps: vec![Step::event(0, 0, 10, values)],
        ..Session::new(version)
    }
}

fn fields(version: Version) -> impl Strategy<Value = Vec<Field>> {
    let names = prop_oneof![4 => "[a-c]{1,2}", 1 => Just(String::new())];
    let field =
        (names, strategy::field_types(version)).prop_map(|(name, kind)| Field::new(&name, kind));
    prop::collection::vec(field, 1..9)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(64)))]

    #[test]
    fn payloads_of_version_3_lists_are_read_back(session in strategy::sessions(Version::V3, 12)) {
        check_session(&session)?;
    }

    #[test]
    fn payloads_of_version_4_lists_are_read_back(session in strategy::sessions(Version::V4, 12)) {
        check_session(&session)?;
    }

    #[test]
    fn payloads_of_version_5_lists_are_read_back(session in strategy::sessions(Version::V5, 12)) {
        check_session(&session)?;
    }

    #[test]
    fn payloads_of_version_6_types_are_read_back(session in strategy::sessions(Version::V6, 12)) {
        check_session(&session)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(128)))]

    #[test]
    fn many_fields_of_one_event_are_found_in_any_order_in_versions_4_and_5(
        fields in fields(Version::V5), seed in any::<u64>(),
    ) {
        let values = Written::samples(&fields, seed);
        check_session(&one_event(Version::V5, fields, values))?;
    }

    #[test]
    fn many_fields_of_one_event_are_found_in_any_order_in_version_6(
        fields in fields(Version::V6), seed in any::<u64>(),
    ) {
        let values = Written::samples(&fields, seed);
        check_session(&one_event(Version::V6, fields, values))?;
    }
}

fn read(
    version: Version,
    fields: &[(&str, FieldType)],
    values: &[Written],
) -> Vec<(String, Option<String>)> {
    let fields = fields.iter().map(|(name, kind)| Field::new(name, kind.clone())).collect();
    let recording = one_event(version, fields, values.to_vec()).record();
    let mut reader = Reader::from_slice(&recording.stream.bytes);
    let event = reader.next_event().unwrap().unwrap();
    let shown = |value: Value<'_>| (!value.is_absent()).then(|| value.to_string());
    for field in event.fields() {
        let expected = field.value.ok().map(|value| value.to_string());
        let found = event.fields().find(field.name()).and_then(|field| field.value.ok());
        assert_eq!(found.map(|value| value.to_string()), expected, "{} found", field.name());
        assert_eq!(
            event.field(field.name()).map(|value| value.to_string()),
            expected,
            "{}",
            field.name()
        );
    }
    event
        .fields()
        .map(|field| (field.name().to_owned(), field.value.ok().and_then(shown)))
        .collect()
}

fn shown(fields: &[(&str, &str)]) -> Vec<(String, Option<String>)> {
    fields.iter().map(|(name, text)| ((*name).to_owned(), Some((*text).to_owned()))).collect()
}

fn object(members: &[(&str, FieldType)]) -> FieldType {
    FieldType::Object(members.iter().map(|(name, kind)| Field::new(name, kind.clone())).collect())
}

#[test]
fn located_data_of_an_object_lies_behind_the_object() {
    let rel = FieldType::RelLoc(Box::new(FieldType::Utf8CodeUnit));
    let data = FieldType::DataLoc(Box::new(FieldType::Char));
    let inner = object(&[("rel", rel.clone()), ("data", data)]);
    let letters = |text: &str| text.bytes().map(Written::U8).collect::<Vec<_>>();
    let values = Written::Object(vec![
        Written::RelLoc(letters("ab")),
        Written::DataLoc(vec![Written::Char(99)]),
    ]);
    let fields = [("o", inner), ("n", FieldType::UInt16), ("r", rel)];
    let values = [values, Written::U16(7), Written::RelLoc(letters("xyz"))];
    assert_eq!(
        read(Version::V6, &fields, &values),
        shown(&[("o", "{rel=ab, data=c}"), ("n", "7"), ("r", "xyz")])
    );
}

#[test]
fn booleans_of_one_byte_are_read_where_only_they_fit() {
    let fields =
        [("a", FieldType::Boolean32), ("n", FieldType::Int32), ("b", FieldType::Boolean32)];
    let values = [Written::Boolean8(true), Written::I32(5), Written::Boolean8(false)];
    for version in Version::ALL {
        assert_eq!(
            read(version, &fields, &values),
            shown(&[("a", "true"), ("n", "5"), ("b", "false")])
        );
    }
}

#[test]
fn booleans_of_one_byte_are_read_within_the_nameless_object() {
    // Read as four bytes, the booleans would also end with the payload, but a field would be
    // missing.
    let members =
        [("a", FieldType::Boolean32), ("b", FieldType::Boolean32), ("n", FieldType::Int16)];
    let values =
        Written::Object(vec![Written::Boolean8(true), Written::Boolean8(false), Written::I16(-2)]);
    for version in Version::ALL {
        let read = read(version, &[("", object(&members))], std::slice::from_ref(&values));
        assert_eq!(read, shown(&[("a", "true"), ("b", "false"), ("n", "-2")]));
    }
}

#[test]
fn booleans_of_one_byte_are_read_within_an_object_at_the_payloads_end() {
    let (boolean, text) = (FieldType::Boolean32, FieldType::Text);
    let members = [("t", text), ("a", boolean.clone()), ("b", boolean), ("n", FieldType::Int16)];
    let fields = [("first", FieldType::Byte), ("o", object(&members))];
    let booleans = [Written::Boolean8(true), Written::Boolean8(false), Written::I16(-2)];
    let members = [vec![Written::Text("x".into())], booleans.to_vec()].concat();
    let values = [Written::U8(7), Written::Object(members)];
    for version in Version::ALL {
        let expected = shown(&[("first", "7"), ("o", "{t=x, a=true, b=false, n=-2}")]);
        assert_eq!(read(version, &fields, &values), expected);
    }
}

#[test]
fn a_reading_that_cuts_a_text_off_is_not_taken() {
    // Read as four bytes, the boolean takes the whole payload. Read as one byte, a text without an
    // end follows.
    let fields = [
        ("o", object(&[("s", FieldType::Text)])),
        ("b", FieldType::Boolean32),
        ("t", FieldType::Text),
    ];
    let values = [
        Written::Object(vec![Written::Text("x".into())]),
        Written::U8(1),
        Written::Raw(vec![b'a', 0, b'b']),
    ];
    let recording = one_event(
        Version::V5,
        fields.map(|(name, kind)| Field::new(name, kind)).into(),
        values.into(),
    );
    let recording = recording.record();
    let mut reader = Reader::from_slice(&recording.stream.bytes);
    let event = reader.next_event().unwrap().unwrap();
    assert!(event.field("b").is_some_and(|value| value.as_bool() == Some(true)));
    assert!(event.field("t").is_some_and(|value| value.is_absent()));
}

#[test]
fn booleans_of_four_bytes_are_read_before_surplus_bytes() {
    let fields = [("a", FieldType::Boolean32)];
    let values = [Written::Boolean32(true), Written::Raw(vec![1, 2, 3])];
    for version in Version::ALL {
        assert_eq!(read(version, &fields, &values), shown(&[("a", "true")]));
    }
}

#[test]
fn a_decimal_of_eight_bytes_is_a_double() {
    let fields = [("a", FieldType::Decimal), ("s", FieldType::Text)];
    let values = [Written::F64(1.5), Written::Text("x".into())];
    for version in Version::ALL {
        assert_eq!(read(version, &fields, &values), shown(&[("a", "1.5"), ("s", "x")]));
    }
}

#[test]
fn a_date_of_sixteen_bytes_is_read_in_version_6_alone() {
    let date = nettrace_testdata::synth::SysTime {
        year: 2024,
        month: 2,
        day_of_week: 4,
        day: 29,
        hour: 12,
        minute: 34,
        second: 56,
        millisecond: 8,
    };
    let fields = [("d", FieldType::DateTime), ("n", FieldType::Byte)];
    let values = [Written::SysTime(date), Written::U8(3)];
    let expected = shown(&[("d", "2024-02-29T12:34:56.0080000Z"), ("n", "3")]);
    assert_eq!(read(Version::V6, &fields, &values), expected);
    assert_ne!(read(Version::V5, &fields, &values), expected);
    // The usual eight bytes of a FILETIME.
    let values =
        [Written::Raw(vec![0x80, 0x50, 0x6f, 0xb3, 0x0b, 0x6b, 0xda, 0x01]), Written::U8(3)];
    for version in Version::ALL {
        assert_eq!(read(version, &fields, &values), expected);
    }
}

#[test]
fn a_bare_utf8_code_unit_may_be_a_counted_text_but_not_in_an_array() {
    let fields = [
        ("t", FieldType::Utf8CodeUnit),
        ("a", FieldType::Utf8CodeUnit.array()),
        ("n", FieldType::Byte),
    ];
    let counted = [Written::CountedText("Größe".into()), Written::utf8_array("ok"), Written::U8(3)];
    assert_eq!(
        read(Version::V6, &fields, &counted),
        shown(&[("t", "Größe"), ("a", "ok"), ("n", "3")])
    );
    let bare = [Written::U8(b'x'), Written::utf8_array("ok"), Written::U8(3)];
    assert_eq!(read(Version::V6, &fields, &bare), shown(&[("t", "x"), ("a", "ok"), ("n", "3")]));
}

#[test]
fn every_text_of_any_script_comes_out_as_it_went_in() {
    let texts = ["", "日本語 🚀", "naïve", "κόσμε", "\u{1}", "ﷺ", "a\u{10ffff}b"];
    for text in texts {
        let fields =
            [("t", FieldType::Text), ("n", FieldType::Int32), ("a", FieldType::Char.array())];
        let values = [Written::Text(text.into()), Written::I32(1), Written::utf16_array(text)];
        assert_eq!(
            read(Version::V5, &fields, &values),
            shown(&[("t", text), ("n", "1"), ("a", text)])
        );
        let fields = [("u", FieldType::Utf8CodeUnit.array()), ("n", FieldType::Byte)];
        let values = [Written::utf8_array(text), Written::U8(1)];
        assert_eq!(read(Version::V6, &fields, &values), shown(&[("u", text), ("n", "1")]));
    }
}
