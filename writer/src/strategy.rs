//! Strategies of proptest that generate sessions. A session for which a test fails shrinks to one
//! with fewer steps.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::{RegexGeneratorStrategy, string_regex};
use std::sync::LazyLock;

use crate::{
    BatchOrder, BlobLayout, Damage, EventType, Field, FieldForm, FieldType, GuidBytes, Label,
    Session, SessionEvent, SessionThread, Step, Trace, Value, Version,
};

/// Generates versions. They shrink to the oldest.
///
/// ```
/// use nettrace_writer::strategy::{sessions, versions};
/// use proptest::prelude::*;
///
/// proptest!(|(session in versions().prop_flat_map(|version| sessions(version, 40)))| {
///     let recording = session.record();
///     prop_assert!(recording.events.len() <= 40);
/// });
/// ```
pub fn versions() -> impl Strategy<Value = Version> {
    select(Version::ALL.to_vec())
}

/// Generates damage somewhere in the first `length` bytes. At most 255 bytes are
/// inserted, removed or replaced.
///
/// ```
/// use nettrace_writer::{strategy::damage, tiny_v4};
/// use proptest::prelude::*;
///
/// let stream = tiny_v4();
/// proptest!(|(damage in damage(stream.bytes.len()))| {
///     let bytes = damage.applied(&stream.bytes);
///     prop_assert!(bytes.len() < stream.bytes.len() + 256);
/// });
/// ```
pub fn damage(length: usize) -> impl Strategy<Value = Damage> {
    let length = length.max(1);
    let stretch = move || (0..length, 0_usize..256).prop_map(|(start, bytes)| start..start + bytes);
    let bytes = || prop::collection::vec(any::<u8>(), 0..256);
    let extremes = select(vec![0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]);
    prop_oneof![
        (0..length, 0..8).prop_map(|(at, bit)| Damage::Flip { at, mask: 1_u8 << bit }),
        (0..length).prop_map(|at| Damage::Cut { at }),
        (0..length, bytes()).prop_map(|(at, bytes)| Damage::Insert { at, bytes }),
        stretch().prop_map(|range| Damage::Delete { range }),
        stretch().prop_map(|range| Damage::Duplicate { range }),
        (stretch(), stretch()).prop_map(|(first, second)| Damage::Swap { first, second }),
        (0..length, extremes).prop_map(|(at, value)| Damage::u32(at, value)),
        (0..length, bytes()).prop_map(|(at, bytes)| Damage::Overwrite { at, bytes }),
    ]
}

/// Generates sessions of one version: up to 5 types, 4 threads and `max_steps - 1` steps, in all
/// layouts and orders. Each payload agrees with its type's fields.
pub fn sessions(version: Version, max_steps: usize) -> impl Strategy<Value = Session> {
    let types = prop::collection::vec(event_types(version), 1..6);
    let threads = prop::collection::vec(prop::option::weighted(0.5, names()), 1..5);
    (types, threads, options(version)).prop_flat_map(move |(types, names, options)| {
        let threads: Vec<SessionThread> = names
            .into_iter()
            .zip(0..)
            .map(|(name, at)| SessionThread {
                os_thread_id: 11 + at * 0x1_0000_0001,
                process_id: 7 + at,
                name,
            })
            .collect();
        let fields: Vec<Vec<Field>> =
            types.iter().map(|event_type| event_type.fields.clone()).collect();
        prop::collection::vec(steps(fields), 0..max_steps).prop_map(move |steps| Session {
            types: types.clone(),
            threads: threads.clone(),
            steps,
            ..options.clone()
        })
    })
}

fn options(version: Version) -> impl Strategy<Value = Session> {
    let layouts = vec![
        BlobLayout::Compressed,
        BlobLayout::Overlong(1),
        BlobLayout::Overlong(9),
        BlobLayout::Uncompressed,
        BlobLayout::UncompressedUnpadded,
    ];
    let orders = vec![BatchOrder::ThreadRuns, BatchOrder::ByTime, BatchOrder::Unmarked];
    (
        select(layouts),
        select(orders),
        0_usize..9,
        (0_usize..9, 0_usize..9),
        (any::<u8>(), any::<bool>(), select(vec![8, 4])),
    )
        .prop_map(move |(layout, order, events_per_block, (header_extra, row_extra), rest)| {
            let (padding_byte, interns_empty_stacks, pointer_size) = rest;
            Session {
                layout,
                order,
                events_per_block,
                header_extra,
                row_extra,
                padding_byte,
                interns_empty_stacks,
                trace: Trace { pointer_size, ..Trace::default() },
                ..Session::new(version)
            }
        })
}

