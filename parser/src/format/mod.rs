//! Versions: how a stream begins, and how its blocks are framed (FORMAT.md 1, 3, 7.1).
//!
//! Where the versions differ, and which function holds the difference:
//!
//! | difference | V3 NetPerf | V4, V5 | V6 | where |
//! |---|---|---|---|---|
//! | stream header | `!FastSerialization.1` | `Nettrace` + the same | `Nettrace`, 0, major, minor | [`detect`] |
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

use crate::error::{Fault, Foreign};
use crate::frame::Frame;
use crate::source::index;
use crate::version::Version;
use fastserial::FirstType;

/// What was found where a block should begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framed {
    /// A block.
    Block(Frame),
    /// A block with one field that contradicts the others: report it, then read the
    /// block.
    Odd(Frame, Fault),
    /// A block that must not be read; its content can be skipped.
    Refused(Frame, Fault),
    /// The end of the stream, which has this many bytes.
    End(u64),
    /// More bytes are needed: this many, counted from the block's beginning.
    Need(usize),
    /// Not a block; `at` is the offset of the fault from where the block should begin.
    Broken { at: usize, fault: Fault, context: &'static str },
}

/// What the first bytes of a stream imply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detected {
    /// Version 6: the first block begins after this many bytes.
    V6 { minor: u32, header: u64 },
    /// Objects (versions 1 to 5): the first begins after this many bytes.
    Objects { with_magic: bool, header: u64 },
    /// More bytes are needed: this many, counted from the stream's beginning.
    Need(usize),
    /// Not readable.
    Broken { at: u64, fault: Fault },
}

/// What the stream's header and the type of its first object imply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begun {
    /// The version; the first object or block begins after this many bytes.
    Version(Version, u64),
    /// More bytes are needed: this many, counted from the stream's beginning.
    Need { bytes: u64, context: &'static str },
    /// Not readable.
    Broken { at: u64, context: &'static str, fault: Fault },
}

/// Determines the version from the first bytes of the stream.
pub(crate) fn begin(bytes: &[u8]) -> Begun {
    let context = "stream header";
    match detect(bytes) {
        Detected::V6 { minor, header } => Begun::Version(Version::V6 { minor }, header),
        Detected::Objects { with_magic, header } => {
            let first = bytes.get(index(header, 0)..).unwrap_or_default();
            first_object(first, with_magic, header)
        }
        Detected::Need(bytes) => Begun::Need { bytes: bytes as u64, context },
        Detected::Broken { at, fault } => Begun::Broken { at, context, fault },
    }
}

/// Distinguishes versions 1 to 4 by the type of the first object, which begins at
/// `header`.
fn first_object(first: &[u8], with_magic: bool, header: u64) -> Begun {
    let context = "first object";
    let refused =
        |at, context, fault| Begun::Broken { at: header.saturating_add(at), context, fault };
    let unsupported = |version: i32| Fault::UnsupportedVersion(u32::try_from(version).unwrap_or(0));
    match (fastserial::first_type(first), with_magic) {
        (None, _) => match fastserial::frame(first, header, 0) {
            Framed::Need(bytes) => {
                Begun::Need { bytes: header.saturating_add(bytes as u64), context }
            }
            Framed::Broken { at, fault, context } => refused(at as u64, context, fault),
            _ => refused(0, context, Fault::FirstIsNotTrace),
        },
        (Some(FirstType::EventPipeFile { version }), _) => {
            refused(0, context, unsupported(version))
        }
        (Some(FirstType::Trace { version: 3 }), false) => Begun::Version(Version::V3, header),
        (Some(FirstType::Trace { version: 4.. }), _) => Begun::Version(Version::V4, header),
        (Some(FirstType::Trace { version }), _) => refused(3, "Trace object", unsupported(version)),
        (Some(FirstType::Other), _) => refused(0, context, Fault::FirstIsNotTrace),
    }
}

pub(crate) const MAGIC: &[u8; 8] = b"Nettrace";
const FAST_SERIALIZATION: &[u8; 20] = b"!FastSerialization.1";

/// Examines the first bytes of a stream, in the order of [FORMAT.md
/// 1](crate::format_guide#1).
fn detect(bytes: &[u8]) -> Detected {
    let Some(first) = bytes.first_chunk::<8>() else {
        return Detected::Need(8);
    };
    if first == MAGIC {
        let Some(word) = word(bytes, 8) else { return Detected::Need(12) };
        return if word == 0 { detect_v6(bytes) } else { detect_objects(bytes, 8, true) };
    }
    if word(bytes, 0) == Some(20) && bytes.get(4) == Some(&b'!') {
        return detect_objects(bytes, 0, false);
    }
    Detected::Broken { at: 0, fault: Fault::Foreign(foreign(bytes, *first)) }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

fn detect_v6(bytes: &[u8]) -> Detected {
    let (Some(major), Some(minor)) = (word(bytes, 12), word(bytes, 16)) else {
        return Detected::Need(20);
    };
    match major {
        6 => Detected::V6 { minor, header: 20 },
        0..6 => Detected::Broken { at: 12, fault: Fault::MalformedVersion(major) },
        _ => Detected::Broken { at: 12, fault: Fault::UnsupportedVersion(major) },
    }
}

fn detect_objects(bytes: &[u8], at: usize, with_magic: bool) -> Detected {
    let wrong = Detected::Broken { at: at as u64, fault: Fault::FastSerializationHeader };
    // Compare the bytes available before asking for more: a wrong beginning should not be
    // reported as "truncated".
    if word(bytes, at).is_some_and(|length| length != 20) {
        return wrong;
    }
    let text = bytes.get(at.saturating_add(4)..).unwrap_or_default();
    let known = text.len().min(FAST_SERIALIZATION.len());
    if text.get(..known) != FAST_SERIALIZATION.get(..known) {
        return wrong;
    }
    if known < FAST_SERIALIZATION.len() {
        return Detected::Need(at.saturating_add(24));
    }
    Detected::Objects { with_magic, header: (at as u64).saturating_add(24) }
}

/// Recognises another format by its first bytes.
fn foreign(bytes: &[u8], first: [u8; 8]) -> Foreign {
    match first {
        [0x1f, 0x8b, ..] => Foreign::Gzip,
        [b'P', b'K', 3 | 5 | 7, 4 | 6 | 8, ..] => Foreign::Zip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Foreign::Zstd,
        [b'P', b'E', b'R', b'F', b'I', b'L', b'E', b'2'] => Foreign::PerfData,
        _ if is_etl(bytes) => Foreign::Etl,
        _ => Foreign::Unknown(first),
    }
}

/// How many bytes are needed to recognise another format, if more than these.
pub(crate) fn needed_to_name(bytes: &[u8]) -> Option<usize> {
    (size_is_of_etl(bytes) && bytes.len() < ETL_BYTES).then_some(ETL_BYTES)
}

const ETL_BYTES: usize = 76;

fn size_is_of_etl(bytes: &[u8]) -> bool {
    word(bytes, 0).is_some_and(|size| size % 1024 == 0 && (1024..=0x100_0000).contains(&size))
}

/// An ETL file begins with a WMI_BUFFER_HEADER: buffer size, saved offset and current
/// offset of one buffer, and a system trace header (marker 0xC001 or 0xC002 and version)
/// after its 72 bytes.
fn is_etl(bytes: &[u8]) -> bool {
    let marker = bytes.get(74..ETL_BYTES);
    size_is_of_etl(bytes) && (marker == Some(&[0x01, 0xc0]) || marker == Some(&[0x02, 0xc0]))
}
