//! Recognises the version of a stream, and finds where its blocks begin and end (FORMAT.md 1,
//! 3, 7.1).
//!
//! The versions differ in these points, each of which is in one function or module:
//!
//! | difference | V3 NetPerf | V4, V5 | V6 | where |
//! |---|---|---|---|---|
//! | stream header | `!FastSerialization.1` | `Nettrace` + the same | `Nettrace`, 0, major, minor | [`stream_header`] |
//! | block frame | objects, tag 4 | objects, tag 5, padding to 4 stream bytes | u24 size, u8 kind | [`fastserial::frame`], [`v6::frame`] |
//! | unknown kind | skipped if it has a block's layout | same | skipped | same |
//! | end | null tag | null tag | kind 0 | same |
//! | Trace | 48 bytes | 48 bytes | + key-values | [`crate::block::trace`] |
//! | blob header | fixed, stack inline | fixed or compressed, activity guids | fixed or compressed, label list | [`crate::blob`] |
//! | metadata | blob of id 0 among events | blob in own block; V5 adds tags | sized rows, UTF-8 | [`crate::block::metadata`] |
//! | stacks | inline | block | block | [`crate::block::stack`] |
//! | threads | id in event | id in event, recycled | rows, removal, flush | [`crate::block::thread`] |
//! | sequence point | none | fixed entries | flags, varint entries | [`crate::block::sequence_point`] |

pub(crate) mod fastserial;
pub(crate) mod v6;

use crate::bytes::{Parsed, take, u32};
use crate::error::{Fault, FaultAt, Foreign};
use crate::frame::Frame;
use crate::version::Version;
use nom::Parser;
use nom::error::context;

/// Result of looking for a block at a place where one should begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framed {
    /// A block.
    Block(Frame),
    /// A block with one field that contradicts the other fields. The fault is reported, and the
    /// block is read.
    Odd(Frame, Fault),
    /// A block that must not be read, such as one for newer readers. Its content can be
    /// skipped.
    Refused(Frame, Fault),
    /// The end mark of the stream, which has this many bytes.
    End(u64),
    /// This many bytes from the block's beginning are needed.
    Need(usize),
    /// Not a block; `at` is the offset of the fault from the place where a block should begin.
    Broken { at: usize, fault: Fault, context: &'static str },
}

/// Reads the header of a stream of any version ([FORMAT.md 1](crate::format_guide#1)).
/// The remaining input begins with the first object or block, which is `Trace`.
///
/// | version | bytes |
/// |---|---|
/// | 3 | u32 20, `!FastSerialization.1` |
/// | 4, 5 | `Nettrace`, u32 20, `!FastSerialization.1` |
/// | 6 | `Nettrace`, u32 0, u32 major, u32 minor |
///
/// Versions 3 and 4 differ in the type of the first object, which must be available and is
/// not consumed. Version 5 is reported as 4, because nothing in a stream tells them apart.
///
/// ```
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// use nettrace_parser::{Version, raw};
/// let (first_object, version) = raw::stream_header(&bytes).unwrap();
/// assert_eq!(version, Version::V4);
/// assert_eq!(raw::object_header(32)(first_object).unwrap().1.0.name, b"Trace");
/// ```
///
/// # Errors
/// [`Fault::Foreign`], [`Fault::UnsupportedVersion`] and other faults of the beginning of
/// a stream; [`Fault::Truncated`] if more bytes are needed.
pub fn stream_header(input: &[u8]) -> Parsed<'_, Version> {
    let (rest, framing) = context("stream header", framing).parse(input)?;
    match framing {
        Framing::V6 { minor } => Ok((rest, Version::V6 { minor })),
        Framing::Objects { with_magic } => {
            let version = |first| version_of_objects(first, with_magic);
            context("first object", version).parse(rest)
        }
    }
}

/// Framing of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    V6 {
        minor: u32,
    },
    /// Versions 1 to 5. Version 4 begins with [`MAGIC`].
    Objects {
        with_magic: bool,
    },
}

/// Distinguishes versions 1 to 4 by the type of the first object. Consumes nothing.
fn version_of_objects(first: &[u8], with_magic: bool) -> Parsed<'_, Version> {
    if first.first() == Some(&fastserial::TAG_NULL) {
        return FaultAt::error(first, Fault::FirstIsNotTrace);
    }
    let (_, object) = fastserial::object_type(first).map_err(|error| {
        error.map(|at| match at.fault {
            Fault::Truncated => at,
            _ => FaultAt { context: "object header", ..at },
        })
    })?;
    let unsupported = Fault::UnsupportedVersion(u32::try_from(object.version).unwrap_or_default());
    match (object.name, object.version) {
        (b"Trace", 4..) => Ok((first, Version::V4)),
        (b"Trace", 3) if !with_magic => Ok((first, Version::V3)),
        // The three tags come before the version.
        (b"Trace", _) => {
            let rest = first.get(3..).unwrap_or_default();
            Err(nom::Err::Error(FaultAt { rest, fault: unsupported, context: "Trace object" }))
        }
        (b"Microsoft.DotNet.Runtime.EventPipeFile", _) => FaultAt::error(first, unsupported),
        (b"GCHeapDump", _) => FaultAt::error(first, Fault::Foreign(Foreign::GcDump)),
        (name, _) if name.ends_with(b"TraceLog") => {
            FaultAt::error(first, Fault::Foreign(Foreign::Etlx))
        }
        _ => FaultAt::error(first, Fault::FirstIsNotTrace),
    }
}

