//! Frames the blocks of versions 3 to 5, which are FastSerialization objects (FORMAT.md 3).
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 1 | begin tag of the object: 5, in V3 4; 1 ends the stream |
//! | 1 | 1 | begin tag of its type |
//! | 2 | 1 | type of the type: 1, none |
//! | 3 | 4 | type version, i32 |
//! | 7 | 4 | minimum reader version, i32 |
//! | 11 | 4 | name length *n*, i32 |
//! | 15 | n | name |
//! | 15+n | 1 | 6, end of the type |
//! | 16+n | | Trace: 48 bytes. Other types: i32 size, 0 to 3 bytes of padding so that the content begins at a multiple of 4 in the *stream*, content |
//! | | 1 | 6, end of the object; tagged values may come before it |

use super::Framed;
use crate::block::kinds::{KINDS, KindRow};
use crate::bytes::{Parsed, before, i32, take, u8};
use crate::error::{Fault, FaultAt, located};
use crate::frame::{BlockKind, Frame};
use crate::source::Span;
use nom::Parser;
use nom::combinator::flat_map;
use nom::error::context;
use nom::sequence::delimited;

pub(crate) const TAG_NULL: u8 = 1;
const TAG_BEGIN: u8 = 4;
const TAG_BEGIN_PRIVATE: u8 = 5;
pub(crate) const TAG_END: u8 = 6;

/// Maximum length in bytes of a type name. Known names have at most 13.
const MAX_NAME_BYTES: i32 = 255;
/// Size in bytes of a Trace object's content, which has no size field.
const TRACE_SIZE: u32 = 48;

/// The part of an object before its content, up to the end of its type ([FORMAT.md
/// 3](crate::format_guide#3)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectType<'a> {
    /// Version of the type: 3 or 4 for `Trace`, 1 or 2 for other known types.
    pub version: i32,
    /// Minimum version of a reader that understands the type.
    pub minimum_version: i32,
    /// Name, such as `EventBlock`, in UTF-8 unless the writer made a mistake.
    pub name: &'a [u8],
}

impl ObjectType<'_> {
    /// Returns the kind of objects of this type; `Unknown(0)` if the type is unknown.
    pub fn kind(&self) -> BlockKind {
        BlockKind::from_object(self.name)
    }

    /// Returns whether this crate can read objects of the type. The type must be known, and its
    /// minimum version supported (at most 4 for `Trace`, 2 for other types); its version does not
    /// matter.
    pub fn is_readable(&self) -> bool {
        let object = self.kind().row().and_then(|row| row.object.as_ref());
        object.is_some_and(|object| self.minimum_version <= object.reader)
    }
}

fn begin_tag(input: &[u8]) -> Parsed<'_, ()> {
    match u8(input)? {
        (rest, TAG_BEGIN | TAG_BEGIN_PRIVATE) => Ok((rest, ())),
        (_, found) => FaultAt::error(input, Fault::Tag { expected: TAG_BEGIN_PRIVATE, found }),
    }
}

fn tag(expected: u8) -> impl Fn(&[u8]) -> Parsed<'_, ()> {
    move |input| match u8(input)? {
        (rest, found) if found == expected => Ok((rest, ())),
        (_, found) => FaultAt::error(input, Fault::Tag { expected, found }),
    }
}

fn name_length(input: &[u8]) -> Parsed<'_, usize> {
    let (rest, length) = i32(input)?;
    match usize::try_from(length) {
        Ok(bytes) if length <= MAX_NAME_BYTES => Ok((rest, bytes)),
        _ => FaultAt::error(input, Fault::NameLength(length)),
    }
}

/// Reads the beginning of an object, up to the end of its type.
pub(crate) fn object_type(input: &[u8]) -> Parsed<'_, ObjectType<'_>> {
    let begin = (begin_tag, begin_tag, tag(TAG_NULL));
    let description = (i32, i32, flat_map(name_length, take));
    let (rest, (version, minimum_version, name)) =
        delimited(begin, description, tag(TAG_END)).parse(input)?;
    Ok((rest, ObjectType { version, minimum_version, name }))
}

fn block_size(input: &[u8]) -> Parsed<'_, u32> {
    let (rest, size) = i32(input)?;
    match u32::try_from(size) {
        Ok(len) => Ok((rest, len)),
        Err(_) => FaultAt::error(input, Fault::BlockSize(size)),
    }
}

/// Reads an object of versions 3 to 5 up to its content ([FORMAT.md
/// 3](crate::format_guide#3)), and returns its type and the part of the stream with its
/// content. `position` is the input's offset in the stream as it was written, because content
/// begins at a multiple of 4 there. The remaining input begins with the padding; a byte 6
/// follows the content.
///
/// # Errors
/// [`Fault::Tag`], [`Fault::NameLength`], [`Fault::BlockSize`] for a negative size,
/// [`Fault::Truncated`].
pub fn object_header<'a>(position: u64) -> impl Fn(&'a [u8]) -> Parsed<'a, (ObjectType<'a>, Span)> {
    move |input| {
        let (rest, object) = context("object header", object_type).parse(input)?;
        let here = |rest: &[u8]| position.saturating_add(before(input, rest) as u64);
        if object.kind() == BlockKind::Trace {
            return Ok((rest, (object, Span { start: here(rest), len: TRACE_SIZE })));
        }
        let (rest, len) = context("block size", block_size).parse(rest)?;
        let start = here(rest).checked_next_multiple_of(4).unwrap_or(u64::MAX);
        Ok((rest, (object, Span { start, len })))
    }
}

