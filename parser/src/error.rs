//! Errors and faults of a stream, with their place.
//!
//! [`Error`] ends reading: the stream is of another format, or the source failed. Every
//! other fault is *damage*: it is recorded as a [`Finding`](crate::Finding) in
//! [`Reader::damage`](crate::Reader::damage), and reading continues (FORMAT.md 13.2).

use nom::error::{ContextError, ErrorKind, FromExternalError, ParseError};
use std::fmt;
use std::io;

/// Reason why a stream cannot be read at all, or not further.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The source failed. After [`io::ErrorKind::WouldBlock`] the reader is unchanged:
    /// repeat the call when more bytes are available.
    Io(io::Error),
    /// The beginning of the stream cannot be read: another format, an unsupported
    /// version, a broken header. Nothing was delivered.
    Format {
        /// Stream offset, in bytes, of the faulty item.
        offset: u64,
        /// Name of the item that was being read, such as `stream header`.
        context: &'static str,
        /// Fault of the item.
        fault: Fault,
    },
    /// The [index](crate::Index) is of a stream with another length or beginning.
    OtherIndex,
    /// The source has no length, such as a pipe, so nothing of it can be skipped.
    NoLength,
}

impl Error {
    /// Returns whether the source has no bytes *yet*, so that the call can be repeated later.
    pub fn is_would_block(&self) -> bool {
        matches!(self, Error::Io(error) if error.kind() == io::ErrorKind::WouldBlock)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(_) => f.write_str("reading failed"),
            Error::Format { offset, context, fault } => {
                write!(f, "{context} at {offset:#x}: {fault}")
            }
            Error::OtherIndex => f.write_str("the index is of another file"),
            Error::NoLength => f.write_str("an index needs a file, of which parts can be skipped"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io(error) => Some(error),
            Error::Format { .. } | Error::OtherIndex | Error::NoLength => None,
        }
    }
}

/// Returns an error of the source unchanged, and other errors as
/// [`InvalidData`](io::ErrorKind::InvalidData).
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Io(error) => error,
            error => io::Error::new(io::ErrorKind::InvalidData, error),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Io(error)
    }
}

