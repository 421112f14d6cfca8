//! Serde support for events (feature `serde`), which serialize to the objects that `nettrace
//! events --format ndjson` writes.

use crate::block::label_list::Label;
use crate::event::Event;
use crate::payload::{
    DateTime, Decimal, FieldPath, FieldValue, Fields, Utf8, Utf16, Value, distinct_names,
};
use crate::schema::{Field, FieldType};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

macro_rules! as_shown {
    ($($kind:ty)*) => {$(
        /// Serializes to the text that `Display` writes.
        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )*};
}

as_shown!(DateTime Utf16<'_> Utf8<'_>);

/// Serializes to a number if a double can represent all of its digits, else to a string
/// of digits.
impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.to_string();
        let digits =
            text.bytes().filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0').count();
        if digits <= 15 {
            serializer.serialize_f64(f64::from(*self))
        } else {
            serializer.serialize_str(&text)
        }
    }
}

/// Serializes finite numbers to numbers, addresses to strings such as `"0x7f00"`, bytes to
/// strings of hexadecimal digits, arrays to arrays, objects to objects, absent values to null,
/// and everything else to strings. Broken fields of an object become null.
impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shown {
            value: *self,
            within: Within { outer: None, name: "" },
            is_hex: false,
            faults: &Faults::default(),
        }
        .serialize(serializer)
    }
}

/// Serializes to an object with the following members. Members in brackets are omitted if
/// empty.
///
/// | member | |
/// |---|---|
/// | `ts_ns` | nanoseconds since the session's start; null without a clock |
/// | `tid` | OS id of the thread; -1 if it is not known |
/// | `provider`, `id`, `version`, `event`, `level` | event type; `event` is its name, such as `GC/Start` |
/// | \[`pid`\], \[`activity`\], \[`related`\] | process id, activity id, related activity id |
/// | \[`labels`\] | other labels of version 6, by key |
/// | `payload` | fields by name, serialized like [`Value`]; flags in hexadecimal |
/// | \[`payload_rest`\] | bytes after the last field, in hexadecimal |
/// | \[`payload_faults`\] | faults of fields: `field`, `offset` in the payload, `fault` in words |
///
/// ```
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut reader = nettrace_parser::Reader::from_slice(&bytes);
/// let event = reader.next_event()?.unwrap();
/// let json = serde_json::to_value(event).unwrap();
/// assert_eq!(json["payload"], serde_json::json!({ "n": 5, "s": "hey" }));
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
impl Serialize for Event<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("ts_ns", &self.nanos())?;
        match self.thread_id() {
            Some(id) => map.serialize_entry("tid", &id)?,
            None => map.serialize_entry("tid", &-1)?,
        }
        map.serialize_entry("provider", self.provider())?;
        map.serialize_entry("id", &self.id())?;
        map.serialize_entry("version", &self.version())?;
        map.serialize_entry("event", &*shown_name(self))?;
        map.serialize_entry("level", &self.level())?;
        if let Some(id) = self.process_id() {
            map.serialize_entry("pid", &id)?;
        }
        for (key, id) in [("activity", self.activity_id()), ("related", self.related_activity_id())]
        {
            if let Some(id) = id {
                map.serialize_entry(key, &id)?;
            }
        }
        let labels = labels_of(self);
        if !labels.is_empty() {
            map.serialize_entry("labels", &Grouped(&labels))?;
        }
        let faults = Faults::default();
        let schema = self.schema();
        let described = schema.map_or(&[][..], |schema| schema.payload_fields());
        let fields = self.fields();
        map.serialize_entry(
            "payload",
            &Members { fields: &fields, described, outer: None, faults: &faults },
        )?;
        let mut after = fields;
        after.by_ref().for_each(drop);
        if let Some(fault) = after.opaque() {
            faults.add(None, after.rest_offset(), &fault);
        }
        if !after.rest().is_empty() {
            map.serialize_entry("payload_rest", &Hexadecimal(after.rest()))?;
        }
        let faults = faults.0.take();
        if !faults.is_empty() {
            map.serialize_entry("payload_faults", &faults)?;
        }
        map.end()
    }
}