/// Reads the frame of the object at `position`, where `input` begins. `shift` is the number of
/// bytes, modulo 4, that were lost before the object: the writer added its padding at a
/// position that was larger by `shift`.
pub(crate) fn frame(input: &[u8], position: u64, shift: u8) -> Framed {
    match input.first() {
        None => return Framed::Need(1),
        Some(&TAG_NULL) => return Framed::End(1),
        Some(_) => {}
    }
    let shift = u64::from(shift);
    let (object, body) = match object_header(position.saturating_add(shift))(input) {
        Ok((_, (object, body))) => {
            (object, Span { start: body.start.saturating_sub(shift), ..body })
        }
        Err(error) => return broken(input, error),
    };
    let frame = Frame { kind: object.kind(), start: position, body };
    let newer = Fault::MinimumVersion(object.minimum_version);
    if let Some(kind) = near_kind(&object) {
        Framed::Odd(Frame { kind, ..frame }, Fault::TypeName)
    } else if object.is_readable() || frame.kind == BlockKind::UNKNOWN_OBJECT {
        Framed::Block(frame)
    } else if object.minimum_version > object.version && has_known_version(&object) {
        // No writer requires a newer reader than the version it writes.
        Framed::Odd(frame, newer)
    } else {
        Framed::Refused(frame, newer)
    }
}

/// Returns the frame of a known object at `position` whose begin tag is damaged. `rest` begins
/// after that tag.
pub(crate) fn frame_without_tag(rest: &[u8], position: u64, shift: u8) -> Option<Frame> {
    let mut header = [TAG_BEGIN_PRIVATE; FOUND_HEADER + 4];
    header.get_mut(1..)?.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let header = header.get(..rest.len().saturating_add(1)).unwrap_or(&header);
    match (found_at(header, 0)?, frame(header, position, shift)) {
        (Found::Block(_), Framed::Block(frame)) => Some(frame),
        _ => None,
    }
}

fn has_known_version(object: &ObjectType<'_>) -> bool {
    let known = object.kind().row().and_then(|row| row.object.as_ref());
    known.is_some_and(|known| known.versions.contains(&object.version))
}

/// Returns the known kind whose name differs in a single letter from the name of the object's type,
/// because damage may have changed the letter.
fn near_kind(object: &ObjectType<'_>) -> Option<BlockKind> {
    if object.kind() != BlockKind::UNKNOWN_OBJECT {
        return None;
    }
    let is_near = |row: &&KindRow| {
        row.object.as_ref().is_some_and(|known| {
            let letters = known.name.iter().zip(object.name);
            row.kind != BlockKind::Trace
                && known.name.len() == object.name.len()
                && letters.filter(|(one, other)| one != other).count() == 1
                && known.versions.contains(&object.version)
                && object.minimum_version <= known.reader
        })
    };
    KINDS.iter().find(is_near).map(|row| row.kind)
}

/// Returns the fault of an object, or a request for more bytes if the input ends too early.
fn broken<'a>(input: &'a [u8], error: nom::Err<FaultAt<'a>>) -> Framed {
    let located = located(input, error);
    if located.fault == Fault::Truncated {
        return Framed::Need(input.len().max(located.at).saturating_add(1));
    }
    Framed::Broken { at: located.at, fault: located.fault, context: located.context }
}

/// Maximum number of tagged values in an object. All of them are kept until the end tag
/// arrives, and are parsed again whenever more bytes arrive.
const MAX_TAGGED_VALUES: usize = 256;
/// Maximum size in bytes of all tagged values of an object together.
const MAX_TAGGED_BYTES: usize = 1 << 20;

/// Result of reading the bytes after an object's content.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ObjectEnd {
    /// The object ends this many bytes after its content; they hold tagged values and the end
    /// tag.
    At(usize),
    /// This many bytes after the content are needed.
    Need(usize),
    /// The byte `at` bytes after the content is not allowed there.
    Broken { at: usize, fault: Fault },
}

