//! Rows of stacks, threads, sequence points and labels (FORMAT.md 6.8, 6.9, 7.5 to 7.9).

use super::error::{FromFault, complete};
use crate::block::label_list::{self, Label};
use crate::block::sequence_point;
use crate::block::stack;
use crate::block::thread::{self, ThreadEntry};
use crate::primitive;
use nom::{IResult, Parser};
use std::fmt;

/// A stack ([FORMAT.md 6.8](crate::format_guide#6.8), [7.5](crate::format_guide#7.5)): a
/// u32 size, and that many bytes of addresses, innermost first. Returns these bytes; use
/// [`Stack::new`](crate::Stack::new) to decode the addresses.
///
/// ```
/// use nettrace_parser::{Stack, raw};
/// let (_, bytes) = raw::stack_row::<()>(&[8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]).unwrap();
/// assert!(Stack::new(bytes, 4).addresses().eq([1, 2]));
/// ```
///
/// # Errors
/// [`Fault::StackSize`](crate::Fault::StackSize) if it extends past the input,
/// [`Fault::Truncated`](crate::Fault::Truncated).
pub fn stack_row<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], &'a [u8], E> {
    complete(stack::row(input))
}

/// A row of a version 6 thread block ([FORMAT.md 7.6](crate::format_guide#7.6)): a u16
/// size, not including itself, a varuint64 index, and entries up to the row's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadRow<'a> {
    /// The index that events use.
    pub index: u64,
    /// The entries: any number of [`thread_entry`].
    pub entries: &'a [u8],
}

/// A row of a thread block: see [`ThreadRow`].
///
/// # Errors
/// [`Fault::RowSize`](crate::Fault::RowSize); for the index, those of
/// [`varuint64`](super::varuint64).
pub fn thread_row<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], ThreadRow<'a>, E> {
    let (rest, row) = complete(primitive::sized_row(input))?;
    let (entries, index) = complete(primitive::varuint64(row))?;
    Ok((rest, ThreadRow { index, entries }))
}

/// An entry of a thread's row ([FORMAT.md 7.6](crate::format_guide#7.6)): a u8 kind, and
/// its content.
///
/// | kind | content |
/// |---|---|
/// | 1 name | string |
/// | 2 process id, 3 OS thread id | varuint64 |
/// | 4 pair | string, string |
///
/// # Errors
/// [`Fault::UnknownEntry`](crate::Fault::UnknownEntry): the size of an unknown kind is
/// unknown, so the rest of the row cannot be read. Errors of the content.
pub fn thread_entry<'a, E: FromFault<'a>>(
    input: &'a [u8],
) -> IResult<&'a [u8], ThreadEntry<'a>, E> {
    complete(thread::entry(input))
}

/// An entry of a version 4 or 5 sequence point ([FORMAT.md
/// 6.9](crate::format_guide#6.9)): the u64 id of a thread, and the u32 sequence number of
/// its last event.
///
/// # Errors
/// [`Fault::Truncated`](crate::Fault::Truncated).
pub fn sequence_entry_v4<'a, E: FromFault<'a>>(
    input: &'a [u8],
) -> IResult<&'a [u8], (u64, u32), E> {
    complete(sequence_point::entry_v4(input))
}

/// An entry of a version 6 sequence point ([FORMAT.md 7.9](crate::format_guide#7.9)) or
/// RemoveThread block (7.7): the varuint64 index of a thread, and the varuint32 sequence
/// number of its last event.
///
/// ```
/// use nettrace_parser::raw;
/// use nom::{Parser, combinator::all_consuming, multi::many0};
/// let mut removals = all_consuming(many0(raw::sequence_entry_v6::<()>));
/// assert_eq!(removals.parse(&[1, 3, 2, 0x80, 0x01]).unwrap().1, [(1, 3), (2, 128)]);
/// ```
///
/// # Errors
/// As [`varuint64`](super::varuint64).
pub fn sequence_entry_v6<'a, E: FromFault<'a>>(
    input: &'a [u8],
) -> IResult<&'a [u8], (u64, u32), E> {
    complete(sequence_point::entry_v6(input))
}

/// A label, and whether it is the last of its list ([FORMAT.md
/// 7.8](crate::format_guide#7.8)). Version 6.
///
/// A byte with the kind in the low 7 bits; the high bit is set on the last label of a
/// list. Then the content:
///
/// | kind | content | kind | content |
/// |---|---|---|---|
/// | 1 activity id | guid | 6 number pair | string, varint64 |
/// | 2 related activity id | guid | 7 opcode | u8 |
/// | 3 trace id | 16 bytes | 8 keywords | u64 |
/// | 4 span id | u64 | 9 level | u8 |
/// | 5 text pair | string, string | 10 version | u8 |
///
/// # Errors
/// [`Fault::UnknownEntry`](crate::Fault::UnknownEntry): the size of an unknown kind is
/// unknown, so the rest of the block cannot be read. Errors of the content.
pub fn label<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], (Label<'a>, bool), E> {
    complete(label_list::label(input))
}

/// A list of labels that has been validated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LabelList<'a> {
    bytes: &'a [u8],
}

impl<'a> LabelList<'a> {
    /// Its bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The labels in stored order. If a kind occurs more than once, the last one is
    /// effective, except for texts and numbers, which accumulate.
    pub fn iter(&self) -> impl Iterator<Item = Label<'a>> + use<'a> {
        label_list::labels_in(self.bytes)
    }
}

impl fmt::Debug for LabelList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A list of labels ([FORMAT.md 7.8](crate::format_guide#7.8)): [`label`]s up to the one
/// marked as the last.
///
/// ```
/// use nettrace_parser::{Label, raw};
/// let (rest, list) = raw::label_list::<()>(&[9, 4, 0x87, 1, 9]).unwrap();
/// assert!(list.iter().eq([Label::Level(4), Label::Opcode(1)]));
/// assert_eq!(rest, [9]);
/// ```
///
/// # Errors
/// As [`label`].
pub fn label_list<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], LabelList<'a>, E> {
    let list = |input| label_list::list(input);
    complete(list.map(|bytes| LabelList { bytes }).parse(input))
}
