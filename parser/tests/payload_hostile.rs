//! Tests of payloads that do not agree with their description, and of descriptions with huge
//! claims: no panic, and no more work than the limit allows.

use crate::visitor;
use nettrace_parser::{Event, FieldValue, Fields, Reader, Value};
use nettrace_testdata::cases;
use nettrace_testdata::synth::{
    Blob, Definition, EventBlock, Field, FieldType, MetadataBlock, MetadataRow, Stream, Trace,
    Value as Written, Version, payload,
};
use proptest::prelude::*;

/// Maximum number of values in a payload (FORMAT.md 13.4).
const LIMIT: usize = 1 << 20;

/// Returns a stream with one event of these fields and this payload, which need not agree.
fn stream(fields: Vec<Field>, bytes: &[u8]) -> Vec<u8> {
    let row = MetadataRow {
        metadata_id: 1,
        provider: "Synth".into(),
        name: "E".into(),
        fields,
        ..MetadataRow::default()
    };
    let event =
        Blob { metadata_id: 1, sequence_number: 1, payload: bytes.to_vec(), ..Blob::default() };
    let mut stream = Stream::new(Version::V6);
    stream.trace(&Trace::default()).metadata_rows(&MetadataBlock::new(vec![row]));
    stream.event_block(&EventBlock::new([event])).end();
    stream.bytes
}

/// Calls `with` for an event of these fields and this payload.
fn with_event<T>(fields: Vec<Field>, bytes: &[u8], with: impl Fn(&Event<'_>) -> T) -> T {
    let stream = stream(fields, bytes);
    let mut reader = Reader::from_slice(&stream);
    let event = reader.next_event().expect("a readable stream").expect("an event");
    with(&event)
}

fn named(kinds: impl IntoIterator<Item = FieldType>) -> Vec<Field> {
    kinds.into_iter().zip('a'..).map(|(kind, name)| Field::new(&name.to_string(), kind)).collect()
}

/// Returns the number of values in a value, including itself.
fn count(value: &Value<'_>) -> usize {
    1 + match value {
        Value::Array(array) => {
            assert_eq!(array.iter().count(), array.len(), "all elements are there");
            array.iter().map(|value| count(&value)).sum()
        }
        Value::Object(object) => object.fields().map(|field| count_field(&field)).sum(),
        _ => 0,
    }
}

fn count_field(field: &FieldValue<'_>) -> usize {
    field.value.as_ref().map_or(1, count)
}

/// Visits all values, and returns their number.
fn visit(event: &Event<'_>) -> usize {
    let mut fields = event.fields();
    let size = event.payload().len();
    let mut values = 0;
    let mut last = 0;
    for field in fields.by_ref() {
        assert!(
            field.offset >= last && field.offset <= size,
            "offsets grow and stay in the payload"
        );
        last = field.offset;
        if let Err(fault) = field.value {
            assert!(fault.offset <= size);
        }
        values += count_field(&field);
    }
    assert_eq!(
        fields.rest(),
        &event.payload()[fields.rest_offset()..],
        "what no field took is left"
    );
    values
}

/// Looks up every field name and an unknown one. Asserts that all ways to look up a name have the
/// same result.
fn ask(event: &Event<'_>) {
    let text = |value: Value<'_>| format!("{value:?}");
    for (index, field) in event.fields().enumerate() {
        let asked = event.field(field.name()).map(text);
        assert_eq!(asked, field.value.ok().map(text), "{} by name", field.name());
        let mut fields = event.fields();
        fields.by_ref().take(index / 2).for_each(drop);
        let found = fields.find(field.name()).expect("a field that the walk gives");
        assert_eq!(
            format!("{:?}", found.value),
            format!("{:?}", field.value),
            "{} found",
            field.name()
        );
        assert_eq!(found.offset, field.offset);
    }
    assert!(event.fields().find("no such field").is_none());
    assert!(event.field("no such field").is_none());
}

/// Generates types of hostile streams, with extreme counts and elements without bytes.
fn types() -> impl Strategy<Value = FieldType> {
    use FieldType::*;
    let leaves = prop::sample::select(vec![
        Object(vec![]),
        Boolean32,
        Char,
        SByte,
        Byte,
        Int16,
        Int32,
        UInt64,
        Single,
        Double,
        Decimal,
        DateTime,
        Guid,
        Text,
        VarInt,
        VarUInt,
        Utf8CodeUnit,
        Boolean8,
        Code(2),
        Code(99),
    ]);
    leaves.prop_recursive(5, 16, 3, |inner| {
        let boxed = |make: fn(Box<FieldType>) -> FieldType| {
            inner.clone().prop_map(move |e| make(Box::new(e)))
        };
        let counts = prop::sample::select(vec![0u16, 1, 2, 300, u16::MAX]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|members| Object(named(members))),
            boxed(Array),
            boxed(RelLoc),
            boxed(DataLoc),
            (inner.clone(), counts).prop_map(|(e, count)| FixedLengthArray(Box::new(e), count)),
        ]
    })
}

