//! Field descriptions: how to interpret the bytes of a payload (FORMAT.md 8).
//!
//! One type tree represents the three encodings in streams (the field list of versions 3
//! to 5, the tagged list of version 5, the rows of version 6) and the built-in
//! [catalog](crate::catalog).

use crate::error::Fault;
use std::borrow::Cow;

/// Maximum nesting of types; the payload is opaque where they are nested more deeply. A
/// hostile description needs only one byte per level.
pub(crate) const MAX_TYPE_DEPTH: usize = 32;

/// Maximum number of fields of a type, including nested ones; the payload is opaque after
/// them. Real event types have a hundred at most. Each event has work for each field of
/// its type, and a field takes about ten times as much memory as its description.
pub(crate) const MAX_FIELDS: usize = 1024;

/// The fields of one event type, in payload order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Schema {
    /// The fields that could be decoded.
    pub fields: Box<[Field]>,
    /// Why the description cannot be decoded after [`Schema::fields`]. The rest of such a
    /// payload is opaque bytes.
    pub opaque: Option<Fault>,
    /// Types in the schema whose payloads may be stored differently than described.
    pub(crate) ambiguity: Ambiguity,
    /// The size of the fields before each text and after the last text, if there are only
    /// texts and fields of fixed size.
    pub(crate) runs: Option<Box<[FixedSize]>>,
    /// Whether some values must be remembered because other fields use them as counts.
    pub(crate) keeps_counts: bool,
}

impl Schema {
    /// Creates a schema as a stream describes it. `is_v6` adds the ambiguities that only
    /// exist in version 6.
    pub(crate) fn from_stream(fields: Vec<Field>, opaque: Option<Fault>, is_v6: bool) -> Schema {
        let found = fields
            .iter()
            .fold(Ambiguity::NONE, |found, field| found.with(ambiguity_of_type(&field.kind)));
        let ambiguity = if is_v6 {
            found
        } else {
            found.without(Ambiguity::DATE).without(Ambiguity::UTF8_UNIT)
        };
        // An incomplete description has no exact end; neither has one with data elsewhere
        // in the payload.
        let is_open = opaque.is_some() || fields.iter().any(|field| has_location(&field.kind));
        Schema::compiled(fields, opaque, if is_open { Ambiguity::NONE } else { ambiguity })
    }

    /// Creates a schema of the catalog. Native writers follow it exactly, but may omit
    /// null texts.
    pub(crate) fn from_catalog(fields: Vec<Field>) -> Schema {
        let has_text = fields
            .iter()
            .any(|field| matches!(field.kind, FieldType::Utf16Text | FieldType::AnsiText));
        Schema::compiled(
            fields,
            None,
            if has_text { Ambiguity::NULL_TEXT } else { Ambiguity::NONE },
        )
    }

    fn compiled(mut fields: Vec<Field>, opaque: Option<Fault>, ambiguity: Ambiguity) -> Schema {
        let runs = match fields.as_mut_slice() {
            [Field { name, kind: FieldType::Object(members), .. }] if name.is_empty() => {
                set_offsets(members, ambiguity);
                runs(members)
            }
            fields => {
                set_offsets(fields, ambiguity);
                runs(fields)
            }
        };
        let mut schema =
            Schema { fields: fields.into(), opaque, ambiguity, runs, keeps_counts: false };
        schema.keeps_counts = schema.payload_fields().iter().any(|field| field.register.is_some());
        schema
    }

    /// Returns whether the payload's size affects how it is interpreted.
    #[inline]
    pub(crate) fn is_ambiguous(&self) -> bool {
        self.ambiguity != Ambiguity::NONE
    }

    /// Returns the fields to present to users. Self-describing events wrap their fields
    /// in one nameless object, an artefact of how they are written ([FORMAT.md
    /// 15](crate::format_guide#15)); this function unwraps it.
    #[inline]
    pub fn payload_fields(&self) -> &[Field] {
        match &*self.fields {
            [Field { name, kind: FieldType::Object(members), .. }] if name.is_empty() => members,
            fields => fields,
        }
    }
}

/// A number of bytes, part of which depends on the trace's pointer size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct FixedSize {
    bytes: u32,
    pointers: u32,
}

impl FixedSize {
    const fn new(bytes: u32) -> FixedSize {
        FixedSize { bytes, pointers: 0 }
    }

