//! Reads the Trace object of versions 3 to 5 and the Trace block of version 6, which hold
//! facts about the session (FORMAT.md 4, 7.2).
//!
//! | offset | bytes | | |
//! |---|---|---|---|
//! | 0 | 16 | start | systime, UTC, ms |
//! | 16 | 8 | start on the event clock | u64, ticks |
//! | 24 | 8 | tick frequency | i64, ticks/s |
//! | 32 | 4 | pointer size | i32, bytes |
//! | 36 | 4 | V3–V5: process id. V6: number of pairs | i32 |
//! | 40 | 4 | V3–V5: number of processors | i32 |
//! | 44 | 4 | V3–V5: sampling period | i32, ns |
//! | 40 | … | V6: key string, value string, … | |

use crate::bytes::{Parsed, before, i16, i32, i64, string_v6, u64};
use crate::clock::{Clock, DateTimeParts};
use crate::damage::BlockDamage;
use crate::error::{Fault, FaultAt, Located};
use crate::work;
use nom::Parser;
use nom::error::context;

/// Facts about a session that its stream stores.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trace {
    /// Date and time at which the session started, in UTC.
    pub start: DateTimeParts,
    /// Tick count of the event clock at `start`.
    pub sync_ticks: u64,
    /// Ticks per second. If it is not positive, as in a broken stream, timestamps cannot
    /// be converted.
    pub tick_frequency: i64,
    /// Size of an address in bytes: 4 or 8.
    pub pointer_size: u8,
    /// Id of the traced process; in version 6 the value of the key `ProcessId`.
    pub process_id: Option<u32>,
    /// Number of processors; in version 6 the value of the key `HardwareThreadCount`.
    pub processors: Option<u32>,
    /// Nanoseconds between two CPU samples; in version 6 the value of the key
    /// `ExpectedCPUSamplingRate`.
    pub sampling_period_nanos: Option<u32>,
    /// Size of a memory page in bytes: in version 6 the value of the key `SystemPageSize`,
    /// otherwise `None`.
    pub page_bytes: Option<u32>,
    /// All keys and values of version 6, in stored order; empty in other versions.
    pub pairs: Vec<(String, String)>,
}

impl Trace {
    /// Session about which nothing is known.
    pub(crate) const UNKNOWN: Trace = Trace {
        start: DateTimeParts {
            year: 0,
            month: 0,
            day_of_week: 0,
            day: 0,
            hour: 0,
            minute: 0,
            second: 0,
            millisecond: 0,
        },
        sync_ticks: 0,
        tick_frequency: 0,
        pointer_size: 8,
        process_id: None,
        processors: None,
        sampling_period_nanos: None,
        page_bytes: None,
        pairs: Vec::new(),
    };

    /// Returns the clock that converts this stream's timestamps.
    pub fn clock(&self) -> Clock {
        Clock::new(&self.start, self.sync_ticks, self.tick_frequency)
    }
}

fn system_time(input: &[u8]) -> Parsed<'_, DateTimeParts> {
    let (rest, (year, month, day_of_week, day)) = (i16, i16, i16, i16).parse(input)?;
    let (rest, (hour, minute, second, millisecond)) = (i16, i16, i16, i16).parse(rest)?;
    Ok((rest, DateTimeParts { year, month, day_of_week, day, hour, minute, second, millisecond }))
}

/// Reads the fields that all versions have, and the i32 after these fields.
fn common(input: &[u8]) -> Parsed<'_, (Trace, i32)> {
    let (rest, (start, sync_ticks, tick_frequency)) = (system_time, u64, i64).parse(input)?;
    let (rest, pointer_size) = pointer_size(rest)?;
    let (rest, last) = i32(rest)?;
    let trace = Trace { start, sync_ticks, tick_frequency, pointer_size, ..Trace::UNKNOWN };
    Ok((rest, (trace, last)))
}

/// Offset of the pointer size, in bytes.
const POINTER_SIZE_AT: usize = 32;

fn pointer_size(input: &[u8]) -> Parsed<'_, u8> {
    match i32(input)? {
        (rest, 4) => Ok((rest, 4)),
        (rest, 8) => Ok((rest, 8)),
        (_, other) => FaultAt::error(input, Fault::PointerSize(other)),
    }
}

/// Returns the fault of an impossible pointer size, and a copy of the content with a size of 8
/// instead. `None` if the stored size is possible. Nearly all processes have 64 bits, and most of a
/// trace does not depend on the pointer size.
fn with_pointer_size(content: &[u8]) -> Option<(Vec<u8>, Fault)> {
    let (before, rest) = content.split_at_checked(POINTER_SIZE_AT)?;
    let (after, stated) = i32(rest).ok()?;
    let content = [before, &8i32.to_le_bytes(), after].concat();
    (!matches!(stated, 4 | 8)).then_some((content, Fault::PointerSize(stated)))
}