/// Generates bytes with many zeros, small numbers and 0xff.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![3 => Just(0u8), 3 => 0u8..5, 1 => Just(0xff), 3 => any::<u8>()];
    prop_oneof![prop::collection::vec(byte.clone(), 0..40), prop::collection::vec(byte, 0..400),]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(375)))]

    #[test]
    fn random_bytes_against_random_schemas_are_read_within_the_limit(
        kinds in prop::collection::vec(types(), 0..6), bytes in bytes(),
    ) {
        let fields = kinds.len();
        with_event(named(kinds), &bytes, |event| {
            let values = visit(event);
            assert!(values <= LIMIT + fields, "{values} values");
            if values < 2000 {
                ask(event);
                visitor::assert_as_walked(event);
                let shown = format!("{event:?} {:?}", event.fields().collect::<Vec<_>>());
                assert!(shown.starts_with("Event("));
                event.fields().for_each(|field| drop(field.value.map(|value| value.to_string())));
            }
        });
    }

    #[test]
    fn random_bytes_as_events_of_the_runtime_are_read(id in 0u32..310, version in 0u32..5, bytes in bytes()) {
        for provider in ["Microsoft-Windows-DotNETRuntime", "Microsoft-Windows-DotNETRuntimePrivate"] {
            let definition = Definition {
                metadata_id: 1,
                provider: provider.into(),
                event_id: id,
                version,
                ..Definition::default()
            };
            let event = Blob { metadata_id: 1, sequence_number: 1, payload: bytes.clone(), ..Blob::default() };
            let mut stream = Stream::new(Version::V4);
            stream
                .trace(&Trace::default())
                .metadata_blobs(&EventBlock::new([Blob::definition(0, 0, definition.encode())]))
                .event_block(&EventBlock::new([event]))
                .end();
            let mut reader = Reader::from_slice(&stream.bytes);
            let event = reader.next_event().expect("a readable stream").expect("an event");
            assert!(visit(&event) <= LIMIT + 64);
            ask(&event);
            visitor::assert_as_walked(&event);
        }
    }
}

fn fixed(element: FieldType, count: u16) -> FieldType {
    FieldType::FixedLengthArray(Box::new(element), count)
}

fn nothing() -> FieldType {
    FieldType::Object(vec![])
}

fn fault_of(kind: FieldType, bytes: &[u8]) -> String {
    with_event(vec![Field::new("a", kind), Field::new("n", FieldType::Byte)], bytes, |event| {
        let fields: Vec<String> = event
            .fields()
            .map(|field| match field.value {
                Ok(value) => format!("{}={}", field.name(), value.to_string().len()),
                Err(fault) => format!("{}: {fault}", field.name()),
            })
            .collect();
        fields.join("; ")
    })
}

#[test]
fn a_product_of_fixed_lengths_beyond_the_limit_is_refused_without_walking_it() {
    // The array takes no bytes, so the next field is found.
    let product = fixed(fixed(nothing(), u16::MAX), u16::MAX);
    assert_eq!(
        fault_of(product, &[7]),
        "a: payload byte 0: more values than a payload may hold; n=1"
    );
    let product = fixed(fixed(fixed(fixed(nothing(), u16::MAX), u16::MAX), u16::MAX), u16::MAX);
    assert_eq!(
        fault_of(product, &[7]),
        "a: payload byte 0: more values than a payload may hold; n=1"
    );
    let product = fixed(fixed(FieldType::UInt64, u16::MAX), u16::MAX);
    assert_eq!(fault_of(product, &[7]), "a: payload byte 0: more values than a payload may hold");
}

#[test]
fn elements_of_no_size_and_no_fixed_size_are_paid_for() {
    // An array of zero texts takes no bytes, although texts have no fixed size.
    let zero_texts = || fixed(FieldType::Text, 0);
    assert_eq!(fault_of(zero_texts(), &[7]), "a=2; n=1");
    let product = fixed(fixed(fixed(zero_texts(), u16::MAX), u16::MAX), u16::MAX);
    assert_eq!(
        fault_of(product, &[7]),
        "a: payload byte 0: more values than a payload may hold; n=1"
    );
}