    fn plus(self, other: FixedSize) -> Option<FixedSize> {
        Some(FixedSize {
            bytes: self.bytes.checked_add(other.bytes)?,
            pointers: self.pointers.checked_add(other.pointers)?,
        })
    }

    fn times(self, count: u32) -> Option<FixedSize> {
        Some(FixedSize {
            bytes: self.bytes.checked_mul(count)?,
            pointers: self.pointers.checked_mul(count)?,
        })
    }

    /// Returns the number of bytes for a pointer size.
    #[inline]
    pub(crate) fn bytes(self, pointer_size: u8) -> usize {
        let pointers = (self.pointers as usize).saturating_mul(usize::from(pointer_size));
        (self.bytes as usize).saturating_add(pointers)
    }
}

/// The position of a field, if it is the same in every payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offset {
    /// Distance from the payload's beginning, in the usual interpretation.
    pub(crate) start: FixedSize,
    /// Size of the field, if that is fixed, too.
    pub(crate) size: Option<FixedSize>,
    /// Whether `start` and `size` hold in every interpretation.
    pub(crate) is_certain: bool,
}

/// Sets the offsets of fields as long as all fields before them have a fixed size.
fn set_offsets(fields: &mut [Field], ambiguity: Ambiguity) {
    let mut start = FixedSize::default();
    let mut is_certain = true;
    for field in fields {
        let size = field.kind.fixed();
        is_certain &= ambiguity_of_type(&field.kind).within(ambiguity) == Ambiguity::NONE;
        field.offset = Some(Offset { start, size, is_certain });
        match size.and_then(|size| start.plus(size)) {
            Some(end) => start = end,
            None => return,
        }
    }
}

fn runs(fields: &[Field]) -> Option<Box<[FixedSize]>> {
    let mut runs = Vec::new();
    let mut run = FixedSize::default();
    for field in fields {
        match &field.kind {
            FieldType::Utf16Text => runs.push(std::mem::take(&mut run)),
            kind => run = run.plus(kind.fixed()?)?,
        }
    }
    runs.push(run);
    Some(runs.into())
}

/// The types in a schema whose encoding can only be determined by the payload's size
/// ([FORMAT.md Q1](crate::format_guide#Q1), [Q9](crate::format_guide#Q9) to
/// [Q12](crate::format_guide#Q12)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ambiguity(u8);

impl Ambiguity {
    pub(crate) const NONE: Ambiguity = Ambiguity(0);
    pub(crate) const BOOLEAN: Ambiguity = Ambiguity(1);
    pub(crate) const DECIMAL: Ambiguity = Ambiguity(2);
    pub(crate) const DATE: Ambiguity = Ambiguity(4);
    pub(crate) const UTF8_UNIT: Ambiguity = Ambiguity(8);
    /// Texts that may be omitted completely.
    pub(crate) const NULL_TEXT: Ambiguity = Ambiguity(16);

    pub(crate) fn contains(self, other: Ambiguity) -> bool {
        self.0 & other.0 != 0
    }

    fn with(self, other: Ambiguity) -> Ambiguity {
        Ambiguity(self.0 | other.0)
    }

    fn without(self, other: Ambiguity) -> Ambiguity {
        Ambiguity(self.0 & !other.0)
    }

    fn within(self, other: Ambiguity) -> Ambiguity {
        Ambiguity(self.0 & other.0)
    }

    /// Returns the alternative interpretations, the ones that change least first.
    pub(crate) fn subsets(self) -> impl Iterator<Item = Ambiguity> {
        (1..=4u32).flat_map(move |count| {
            (1..16u8)
                .filter(move |bits| bits & self.0 == *bits && bits.count_ones() == count)
                .map(Ambiguity)
        })
    }
}

fn has_location(kind: &FieldType) -> bool {
    match kind {
        FieldType::RelLoc(_) | FieldType::DataLoc(_) => true,
        FieldType::Object(fields) => fields.iter().any(|field| has_location(&field.kind)),
        FieldType::Array(element) | FieldType::FixedArray(element, _) => has_location(element),
        _ => false,
    }
}

fn ambiguity_of_type(kind: &FieldType) -> Ambiguity {
    match kind {
        FieldType::Boolean32 => Ambiguity::BOOLEAN,
        FieldType::Decimal => Ambiguity::DECIMAL,
        FieldType::DateTime => Ambiguity::DATE,
        FieldType::Utf8CodeUnit => Ambiguity::UTF8_UNIT,
        FieldType::Object(fields) => fields
            .iter()
            .fold(Ambiguity::NONE, |found, field| found.with(ambiguity_of_type(&field.kind))),
        FieldType::Array(element) | FieldType::FixedArray(element, _) => match &**element {
            // In an array, a code unit is unambiguously part of a text.
            FieldType::Utf8CodeUnit => Ambiguity::NONE,
            element => ambiguity_of_type(element),
        },
        _ => Ambiguity::NONE,
    }
}

