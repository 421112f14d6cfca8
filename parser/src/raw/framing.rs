//! The stream's header, and the sequence of blocks (FORMAT.md 1, 3, 7.1).

use super::error::{FromFault, complete, need, streaming};
use crate::block::Block;
use crate::error::{FaultAt, offset};
use crate::format::fastserial::{self, ObjectEnd, ObjectType};
use crate::format::{Begun, begin, v6};
use crate::frame::{BlockKind, Frame};
use crate::primitive::before;
use crate::source::{Span, index};
use crate::version::Version;
use nom::IResult;
use std::fmt;

/// The stream position of a slice.
///
/// Versions 3 to 5 pad content to a multiple of 4 of the position in the *stream*, which
/// cannot be derived from a part of the input alone. An origin knows the position of
/// every part of the slice it was made from. If that slice moves, like the buffer of a
/// growing stream, make a new one.
///
/// ```
/// use nettrace_parser::raw::Origin;
/// let stream = b"Nettrace and so on";
/// let origin = Origin::of(stream);
/// assert_eq!(origin.position(&stream[8..]), 8);
/// // A window that begins further on in the stream.
/// let origin = Origin::at(1000, &stream[8..]);
/// assert_eq!(origin.position(&stream[9..12]), 1001);
/// ```
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    window: &'a [u8],
    /// Stream position of the window's first byte.
    start: u64,
}

impl<'a> Origin<'a> {
    /// For a stream that is available from its first byte on.
    pub fn of(stream: &'a [u8]) -> Origin<'a> {
        Origin::at(0, stream)
    }

    /// For a window whose first byte is at this position of the stream.
    pub fn at(position: u64, window: &'a [u8]) -> Origin<'a> {
        Origin { window, start: position }
    }

    /// Stream position of the first byte of a part of the window.
    pub fn position(&self, part: &[u8]) -> u64 {
        self.start.saturating_add(offset(self.window, part) as u64)
    }
}

impl fmt::Debug for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Origin({} bytes at {:#x})", self.window.len(), self.start)
    }
}

/// The header of a stream of any version ([FORMAT.md 1](crate::format_guide#1)). The
/// remaining input begins with the first object or block, which is `Trace`.
///
/// | version | bytes |
/// |---|---|
/// | 3 | u32 20, `!FastSerialization.1` |
/// | 4, 5 | `Nettrace`, u32 20, `!FastSerialization.1` |
/// | 6 | `Nettrace`, u32 0, u32 major, u32 minor |
///
/// Version 3 is recognised by the type of the first object, which must be available and
/// is not consumed. Version 5 is reported as 4, because streams do not distinguish the
/// two.
///
/// ```
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// use nettrace_parser::{Version, raw};
/// let (first_object, version) = raw::stream_header::<()>(&bytes)?;
/// assert_eq!(version, Version::V4);
/// assert_eq!(raw::object_type::<()>(first_object)?.1.name, b"Trace");
/// # Ok::<(), nom::Err<()>>(())
/// ```
///
/// # Streaming
/// `Incomplete` if the input ends before the end of the first object's type.
///
/// # Errors
/// [`Fault::Foreign`](crate::Fault::Foreign),
/// [`Fault::UnsupportedVersion`](crate::Fault::UnsupportedVersion) and other faults of
/// the beginning of a stream.
pub fn stream_header<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], Version, E> {
    let from = |at: u64| input.get(index(at, 0)..).unwrap_or_default();
    match begin(input) {
        Begun::Version(version, header) => Ok((from(header), version)),
        Begun::Need { bytes, .. } => need(index(bytes, 0).saturating_sub(input.len())),
        Begun::Broken { at, fault, .. } => complete(FaultAt::error(from(at), fault)),
    }
}

/// The beginning of an object, up to the end of its type ([FORMAT.md
/// 3](crate::format_guide#3)). Versions 3 to 5.
///
/// | offset | size | field |
/// |---|---|---|
/// | 0, 1 | 1, 1 | begin of the object, of its type: 5, in version 3: 4; either is read |
/// | 2 | 1 | type of the type: 1 |
/// | 3 | 4 | i32 version |
/// | 7 | 4 | i32 minimum reader version |
/// | 11 | 4 | i32 length of the name, 0 to 255 |
/// | 15 | n | name |
/// | 15 + n | 1 | end of the type: 6 |
///
/// # Streaming
/// `Incomplete` if the input ends too early.
///
/// # Errors
/// [`Fault::Tag`](crate::Fault::Tag), [`Fault::NameLength`](crate::Fault::NameLength).
pub fn object_type<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], ObjectType<'a>, E> {
    streaming(fastserial::object_type(input))
}