/// Fault of one item. Values are as found in the stream, unless they say otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    // -- the beginning of a stream
    /// The input ended before the stream's header and Trace object were complete.
    HeaderTruncated,
    /// Another format, recognised by its first bytes.
    Foreign(Foreign),
    /// An unsupported version: 1, 2, or a major version above 6.
    UnsupportedVersion(u32),
    /// A major version below 6 after a zero word, which announces version 6 or higher.
    MalformedVersion(u32),
    /// The text `!FastSerialization.1`, or its length, is wrong.
    FastSerializationHeader,
    /// The first object or block is not `Trace`.
    FirstIsNotTrace,
    /// A pointer size other than 4 or 8.
    PointerSize(i32),

    // -- bytes
    /// The bytes end before the item does.
    Truncated,
    /// A varuint with more bytes than its type can need.
    VarintTooLong,
    /// A varuint with bits beyond its type.
    VarintOverflow,

    // -- framing
    /// A tag that is not allowed here.
    Tag {
        /// Tag that the format requires.
        expected: u8,
        /// Tag that was found.
        found: u8,
    },
    /// A type name with this length in bytes, which is not within 0 to 255.
    NameLength(i32),
    /// A block with this size in bytes, which is not possible here.
    BlockSize(i32),
    /// A block with this size in bytes, which is above the limit; it was skipped.
    BlockLimit(u64),
    /// A minimum reader version that is not supported.
    MinimumVersion(i32),
    /// An object of an unknown type; it was skipped.
    UnknownObject,
    /// A type name that differs in one letter from a known name. It was read as the known name.
    TypeName,
    /// An object of an unknown type without a block's layout, so its end is unknown.
    UnknownLayout,
    /// A block of this unknown kind (version 6); it was skipped.
    UnknownBlock(u8),
    /// A block of this kind that was read as a block of another kind, because its rows are of the
    /// other kind.
    ChangedKind(u8),
    /// This many bytes follow the end of the stream.
    TrailingBytes(u64),
    /// More than this many bytes follow the end of the stream; only so many were examined.
    MoreTrailingBytes(u64),
    /// A second Trace object or block, which was skipped.
    SecondTrace,
    /// Padding that does not match its position, because bytes before it are missing or were
    /// inserted. The value is the number of bytes, modulo 4, by which the content lies too late.
    Padding(u8),

    // -- rows
    /// A block header with this size in bytes, which is below 20 or beyond the block.
    HeaderSize(u16),
    /// A row whose size, in bytes, is too small for its content or extends past its block.
    RowSize(u64),
    /// A payload with this size in bytes, which extends past its block.
    PayloadSize(u32),
    /// A payload with this size in bytes, which wrongly covers the rows after the payload (version
    /// 6).
    RowsInPayload(u32),
    /// A stack with this size in bytes, which extends past its block.
    StackSize(u32),
    /// A stack with this size in bytes, which is not a multiple of the pointer size.
    PartialAddress(u32),
    /// A stated count that differs from the number of rows found.
    Count {
        /// Count in the header.
        stated: u64,
        /// Number of rows found.
        found: u64,
    },
    /// An entry of this unknown kind, whose size is therefore unknown.
    UnknownEntry(u8),
    /// A flag that has no meaning in this version.
    ReservedFlag(u8),

    // -- references
    /// A metadata id that no row defines.
    UndefinedMetadata(u32),
    /// A stack id that no block defines.
    UndefinedStack(u32),
    /// A thread index that no row defines.
    UndefinedThread(u64),
    /// A label list id that no block defines.
    UndefinedLabels(u32),
    /// An id that cannot be defined, such as metadata id 0.
    DefinesNothing(u64),
    /// An id that had another definition before. The new definition is used from there on.
    Redefined(u64),
    /// A sequence number that is lower than the previous number of its thread (version 6).
    NumberFell(u32),

    // -- contradictions
    /// A row's time in ticks that is outside the times in its block's header.
    TimeOutside(u64),
    /// A smallest or largest time in a block's header that none of its rows has.
    TimeUnmet {
        /// Whether the time is the largest.
        is_largest: bool,
        /// Time in the header, in ticks.
        stated: u64,
    },
    /// An event at this time in ticks, older than the previous event of its capture thread.
    TimeFalls(u64),
    /// Consecutive rows that consist of zeros.
    Zeros,
    /// A processor number that the machine does not have.
    Processor(u32),
    /// A thread whose sequence numbers are exactly those that another thread lacks, so its id
    /// is wrong.
    StrayThread(u64),
    /// A sequence number to which the numbers of a thread jump, and from which they return.
    NumbersJump(u32),

    // -- field descriptions
    /// A type code that is unknown or not allowed here. Payloads cannot be read from this field
    /// on.
    TypeCode(i32),
    /// Types nested more deeply than the limit.
    TypeDepth,
    /// More fields, including nested ones, than a description may have.
    FieldLimit,
    /// A field list that does not fit its row.
    FieldList,
    /// A second field list after a version 1 list that is not empty. The second list is used.
    BothFieldLists,
    /// A tag with this size in bytes, which extends past its row.
    TagSize(i32),

    // -- payloads
    /// More values than a payload may hold.
    ValueLimit,
    /// A RelLoc or DataLoc that points outside the payload, or whose size is not a
    /// multiple of the element size.
    Location {
        /// Stored position, in bytes.
        position: u16,
        /// Stored size, in bytes.
        size: u16,
    },

    // -- Trace
    /// A start date that does not exist.
    Date,
    /// A tick frequency that is not positive.
    Frequency(i64),

    // -- limits
    /// A table was full; its oldest rows were discarded.
    TableLimit,
    /// More events or bytes waited for their turn in time order than the limit allows, so the
    /// order is not guaranteed.
    QueueLimit,
    /// Stacks or labels were discarded because a lost block must have contained a
    /// sequence point.
    StaleTable,

    // -- combinators
    /// Bytes that a combinator around a function of [`raw`](crate::raw), such as nom's `verify`,
    /// rejected. [`Reader`](crate::Reader) never reports this fault.
    Refused,
}

