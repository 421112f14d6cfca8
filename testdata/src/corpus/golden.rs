//! Goldens: the events that the reference reader (Microsoft's TraceEvent) found in the traces.
//!
//! The files lie in `$NETTRACE_SHARED/golden` and are not part of the repository. Some values are
//! made up by the reference reader, as their README says:
//!
//! - process and processor where the format stores none; level and keywords of the
//!   metadata even where labels say otherwise;
//! - opcode 1 or 2 from a name that ends in Start or Stop; opcode 0 for native events;
//! - no stacks for rundown events, nor for the runtime's events 140 to 144 and 190;
//! - event 39 of the runtime renumbered by its payload; related activity ids of
//!   version 3.

use super::{TraceFile, decompressed, shared, traces};
use crate::synth::GuidBytes;

/// Events of a trace, in time order. Events with equal timestamps are in no particular order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldenEvents {
    /// Events, one for each line of the file.
    pub events: Vec<GoldenEvent>,
    /// Lines after the events, without their `#`, such as `lost\t0` or `count\t4\tName`.
    pub trailer: Vec<String>,
}

impl GoldenEvents {
    /// Returns the value in the trailer that belongs to a key: `events`, `lost`, `error`,
    /// `pointer`, `processors`, `start` or `end`.
    pub fn trailer_value(&self, key: &str) -> Option<&str> {
        self.trailer.iter().find_map(|line| line.strip_prefix(key)?.strip_prefix('\t'))
    }

    /// Returns the number of events of each type, as the trailer lists them. A type is provider,
    /// event id and name, separated by slashes.
    pub fn counts(&self) -> impl Iterator<Item = (&str, usize)> {
        self.trailer.iter().filter_map(|line| {
            let (count, event_type) = line.strip_prefix("count\t")?.split_once('\t')?;
            Some((event_type, count.parse().ok()?))
        })
    }

    /// Returns the total number of lost events.
    pub fn lost(&self) -> Option<u64> {
        self.trailer_value("lost")?.parse().ok()
    }

    /// Returns the message of the exception that the reference reader threw; `None` if it threw
    /// none.
    pub fn error(&self) -> Option<&str> {
        self.trailer_value("error").filter(|error| *error != "none")
    }
}

/// An event as the reference reader found it. The fields have the order of the file's columns.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoldenEvent {
    /// Timestamp as the stream stores it.
    pub ticks: u64,
    /// OS id of the thread.
    pub thread_id: i64,
    /// Id of the process.
    pub process_id: i64,
    /// Number of the processor.
    pub processor: i64,
    /// Name of the provider.
    pub provider: String,
    /// Id of the event within the provider.
    pub event_id: u32,
    /// Version of the event.
    pub version: u32,
    /// Level of the event.
    pub level: u32,
    /// Keywords of the event.
    pub keywords: u64,
    /// OpCode of the event.
    pub opcode: u32,
    /// Id of the activity, as the stream stores its bytes.
    pub activity_id: Option<GuidBytes>,
    /// Id of the related activity, as the stream stores its bytes.
    pub related_activity_id: Option<GuidBytes>,
    /// Size of the payload, in bytes.
    pub payload_bytes: u64,
    /// [`crc32`](crate::crc32) of the payload.
    pub payload_crc32: u32,
    /// Number of frames in the stack.
    pub frame_count: u64,
    /// [`crc32`](crate::crc32) of the frames' addresses, as the stream stores their bytes.
    pub stack_crc32: u32,
    /// Name that the reference reader gives the event.
    pub name: String,
}

/// Traces in the shared folder for which there is no golden. One has 842,152 events; the others
/// were recorded to measure a profiling tool.
const TRACES_WITHOUT_EVENTS: [&str; 8] = [
    "aspnet-net10-linux-x64/web.nettrace",
    "benchmarkdotnet/Join.nettrace",
    "benchmarkdotnet/new/Invoices.ParseLines.nettrace",
    "benchmarkdotnet/new/Invoices.Sort.nettrace",
    "benchmarkdotnet/new/Invoices.Sum.nettrace",
    "benchmarkdotnet/old/Invoices.ParseLines.nettrace",
    "benchmarkdotnet/old/Invoices.Sort.nettrace",
    "benchmarkdotnet/old/Invoices.Sum.nettrace",
];

/// Returns the [`traces`] that have goldens, sorted by name.
///
/// # Panics
/// If `NETTRACE_SHARED` is not set, or if [`traces`] does.
pub fn traces_with_goldens() -> Vec<TraceFile> {
    shared();
    let mut found = traces();
    found.retain(|trace| !TRACES_WITHOUT_EVENTS.contains(&trace.name()));
    found
}