/// Reads the content of a Trace object or block with `read`. An impossible pointer size
/// is reported, and replaced by 8.
pub(crate) fn read_sized(
    content: &[u8],
    damage: &mut BlockDamage<'_>,
    read: impl Fn(&[u8], &mut BlockDamage<'_>) -> Result<Trace, Located>,
) -> Result<Trace, Located> {
    let Some((content, fault)) = with_pointer_size(content) else { return read(content, damage) };
    damage.add_contradiction(POINTER_SIZE_AT, "pointer size", fault);
    read(&content, damage)
}

/// Reads the content of a Trace object, versions 3 to 5 ([FORMAT.md
/// 4](crate::format_guide#4)), 48 bytes.
///
/// # Errors
/// [`Fault::PointerSize`], [`Fault::Truncated`]. An impossible date or frequency is not an
/// error: see [`Clock`].
pub fn object(input: &[u8]) -> Parsed<'_, Trace> {
    let (rest, (mut trace, process_id)) = context("Trace object", common).parse(input)?;
    let (rest, (processors, period)) = context("Trace object", (i32, i32)).parse(rest)?;
    trace.process_id = u32::try_from(process_id).ok();
    trace.processors = u32::try_from(processors).ok();
    trace.sampling_period_nanos = u32::try_from(period).ok();
    Ok((rest, trace))
}

/// Reads a key and its value.
fn pair(input: &[u8]) -> Parsed<'_, (&[u8], &[u8])> {
    (string_v6, string_v6).parse(input)
}

impl Trace {
    fn keep(&mut self, (key, value): (&[u8], &[u8])) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.pairs.push((text(key), text(value)));
    }

    /// Fills in the known keys. If a key occurs twice, the last value wins; a value that
    /// is not a number is ignored.
    fn with_known_keys(mut self) -> Trace {
        for (key, value) in &self.pairs {
            let Ok(number) = value.parse() else { continue };
            match key.as_str() {
                "ProcessId" => self.process_id = Some(number),
                "HardwareThreadCount" => self.processors = Some(number),
                "ExpectedCPUSamplingRate" => self.sampling_period_nanos = Some(number),
                "SystemPageSize" => self.page_bytes = Some(number),
                _ => {}
            }
        }
        self
    }
}

/// Pairs that a Trace block states but does not contain.
struct Missing<'a> {
    /// Number of pairs that the block states.
    stated: u64,
    /// Number of pairs that could be read.
    found: u64,
    /// Reason why the next pair cannot be read.
    error: nom::Err<FaultAt<'a>>,
}

/// Reads the content of a Trace block, version 6, as far as it can be decoded.
fn pairs_v6(input: &[u8]) -> Parsed<'_, (Trace, Option<Missing<'_>>)> {
    let (mut rest, (mut trace, count)) = context("Trace block", common).parse(input)?;
    let stated = u64::try_from(count).unwrap_or(0);
    // Nothing is reserved for the count: the loop ends when the bytes do.
    for found in 0..stated {
        match pair(rest) {
            Ok((after, read)) => {
                rest = after;
                trace.keep(read);
            }
            Err(error) => {
                return Ok((
                    rest,
                    (trace.with_known_keys(), Some(Missing { stated, found, error })),
                ));
            }
        }
    }
    Ok((rest, (trace.with_known_keys(), None)))
}

/// Reads the content of a Trace block, version 6, with all its pairs ([FORMAT.md
/// 7.2](crate::format_guide#7.2)).
///
/// # Errors
/// The errors of [`object`] and of reading a pair. ([`Reader`](crate::Reader) keeps the pairs
/// before a broken one.)
pub fn whole_v6(input: &[u8]) -> Parsed<'_, Trace> {
    match pairs_v6(input)? {
        (rest, (trace, None)) => Ok((rest, trace)),
        (_, (_, Some(missing))) => Err(missing.error),
    }
}

/// Reads the content of a Trace block, version 6. Pairs that cannot be read are reported, and
/// the rest of the session is kept.
pub(crate) fn block_v6<'a>(input: &'a [u8], damage: &mut BlockDamage<'_>) -> Parsed<'a, Trace> {
    let (rest, (trace, missing)) = pairs_v6(input)?;
    if let Some(Missing { stated, found, .. }) = missing {
        let at = before(input, rest);
        damage.add_lost_row(at, rest.len(), "key-value pairs", Fault::Count { stated, found });
    }
    Ok((rest, trace))
}

/// Skips the content of a version 6 Trace block up to its last pair.
pub(crate) fn skip_v6(input: &[u8]) -> Parsed<'_, ()> {
    let (mut rest, (_, count)) = common(input)?;
    for _ in 0..count.max(0) {
        work::count(1);
        rest = pair(rest)?.0;
    }
    Ok((rest, ()))
}

/// Returns whether the content of a Trace block can begin with these bytes.
pub(crate) fn begins_v6(content: &[u8]) -> bool {
    common(content)
        .is_ok_and(|(_, (trace, count))| count >= 0 && trace.start.unix_nanos().is_some())
}

/// Reports a date or a frequency with which times cannot be converted.
pub(crate) fn note_oddities(trace: &Trace, damage: &mut BlockDamage<'_>) {
    if trace.start.unix_nanos().is_none() {
        damage.note(0, "session start", Fault::Date);
    }
    if trace.tick_frequency <= 0 {
        damage.note(24, "tick frequency", Fault::Frequency(trace.tick_frequency));
    }
}