pub(crate) const MAGIC: &[u8; 8] = b"Nettrace";
const FAST_SERIALIZATION: &[u8; 24] = b"\x14\0\0\0!FastSerialization.1";

/// Recognises the framing by the first bytes of a stream, in the order of [FORMAT.md
/// 1](crate::format_guide#1).
fn framing(input: &[u8]) -> Parsed<'_, Framing> {
    let Some((first, rest)) = input.split_first_chunk::<8>() else {
        return FaultAt::error(input, Fault::Truncated);
    };
    if first == MAGIC {
        let (after, word) = u32(rest)?;
        return if word == 0 { framing_v6(after) } else { objects(rest, true) };
    }
    if first.starts_with(&[20, 0, 0, 0, b'!']) {
        return objects(input, false);
    }
    FaultAt::error(input, Fault::Foreign(foreign(input, *first)))
}

fn framing_v6(input: &[u8]) -> Parsed<'_, Framing> {
    let (rest, (major, minor)) = (u32, u32).parse(input)?;
    match major {
        6 => Ok((rest, Framing::V6 { minor })),
        0..6 => FaultAt::error(input, Fault::MalformedVersion(major)),
        _ => FaultAt::error(input, Fault::UnsupportedVersion(major)),
    }
}

/// Reads the length and the text with which streams of objects begin.
fn objects(input: &[u8], with_magic: bool) -> Parsed<'_, Framing> {
    let known = input.len().min(FAST_SERIALIZATION.len());
    // Compares the available bytes before it asks for more, so that a wrong beginning is not
    // reported as truncated.
    if input.get(..known) != FAST_SERIALIZATION.get(..known) {
        return FaultAt::error(input, Fault::FastSerializationHeader);
    }
    let (rest, _) = take(FAST_SERIALIZATION.len())(input)?;
    Ok((rest, Framing::Objects { with_magic }))
}

/// Recognises another format by its first bytes.
fn foreign(bytes: &[u8], first: [u8; 8]) -> Foreign {
    match first {
        [0x1f, 0x8b, ..] => Foreign::Gzip,
        [b'P', b'K', 3 | 5 | 7, 4 | 6 | 8, ..] => Foreign::Zip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Foreign::Zstd,
        [b'P', b'E', b'R', b'F', b'I', b'L', b'E', b'2'] => Foreign::PerfData,
        [b'{', ..] if is_speedscope(bytes) => Foreign::Speedscope,
        [b'{', b'"' | b'\r' | b'\n' | b' ' | b'\t', ..] => Foreign::Json,
        _ if is_etl(bytes) => Foreign::Etl,
        _ => Foreign::Unknown(first),
    }
}

/// Returns the number of bytes that are needed to recognise another format; `None` if these
/// are enough.
pub(crate) fn needed_to_name(bytes: &[u8]) -> Option<usize> {
    let is_json = bytes.first() == Some(&b'{') && bytes.len() < JSON_BYTES;
    let is_etl = is_etl_size(bytes) && bytes.len() < ETL_BYTES;
    is_json.then_some(JSON_BYTES).or(is_etl.then_some(ETL_BYTES))
}

/// Number of bytes of a JSON text that are searched for the name of its schema, which writers
/// put first.
const JSON_BYTES: usize = 256;

fn is_speedscope(bytes: &[u8]) -> bool {
    const NAME: &[u8] = b"speedscope";
    let start = bytes.get(..bytes.len().min(JSON_BYTES)).unwrap_or_default();
    start.windows(NAME.len()).any(|part| part == NAME)
}

/// Number of bytes that are needed to recognise an ETL file.
const ETL_BYTES: usize = 76;

fn is_etl_size(bytes: &[u8]) -> bool {
    u32(bytes).is_ok_and(|(_, size)| size % 1024 == 0 && (1024..=0x100_0000).contains(&size))
}

/// Returns whether these are the first bytes of an ETL file: a WMI_BUFFER_HEADER of 72 bytes,
/// which begins with the buffer's size, then a system trace header, whose marker 0xC001 or
/// 0xC002 follows its version.
fn is_etl(bytes: &[u8]) -> bool {
    let marker = bytes.get(74..ETL_BYTES);
    is_etl_size(bytes) && (marker == Some(&[0x01, 0xc0]) || marker == Some(&[0x02, 0xc0]))
}
