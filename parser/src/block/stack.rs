//! Reads stack blocks, and gives access to the addresses of a stack (FORMAT.md 6.8, 7.5).
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 4 | id of the first stack, u32; the ids of further stacks rise by one |
//! | 4 | 4 | number of stacks, u32 |
//! | 8 | … | stacks: u32 size in bytes, then addresses of the trace's pointer size, innermost first |

use super::rows;
use crate::bytes::{self, Parsed, take_first, u32};
use crate::damage::BlockDamage;
use crate::error::{Fault, FaultAt};
use crate::work;
use nom::Parser;
use std::fmt;

/// Borrowed addresses of one stack, innermost frame first. Frame 0 is the current instruction
/// of the thread; further frames are return addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stack<'r> {
    bytes: &'r [u8],
    pointer_size: u8,
}

impl<'r> Stack<'r> {
    /// Creates a stack from its bytes: little-endian addresses of 4 or 8 bytes. An
    /// incomplete address at the end is ignored.
    pub fn new(bytes: &'r [u8], pointer_size: u8) -> Stack<'r> {
        Stack { bytes, pointer_size }
    }

    /// Returns the number of frames.
    pub fn len(&self) -> usize {
        Addresses { bytes: self.bytes, is_narrow: self.pointer_size == 4 }.size_hint().0
    }

    /// Returns whether there are no frames, as for an event without a stack.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of the addresses as stored.
    pub fn bytes(&self) -> &'r [u8] {
        self.bytes
    }

    /// Returns addresses of 8 bytes as a slice, innermost first, without copying. Each address
    /// is two little-endian words, low word first, which [`u32::from_le`] converts. Words
    /// replace numbers of 64 bits because streams align stacks to 4 bytes, not to 8.
    ///
    /// `None` if addresses have 4 bytes, or if the slice would not be aligned to 4 bytes. The
    /// stacks of versions 4 to 6 are aligned, and about 9 of 10 of version 3, whose stacks
    /// follow payloads of any size. [`Stack::addresses`] works for every stack.
    ///
    /// ```
    /// use nettrace_parser::Reader;
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let address = |[low, high]: [u32; 2]| {
    ///     u64::from(u32::from_le(high)) << 32 | u64::from(u32::from_le(low))
    /// };
    /// let mut reader = Reader::from_slice(&bytes);
    /// let stack = reader.next_event()?.unwrap().stack();
    /// if let Some(words) = stack.as_words() {
    ///     assert!(words.iter().map(|words| address(*words)).eq(stack.addresses()));
    /// }
    /// # Ok::<(), nettrace_parser::Error>(())
    /// ```
    pub fn as_words(&self) -> Option<&'r [[u32; 2]]> {
        let whole = self.bytes.get(..self.bytes.len() & !7)?;
        if self.pointer_size == 4 { None } else { bytes::words(whole) }
    }

    /// Returns the addresses, innermost first, widened to 64 bits.
    pub fn addresses(&self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + use<'r> {
        Addresses { bytes: self.bytes, is_narrow: self.pointer_size == 4 }
    }
}

/// Iterator over addresses. Unlike `chunks`, it does not divide by a width that is only known
/// at run time.
struct Addresses<'r> {
    bytes: &'r [u8],
    is_narrow: bool,
}

impl Iterator for Addresses<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.is_narrow {
            return take_first::<u32>(&mut self.bytes).map(u64::from);
        }
        take_first(&mut self.bytes)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = if self.is_narrow { self.bytes.len() / 4 } else { self.bytes.len() / 8 };
        (count, Some(count))
    }
}

impl DoubleEndedIterator for Addresses<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<u64> {
        let width = if self.is_narrow { 4 } else { 8 };
        // Bytes after the last complete address are ignored.
        let whole = self.size_hint().0.checked_mul(width)?;
        let last = whole.checked_sub(width)?;
        let address = Addresses { bytes: self.bytes.get(last..)?, ..*self }.next();
        self.bytes = self.bytes.get(..last)?;
        address
    }
}