/// An object of versions 3 to 5, from its begin tag to its end tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Object<'a> {
    /// Its type.
    pub object_type: ObjectType<'a>,
    /// What it holds, and where its content is.
    pub block: Block<'a>,
}

/// An object ([FORMAT.md 3](crate::format_guide#3)). Versions 3 to 5.
///
/// | size | field |
/// |---|---|
/// | 16 + n | begin and type: [`object_type`] |
/// | 4 | i32 size of the content; not in `Trace`, which has 48 bytes |
/// | 0 to 3 | padding to a multiple of 4 of the stream's position, of any value; not in `Trace` |
/// | size | content |
/// | | values that later versions added: a tag of 8 to 11 and 1, 2, 4 or 8 bytes, or 13 or 14, an i32 length, as many bytes |
/// | 1 | end of the object: 6 |
///
/// An object of unknown type is returned like any other if it has this layout. A reader
/// accepts it as a block only if another object, or the end mark, follows. A reader also
/// refuses types with an unsupported minimum version: [`ObjectType::is_readable`].
///
/// # Streaming
/// `Incomplete` if the input ends too early, with the number of missing bytes if the
/// content's size is known. A hostile size asks for up to 2 GiB, so set a limit.
///
/// # Errors
/// As [`object_type`]; [`Fault::BlockSize`](crate::Fault::BlockSize) for a negative size,
/// or more than a megabyte of tagged values.
pub fn object<'a, E: FromFault<'a>>(
    origin: Origin<'a>,
) -> impl Fn(&'a [u8]) -> IResult<&'a [u8], Object<'a>, E> + Clone {
    move |input| {
        let position = origin.position(input);
        let (rest, (object_type, frame)) = streaming(fastserial::opening(position, 0)(input))?;
        let (behind, content) =
            content(frame, position.saturating_add(before(input, rest) as u64), rest)?;
        let (rest, ()) = object_end(behind)?;
        Ok((rest, Object { object_type, block: block_of(frame, content) }))
    }
}

/// Tagged values, and the end of an object.
fn object_end<'a, E: FromFault<'a>>(input: &'a [u8]) -> IResult<&'a [u8], (), E> {
    match fastserial::object_end(input) {
        ObjectEnd::At(bytes) => Ok((input.get(bytes..).unwrap_or_default(), ())),
        ObjectEnd::Need(bytes) => need(bytes.saturating_sub(input.len())),
        ObjectEnd::Broken { at, fault } => {
            complete(FaultAt::error(input.get(at..).unwrap_or_default(), fault))
        }
    }
}

/// A block's content. `input` is at `position`, before the padding.
fn content<'a, E: FromFault<'a>>(
    frame: Frame,
    position: u64,
    input: &'a [u8],
) -> IResult<&'a [u8], &'a [u8], E> {
    let from = index(frame.body.start, position);
    let to = from.saturating_add(frame.body.len as usize);
    match input.split_at_checked(to) {
        Some((body, rest)) => Ok((rest, body.get(from..).unwrap_or_default())),
        None => need(to.saturating_sub(input.len())),
    }
}

fn block_of(frame: Frame, content: &[u8]) -> Block<'_> {
    Block { kind: frame.kind, start: frame.start, body: frame.body, content }
}