/// Skips tagged values (8 to 11: 1, 2, 4, 8 bytes; 13 and 14: i32 length and bytes) and
/// finds the object's end tag. `input` begins after the content.
pub(crate) fn object_end(input: &[u8]) -> ObjectEnd {
    let (mut at, mut last) = (0usize, 0usize);
    let mut found = TAG_END;
    for _ in 0..MAX_TAGGED_VALUES {
        last = at;
        found = match input.get(at) {
            Some(found) => *found,
            None => return ObjectEnd::Need(at.saturating_add(1)),
        };
        let value = match found {
            TAG_END => return ObjectEnd::At(at.saturating_add(1)),
            8 => 1,
            9 => 2,
            10 => 4,
            11 => 8,
            13 | 14 => {
                let length = match i32(input.get(at.saturating_add(1)..).unwrap_or_default()) {
                    Ok((_, length)) => length,
                    Err(_) => return ObjectEnd::Need(at.saturating_add(5)),
                };
                match usize::try_from(length) {
                    // More than a megabyte of tagged values cannot be genuine.
                    Ok(length) if length <= MAX_TAGGED_BYTES => length.saturating_add(4),
                    _ => return ObjectEnd::Broken { at, fault: Fault::BlockSize(length) },
                }
            }
            _ => return ObjectEnd::Broken { at, fault: Fault::Tag { expected: TAG_END, found } },
        };
        at = at.saturating_add(1).saturating_add(value);
        if at > MAX_TAGGED_BYTES {
            break;
        }
    }
    // Too many values, or too long. The fault is the last value's, because bytes after it may
    // not be available.
    ObjectEnd::Broken { at: last, fault: Fault::Tag { expected: TAG_END, found } }
}

/// Returns whether this byte can begin an object or the end of the stream.
pub(crate) fn may_begin(byte: u8) -> bool {
    matches!(byte, TAG_NULL | TAG_BEGIN | TAG_BEGIN_PRIVATE)
}

/// Number of bytes that [`goes_on`] examines.
pub(crate) const NEXT_HEADER: usize = 32;

/// Returns whether these bytes begin an object or end the stream. `is_all` is set if the
/// input ends with these bytes.
pub(crate) fn goes_on(bytes: &[u8], is_all: bool) -> bool {
    match bytes.first() {
        None => is_all,
        // Some writers store the end mark as four bytes.
        Some(&TAG_NULL) => is_all && bytes.len() <= 4,
        Some(_) => match object_type(bytes) {
            Ok(_) => true,
            Err(error) => is_all && located(bytes, error).fault == Fault::Truncated,
        },
    }
}

/// Returns whether these bytes are exactly an object's end tag and the end mark.
pub(crate) fn is_end(bytes: &[u8]) -> bool {
    bytes == [TAG_END, TAG_NULL]
}

/// Returns the fault of an end mark after which the stream continues.
pub(crate) fn not_the_end() -> Fault {
    Fault::Tag { expected: TAG_BEGIN_PRIVATE, found: TAG_NULL }
}

/// Size in bytes of the longest object header that [`find`] recognises.
pub(crate) const FOUND_HEADER: usize = 29;

/// Object that [`find_any`] found, with its offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// A block.
    Block(usize),
    /// The first object of another stream.
    Trace(usize),
}

/// Searches for the beginning of an object after framing was lost ([FORMAT.md
/// 13.3](crate::format_guide#13.3)): begin tags, a known type with a known version, end tag.
/// 23 to 29 bytes must match, so there are no false positives in practice.
pub(crate) fn find(bytes: &[u8]) -> Option<usize> {
    (0..bytes.len()).find(|at| matches!(found_at(bytes, *at), Some(Found::Block(_))))
}

/// Searches for the beginning of an object, including a Trace object.
pub(crate) fn find_any(bytes: &[u8]) -> Option<Found> {
    (0..bytes.len()).find_map(|at| found_at(bytes, at))
}

/// Searches for the beginning of an object in a few bytes; fast if there is none.
#[inline]
pub(crate) fn find_in_short(bytes: &[u8]) -> Option<usize> {
    let seconds = bytes.get(1..).unwrap_or_default();
    let thirds = bytes.get(2..).unwrap_or_default();
    // There is no early exit, so that the compiler vectorises this.
    let seems =
        bytes.iter().zip(seconds).zip(thirds).fold(false, |seems, ((first, second), third)| {
            seems | ((*first | 1 == TAG_BEGIN_PRIVATE) & (first == second) & (*third == TAG_NULL))
        });
    if seems { find(bytes) } else { None }
}

/// Returns the known object that begins at `at`.
fn found_at(bytes: &[u8], at: usize) -> Option<Found> {
    let bytes = bytes.get(at..)?;
    if !matches!(bytes.first(), Some(&TAG_BEGIN | &TAG_BEGIN_PRIVATE)) {
        return None;
    }
    let (_, object) = object_type(bytes).ok()?;
    let known = BlockKind::from_object(object.name).row()?.object.as_ref()?;
    let is_written = known.versions.contains(&object.version)
        && (0..=known.reader).contains(&object.minimum_version);
    let found = if object.name == b"Trace" { Found::Trace(at) } else { Found::Block(at) };
    is_written.then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tagged_values_that_are_too_long_are_told_alike_however_much_of_them_is_there() {
        let mut values = vec![8, 0, 13];
        values.extend_from_slice(&(MAX_TAGGED_BYTES as u32).to_le_bytes());
        let fault = Fault::Tag { expected: TAG_END, found: 13 };
        for more in [0, 1, 1000] {
            values.resize(7 + more, 0);
            assert_eq!(object_end(&values), ObjectEnd::Broken { at: 2, fault });
        }
    }
}