impl ExactSizeIterator for Addresses<'_> {}

impl fmt::Debug for Stack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stack({} frames", self.len())?;
        for address in self.addresses().take(16) {
            write!(f, " {address:#x}")?;
        }
        f.write_str(")")
    }
}

/// Reads a stack ([FORMAT.md 6.8](crate::format_guide#6.8),
/// [7.5](crate::format_guide#7.5)): a u32 size, and that many bytes of addresses,
/// innermost first. [`Stack::new`] decodes the addresses.
///
/// # Errors
/// [`Fault::StackSize`] if the stack extends past the input, [`Fault::Truncated`].
pub fn row(input: &[u8]) -> Parsed<'_, &[u8]> {
    work::count(1);
    let (rest, size) = u32(input)?;
    match usize::try_from(size).ok().and_then(|size| rest.split_at_checked(size)) {
        Some((stack, rest)) => Ok((rest, stack)),
        None => FaultAt::error(input, Fault::StackSize(size)),
    }
}

/// Reads the header of stack blocks, and of label list blocks ([FORMAT.md
/// 7.8](crate::format_guide#7.8)): the u32 id of the first row and the u32 number of rows,
/// whose ids are consecutive. The number may be wrong: rows fill the block up to its end.
///
/// # Errors
/// [`Fault::Truncated`].
pub fn header(content: &[u8]) -> Parsed<'_, (u32, u32)> {
    (u32, u32).parse(content)
}

/// Reads the header, and returns the stated number of rows.
pub(crate) fn first_row(content: &[u8]) -> Parsed<'_, Option<u32>> {
    header(content).map(|(rest, (_, count))| (rest, Some(count)))
}

/// Steps over a row.
pub(crate) fn next_row(input: &[u8]) -> Parsed<'_, ()> {
    row(input).map(|(rest, _)| (rest, ()))
}

/// Returns whether the content of a stack block, `len` bytes long, can begin with these bytes.
pub(crate) fn begins(len: usize, content: &[u8]) -> bool {
    let Ok((rest, (_, count))) = header(content) else { return false };
    let rows = len.saturating_sub(8);
    if count == 0 {
        return rows == 0;
    }
    let has_room = (count as usize).checked_mul(4).is_some_and(|min_bytes| min_bytes <= rows);
    has_room
        && u32(rest).is_ok_and(|(_, size)| size % 4 == 0 && size as usize <= rows.saturating_sub(4))
}

/// Returns whether the content of a stack block has exactly the stated number of rows.
pub(crate) fn is_whole(content: &[u8]) -> bool {
    let Ok((mut rest, (_, count))) = header(content) else { return false };
    for _ in 0..count {
        match row(rest) {
            Ok((after, _)) => rest = after,
            Err(_) => return false,
        }
    }
    rest.is_empty()
}

/// Reads the rows of a stack block up to the end of its content, as the reference reader
/// does, and passes each to `define` with its id and offset.
pub(crate) fn block<'a>(
    content: &'a [u8],
    pointer_size: u8,
    damage: &mut BlockDamage<'_>,
    mut define: impl FnMut(u32, &'a [u8], usize, &mut BlockDamage<'_>),
) {
    let Some((rest, (first_id, count))) =
        rows::read_header(content, "stack block header", damage, header)
    else {
        return;
    };
    let mut id = first_id;
    let found = rows::read_each(content, rest, "stack", damage, row, |at, stack, damage| {
        let extra = match pointer_size {
            8 => stack.len() % 8,
            4 => stack.len() % 4,
            other => stack.len().checked_rem(usize::from(other)).unwrap_or(0),
        };
        if extra != 0 {
            let size = u32::try_from(stack.len()).unwrap_or(u32::MAX);
            damage.note(at, "stack", Fault::PartialAddress(size));
        }
        let whole = stack.get(..stack.len().saturating_sub(extra)).unwrap_or_default();
        define(id, whole, at, damage);
        id = id.wrapping_add(1);
    });
    if let Some(found) = found {
        rows::check_count(count, found, "stack count", damage);
    }
}