/// A block of version 6 ([FORMAT.md 7.1](crate::format_guide#7.1)): a u32 `h`, whose low
/// 24 bits are the size of the content and whose high 8 bits are the kind, then the
/// content. There is no padding.
///
/// | kind | | kind | | kind | |
/// |---|---|---|---|---|---|
/// | 0 | the end: see [`end_of_stream`] | 3 | Metadata | 6 | Thread |
/// | 1 | Trace | 4 | SequencePoint | 7 | RemoveThread |
/// | 2 | Event | 5 | Stack | 8 | LabelList |
///
/// Other numbers are [`BlockKind::Unknown`](crate::BlockKind::Unknown).
///
/// # Streaming
/// `Incomplete` if the input ends too early, with the number of missing bytes, at most 16
/// MiB.
///
/// # Errors
/// [`Fault::Tag`](crate::Fault::Tag) for kind 0, the end of the stream.
pub fn block_v6<'a, E: FromFault<'a>>(
    origin: Origin<'a>,
) -> impl Fn(&'a [u8]) -> IResult<&'a [u8], Block<'a>, E> + Clone {
    move |input| {
        let (rest, (code, len)) = streaming(v6::header(input))?;
        let position = origin.position(input);
        let Some(kind) = BlockKind::of_number(code) else {
            return complete(FaultAt::error(input, v6::not_a_block()));
        };
        let start = origin.position(rest);
        let frame = Frame { kind, start: position, body: Span { start, len } };
        let (rest, content) = content(frame, start, rest)?;
        Ok((rest, block_of(frame, content)))
    }
}

/// A block of any version: an [`object`] without its type, or a [`block_v6`].
///
/// If an object's type requires a newer reader ([`ObjectType::is_readable`]), its kind is
/// `Unknown(0)`, because its content may have another meaning.
///
/// With nom's combinators, this is a parser for a whole stream:
///
/// ```
/// # let bytes = nettrace_testdata::synth::tiny_v6().bytes;
/// use nettrace_parser::raw::{self, Origin};
/// use nom::{Parser, combinator::{all_consuming, complete}, multi::many1, sequence::terminated};
///
/// let (rest, version) = raw::stream_header::<()>(&bytes)?;
/// let blocks = many1(complete(raw::block(version, Origin::of(&bytes))));
/// let (_, blocks) = all_consuming(terminated(blocks, raw::end_of_stream(version))).parse(rest)?;
/// let kinds: Vec<&str> = blocks.iter().map(|block| block.kind().as_str()).collect();
/// assert_eq!(kinds[..4], ["Trace", "Metadata", "Thread", "Stack"]);
/// # Ok::<(), nom::Err<()>>(())
/// ```
///
/// # Streaming, Errors
/// As [`object`] and [`block_v6`].
pub fn block<'a, E: FromFault<'a>>(
    version: Version,
    origin: Origin<'a>,
) -> impl Fn(&'a [u8]) -> IResult<&'a [u8], Block<'a>, E> + Clone {
    let (object, block_v6) = (object(origin), block_v6(origin));
    move |input| match version {
        Version::V3 | Version::V4 => {
            let (rest, Object { object_type, mut block }) = object(input)?;
            if !object_type.is_readable() {
                block.kind = BlockKind::UNKNOWN_OBJECT;
            }
            Ok((rest, block))
        }
        Version::V6 { .. } => block_v6(input),
    }
}

/// The end mark, in place of a block ([FORMAT.md 3](crate::format_guide#3),
/// [7.1](crate::format_guide#7.1)): a byte 1, NullReference; in version 6 a block of kind
/// 0, currently without content.
///
/// Bytes after it do not belong to the stream. If the process was killed, there is no end
/// mark.
///
/// # Streaming
/// `Incomplete` if the input ends too early.
///
/// # Errors
/// [`Fault::Tag`](crate::Fault::Tag) if there is something else.
pub fn end_of_stream<'a, E: FromFault<'a>>(
    version: Version,
) -> impl Fn(&'a [u8]) -> IResult<&'a [u8], (), E> + Clone {
    move |input| match version {
        Version::V3 | Version::V4 => streaming(fastserial::end_mark(input)),
        Version::V6 { .. } => {
            let (rest, len) = streaming(v6::end_mark(input))?;
            match rest.get(len as usize..) {
                Some(rest) => Ok((rest, ())),
                None => need((len as usize).saturating_sub(rest.len())),
            }
        }
    }
}