#[derive(Default)]
struct Faults(Cell<Vec<FaultRow>>);

struct FaultRow {
    field: Option<String>,
    offset: usize,
    fault: String,
}

impl Faults {
    #[cold]
    fn add(&self, field: Option<&Within<'_>>, offset: usize, fault: &dyn fmt::Display) {
        let mut rows = self.0.take();
        rows.push(FaultRow {
            field: field.map(ToString::to_string),
            offset,
            fault: fault.to_string(),
        });
        self.0.set(rows);
    }
}

impl Serialize for FaultRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("field", &self.field)?;
        map.serialize_entry("offset", &self.offset)?;
        map.serialize_entry("fault", &self.fault)?;
        map.end()
    }
}

type Within<'a> = FieldPath<'a, &'a str>;

/// Fields of a payload or of an object.
struct Members<'a, 'r> {
    fields: &'a Fields<'r>,
    described: &'r [Field],
    outer: Option<&'a Within<'a>>,
    faults: &'a Faults,
}

impl Serialize for Members<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, field) in names(self.described).zip(self.fields.clone()) {
            let within = Within { outer: self.outer, name: &name };
            self.note(&field, &within);
            let is_hex = field.field.is_hex;
            let value = field.value.unwrap_or(Value::Absent);
            map.serialize_entry(&name, &Shown { value, within, is_hex, faults: self.faults })?;
        }
        map.end()
    }
}

impl Members<'_, '_> {
    fn note(&self, field: &FieldValue<'_>, within: &Within<'_>) {
        match &field.value {
            Ok(Value::Utf16(text)) if !text.is_terminated() => {
                self.faults.add(Some(within), field.offset, &"the text has no end mark");
            }
            Ok(_) => {}
            Err(fault) => self.faults.add(Some(within), fault.offset, &fault.fault),
        }
    }
}

/// Maximum number of names that are compared pairwise; more are put in a set.
const MAX_PAIRWISE: usize = 24;

/// Returns the names of fields. An empty or repeated name is replaced, for example by
/// `field_2` or `Name_2`.
fn names(fields: &[Field]) -> Box<dyn Iterator<Item = Cow<'_, str>> + '_> {
    // `Fields` skips padding.
    let shown = fields.iter().filter(|field| !matches!(field.kind, FieldType::Padding(_)));
    let mut seen = HashSet::new();
    let mut before = shown.clone().enumerate();
    let are_distinct = match fields.len() {
        0..=MAX_PAIRWISE => before.all(|(at, field)| {
            !field.name.is_empty() && shown.clone().take(at).all(|other| other.name != field.name)
        }),
        _ => before.all(|(_, field)| !field.name.is_empty() && seen.insert(&*field.name)),
    };
    if are_distinct {
        return Box::new(shown.map(|field| Cow::Borrowed(&*field.name)));
    }
    Box::new(distinct_names(fields).map(Cow::Owned))
}

/// Value of a field, with everything that affects how it is serialized.
struct Shown<'a, 'r> {
    value: Value<'r>,
    within: Within<'a>,
    is_hex: bool,
    faults: &'a Faults,
}