/// One field: a name and a type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// The name, possibly empty.
    pub name: Cow<'static, str>,
    /// The type.
    pub kind: FieldType,
    /// Whether the field's numbers are customarily shown in hexadecimal: addresses,
    /// flags.
    pub is_hex: bool,
    /// The unit of the field's numbers, if the catalog knows it. Streams do not describe
    /// units.
    pub unit: Option<Unit>,
    /// Names of the field's values.
    pub map: Option<&'static ValueMap>,
    /// The register that stores the field's value for a later [`FieldType::Repeated`] in
    /// the same payload.
    pub(crate) register: Option<Register>,
    /// Where the field lies, if all fields before it have a fixed size.
    pub(crate) offset: Option<Offset>,
}

impl Field {
    /// Returns the register that stores the field's value for a later
    /// [`FieldType::Repeated`] in the same payload, as referenced by [`Count::Earlier`].
    /// It is for code that walks payloads itself.
    pub fn register(&self) -> Option<u8> {
        self.register
    }

    /// Creates a field with default attributes.
    pub(crate) fn new(name: impl Into<Cow<'static, str>>, kind: FieldType) -> Field {
        Field {
            name: name.into(),
            kind,
            is_hex: false,
            unit: None,
            map: None,
            register: None,
            offset: None,
        }
    }
}

/// The unit of a field's numbers.
///
/// ```
/// use nettrace_parser::{Unit, catalog};
///
/// let event = catalog::find("Microsoft-Windows-DotNETRuntime", 91, 1).expect("ContentionStop");
/// let fields = event.schema().payload_fields();
/// let duration = fields.iter().find(|field| field.name == "DurationNs").expect("its duration");
/// assert_eq!(duration.unit, Some(Unit::Nanoseconds));
/// assert_eq!(Unit::Nanoseconds.symbol(), "ns");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// 10^-9 seconds.
    Nanoseconds,
    /// Seconds.
    Seconds,
}

impl Unit {
    /// Returns the unit's symbol after a number: `B`, `ns`, `s`.
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::Bytes => "B",
            Unit::Nanoseconds => "ns",
            Unit::Seconds => "s",
        }
    }
}

/// Number of a register, which holds a value that the walk through a payload remembers.
pub(crate) type Register = u8;

/// Names of a field's values.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValueMap {
    /// The map's name in the manifest.
    pub name: &'static str,
    /// Whether values are bit sets, rather than one of a list.
    pub is_bitmap: bool,
    /// Values, or bits, with their names.
    pub entries: &'static [(u64, &'static str)],
}

/// The number of elements of a [`FieldType::Repeated`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Count {
    /// Always this number.
    Fixed(u32),
    /// The value of an earlier field of the payload.
    #[non_exhaustive]
    Earlier {
        /// The register with that field's value.
        register: u8,
    },
}

