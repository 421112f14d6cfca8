//! Implementations of `arbitrary::Arbitrary` for sessions and damage, for fuzzing.
//!
//! A small change of the fuzzer's bytes makes a small change of the session, so that a fuzzer
//! guided by coverage makes progress. The session ends when the bytes are used up.

use arbitrary::{Arbitrary, Result, Unstructured};
use std::ops::ControlFlow;
use std::ops::Range;

use crate::{
    BatchOrder, BlobLayout, Damage, Decimal, EventType, Field, FieldType, GuidBytes, Label,
    Session, SessionEvent, SessionThread, Step, Trace, Value, Version,
};

/// Maximum number of steps of a session.
const MAX_STEPS: u32 = 300;

/// Maximum nesting of objects and arrays.
const MAX_DEPTH: u32 = 3;

impl<'a> Arbitrary<'a> for Version {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        u.choose(&Version::ALL).copied()
    }
}

impl<'a> Arbitrary<'a> for Session {
    /// Creates a session of any version, as [`Session::arbitrary_of`] does.
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let version = u.arbitrary()?;
        Session::arbitrary_of(version, u)
    }
}

impl Session {
    /// Creates a session of the given version: 1 to 5 types, 1 to 4 threads and up to 300
    /// steps, in all layouts and orders. Every payload agrees with its type's fields.
    ///
    /// ```
    /// use nettrace_writer::{Session, Version};
    /// let mut bytes = arbitrary::Unstructured::new(b"what a fuzzer has made up");
    /// let session = Session::arbitrary_of(Version::V4, &mut bytes)?;
    /// assert!(session.record().stream.bytes.starts_with(b"Nettrace"));
    /// # Ok::<(), arbitrary::Error>(())
    /// ```
    ///
    /// # Errors
    /// None now; later versions may return errors of `u`.
    pub fn arbitrary_of(version: Version, u: &mut Unstructured<'_>) -> Result<Self> {
        let mut session = settings(version, u)?;
        for _ in 0..u.int_in_range(1..=5)? {
            session.types.push(event_type(version, u)?);
        }
        for at in 0..u.int_in_range(1..=4_u64)? {
            let name = if u.arbitrary()? { Some(text(u)?) } else { None };
            session.threads.push(SessionThread {
                os_thread_id: 11 + at * 0x1_0000_0001,
                process_id: 7 + at,
                name,
            });
        }
        u.arbitrary_loop(None, Some(MAX_STEPS), |u| {
            session.steps.push(step(&session.types, u)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(session)
    }
}

fn settings(version: Version, u: &mut Unstructured<'_>) -> Result<Session> {
    let layouts = [
        BlobLayout::Compressed,
        BlobLayout::Overlong(1),
        BlobLayout::Overlong(9),
        BlobLayout::Uncompressed,
        BlobLayout::UncompressedUnpadded,
    ];
    Ok(Session {
        layout: *u.choose(&layouts)?,
        order: *u.choose(&[BatchOrder::ThreadRuns, BatchOrder::ByTime, BatchOrder::Unmarked])?,
        events_per_block: u.int_in_range(0..=8)?,
        header_extra: u.int_in_range(0..=8)?,
        row_extra: u.int_in_range(0..=8)?,
        padding_byte: u.arbitrary()?,
        interns_empty_stacks: u.arbitrary()?,
        has_end: u.int_in_range(0..=7)? != 7,
        trace: Trace { pointer_size: *u.choose(&[8, 4])?, ..Trace::default() },
        ..Session::new(version)
    })
}

fn event_type(version: Version, u: &mut Unstructured<'_>) -> Result<EventType> {
    Ok(EventType {
        provider: "Synth".into(),
        event_id: u.int_in_range(0..=2)?,
        name: (*u.choose(&["", "Hi", "RequestStart", "Größe"])?).into(),
        keywords: u.arbitrary()?,
        version: u.int_in_range(0..=2)?,
        level: u.int_in_range(0..=5)?,
        opcode: u.arbitrary()?,
        fields: fields(version, 0..=4, MAX_DEPTH, u)?,
        optional: Vec::new(),
    })
}

fn fields(
    version: Version,
    count: std::ops::RangeInclusive<u8>,
    depth: u32,
    u: &mut Unstructured<'_>,
) -> Result<Vec<Field>> {
    (0..u.int_in_range(count)?)
        .map(|_| Ok(Field::new(&text(u)?, field_type(version, depth, u)?)))
        .collect()
}

impl FieldType {
    /// Creates a type that a field list of the version can describe. No type has size zero, because
    /// an empty object at the end of a payload cannot be distinguished from a missing one.
    ///
    /// # Errors
    /// None now; later versions may return errors of `u`.
    pub fn arbitrary_of(version: Version, u: &mut Unstructured<'_>) -> Result<Self> {
        field_type(version, MAX_DEPTH, u)
    }
}

fn field_type(version: Version, depth: u32, u: &mut Unstructured<'_>) -> Result<FieldType> {
    use FieldType::*;
    let leaves = [
        Int32,
        Boolean32,
        Char,
        SByte,
        Byte,
        Int16,
        UInt16,
        UInt32,
        Int64,
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
    ];
    let known = if version == Version::V6 { leaves.len() } else { leaves.len() - 4 };
    if depth == 0 || u.int_in_range(0..=3)? != 3 {
        return u.choose(&leaves[..known]).cloned();
    }
    let kinds = match version {
        Version::V3 | Version::V4 => 1,
        Version::V5 => 2,
        Version::V6 => 5,
    };
    let kind = u.choose_index(kinds)?;
    if kind == 0 {
        return Ok(Object(fields(version, 1..=3, depth - 1, u)?));
    }
    let element = field_type(version, depth - 1, u)?;
    if !element.is_fixed_size() {
        return Ok(element.array());
    }
    Ok(match kind {
        1 => element.array(),
        2 => FixedLengthArray(Box::new(element), u.int_in_range(1..=3)?),
        3 => RelLoc(Box::new(element)),
        _ => DataLoc(Box::new(element)),
    })
}

impl Value {
    /// Creates a value of type `field_type`. Arrays have 0 to 3 elements, and texts have up to 20
    /// bytes without a NUL. No number is a NaN, so that values can be compared.
    ///
    /// # Errors
    /// None now; later versions may return errors of `u`.
    pub fn arbitrary_of(field_type: &FieldType, u: &mut Unstructured<'_>) -> Result<Self> {
        let few = |element: &FieldType, u: &mut Unstructured<'_>| -> Result<Vec<Value>> {
            (0..u.int_in_range(0..=3)?).map(|_| Value::arbitrary_of(element, u)).collect()
        };
        Ok(match field_type {
            FieldType::Object(fields) => Value::Object(
                fields
                    .iter()
                    .map(|field| Value::arbitrary_of(&field.field_type, u))
                    .collect::<Result<_>>()?,
            ),
            FieldType::Array(element) => Value::Array(few(element, u)?),
            FieldType::RelLoc(element) => Value::RelLoc(few(element, u)?),
            FieldType::DataLoc(element) => Value::DataLoc(few(element, u)?),
            FieldType::FixedLengthArray(element, count) => Value::FixedLengthArray(
                (0..*count).map(|_| Value::arbitrary_of(element, u)).collect::<Result<_>>()?,
            ),
            FieldType::Boolean32 => Value::Boolean32(u.arbitrary()?),
            FieldType::Boolean8 => Value::Boolean8(u.arbitrary()?),
            FieldType::Char => Value::Char(u.arbitrary()?),
            FieldType::SByte => Value::I8(u.arbitrary()?),
            FieldType::Byte => Value::U8(u.arbitrary()?),
            FieldType::Utf8CodeUnit => Value::U8(u.int_in_range(0..=0x7f)?),
            FieldType::Int16 => Value::I16(u.arbitrary()?),
            FieldType::UInt16 => Value::U16(u.arbitrary()?),
            FieldType::Int32 => Value::I32(u.arbitrary()?),
            FieldType::UInt32 => Value::U32(u.arbitrary()?),
            FieldType::Int64 => Value::I64(u.arbitrary()?),
            FieldType::UInt64 => Value::U64(u.arbitrary()?),
            FieldType::Single => {
                Value::F32(Some(u.arbitrary()?).filter(|x: &f32| !x.is_nan()).unwrap_or(0.5))
            }
            FieldType::Double => {
                Value::F64(Some(u.arbitrary()?).filter(|x: &f64| !x.is_nan()).unwrap_or(0.5))
            }
            FieldType::Decimal => Value::Decimal(Decimal {
                is_negative: u.arbitrary()?,
                scale: u.int_in_range(0..=28)?,
                mantissa: u128::from(u.arbitrary::<u32>()?) << 64
                    | u128::from(u.arbitrary::<u64>()?),
            }),
            // Largest: a date in the year 10,000.
            FieldType::DateTime => Value::FileTime(u.int_in_range(0..=2_650_467_743_999_999_999)?),
            FieldType::Guid => Value::Guid(u.arbitrary()?),
            FieldType::Text => Value::Text(text(u)?),
            FieldType::VarInt => Value::VarInt(u.arbitrary()?),
            FieldType::VarUInt => Value::VarUInt(u.arbitrary()?),
            FieldType::Code(_) | FieldType::Raw(_) => Value::Raw(Vec::new()),
        })
    }
}

/// Returns a text of up to 20 bytes. It has no NULs, because these would end the text.
fn text(u: &mut Unstructured<'_>) -> Result<String> {
    let length = u.int_in_range(0..=20)?.min(u.len());
    Ok(String::from_utf8_lossy(u.bytes(length)?).replace('\0', ""))
}

fn step(types: &[EventType], u: &mut Unstructured<'_>) -> Result<Step> {
    Ok(match u.int_in_range(0..=20_u8)? {
        0..=15 => Step::Event(event(types, u)?),
        16 => Step::Lose { thread: u.int_in_range(0..=3)?, count: u.int_in_range(0..=300)? },
        17 | 18 => Step::Flush,
        19 => Step::SequencePoint {
            lists_threads: u.arbitrary()?,
            forgets_threads: u.arbitrary()?,
            forgets_metadata: u.arbitrary()?,
        },
        _ => Step::RemoveThread(u.int_in_range(0..=3)?),
    })
}

fn event(types: &[EventType], u: &mut Unstructured<'_>) -> Result<SessionEvent> {
    let event_type = u.choose_index(types.len())?;
    let thread = u.int_in_range(0..=3)?;
    // Most events of real traces have neither stack, activities nor labels.
    let is_rich = u.int_in_range(0..=3)? == 3;
    let mut event = SessionEvent {
        event_type,
        thread,
        capture_thread: thread,
        ticks_later: u32::from(u.arbitrary::<u8>()?),
        ..SessionEvent::default()
    };
    for field in &types[event_type].fields {
        event.values.push(Value::arbitrary_of(&field.field_type, u)?);
    }
    for _ in 0..u.int_in_range(0..=2)? {
        event.stack.push(*u.choose(&[1, 0x7f00_0000_1000, u64::MAX])?);
    }
    if is_rich {
        event.capture_thread = u.int_in_range(0..=3)?;
        event.ticks_later = u.arbitrary()?;
        event.lost_before = u.int_in_range(0..=400)?;
        event.processor = u.arbitrary()?;
        event.activity_id = optional_guid(u)?;
        event.related_activity_id = optional_guid(u)?;
        for _ in 0..u.int_in_range(0..=3)? {
            event.labels.push(u.arbitrary()?);
        }
    }
    Ok(event)
}

fn optional_guid(u: &mut Unstructured<'_>) -> Result<GuidBytes> {
    if u.arbitrary()? { u.arbitrary() } else { Ok([0; 16]) }
}

impl<'a> Arbitrary<'a> for Label {
    /// Creates a label of a known kind.
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(1..=10_u8)? {
            1 => Label::ActivityId(u.arbitrary()?),
            2 => Label::RelatedActivityId(u.arbitrary()?),
            3 => Label::TraceId(u.arbitrary()?),
            4 => Label::SpanId(u.arbitrary()?),
            5 => Label::Text(text(u)?, text(u)?),
            6 => Label::Number(text(u)?, u.arbitrary()?),
            7 => Label::OpCode(u.arbitrary()?),
            8 => Label::Keywords(u.arbitrary()?),
            9 => Label::Level(u.arbitrary()?),
            _ => Label::Version(u.arbitrary()?),
        })
    }
}

