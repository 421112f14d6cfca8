//! Tests that random sessions of the independent writer are read back equal, and that random damage
//! does no harm.

use crate::snapshot;

use nettrace_testdata::cases;
use nettrace_testdata::synth::*;
use proptest::prelude::*;
use snapshot::{Outcome, Seen, ordered, read};

/// Returns written values as the texts of [`snapshot::fields`].
fn texts(fields: &[Field], values: &[Value]) -> Vec<String> {
    // Some writers put a nameless object around all fields; its members are the fields.
    if let ([Field { name, field_type: FieldType::Object(members), .. }], [Value::Object(values)]) =
        (fields, values)
        && name.is_empty()
    {
        return texts_of_members(members, values);
    }
    texts_of_members(fields, values)
}

fn texts_of_members(fields: &[Field], values: &[Value]) -> Vec<String> {
    assert_eq!(fields.len(), values.len());
    let text = |(field, value): (&Field, &Value)| {
        format!("{} = {}", field.name, text(&field.field_type, value))
    };
    fields.iter().zip(values).map(text).collect()
}

fn text(of: &FieldType, value: &Value) -> String {
    match value {
        Value::Object(values) => {
            let FieldType::Object(fields) = of else { panic!("{of:?} is no object") };
            format!("{{{}}}", texts_of_members(fields, values).join(", "))
        }
        Value::Boolean32(value) | Value::Boolean8(value) => value.to_string(),
        Value::Char(unit) => format!("char {unit:#x}"),
        Value::I8(value) => format!("{value}i8"),
        Value::U8(value) if *of == FieldType::Utf8CodeUnit => {
            format!("b{:?}", char::from(*value).to_string())
        }
        Value::U8(value) => format!("{value}u8"),
        Value::I16(value) => format!("{value}i16"),
        Value::U16(value) => format!("{value}u16"),
        Value::I32(value) => format!("{value}i32"),
        Value::U32(value) => format!("{value}u32"),
        Value::I64(value) | Value::VarInt(value) => format!("{value}i64"),
        Value::U64(value) | Value::VarUInt(value) => format!("{value}u64"),
        Value::F32(value) => format!("{value}f32"),
        Value::F64(value) => format!("{value}f64"),
        Value::Decimal(value) => decimal(value),
        Value::FileTime(value) => nettrace_parser::DateTime::from_file_time(*value).to_string(),
        Value::Guid(value) => nettrace_parser::Guid::from_bytes(*value).to_string(),
        Value::Text(value) => format!("{value:?}"),
        Value::Array(values)
        | Value::FixedLengthArray(values)
        | Value::RelLoc(values)
        | Value::DataLoc(values) => elements(of, values),
        other => panic!("samples have no {other:?}"),
    }
}