impl std::error::Error for Fault {}

impl Fault {
    /// Returns the description of a fault that has no values; `None` for other faults.
    fn text(self) -> Option<&'static str> {
        Some(match self {
            Fault::HeaderTruncated => "the input ends inside the stream's header",
            Fault::FastSerializationHeader => {
                "the length-prefixed text \"!FastSerialization.1\" is expected here"
            }
            Fault::FirstIsNotTrace => "a stream begins with its Trace block, and this is another",
            Fault::Truncated => "the bytes end too early",
            Fault::VarintTooLong => "varint longer than its width allows",
            Fault::VarintOverflow => "varint with bits beyond its width",
            Fault::UnknownObject => "object of an unknown type, skipped",
            Fault::TypeName => "type name with one wrong letter, read as the name it resembles",
            Fault::UnknownLayout => "object of an unknown type without a block's layout",
            Fault::SecondTrace => "a second Trace, ignored",
            Fault::Zeros => "nothing but zeros, row after row",
            Fault::FieldLimit => "more fields than one description may have",
            Fault::TypeDepth => "types are nested too deeply",
            Fault::FieldList => "the field list does not fit its row",
            Fault::BothFieldLists => "two field lists, the later one counts",
            Fault::ValueLimit => "more values than a payload may hold",
            Fault::Date => "the start date does not exist",
            Fault::TableLimit => "table is full, its oldest rows are given up",
            Fault::QueueLimit => "too much waits for its turn, order is not promised here",
            Fault::StaleTable => "ids start again after lost blocks, older ones are forgotten",
            Fault::Refused => "a combinator does not take what is here",
            _ => return None,
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Fault::Foreign(foreign) => write!(f, "not a nettrace stream: {foreign}"),
            Fault::UnsupportedVersion(v) => {
                write!(f, "version {v} is not supported (supported: 3, 4, 5 and 6)")
            }
            Fault::MalformedVersion(v) => write!(f, "major version {v} cannot have this header"),
            Fault::PointerSize(size) => write!(f, "pointer size {size}; only 4 and 8 are possible"),
            Fault::Tag { expected, found } => write!(f, "expected tag {expected}, found {found}"),
            Fault::NameLength(n) => write!(f, "type name of {n} bytes"),
            Fault::BlockSize(n) => write!(f, "block of {n} bytes"),
            Fault::BlockLimit(n) => write!(f, "block of {n} bytes is above the limit, skipped"),
            Fault::MinimumVersion(v) => write!(f, "needs a reader of version {v}"),
            Fault::ChangedKind(kind) => {
                write!(f, "block of kind {kind}, read as one of the kind that its rows have")
            }
            Fault::UnknownBlock(kind) => write!(f, "block of unknown kind {kind}, skipped"),
            Fault::TrailingBytes(n) => write!(f, "{n} bytes follow the end of the stream"),
            Fault::MoreTrailingBytes(n) => {
                write!(f, "more than {n} bytes follow the end of the stream")
            }
            Fault::Padding(shift) => {
                write!(
                    f,
                    "bytes before are missing or too many, padding is off by {shift} modulo 4"
                )
            }
            Fault::HeaderSize(n) => write!(f, "header of {n} bytes, expected at least 20"),
            Fault::RowSize(n) => write!(f, "row of {n} bytes does not fit"),
            Fault::PayloadSize(n) => write!(f, "payload of {n} bytes leaves the block"),
            Fault::RowsInPayload(n) => write!(f, "payload of {n} bytes takes in the rows after it"),
            Fault::StackSize(n) => write!(f, "stack of {n} bytes leaves the block"),
            Fault::PartialAddress(n) => write!(f, "stack of {n} bytes ends inside an address"),
            Fault::Count { stated, found } => write!(f, "{stated} rows announced, {found} found"),
            Fault::UnknownEntry(kind) => write!(f, "entry of unknown kind {kind}"),
            Fault::ReservedFlag(flag) => write!(f, "flag {flag:#04x} has no meaning here"),
            Fault::UndefinedMetadata(id) => write!(f, "metadata id {id} is not defined"),
            Fault::UndefinedStack(id) => write!(f, "stack id {id} is not defined"),
            Fault::UndefinedThread(index) => write!(f, "thread index {index} is not defined"),
            Fault::UndefinedLabels(id) => write!(f, "label list {id} is not defined"),
            Fault::DefinesNothing(id) => write!(f, "id {id} cannot be defined"),
            Fault::Redefined(id) => write!(f, "id {id} is defined again, differently"),
            Fault::TimeOutside(ticks) => {
                write!(f, "time {ticks} is outside those that the block states")
            }
            Fault::TimeUnmet { is_largest, stated } => {
                let which = if is_largest { "largest" } else { "smallest" };
                write!(f, "no row has the {which} time that the block states, {stated}")
            }
            Fault::TimeFalls(ticks) => write!(f, "time {ticks} is before the thread's last event"),
            Fault::Processor(number) => write!(f, "the machine has no processor {number}"),
            Fault::StrayThread(thread) => {
                write!(f, "thread {thread} has the numbers that another one lacks")
            }
            Fault::NumbersJump(n) => write!(f, "sequence numbers jump to {n} and come back"),
            Fault::NumberFell(n) => write!(f, "sequence number falls to {n}"),
            Fault::TypeCode(code) => write!(f, "type code {code} is not possible here"),
            Fault::TagSize(n) => write!(f, "tag of {n} bytes leaves its row"),
            Fault::Location { position, size } => {
                write!(
                    f,
                    "{size} bytes at {position} are not within the payload, or no whole elements"
                )
            }
            Fault::Frequency(n) => write!(f, "{n} ticks a second is no clock"),
            fault => f.write_str(fault.text().unwrap_or_default()),
        }
    }
}