impl<'a> Arbitrary<'a> for Damage {
    /// Creates damage in the first 64 KiB, as [`Damage::arbitrary_of`] does.
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Damage::arbitrary_of(1 << 16, u)
    }
}

impl Damage {
    /// Creates damage in the first `length` bytes. At most 255 bytes are inserted, removed or
    /// replaced, so that streams with many damages stay short.
    ///
    /// # Errors
    /// None now; later versions may return errors of `u`.
    pub fn arbitrary_of(length: usize, u: &mut Unstructured<'_>) -> Result<Self> {
        let last = length.saturating_sub(1);
        let at = |u: &mut Unstructured<'_>| u.int_in_range(0..=last);
        let stretch = |u: &mut Unstructured<'_>| -> Result<Range<usize>> {
            let start = at(u)?;
            Ok(start..start + usize::from(u.arbitrary::<u8>()?))
        };
        let bytes = |u: &mut Unstructured<'_>| -> Result<Vec<u8>> {
            let count = usize::from(u.arbitrary::<u8>()?).min(u.len());
            Ok(u.bytes(count)?.to_vec())
        };
        Ok(match u.int_in_range(0..=7_u8)? {
            0 => Damage::Flip { at: at(u)?, mask: 1 << u.int_in_range(0..=7)? },
            1 => Damage::Cut { at: at(u)? },
            2 => Damage::Insert { at: at(u)?, bytes: bytes(u)? },
            3 => Damage::Delete { range: stretch(u)? },
            4 => Damage::Duplicate { range: stretch(u)? },
            5 => Damage::Swap { first: stretch(u)?, second: stretch(u)? },
            // The limits of i32 and u32 are likely to break length arithmetic.
            6 => Damage::u32(at(u)?, *u.choose(&[0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff])?),
            _ => Damage::Overwrite { at: at(u)?, bytes: bytes(u)? },
        })
    }
}
