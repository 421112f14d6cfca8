//! Describes the fields of payloads (FORMAT.md 8).
//!
//! [`FieldType`] represents the types of all three field lists in streams (versions 3 to 5, tag
//! of version 5, version 6) and of the [catalog](crate::catalog).

use crate::error::Fault;
use std::borrow::Cow;

/// Maximum number of levels of nested types. A payload is opaque from a field with more levels
/// on. A hostile description needs only one byte for each level.
pub(crate) const MAX_TYPE_DEPTH: usize = 32;

/// Maximum number of fields of an event type, including nested fields. A payload is opaque
/// after them. Real event types have at most a hundred. The limit bounds the work for each
/// event, and the memory, which is about ten times the size of a description.
pub(crate) const MAX_FIELDS: usize = 1024;

/// Fields of an event type, in payload order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Schema {
    /// Fields whose description could be decoded.
    pub fields: Box<[Field]>,
    /// Reason why the description of fields after [`Schema::fields`] cannot be decoded, so that
    /// the rest of a payload is opaque bytes; `None` if there is no such field.
    pub opaque: Option<Fault>,
    /// Types in the schema whose values may be stored in another way than described.
    pub(crate) ambiguity: Ambiguity,
    /// Sizes of the fields before each text and after the last text; `None` if there are fields
    /// other than texts and fields of fixed size.
    pub(crate) runs: Option<Box<[FixedSize]>>,
    /// Whether later fields use values of earlier ones as counts.
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
        // Ambiguities are resolved by the payload's size, which proves nothing for an
        // incomplete description, or with data at other places of the payload.
        let is_open = opaque.is_some() || fields.iter().any(|field| has_location(&field.kind));
        Schema::compiled(fields, opaque, if is_open { Ambiguity::NONE } else { ambiguity })
    }

    /// Creates a schema of the catalog for a native writer. The writer follows it exactly, but may
    /// omit null texts.
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

    /// Returns the fields to present to users: [`Schema::fields`] without the nameless object in
    /// which self-describing events wrap all fields ([FORMAT.md 15](crate::format_guide#15)).
    #[inline]
    pub fn payload_fields(&self) -> &[Field] {
        match &*self.fields {
            [Field { name, kind: FieldType::Object(members), .. }] if name.is_empty() => members,
            fields => fields,
        }
    }
}

/// Size that consists of a number of bytes and a number of pointers. The size of a pointer depends
/// on the trace.
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

    /// Returns the size in bytes, given the size of a pointer.
    #[inline]
    pub(crate) fn bytes(self, pointer_size: u8) -> usize {
        let pointers = (self.pointers as usize).saturating_mul(usize::from(pointer_size));
        (self.bytes as usize).saturating_add(pointers)
    }
}

/// Position and size of a field whose position is equal in every payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offset {
    /// Distance from the payload's beginning if all values are stored as described.
    pub(crate) start: FixedSize,
    /// Size of the field; `None` if it depends on the payload.
    pub(crate) size: Option<FixedSize>,
    /// Whether `start` and `size` are right in spite of all [`Ambiguity`].
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

/// Computes [`Schema::runs`].
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

/// Set of types whose encoding can only be determined by the payload's size ([FORMAT.md
/// Q1](crate::format_guide#Q1), [Q9](crate::format_guide#Q9) to [Q12](crate::format_guide#Q12)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ambiguity(u8);

impl Ambiguity {
    pub(crate) const NONE: Ambiguity = Ambiguity(0);
    pub(crate) const BOOLEAN: Ambiguity = Ambiguity(1);
    pub(crate) const DECIMAL: Ambiguity = Ambiguity(2);
    pub(crate) const DATE: Ambiguity = Ambiguity(4);
    pub(crate) const UTF8_UNIT: Ambiguity = Ambiguity(8);
    /// Null texts, which may be omitted completely.
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

    /// Returns the subsets without the empty set, smallest first: each is an interpretation in
    /// which these types are stored in another way than described.
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

/// Field of a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// Name, which may be empty.
    pub name: Cow<'static, str>,
    /// Type of the field's value.
    pub kind: FieldType,
    /// Whether the field's numbers are shown in hexadecimal, such as addresses and flags.
    pub is_hex: bool,
    /// Unit of the field's numbers; `None` if the catalog does not know it. Streams do not
    /// describe units.
    pub unit: Option<Unit>,
    /// Names of the field's values; `None` if they have none.
    pub map: Option<&'static ValueMap>,
    /// What the field's bytes hold; `None` if the catalog does not know it.
    pub content: Option<Content>,
    /// Register that stores the field's value as the count of a later field.
    pub(crate) register: Option<Register>,
    /// Position of the field, if all fields before it have a fixed size.
    pub(crate) offset: Option<Offset>,
}