/// Returns the events that the reference reader found in the trace `name`.
///
/// # Panics
/// If `NETTRACE_SHARED` is not set or has no such golden, or if a line of it cannot be parsed.
pub fn golden_events(name: &str) -> GoldenEvents {
    parse_events(&golden_text(name, ".events.tsv.gz"))
}

/// Returns the fields of the first 20 events of each type in the trace `name`, one JSON object for
/// each event: `index` (line in the golden's events), `ts`, `tid`, `provider`, `id`, `version`,
/// `name`, `fields`.
///
/// # Panics
/// If `NETTRACE_SHARED` is not set or has no such golden.
pub fn golden_fields(name: &str) -> Vec<String> {
    golden_text(name, ".fields.jsonl.gz").lines().map(str::to_owned).collect()
}

fn golden_text(name: &str, ending: &str) -> String {
    let stem = name.strip_suffix(".nettrace").unwrap_or(name);
    let path = shared().join("golden").join(format!("{stem}{ending}"));
    String::from_utf8_lossy(&decompressed(&path)).into_owned()
}

fn parse_events(text: &str) -> GoldenEvents {
    let (mut events, mut trailer) = (Vec::new(), Vec::new());
    for line in text.lines() {
        match line.strip_prefix('#') {
            Some(rest) => trailer.push(rest.to_owned()),
            None => {
                events.push(parse_event(line).unwrap_or_else(|| panic!("not an event: {line}")))
            }
        }
    }
    GoldenEvents { events, trailer }
}

fn parse_event(line: &str) -> Option<GoldenEvent> {
    let columns: Vec<&str> = line.split('\t').collect();
    let &[
        ticks,
        thread,
        process,
        processor,
        provider,
        id,
        version,
        level,
        keywords,
        opcode,
        ref rest @ ..,
    ] = columns.as_slice()
    else {
        return None;
    };
    let &[activity, related, payload_bytes, payload_crc32, frames, stack_crc32, name] = rest else {
        return None;
    };
    Some(GoldenEvent {
        ticks: ticks.parse().ok()?,
        thread_id: thread.parse().ok()?,
        process_id: process.parse().ok()?,
        processor: processor.parse().ok()?,
        provider: provider.to_owned(),
        event_id: id.parse().ok()?,
        version: version.parse().ok()?,
        level: level.parse().ok()?,
        keywords: u64::from_str_radix(keywords, 16).ok()?,
        opcode: opcode.parse().ok()?,
        activity_id: parse_guid(activity)?,
        related_activity_id: parse_guid(related)?,
        payload_bytes: payload_bytes.parse().ok()?,
        payload_crc32: u32::from_str_radix(payload_crc32, 16).ok()?,
        frame_count: frames.parse().ok()?,
        stack_crc32: u32::from_str_radix(stack_crc32, 16).ok()?,
        name: name.to_owned(),
    })
}

/// Parses `33221100-5544-7766-8899-aabbccddeeff` into the bytes `00 11 22 … ff`, and `-` into
/// `Some(None)`. Any other text is `None`.
fn parse_guid(text: &str) -> Option<Option<GuidBytes>> {
    if text == "-" {
        return Some(None);
    }
    let digits: String = text.split('-').collect();
    let mut guid =
        u128::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 32)?.to_be_bytes();
    guid[..4].reverse();
    guid[4..6].reverse();
    guid[6..8].reverse();
    Some(Some(guid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guid_is_read_into_stored_order() {
        let stored = std::array::from_fn(|at| at as u8 * 0x11);
        assert_eq!(parse_guid("33221100-5544-7766-8899-aabbccddeeff"), Some(Some(stored)));
        assert_eq!(parse_guid("-"), Some(None));
        assert_eq!(parse_guid("33221100"), None);
    }

    #[test]
    fn events_and_trailer_are_separated() {
        let text = "1000100\t11\t1234\t0\tDemo\t7\t0\t4\tf1\t0\t-\t-\t12\tae767b8e\t2\t551364de\tHi\n\
                    #lost\t1\n#error\tnone\n#count\t3\tDemo/7/Hi\n";
        let golden = parse_events(text);
        let event = &golden.events[0];
        assert_eq!(
            (event.ticks, event.keywords, event.payload_crc32),
            (1_000_100, 0xf1, 0xae76_7b8e)
        );
        assert_eq!((event.name.as_str(), event.frame_count), ("Hi", 2));
        assert_eq!((golden.lost(), golden.error()), (Some(1), None));
        assert_eq!(golden.counts().collect::<Vec<_>>(), [("Demo/7/Hi", 3)]);
    }

    #[test]
    #[should_panic(expected = "not an event")]
    fn a_line_with_a_column_missing_is_no_event() {
        parse_events("1000100\t11\n");
    }
}