fn elements(of: &FieldType, values: &[Value]) -> String {
    let (FieldType::Array(element)
    | FieldType::RelLoc(element)
    | FieldType::DataLoc(element)
    | FieldType::FixedLengthArray(element, _)) = of
    else {
        panic!("{of:?} has no elements")
    };
    let bytes = || {
        values.iter().map(|value| if let Value::U8(byte) = value { *byte } else { unreachable!() })
    };
    match **element {
        FieldType::Char => {
            let units = values
                .iter()
                .map(|value| if let Value::Char(unit) = value { *unit } else { unreachable!() });
            format!("{:?}", String::from_utf16_lossy(&units.collect::<Vec<_>>()))
        }
        FieldType::Utf8CodeUnit => {
            format!("b{:?}", String::from_utf8_lossy(&bytes().collect::<Vec<_>>()))
        }
        FieldType::Byte => {
            format!("x{}", bytes().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
        _ => {
            let elements: Vec<String> = values.iter().map(|value| text(element, value)).collect();
            format!("[{}]", elements.join(", "))
        }
    }
}

fn decimal(value: &Decimal) -> String {
    let scale = usize::from(value.scale);
    let digits = format!("{:0width$}", value.mantissa, width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if value.is_negative { "-" } else { "" };
    let point = if scale > 0 { "." } else { "" };
    format!("{sign}{whole}{point}{fraction}m")
}

fn label(label: &Label) -> String {
    let guid = |guid: &GuidBytes| nettrace_parser::Guid::from_bytes(*guid);
    match label {
        Label::ActivityId(id) => format!("ActivityId({})", guid(id)),
        Label::RelatedActivityId(id) => format!("RelatedActivityId({})", guid(id)),
        Label::TraceId(id) => format!("TraceId(TraceId({id:?}))"),
        Label::SpanId(id) => format!("SpanId({id})"),
        Label::Text(key, value) => {
            format!("Text {{ key: {:?}, value: {:?} }}", key.as_bytes(), value.as_bytes())
        }
        Label::Number(key, value) => {
            format!(
                "Number {{ key: {:?}, value: {value}, raw: {} }}",
                key.as_bytes(),
                zigzag(*value)
            )
        }
        Label::OpCode(value) => format!("Opcode({value})"),
        Label::Keywords(value) => format!("Keywords({value})"),
        Label::Level(value) => format!("Level({value})"),
        Label::Version(value) => format!("Version({value})"),
        other => panic!("sessions write no such label: {other:?}"),
    }
}

/// Asserts that an event was read as written.
fn assert_event(version: Version, seen: &Seen, written: &ExpectedEvent) {
    let blob = &written.blob;
    assert_eq!(seen.metadata_id, blob.metadata_id);
    assert_eq!(
        (seen.provider.as_str(), seen.id, seen.name.as_str()),
        (written.provider.as_str(), written.event_id, written.name.as_str())
    );
    assert_eq!((seen.keywords, seen.opcode), (written.keywords, written.opcode));
    assert_eq!((seen.level, seen.version), (u32::from(written.level), u32::from(written.version)));
    assert_eq!(
        (seen.ticks, &seen.payload, &seen.stack),
        (blob.ticks, &blob.payload, &written.stack)
    );
    let guids = [seen.activity, seen.related_activity].map(|id| id.map(|id| id.to_bytes()));
    assert_eq!(guids, [written.activity_id, written.related_activity_id]);
    assert_eq!(seen.labels, written.labels.iter().map(label).collect::<Vec<_>>());
    assert_eq!((seen.thread, seen.process), (Some(written.os_thread_id), Some(written.process_id)));
    let name = seen.thread_row.as_ref().and_then(|thread| thread.name.as_deref());
    assert_eq!(name, written.thread_name.as_deref());
    if version == Version::V3 {
        // Version 3 has neither sequence numbers nor capture threads.
        let told = (seen.number, seen.capture_thread, seen.processor, seen.is_sorted);
        assert_eq!(told, (0, blob.thread_id, None, true));
    } else {
        let told = (seen.number, seen.capture_thread, seen.processor, seen.is_sorted);
        let processor = Some(blob.processor).filter(|processor| *processor != NO_PROCESSOR);
        assert_eq!(told, (blob.sequence_number, blob.capture_thread_id, processor, blob.is_sorted));
    }
    if written.fields.is_empty() {
        assert_eq!((seen.fields.len(), &seen.rest), (0, &blob.payload));
    } else {
        assert_eq!(seen.fields, texts(&written.fields, &written.values));
    }
}

fn assert_read_back(session: &Session) {
    let recording = session.record();
    let bytes = &recording.stream.bytes;
    let in_file = read(bytes);
    assert_eq!(in_file.events.len(), recording.events.len());
    for (seen, written) in in_file.events.iter().zip(&recording.events) {
        assert_event(session.version, seen, written);
    }
    let in_time = ordered(bytes);
    let order = recording.time_order();
    assert_eq!(in_time.events.len(), order.len());
    for (seen, place) in in_time.events.iter().zip(order) {
        assert_eq!(*seen, in_file.events[place]);
    }
    let recycles_ids = session.version < Version::V6
        && session.steps.iter().any(|step| matches!(step, Step::RemoveThread(_)));
    for outcome in [&in_file, &in_time] {
        // If numbers fall and later rise by the same difference, no reader can distinguish the
        // stream from a damaged one (FORMAT.md 13.6), and such gaps do not count as lost.
        match recording.undone.iter().min() {
            None => {
                assert_eq!((outcome.lost, outcome.findings.as_slice()), (recording.lost, &[][..]))
            }
            Some(undone) => {
                assert!((1..=recording.undone.len()).contains(&outcome.findings.len()));
                let most = recording.lost - undone;
                assert!(outcome.lost <= most, "{} of {most}", outcome.lost);
            }
        }
        let contradicts = |finding: &nettrace_parser::Finding| {
            finding.class == nettrace_parser::Class::Contradiction
        };
        assert!(outcome.findings.iter().all(contradicts), "{:?}", outcome.findings);
        // A reused thread id starts again at 1, which counts as a restart.
        assert!(outcome.restarts == 0 || recycles_ids, "{} restarts", outcome.restarts);
        assert_eq!(outcome.out_of_order, 0);
        assert_eq!((outcome.is_complete, outcome.error), (session.has_end, None));
        assert_eq!(outcome.end_offset, Some(bytes.len() as u64));
    }
}

#[test]
fn of_losses_behind_an_id_that_came_back_only_one_as_large_as_the_numbers_fell_looks_undone() {
    for count in 0..6 {
        let event = |thread| Step::event(0, thread, 10, []);
        let mut steps = vec![event(0), event(1), event(0), event(0), Step::RemoveThread(0)];
        steps.extend([Step::sequence_point(), event(0), Step::Lose { thread: 0, count }]);
        steps.extend([event(0), event(1), Step::sequence_point(), event(0)]);
        let session = Session {
            types: vec![EventType { provider: "Demo".into(), event_id: 7, ..EventType::default() }],
            threads: vec![SessionThread::new(11), SessionThread::new(12)],
            steps,
            ..Session::new(Version::V4)
        };
        let undone = session.record().undone;
        assert_eq!(undone, if count == 3 { vec![3] } else { Vec::new() }, "{count}");
        assert_read_back(&session);
    }
}

/// Generates damage to streams of up to some thousand bytes.
fn damage() -> impl Strategy<Value = Damage> {
    let at = || 0_usize..3000;
    let range = || (0_usize..3000, 1_usize..200).prop_map(|(at, length)| at..at + length);
    let bytes = || prop::collection::vec(any::<u8>(), 1..12);
    prop_oneof![
        1 => at().prop_map(|at| Damage::Cut { at }),
        4 => (at(), 1_u8..).prop_map(|(at, mask)| Damage::Flip { at, mask }),
        2 => (at(), bytes()).prop_map(|(at, bytes)| Damage::Insert { at, bytes }),
        2 => range().prop_map(|range| Damage::Delete { range }),
        1 => range().prop_map(|range| Damage::Duplicate { range }),
        1 => (range(), range()).prop_map(|(first, second)| Damage::Swap { first, second }),
        2 => (at(), bytes()).prop_map(|(at, bytes)| Damage::Overwrite { at, bytes }),
        2 => (at(), prop::sample::select(vec![0, 1, 0x7f, 0xff, 0x7fff_ffff, 0x8000_0000, u32::MAX]))
            .prop_map(|(at, value)| Damage::u32(at, value)),
    ]
}

fn assert_survived(session: &Session, damages: &[Damage]) {
    let mut bytes = session.record().stream.bytes;
    for damage in damages {
        damage.apply(&mut bytes);
    }
    // `read` checks all offsets, and that reading in pieces has the same result.
    let in_file = read(&bytes);
    let in_time = ordered(&bytes);
    // Only the order of the events differs.
    let by_offset = |outcome: &Outcome| {
        let mut events: Vec<_> =
            outcome.events.iter().map(|event| (event.offset, event.ticks)).collect();
        events.sort_unstable();
        events
    };
    assert_eq!(by_offset(&in_time), by_offset(&in_file));
    assert_eq!(
        (in_time.lost, in_time.error, in_time.end_offset),
        (in_file.lost, in_file.error, in_file.end_offset)
    );
}

fn config(usual: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases(usual)) }
}

/// Generates sessions with and without an end mark.
fn sessions(version: Version) -> impl Strategy<Value = Session> {
    (strategy::sessions(version, 40), any::<bool>())
        .prop_map(|(session, has_end)| Session { has_end, ..session })
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn sessions_of_version_3_are_read_back(session in sessions(Version::V3)) {
        assert_read_back(&session);
    }

    #[test]
    fn sessions_of_version_4_are_read_back(session in sessions(Version::V4)) {
        assert_read_back(&session);
    }

    #[test]
    fn sessions_of_version_5_are_read_back(session in sessions(Version::V5)) {
        assert_read_back(&session);
    }

    #[test]
    fn sessions_of_version_6_are_read_back(session in sessions(Version::V6)) {
        assert_read_back(&session);
    }
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn damaged_streams_of_version_3_are_survived(
        session in sessions(Version::V3),
        damages in prop::collection::vec(damage(), 1..5),
    ) {
        assert_survived(&session, &damages);
    }

    #[test]
    fn damaged_streams_of_versions_4_and_5_are_survived(
        session in sessions(Version::V5),
        damages in prop::collection::vec(damage(), 1..5),
    ) {
        assert_survived(&session, &damages);
    }

    #[test]
    fn damaged_streams_of_version_6_are_survived(
        session in sessions(Version::V6),
        damages in prop::collection::vec(damage(), 1..5),
    ) {
        assert_survived(&session, &damages);
    }
}
