//! Views of dumps of the managed heap: objects, references, roots and types, thousands of rows
//! in an event.
//!
//! An event is a header followed by rows, which are decoded one by one, without an allocation.
//!
//! | event | header | row |
//! |---|---|---|
//! | 15 BulkType | u32 count, u16 instance | u64 type, u64 module, u32 token, u32 flags, u8 element kind, UTF-16 name, u32 n, n × u64 parameters |
//! | 16 GCBulkRootEdge | u32 index, u32 count, u16 instance | ptr object, u8 kind, u32 flags, ptr root |
//! | 17 GCBulkRootConditionalWeakTableElementEdge | u32 index, u32 count, u16 instance | ptr key, ptr value, ptr root |
//! | 18 GCBulkNode | u32 index, u32 count, u16 instance | ptr address, u64 size, u64 type, u64 edges |
//! | 19 GCBulkEdge | u32 index, u32 count, u16 instance | ptr target, u32 field |
//! | 36 GCBulkRootCCW | u32 count, u16 instance | u64 root, u64 object, u64 type, u64 interface, u32 references, u32 pegged, u32 flags |
//! | 37 GCBulkRCW | u32 count, u16 instance | u64 object, u64 type, u64 interface, u64 table, u32 references, u32 flags |
//! | 38 GCBulkRootStaticVar | u32 count, u64 domain, u16 instance | u64 root, u64 object, u64 type, u32 flags, UTF-16 name |

use super::{KnownProvider, View, number, number32};
use crate::bytes::{Parsed, numbers, take, u8, u16, u32, u64, utf16z};
use crate::event::Event;
use crate::payload::Utf16;
use std::marker::PhantomData;

/// Rows of an event about the heap: runtime events 15 to 19, 23, and 36 to 38, version 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeapRows<'r> {
    /// Types of objects. Each is reported once in a session, before or after its objects.
    Types(Rows<'r, HeapType<'r>>),
    /// Objects, with the number of references that each holds.
    Objects(Rows<'r, HeapObject>),
    /// References, grouped by object in the order of the objects.
    References(Rows<'r, HeapReference>),
    /// Roots of the collector.
    Roots(Rows<'r, HeapRoot>),
    /// Static variables that hold an object.
    Statics(Rows<'r, HeapStatic<'r>>),
    /// Dependent handles, whose values live as long as their keys.
    Dependents(Rows<'r, HeapDependent>),
    /// Objects that are referenced through COM.
    ComCallable(Rows<'r, HeapComObject>),
    /// Objects that wrap COM objects.
    ComWrappers(Rows<'r, HeapComObject>),
    /// Memory of a generation.
    Range(HeapRange),
}

/// Iterator over the rows of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rows<'r, T> {
    /// Number of the event in a dump among events with its id, counting from 0; `None` if the
    /// runtime does not write it.
    pub index: Option<u32>,
    /// Number of rows that the event states.
    pub count: u32,
    rest: &'r [u8],
    left: u32,
    pointer_size: u8,
    row: PhantomData<fn() -> T>,
}

/// Type of objects: runtime event 15.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapType<'r> {
    /// Id of the type, by which objects refer to it.
    pub type_id: u64,
    /// Id of the type's module; 0 if unknown.
    pub module_id: u64,
    /// Metadata token of the type, `0x02…`; 0x02000000 for arrays and similar types.
    pub token: u32,
    /// Flags as stored, with names in the catalog's `TypeFlagsMap`.
    pub flags: u32,
    /// Element type as stored (ECMA-335 II.23.1.16).
    pub element_kind: u8,
    /// Name of the type. For a nested type, it lacks the outer type, except inside generic
    /// arguments.
    pub name: Utf16<'r>,
    parameters: &'r [u8],
}

impl<'r> HeapType<'r> {
    /// Returns the type ids of the generic arguments, or of an array's elements.
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = u64> + use<'r> {
        numbers(self.parameters)
    }
}

/// Object on the heap: runtime event 18.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapObject {
    /// Address of the object.
    pub address: u64,
    /// Size of the object in bytes, without objects to which it refers.
    pub bytes: u64,
    /// Id of the object's type.
    pub type_id: u64,
    /// Number of references that the object holds.
    pub references: u64,
}

/// Reference from an object to another: runtime event 19.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapReference {
    /// Address of the referenced object.
    pub target: u64,
    /// Field that holds the reference; 0 from runtimes up to .NET 10.
    pub field: u32,
}