impl Field {
    /// Returns the register in which code that walks payloads must store the field's value: a
    /// [`Count::Earlier`] of a later field refers to it. `None` if no field does.
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
            content: None,
            register: None,
            offset: None,
        }
    }
}

/// Unit of a field's numbers.
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
    /// The number is in bytes.
    Bytes,
    /// The number is in nanoseconds.
    Nanoseconds,
    /// The number is in seconds.
    Seconds,
}

impl Unit {
    /// Returns the symbol to write after a number: `B`, `ns` or `s`.
    pub const fn symbol(self) -> &'static str {
        match self {
            Unit::Bytes => "B",
            Unit::Nanoseconds => "ns",
            Unit::Seconds => "s",
        }
    }
}

/// What the bytes of a field hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Sub-events of the async profiler: [`AsyncBuffer::from_bytes`](crate::view::AsyncBuffer::from_bytes)
    /// reads them.
    AsyncEvents,
}

/// Number of a register, which holds the value of a field while a payload is walked.
pub(crate) type Register = u8;

/// Names of a field's values.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValueMap {
    /// Name of the map in the manifest.
    pub name: &'static str,
    /// Whether a value is a set of bits, each with a name.
    pub is_bitmap: bool,
    /// Values, or bits, and their names.
    pub entries: &'static [(u64, &'static str)],
}

/// Number of elements of a [`FieldType::Repeated`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Count {
    /// This number of elements in every payload.
    Fixed(u32),
    /// The value of an earlier field of the payload.
    #[non_exhaustive]
    Earlier {
        /// Register with the value of the earlier field.
        register: u8,
    },
}

/// Type of a field. Payloads store values without alignment or padding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldType {
    /// Fields, one after the other.
    Object(Box<[Field]>),
    /// Four bytes, of which 0 is false. Some writers store only one byte ([FORMAT.md
    /// Q9](crate::format_guide#Q9)).
    Boolean32,
    /// One byte, of which 0 is false.
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
    /// GUID of sixteen bytes.
    Guid,
    /// UTF-16 code units up to a zero unit.
    Utf16Text,
    /// Signed number in 1 to 10 bytes: a varuint64 in zigzag form.
    VarInt,
    /// Unsigned number in 1 to 10 bytes: a varuint64.
    VarUInt,
    /// A u16 number of elements, then the elements.
    Array(Box<FieldType>),
    /// A fixed number of elements, without a count in the payload.
    FixedArray(Box<FieldType>, u16),
    /// Four bytes that refer to elements elsewhere in the payload: u16 position, relative to the
    /// byte after these four, and u16 size of the elements in bytes.
    RelLoc(Box<FieldType>),
    /// Four bytes like [`FieldType::RelLoc`], with a position relative to the payload's first
    /// byte.
    DataLoc(Box<FieldType>),
    /// An address: 4 or 8 bytes, depending on the trace's pointer size. Catalog only.
    Pointer,
    /// Bytes up to a zero byte. Catalog only.
    AnsiText,
    /// A u16 number of bytes, then UTF-8. Catalog, and older one-collect ([FORMAT.md
    /// Q12](crate::format_guide#Q12)).
    CountedUtf8,
    /// Elements whose number is fixed or the value of an earlier field. Catalog only.
    Repeated(Box<FieldType>, Count),
    /// Unused bytes. Catalog only.
    Padding(u8),
}

impl FieldType {
    /// Returns the type for a code; `None` if more than the code describes the type, and for
    /// unknown codes.
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

    /// Returns the type for a code of version 6; `None` if more than the code describes the type,
    /// and for unknown codes.
    pub(crate) fn scalar_v6(code: i32) -> Option<FieldType> {
        Some(match code {
            20 => FieldType::VarInt,
            21 => FieldType::VarUInt,
            23 => FieldType::Utf8CodeUnit,
            26 => FieldType::Boolean8,
            _ => return FieldType::scalar(code),
        })
    }

    /// Returns the size of a value in bytes, if it depends neither on the value nor on the
    /// pointer size. `None` also if it does not fit 32 bits.
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