impl Serialize for Shown<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_hex
            && let Some(bits) = self.value.to_bits()
        {
            return serializer.collect_str(&format_args!("{bits:#x}"));
        }
        match &self.value {
            Value::Absent => serializer.serialize_none(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::I8(number) => serializer.serialize_i8(*number),
            Value::U8(number) => serializer.serialize_u8(*number),
            Value::I16(number) => serializer.serialize_i16(*number),
            Value::U16(number) => serializer.serialize_u16(*number),
            Value::I32(number) => serializer.serialize_i32(*number),
            Value::U32(number) => serializer.serialize_u32(*number),
            Value::I64(number) => serializer.serialize_i64(*number),
            Value::U64(number) => serializer.serialize_u64(*number),
            Value::F32(number) if number.is_finite() => serializer.serialize_f32(*number),
            Value::F64(number) if number.is_finite() => serializer.serialize_f64(*number),
            Value::F32(number) => serializer.serialize_str(not_finite(f64::from(*number))),
            Value::F64(number) => serializer.serialize_str(not_finite(*number)),
            Value::Decimal(number) => number.serialize(serializer),
            Value::Pointer(number) => serializer.collect_str(&format_args!("{number:#x}")),
            Value::Bytes(bytes) => Hexadecimal(bytes).serialize(serializer),
            Value::Array(array) => {
                let mut elements = serializer.serialize_seq(Some(array.len()))?;
                for value in array.iter() {
                    elements.serialize_element(&Shown { value, ..*self })?;
                }
                elements.end()
            }
            Value::Object(object) => {
                let (fields, described) = (object.fields(), object.described());
                let outer = Some(&self.within).filter(|within| !within.name.is_empty());
                Members { fields: &fields, described, outer, faults: self.faults }
                    .serialize(serializer)
            }
            Value::Char(_)
            | Value::Guid(_)
            | Value::DateTime(_)
            | Value::Utf16(_)
            | Value::Utf8(_) => serializer.collect_str(&self.value),
        }
    }
}

fn not_finite(number: f64) -> &'static str {
    match number {
        number if number.is_nan() => "NaN",
        number if number > 0.0 => "Infinity",
        _ => "-Infinity",
    }
}

struct Hexadecimal<'r>(&'r [u8]);

impl fmt::Display for Hexadecimal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for Hexadecimal<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Value of a label in the member `labels`.
enum LabelValue<'r> {
    Text(Cow<'r, str>),
    Number(i64),
}

impl Serialize for LabelValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            LabelValue::Text(text) => serializer.serialize_str(text),
            LabelValue::Number(number) => serializer.serialize_i64(*number),
        }
    }
}

/// Returns the labels that no other member of the event shows, sorted by key. Labels with equal
/// keys stay in their order.
fn labels_of<'r>(event: &Event<'r>) -> Vec<(&'r [u8], LabelValue<'r>)> {
    let value_of = |label: Label<'r>| -> Option<(&'r [u8], LabelValue<'r>)> {
        Some(match label {
            Label::Text { key, value } => (key, LabelValue::Text(String::from_utf8_lossy(value))),
            Label::Number { key, value, .. } => (key, LabelValue::Number(value)),
            Label::TraceId(id) => (b"trace_id", LabelValue::Text(id.to_string().into())),
            Label::SpanId(id) => (b"span_id", LabelValue::Text(format!("{id:016x}").into())),
            _ => return None,
        })
    };
    let mut labels: Vec<_> = event.labels().iter().filter_map(value_of).collect();
    labels.sort_by_key(|(key, _)| *key);
    labels
}

/// Sorted labels, serialized to a map. The values of a repeated key become an array.
struct Grouped<'a, 'r>(&'a [(&'r [u8], LabelValue<'r>)]);

impl Serialize for Grouped<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for group in self.0.chunk_by(|one, other| one.0 == other.0) {
            match group {
                [(key, value_of)] => {
                    map.serialize_entry(&String::from_utf8_lossy(key), value_of)?
                }
                [(key, _), ..] => {
                    let values: Vec<&LabelValue<'_>> =
                        group.iter().map(|(_, value_of)| value_of).collect();
                    map.serialize_entry(&String::from_utf8_lossy(key), &values)?;
                }
                [] => {}
            }
        }
        map.end()
    }
}

/// Returns the [display name](Event::display_name), such as `GC/Start`; without one, provider
/// and id, such as `Provider/7`. `(undefined)` if the event's type is not defined.
fn shown_name<'r>(event: &Event<'r>) -> Cow<'r, str> {
    let Some(metadata) = event.metadata() else { return Cow::Borrowed("(undefined)") };
    match event.display_name() {
        "" => Cow::Owned(format!("{}/{}", metadata.provider, metadata.event_id)),
        name => Cow::Borrowed(name),
    }
}