/// Root of the collector: runtime event 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapRoot {
    /// Address of the object that the root holds; 0 if it holds none.
    pub object: u64,
    /// Kind as stored, with names in the catalog's `GCRootKindMap`.
    pub kind: u8,
    /// Flags as stored, with names in the catalog's `GCRootFlagsMap`. Bit 1 is set for a weak
    /// reference, which does not keep the object alive.
    pub flags: u32,
    /// Id of the root, which is the address of the handle, or of the stack frame's method.
    pub root_id: u64,
}

/// Static variable: runtime event 38.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapStatic<'r> {
    /// Address of the variable.
    pub root_id: u64,
    /// Address of the object that the variable holds.
    pub object: u64,
    /// Id of the object's type. No event contains the type that declares the variable.
    pub type_id: u64,
    /// Flags as stored. Bit 0 is set for a thread-static variable.
    pub flags: u32,
    /// Name of the variable.
    pub name: Utf16<'r>,
}

/// Dependent handle, whose value lives as long as its key: runtime event 17.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapDependent {
    /// Address of the key.
    pub key: u64,
    /// Address of the value.
    pub value: u64,
    /// Address of the handle.
    pub root_id: u64,
}

/// Object with a COM interface: runtime events 36 and 37.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapComObject {
    /// Address of the object.
    pub object: u64,
    /// Id of the object's type.
    pub type_id: u64,
    /// Address of the interface.
    pub interface: u64,
    /// Number of references through COM.
    pub references: u32,
}

/// Memory of a generation: runtime event 23.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapRange {
    /// Generation 0 to 2; 3 for large objects, 4 for pinned objects.
    pub generation: u8,
    /// First address of the range.
    pub start: u64,
    /// Number of bytes in use.
    pub used_bytes: u64,
}

impl<'r> View<'r> for HeapRows<'r> {
    #[inline]
    fn from_event(event: &Event<'r>) -> Option<HeapRows<'r>> {
        if event.known_provider() != KnownProvider::Runtime {
            return None;
        }
        let id = event.id();
        if !matches!(id, 15..=19 | 23 | 36..=38) {
            return None;
        }
        let (payload, pointer) = (event.payload(), event.session().pointer_size);
        Some(match id {
            15 => HeapRows::Types(Rows::unnumbered(payload, pointer, 0)?),
            16 => HeapRows::Roots(Rows::numbered(payload, pointer)?),
            17 => HeapRows::Dependents(Rows::numbered(payload, pointer)?),
            18 => HeapRows::Objects(Rows::numbered(payload, pointer)?),
            19 => HeapRows::References(Rows::numbered(payload, pointer)?),
            36 => HeapRows::ComCallable(Rows::unnumbered(payload, pointer, 0)?.with_row_kind(true)),
            37 => {
                HeapRows::ComWrappers(Rows::unnumbered(payload, pointer, 0)?.with_row_kind(false))
            }
            38 => HeapRows::Statics(Rows::unnumbered(payload, pointer, 8)?),
            _ => {
                let fields = &mut event.fields();
                HeapRows::Range(HeapRange {
                    generation: core::primitive::u8::try_from(number32(fields, "Generation")?)
                        .ok()?,
                    start: number(fields, "RangeStart")?,
                    used_bytes: number(fields, "RangeUsedLength")?,
                })
            }
        })
    }
}