/// Generates types that a field list of the version can describe. No type has size zero, because an
/// empty object at the end of a payload cannot be distinguished from a missing one.
pub fn field_types(version: Version) -> impl Strategy<Value = FieldType> {
    use FieldType::*;
    let mut leaves = vec![
        Boolean32, Char, SByte, Byte, Int16, UInt16, Int32, UInt32, Int64, UInt64, Single, Double,
        Decimal, DateTime, Guid, Text,
    ];
    if version == Version::V6 {
        leaves.extend([VarInt, VarUInt, Utf8CodeUnit, Boolean8]);
    }
    select(leaves).prop_recursive(3, 12, 3, move |inner| {
        let object = prop::collection::vec((names(), inner.clone()), 1..4)
            .prop_map(|members| Object(members.into_iter().map(field).collect()));
        let fixed = |make: fn(Box<FieldType>) -> FieldType| {
            inner.clone().prop_map(move |element| match element.is_fixed_size() {
                true => make(Box::new(element)),
                false => element.array(),
            })
        };
        match version {
            Version::V3 | Version::V4 => object.boxed(),
            Version::V5 => prop_oneof![object, inner.prop_map(FieldType::array)].boxed(),
            Version::V6 => prop_oneof![
                object,
                inner.clone().prop_map(FieldType::array),
                fixed(|element| FixedLengthArray(element, 3)),
                fixed(RelLoc),
                fixed(DataLoc),
            ]
            .boxed(),
        }
    })
}

/// Returns the strategy that generates any text. It is faster than `any`, because the regular
/// expression is parsed only once.
fn names() -> &'static RegexGeneratorStrategy<String> {
    static NAMES: LazyLock<RegexGeneratorStrategy<String>> =
        LazyLock::new(|| string_regex("\\PC*").expect("an expression"));
    &NAMES
}

fn field((name, field_type): (String, FieldType)) -> Field {
    // A NUL would end the name.
    Field::new(&name.replace('\0', ""), field_type)
}

fn event_types(version: Version) -> impl Strategy<Value = EventType> {
    let fields = prop::collection::vec((names(), field_types(version)), 0..5);
    let names = select(vec!["", "Hi", "RequestStart", "Größe"]);
    (0_u32..3, names, any::<u64>(), 0_u8..3, 0_u8..6, any::<Option<u8>>(), fields).prop_map(
        move |(event_id, name, keywords, event_version, level, opcode, fields)| {
            let fields: Vec<Field> = fields.into_iter().map(field).collect();
            debug_assert!(
                [FieldForm::V1, FieldForm::V2, FieldForm::V6]
                    .iter()
                    .any(|&form| fields.iter().all(|field| field.field_type.is_allowed_in(form)))
            );
            EventType {
                provider: "Synth".into(),
                event_id,
                name: name.into(),
                keywords,
                version: event_version,
                level,
                opcode,
                fields,
                optional: Vec::new(),
            }
        },
    )
}

fn steps(fields: Vec<Vec<Field>>) -> impl Strategy<Value = Step> {
    let points =
        any::<[bool; 3]>().prop_map(|[lists_threads, forgets_threads, forgets_metadata]| {
            Step::SequencePoint { lists_threads, forgets_threads, forgets_metadata }
        });
    prop_oneof![
        16 => events(fields).prop_map(Step::Event),
        1 => (0_usize..4, 0_u16..300).prop_map(|(thread, count)| Step::Lose { thread, count }),
        2 => Just(Step::Flush),
        1 => points,
        1 => (0_usize..4).prop_map(Step::RemoveThread),
    ]
}

fn events(fields: Vec<Vec<Field>>) -> impl Strategy<Value = SessionEvent> {
    let later = prop_oneof![Just(0), 1_u32..200, any::<u32>()];
    let lost = prop_oneof![8 => Just(0), 1 => 1_u16..400];
    let stack = prop::collection::vec(select(vec![1, 0x7f00_0000_1000, u64::MAX]), 0..3);
    let activities = [optional_guids(), optional_guids()];
    let labels = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(labels(), 0..4)];
    let ids = (0..fields.len(), 0_usize..4, 0_usize..4, any::<bool>());
    (ids, later, lost, any::<Option<u16>>(), stack, activities, labels, any::<u64>()).prop_map(
        move |(ids, ticks_later, lost_before, processor, stack, activities, labels, seed)| {
            let (event_type, thread, other, writes_itself) = ids;
            let [activity_id, related_activity_id] = activities;
            SessionEvent {
                event_type,
                thread,
                capture_thread: if writes_itself { thread } else { other },
                ticks_later,
                lost_before,
                processor,
                stack,
                activity_id,
                related_activity_id,
                labels,
                values: Value::samples(&fields[event_type], seed),
            }
        },
    )
}

fn optional_guids() -> BoxedStrategy<GuidBytes> {
    prop_oneof![3 => Just([0; 16]), 1 => any::<GuidBytes>()].boxed()
}

/// Generates a label of any known kind.
pub fn labels() -> impl Strategy<Value = Label> {
    prop_oneof![
        any::<GuidBytes>().prop_map(Label::ActivityId),
        any::<GuidBytes>().prop_map(Label::RelatedActivityId),
        any::<[u8; 16]>().prop_map(Label::TraceId),
        any::<u64>().prop_map(Label::SpanId),
        any::<(String, String)>().prop_map(|(key, value)| Label::Text(key, value)),
        any::<(String, i64)>().prop_map(|(key, value)| Label::Number(key, value)),
        any::<u8>().prop_map(Label::OpCode),
        any::<u64>().prop_map(Label::Keywords),
        any::<u8>().prop_map(Label::Level),
        any::<u8>().prop_map(Label::Version),
    ]
}