/// Another format, recognised by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Foreign {
    /// A gzip file; decompress it first.
    Gzip,
    /// A zip archive.
    Zip,
    /// An event trace log of Windows (ETL).
    Etl,
    /// A `perf.data` file of Linux perf.
    PerfData,
    /// A Zstandard file.
    Zstd,
    /// An ETLX file, to which TraceEvent and PerfView convert traces.
    Etlx,
    /// A heap graph of dotnet-gcdump or PerfView.
    GcDump,
    /// A profile of speedscope, or of a tool that writes its format.
    Speedscope,
    /// JSON text that is no speedscope profile.
    Json,
    /// An unknown format, which begins with these bytes.
    Unknown([u8; 8]),
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Foreign::Gzip => f.write_str("it is gzip-compressed"),
            Foreign::Zip => f.write_str("it is a zip archive"),
            Foreign::Etl => f.write_str("it is a Windows event trace log (ETL)"),
            Foreign::PerfData => f.write_str("it is a Linux perf.data file"),
            Foreign::Zstd => f.write_str("it is zstd-compressed"),
            Foreign::Etlx => f.write_str("it is an ETLX file, TraceEvent's copy of a trace"),
            Foreign::GcDump => f.write_str("it is a .gcdump, a heap graph of dotnet-gcdump"),
            Foreign::Speedscope => f.write_str("it is a speedscope profile"),
            Foreign::Json => f.write_str("it is JSON"),
            Foreign::Unknown(bytes) => {
                f.write_str("it starts with")?;
                for byte in bytes {
                    write!(f, " {byte:02x}")?;
                }
                if bytes.iter().all(|b| b.is_ascii_graphic() || *b == b' ') {
                    write!(f, " ({:?})", String::from_utf8_lossy(bytes))?;
                }
                Ok(())
            }
        }
    }
}