impl<'r, T> Rows<'r, T> {
    fn numbered(payload: &'r [u8], pointer_size: u8) -> Option<Rows<'r, T>> {
        let (rest, index) = u32(payload).ok()?;
        let rows: Rows<'r, T> = Rows::unnumbered(rest, pointer_size, 0)?;
        Some(Rows { index: Some(index), ..rows })
    }

    /// Reads the header of an event without an index. `between` is the number of bytes between
    /// the count and the runtime's instance id.
    fn unnumbered(payload: &'r [u8], pointer_size: u8, between: usize) -> Option<Rows<'r, T>> {
        let (rest, count) = u32(payload).ok()?;
        let (rest, _) = take(between)(rest).ok()?;
        let (rest, _instance) = u16(rest).ok()?;
        Some(Rows { index: None, count, rest, left: count, pointer_size, row: PhantomData })
    }
}

impl<'r> Rows<'r, HeapComObject> {
    /// Sets the kind of rows. It is stored in the field of the pointer size, on which rows about
    /// COM do not depend.
    fn with_row_kind(self, is_callable: bool) -> Rows<'r, HeapComObject> {
        Rows { pointer_size: if is_callable { COM_CALLABLE } else { COM_WRAPPER }, ..self }
    }
}

const COM_CALLABLE: u8 = 1;
const COM_WRAPPER: u8 = 0;

/// Row that can be read from bytes.
trait FromRow<'r>: Sized {
    fn parse(input: &'r [u8], pointer_size: u8) -> Parsed<'r, Self>;
}

#[inline]
fn name(input: &[u8]) -> Parsed<'_, Utf16<'_>> {
    utf16z(input).map(|(rest, name)| (rest, Utf16::new(name, true)))
}

/// Reads a u32 count and that many ids, and returns the bytes of the ids.
#[inline]
fn ids(input: &[u8]) -> Parsed<'_, &[u8]> {
    let (rest, count) = u32(input)?;
    take((count as usize).saturating_mul(8))(rest)
}

/// Implements [`FromRow`] for rows of consecutive fields. The name between the bars reads an
/// address, whose size is the pointer size of the process.
macro_rules! from_row {
    (|$pointer:ident| $($row:ident $(<$life:lifetime>)? { $($field:ident: $parse:ident),* })*) => {$(
        impl<'r> FromRow<'r> for $row $(<$life>)? {
            #[inline]
            fn parse(rest: &'r [u8], pointer_size: u8) -> Parsed<'r, Self> {
                let $pointer = |input: &'r [u8]| match pointer_size {
                    4 => u32(input).map(|(rest, value)| (rest, value.into())),
                    _ => u64(input),
                };
                let _ = $pointer;
                $(let (rest, $field) = $parse(rest)?;)*
                Ok((rest, $row { $($field),* }))
            }
        }
    )*};
}

from_row! {
    |pointer|
    HeapType<'r> {
        type_id: u64, module_id: u64, token: u32, flags: u32, element_kind: u8, name: name,
        parameters: ids
    }
    HeapObject { address: pointer, bytes: u64, type_id: u64, references: u64 }
    HeapReference { target: pointer, field: u32 }
    HeapRoot { object: pointer, kind: u8, flags: u32, root_id: pointer }
    HeapStatic<'r> { root_id: u64, object: u64, type_id: u64, flags: u32, name: name }
    HeapDependent { key: pointer, value: pointer, root_id: pointer }
}

impl<'r> FromRow<'r> for HeapComObject {
    fn parse(input: &'r [u8], kind: u8) -> Parsed<'r, HeapComObject> {
        // Numbers of unused bytes before the object, after the interface, and after the number of
        // references.
        let (front, middle, after) = if kind == COM_CALLABLE { (8, 0, 8) } else { (0, 8, 4) };
        let (rest, _) = take(front)(input)?;
        let (rest, object) = u64(rest)?;
        let (rest, type_id) = u64(rest)?;
        let (rest, interface) = u64(rest)?;
        let (rest, _) = take(middle)(rest)?;
        let (rest, references) = u32(rest)?;
        let (rest, _) = take(after)(rest)?;
        Ok((rest, HeapComObject { object, type_id, interface, references }))
    }
}

macro_rules! rows {
    ($($row:ty),*) => {$(
        /// Returns the rows. Ends early if the payload does, as [`Rows::missing`] shows.
        impl<'r> Iterator for Rows<'r, $row> {
            type Item = $row;

            #[inline]
            fn next(&mut self) -> Option<$row> {
                self.left = self.left.checked_sub(1)?;
                match <$row as FromRow<'r>>::parse(self.rest, self.pointer_size) {
                    Ok((rest, row)) => {
                        self.rest = rest;
                        Some(row)
                    }
                    Err(_) => {
                        self.rest = &[];
                        self.left = self.left.saturating_add(1);
                        None
                    }
                }
            }
        }
    )*};
}

rows!(
    HeapType<'r>,
    HeapObject,
    HeapReference,
    HeapRoot,
    HeapStatic<'r>,
    HeapDependent,
    HeapComObject
);

impl<T> Rows<'_, T> {
    /// Returns the number of rows not returned yet; at the end, the number of rows that the event
    /// states but does not contain.
    pub fn missing(&self) -> u32 {
        self.left
    }
}