#[test]
fn arrays_of_arrays_of_nothing_are_refused_above_the_limit() {
    let kind = nothing().array().array();
    // The limit allows 16 arrays of 65,535 elements, but not 17.
    let inner = Written::Raw(vec![0xff, 0xff]);
    let bytes = |count| payload(&[Written::Array(vec![inner.clone(); count]), Written::U8(7)]);
    let values = with_event(named([kind.clone(), FieldType::Byte]), &bytes(15), visit);
    assert_eq!(values, 15 * 65_536 + 2);
    assert_eq!(
        fault_of(kind, &bytes(17)),
        "a: payload byte 0: more values than a payload may hold"
    );
}

#[test]
fn texts_beyond_the_payload_are_no_elements() {
    let kind = FieldType::Text.array();
    let three =
        payload(&[Written::U16(3), Written::Text("a".into()), Written::Text(String::new())]);
    assert_eq!(fault_of(kind.clone(), &three), "a: payload byte 0: the bytes end too early");
    assert_eq!(fault_of(kind, &[0xff, 0xff]), "a: payload byte 0: the bytes end too early");
}

#[test]
fn types_nested_65535_deep_make_the_event_opaque() {
    for code in [19u8, 22, 24, 25] {
        let nested = FieldType::Raw(vec![code; 60_000]);
        let fields = vec![Field::new("n", FieldType::Byte), Field::new("deep", nested)];
        with_event(fields, &[7, 8, 9], |event| {
            assert_eq!(visit(event), 1);
            assert!(event.fields().opaque().is_some());
            let mut fields = event.fields();
            assert!(matches!(fields.next().unwrap().value, Ok(Value::U8(7))));
            assert_eq!(fields.rest(), [8, 9]);
            ask(event);
        });
    }
}

#[test]
fn located_data_that_points_at_itself_is_paid_for_each_time() {
    // Sixteen levels, each of which contains the whole payload as the next level.
    let mut kind = FieldType::Byte;
    for _ in 0..16 {
        kind = FieldType::DataLoc(Box::new(kind));
    }
    let size = 400u16;
    let itself = [0, 0, size as u8, (size >> 8) as u8];
    let bytes = itself.repeat(100);
    let fields = named([kind.clone(), FieldType::UInt32]);
    with_event(fields, &bytes, |event| {
        let values: Vec<_> = event.fields().map(|field| field.value).collect();
        assert!(format!("{:?}", values[0]).contains("ValueLimit"), "{:?}", values[0]);
        assert!(matches!(values[1], Ok(Value::U32(_))), "the field behind it is found");
        ask(event);
    });
    // The field is also bad inside an object or an array, and the visit ends within the limit.
    for kind in [FieldType::Object(named([kind.clone()])), kind.clone().array(), fixed(kind, 2)] {
        with_event(named([kind]), &[&[2, 0], bytes.as_slice()].concat(), |event| {
            assert!(visit(event) <= LIMIT);
            ask(event);
        });
    }
}

#[test]
fn located_data_that_many_objects_share_is_paid_for_by_each() {
    let numbers = FieldType::DataLoc(Box::new(FieldType::Int16));
    let kind = FieldType::Object(named([numbers])).array();
    let shared = |objects: usize| {
        let itself = Written::U32(4000 << 16);
        payload(&[
            Written::Array(vec![Written::Object(vec![itself]); objects]),
            Written::Raw(vec![1; 4000]),
        ])
    };
    // Each has an object, an array and 2,000 numbers.
    let values = with_event(named([kind.clone()]), &shared(500), visit);
    assert_eq!(values, 1 + 500 * 2002);
    with_event(named([kind]), &shared(600), |event| {
        assert_eq!(visit(event), 1);
        assert!(format!("{:?}", event.fields().next().unwrap().value).contains("ValueLimit"));
    });
}

#[test]
fn a_location_outside_the_payload_spoils_its_field_only() {
    let rel = || FieldType::RelLoc(Box::new(FieldType::Utf8CodeUnit));
    let data = || FieldType::DataLoc(Box::new(FieldType::Char));
    let at = |place: u32, size: u32| Written::U32(size << 16 | place);
    let members = || FieldType::Object(named([rel(), FieldType::UInt16]));
    let fields = named([rel(), data(), members(), rel().array(), FieldType::Byte]);
    let values = [
        at(1000, 1),
        at(0, 3),
        Written::Object(vec![at(0, 0xffff), Written::U16(5)]),
        Written::Array(vec![at(0, 0), at(0xffff, 1)]),
        Written::U8(7),
    ];
    with_event(fields, &payload(&values), |event| {
        let shown: Vec<String> = event
            .fields()
            .map(|field| {
                field.value.map_or_else(|fault| fault.to_string(), |value| value.to_string())
            })
            .collect();
        assert_eq!(
            shown[0],
            "payload byte 0: 1 bytes at 1000 are not within the payload, or no whole elements"
        );
        assert_eq!(
            shown[1],
            "payload byte 4: 3 bytes at 0 are not within the payload, or no whole elements"
        );
        // The other member of the object is read.
        assert_eq!(
            shown[2],
            "{a=<payload byte 8: 65535 bytes at 0 are not within the payload, or no whole elements>, b=5}"
        );
        // An array with an element that cannot be read is bad as a whole, and is the last field.
        assert!(shown[3].starts_with("payload byte 14: 1 bytes at 65535"), "{}", shown[3]);
        assert_eq!(shown.len(), 5);
        assert_eq!(shown[4], "7");
        ask(event);
    });
}