/// Fault and the input at which it occurred: the error type of the functions of
/// [`raw`](crate::raw). [`FaultAt::offset_in`] computes the fault's offset.
///
/// ```
/// use nettrace_parser::Fault;
/// use nettrace_parser::raw;
/// let bytes = [0xff, 0xff, 0xff, 0xff, 0x10, 0];
/// let Err(raw::nom::Err::Error(at)) = raw::varuint32(&bytes) else { panic!("it is too large") };
/// assert_eq!((at.fault, at.offset_in(&bytes)), (Fault::VarintOverflow, 0));
/// assert_eq!(at.to_string(), "6 bytes before the end: varint with bits beyond its width");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultAt<'a> {
    /// Input from the faulty item on.
    pub rest: &'a [u8],
    /// Fault of the item.
    pub fault: Fault,
    /// Name of the item that was being read; empty if unknown.
    pub context: &'static str,
}

impl<'a> FaultAt<'a> {
    /// Returns the offset of the fault in `whole`, the input of the outermost parser. `rest`
    /// need not extend to the end of `whole`: it may end with a row, for example.
    pub fn offset_in(&self, whole: &[u8]) -> usize {
        offset(whole, self.rest)
    }

    /// Returns a recoverable nom error at `rest`.
    pub(crate) fn error<T>(rest: &'a [u8], fault: Fault) -> Result<T, nom::Err<FaultAt<'a>>> {
        Err(nom::Err::Error(FaultAt { rest, fault, context: "" }))
    }
}

impl fmt::Display for FaultAt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes before the end: ", self.rest.len())?;
        if !self.context.is_empty() {
            write!(f, "{}: ", self.context)?;
        }
        write!(f, "{}", self.fault)
    }
}

impl std::error::Error for FaultAt<'_> {}

impl<'a> ParseError<&'a [u8]> for FaultAt<'a> {
    fn from_error_kind(rest: &'a [u8], kind: ErrorKind) -> Self {
        let fault = match kind {
            ErrorKind::Eof | ErrorKind::Complete => Fault::Truncated,
            _ => Fault::Refused,
        };
        FaultAt { rest, fault, context: "" }
    }
    fn append(_rest: &'a [u8], _kind: ErrorKind, other: Self) -> Self {
        other
    }
}

impl<'a> ContextError<&'a [u8]> for FaultAt<'a> {
    fn add_context(_rest: &'a [u8], context: &'static str, other: Self) -> Self {
        // The innermost context is the most precise one.
        if other.context.is_empty() { FaultAt { context, ..other } } else { other }
    }
}

impl<'a> FromExternalError<&'a [u8], Fault> for FaultAt<'a> {
    fn from_external_error(rest: &'a [u8], _kind: ErrorKind, fault: Fault) -> Self {
        FaultAt { rest, fault, context: "" }
    }
}

/// Returns the offset of `part` in `whole`. If `part` lies elsewhere, it counts as the last bytes
/// of `whole`.
pub(crate) fn offset(whole: &[u8], part: &[u8]) -> usize {
    let from = part.as_ptr().addr().wrapping_sub(whole.as_ptr().addr());
    if from <= whole.len() { from } else { whole.len().saturating_sub(part.len()) }
}

/// Returns an error of a parser with its offset in `whole`, the input of the parser.
pub(crate) fn located<'a>(whole: &[u8], error: nom::Err<FaultAt<'a>>) -> Located {
    match error {
        nom::Err::Error(at) | nom::Err::Failure(at) => {
            Located { at: at.offset_in(whole), fault: at.fault, context: at.context }
        }
        nom::Err::Incomplete(_) => {
            Located { at: whole.len(), fault: Fault::Truncated, context: "" }
        }
    }
}

/// Fault with its offset in the input of the parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) at: usize,
    pub(crate) fault: Fault,
    pub(crate) context: &'static str,
}