/// A type, and how many bytes it takes in a payload. Nothing is aligned or padded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldType {
    /// The fields, one after the other.
    Object(Box<[Field]>),
    /// Four bytes, 0 is false. Some writers store one byte under this code ([FORMAT.md
    /// Q9](crate::format_guide#Q9)).
    Boolean32,
    /// A boolean of one byte.
    Boolean8,
    /// One UTF-16 code unit, 2 bytes.
    Utf16CodeUnit,
    /// One UTF-8 code unit, 1 byte.
    Utf8CodeUnit,
    /// One byte, signed.
    I8,
    /// One byte, unsigned.
    U8,
    /// Two bytes, signed.
    I16,
    /// Two bytes, unsigned.
    U16,
    /// Four bytes, signed.
    I32,
    /// Four bytes, unsigned.
    U32,
    /// Eight bytes, signed.
    I64,
    /// Eight bytes, unsigned.
    U64,
    /// Four bytes, IEEE 754.
    F32,
    /// Eight bytes, IEEE 754.
    F64,
    /// Sixteen bytes, or eight (a double) from some writers ([FORMAT.md
    /// Q10](crate::format_guide#Q10)).
    Decimal,
    /// Eight bytes: 100 ns since 1601-01-01 UTC ([FORMAT.md Q1](crate::format_guide#Q1)).
    DateTime,
    /// Sixteen bytes.
    Guid,
    /// UTF-16 code units up to a zero unit.
    Utf16Text,
    /// Zigzag varint, 1 to 10 bytes.
    VarInt,
    /// Varint, 1 to 10 bytes.
    VarUInt,
    /// A u16 number of elements, then the elements.
    Array(Box<FieldType>),
    /// A fixed number of elements, without a count in the payload.
    FixedArray(Box<FieldType>, u16),
    /// Four bytes: u16 position, relative to the byte after them, and u16 size of the
    /// elements in bytes.
    RelLoc(Box<FieldType>),
    /// Four bytes like those of `RelLoc`, but with a position relative to the payload's
    /// first byte.
    DataLoc(Box<FieldType>),
    /// An address: 4 or 8 bytes, depending on the trace's pointer size. Catalog only.
    Pointer,
    /// Bytes up to a zero byte. Catalog only.
    AnsiText,
    /// A u16 number of bytes, then UTF-8. Catalog, and older one-collect ([FORMAT.md
    /// Q12](crate::format_guide#Q12)).
    CountedUtf8,
    /// Elements that are not preceded by a count. Catalog only.
    Repeated(Box<FieldType>, Count),
    /// Unused bytes. Catalog only.
    Padding(u8),
}

impl FieldType {
    /// Returns the type for a code that needs no further description, or `None` for
    /// another code.
    pub(crate) fn scalar(code: i32) -> Option<FieldType> {
        Some(match code {
            3 => FieldType::Boolean32,
            4 => FieldType::Utf16CodeUnit,
            5 => FieldType::I8,
            6 => FieldType::U8,
            7 => FieldType::I16,
            8 => FieldType::U16,
            9 => FieldType::I32,
            10 => FieldType::U32,
            11 => FieldType::I64,
            12 => FieldType::U64,
            13 => FieldType::F32,
            14 => FieldType::F64,
            15 => FieldType::Decimal,
            16 => FieldType::DateTime,
            17 => FieldType::Guid,
            18 => FieldType::Utf16Text,
            _ => return None,
        })
    }

    /// Returns the type for a code of version 6 that needs no further description, or
    /// `None` for another code.
    pub(crate) fn scalar_v6(code: i32) -> Option<FieldType> {
        Some(match code {
            20 => FieldType::VarInt,
            21 => FieldType::VarUInt,
            23 => FieldType::Utf8CodeUnit,
            26 => FieldType::Boolean8,
            _ => return FieldType::scalar(code),
        })
    }

    /// Returns the size of a value in bytes, if it is the same for every value. `None`
    /// also for a pointer, and if the size does not fit 32 bits.
    pub(crate) fn fixed_size(&self) -> Option<u32> {
        self.fixed().filter(|size| size.pointers == 0).map(|size| size.bytes)
    }

    fn fixed(&self) -> Option<FixedSize> {
        Some(FixedSize::new(match self {
            FieldType::Object(fields) => {
                let mut members = fields.iter().map(|field| field.kind.fixed());
                return members.try_fold(FixedSize::default(), |sum, size| sum.plus(size?));
            }
            FieldType::FixedArray(element, count) => {
                return element.fixed()?.times(u32::from(*count));
            }
            FieldType::Repeated(element, Count::Fixed(count)) => {
                return element.fixed()?.times(*count);
            }
            FieldType::Pointer => return Some(FixedSize { bytes: 0, pointers: 1 }),
            FieldType::Boolean8 | FieldType::Utf8CodeUnit | FieldType::I8 | FieldType::U8 => 1,
            FieldType::Utf16CodeUnit | FieldType::I16 | FieldType::U16 => 2,
            FieldType::Boolean32 | FieldType::I32 | FieldType::U32 | FieldType::F32 => 4,
            FieldType::RelLoc(_) | FieldType::DataLoc(_) => 4,
            FieldType::I64 | FieldType::U64 | FieldType::F64 | FieldType::DateTime => 8,
            FieldType::Decimal | FieldType::Guid => 16,
            FieldType::Padding(bytes) => u32::from(*bytes),
            FieldType::Utf16Text
            | FieldType::VarInt
            | FieldType::VarUInt
            | FieldType::Array(_)
            | FieldType::AnsiText
            | FieldType::CountedUtf8
            | FieldType::Repeated(_, Count::Earlier { .. }) => return None,
        }))
    }
}