#[test]
fn looking_for_a_field_behind_a_bad_one_ends() {
    let fields = named([FieldType::VarUInt, FieldType::Int32, FieldType::Int32]);
    with_event(fields, &[0x80; 20], |event| {
        assert_eq!(event.fields().count(), 1, "where the others begin is not known");
        for name in ["b", "c", "none"] {
            assert!(event.fields().find(name).is_none());
            assert!(event.field(name).is_none());
        }
        let mut fields = event.fields();
        assert!(fields.find("c").is_none());
        assert_eq!((fields.rest_offset(), fields.rest().len()), (0, 20));
    });
}

#[test]
fn a_payload_that_ends_inside_a_field_keeps_the_fields_before_it() {
    let fields = named([FieldType::Int32, FieldType::Text, FieldType::Int64, FieldType::Byte]);
    let values = [Written::I32(5), Written::Text("hi".into()), Written::Raw(vec![1, 2, 3])];
    with_event(fields, &payload(&values), |event| {
        let shown: Vec<String> = event.fields().map(|field| format!("{:?}", field.value)).collect();
        assert_eq!(shown[..2], ["Ok(I32(5))", "Ok(Utf16(\"hi\"))"]);
        assert!(shown[2].contains("offset: 10, fault: Truncated"), "{}", shown[2]);
        assert_eq!(shown.len(), 3);
        let mut fields = event.fields();
        fields.by_ref().for_each(drop);
        assert_eq!(fields.rest(), [1, 2, 3]);
        ask(event);
    });
}

#[test]
fn a_shorter_payload_gives_absent_fields_and_a_longer_one_raw_bytes() {
    let fields =
        || named([FieldType::Int32, FieldType::Text, FieldType::Array(Box::new(FieldType::Byte))]);
    with_event(fields(), &[1, 0, 0, 0], |event| {
        let shown: Vec<String> = event.fields().map(|field| format!("{:?}", field.value)).collect();
        assert_eq!(shown, ["Ok(I32(1))", "Ok(Absent)", "Ok(Absent)"]);
        ask(event);
    });
    let values = [
        Written::I32(1),
        Written::Text(String::new()),
        Written::Array(vec![]),
        Written::Raw(vec![9; 3]),
    ];
    with_event(fields(), &payload(&values), |event| {
        let mut walk = event.fields();
        assert!(walk.by_ref().all(|field| field.value.is_ok_and(|value| !value.is_absent())));
        assert_eq!((walk.rest(), walk.rest_offset()), (&[9u8, 9, 9][..], 8));
    });
}

#[test]
fn an_unterminated_text_is_taken_to_the_payloads_end_and_marked() {
    let fields = || named([FieldType::Text, FieldType::Int32]);
    for (bytes, expected) in [(&b"a\0b\0"[..], "ab"), (b"a\0b", "a"), (b"a", "")] {
        with_event(fields(), bytes, |event| {
            let text = event.field("a").and_then(|value| value.as_utf16()).unwrap();
            assert_eq!((text.to_string().as_str(), text.is_terminated()), (expected, false));
            assert!(event.field("b").unwrap().is_absent());
            ask(event);
        });
    }
}

#[test]
fn debug_output_shows_no_more_than_16_bytes() {
    let fields =
        vec![Field::new("b", fixed(FieldType::Byte, 4000)), Field::new("n", FieldType::Int32)];
    with_event(fields, &[0xab; 4004], |event| {
        let mut fields: Fields<'_> = event.fields();
        assert_eq!(format!("{fields:?}").matches("ab").count(), 16);
        let bytes = fields.next().unwrap();
        let expected = format!("Ok(Bytes({}… (4000 bytes)))", "ab".repeat(16));
        assert_eq!(format!("{:?}", bytes.value), expected);
        assert!(format!("{:?}", event.fields()).len() < 300);
    });
    let fields = named([FieldType::UInt16.array()]);
    let values = [Written::Array(vec![Written::U16(7); 1000])];
    with_event(fields, &payload(&values), |event| {
        assert_eq!(format!("{:?}", event.field("a")).matches("U16").count(), 16);
    });
}
