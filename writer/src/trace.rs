//! The Trace object (versions 3 to 5) and the Trace block (version 6).

use crate::bytes::{Sink, count32};
use crate::layout::{Content, Version};

/// A date and time, stored as eight i16 ([FORMAT.md 2]).
///
/// [FORMAT.md 2]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#2
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SysTime {
    /// Year, such as 2024.
    pub year: i16,
    /// Month, 1 to 12.
    pub month: i16,
    /// Day of the week, 0 is Sunday.
    pub day_of_week: i16,
    /// Day of the month, 1 to 31.
    pub day: i16,
    /// Hour, 0 to 23.
    pub hour: i16,
    /// Minute, 0 to 59.
    pub minute: i16,
    /// Second, 0 to 59.
    pub second: i16,
    /// Millisecond, 0 to 999.
    pub millisecond: i16,
}

impl Default for SysTime {
    /// Returns 2024-02-29 12:34:56.789, a Thursday.
    fn default() -> Self {
        SysTime {
            year: 2024,
            month: 2,
            day_of_week: 4,
            day: 29,
            hour: 12,
            minute: 34,
            second: 56,
            millisecond: 789,
        }
    }
}

impl SysTime {
    /// Writes the date and time, which takes 16 bytes.
    pub fn encode(&self, sink: &mut Sink) {
        sink.i16(self.year).i16(self.month).i16(self.day_of_week).i16(self.day);
        sink.i16(self.hour).i16(self.minute).i16(self.second).i16(self.millisecond);
    }
}

/// Content of the Trace object (versions 3 to 5) or the Trace block (version 6). Only the fields of
/// the stream's version are written.
///
/// [FORMAT.md 4] and 7.2:
///
/// | offset | size | versions 3–5 | version 6 |
/// |---|---|---|---|
/// | 0 | 16 | SyncTimeUTC (systime) | same |
/// | 16 | 8 | SyncTimeQPC | SyncTimeTicks |
/// | 24 | 8 | QPCFrequency | TickFrequency |
/// | 32 | 4 | PointerSize | same |
/// | 36 | 4 | ProcessId | KeyValueCount |
/// | 40 | 4 | NumberOfProcessors | pairs of strings |
/// | 44 | 4 | ExpectedCPUSamplingRate | … |
///
/// ```
/// use nettrace_writer::{Trace, Version};
/// let trace = Trace { tick_frequency: 1_000_000_000, process_id: 42, ..Trace::default() }.known_keys();
/// assert_eq!(trace.content(Version::V4).bytes.len(), 48);
/// assert_eq!(trace.key_values[0], ("ProcessId".into(), "42".into()));
/// ```
///
/// [FORMAT.md 4]: https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#4
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Start of the session in UTC.
    pub sync_time: SysTime,
    /// Tick count at `sync_time`.
    pub sync_ticks: u64,
    /// Number of ticks in a second.
    pub tick_frequency: i64,
    /// Size of an address, in bytes.
    pub pointer_size: i32,
    /// Id of the traced process (versions 3–5).
    pub process_id: i32,
    /// Number of processors (versions 3–5).
    pub processor_count: i32,
    /// Nanoseconds between two CPU samples (versions 3–5).
    pub sampling_nanos: i32,
    /// Keys and values that describe the trace (version 6).
    pub key_values: Vec<(String, String)>,
    /// Number of pairs to write instead of the correct one (version 6).
    pub key_value_count: Option<i32>,
    /// Bytes after the known fields.
    pub extra: Vec<u8>,
}

impl Default for Trace {
    /// Returns a trace that begins 2024-02-29 12:34:56.789 at tick 1,000,000 of a clock with 10
    /// MHz, with 8-byte pointers, process 1234, two processors, a sample every millisecond and no
    /// pairs.
    fn default() -> Self {
        Trace {
            sync_time: SysTime::default(),
            sync_ticks: 1_000_000,
            tick_frequency: 10_000_000,
            pointer_size: 8,
            process_id: 1234,
            processor_count: 2,
            sampling_nanos: 1_000_000,
            key_values: Vec::new(),
            key_value_count: None,
            extra: Vec::new(),
        }
    }
}

impl Trace {
    /// Adds the key/value pairs in which version 6 stores process id, number of processors and
    /// sampling rate.
    #[must_use]
    pub fn known_keys(mut self) -> Self {
        for (key, value) in [
            ("ProcessId", self.process_id),
            ("HardwareThreadCount", self.processor_count),
            ("ExpectedCPUSamplingRate", self.sampling_nanos),
        ] {
            self.key_values.push((key.to_owned(), value.to_string()));
        }
        self
    }

    /// Returns the content of the object or block in the layout of `version`.
    pub fn content(&self, version: Version) -> Content {
        let mut sink = Sink::new();
        self.sync_time.encode(&mut sink);
        sink.u64(self.sync_ticks).i64(self.tick_frequency).i32(self.pointer_size);
        if version.has_objects() {
            sink.i32(self.process_id).i32(self.processor_count).i32(self.sampling_nanos);
        } else {
            sink.i32(self.key_value_count.unwrap_or(count32(self.key_values.len()) as i32));
            for (key, value) in &self.key_values {
                sink.string(key).string(value);
            }
        }
        sink.raw(&self.extra);
        Content::raw(sink.into_vec())
    }
}
