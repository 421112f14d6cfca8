//! Information about a trace as a whole, for `nettrace info`, `nettrace stats` and the table of
//! inputs of `nettrace export`.
//!
//! A [`Survey`] counts events in one pass. [`Survey::info`] and [`Survey::stats`] return documents,
//! whose JSON keys never change, because scripts use them.

mod distinct;
mod further;
mod runtime;
mod stats;
mod survey;
mod type_count;

pub use stats::{TraceStats, TypeStats};
pub use survey::{Survey, SurveyPart};

use crate::document::SCHEMA;
#[cfg(feature = "serde")]
use crate::hash::HashMap;
use crate::report::{DamageRow, OutcomeReport};
use nettrace_parser::{BlockKind, Finding, Outcome, Trace, utc_text};

/// Information about a trace.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TraceInfo {
    /// Version of this JSON document's schema.
    pub schema: u32,
    /// Major version of the format: 3, 4 or 6.
    pub version: u32,
    /// Minor version of the format.
    pub minor: u32,
    /// Whether the stream has its end mark, even if there is damage before it.
    pub complete: bool,
    /// Offset of the stream's end, counted in unpacked bytes.
    pub end_offset: u64,
    /// Number of missing bytes of the block in which the stream ends; `None` if it ends between
    /// blocks. Further blocks may be missing, too.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub missing_bytes: Option<u64>,
    /// Whether the file is compressed. The caller sets this, because the parser reads unpacked
    /// bytes.
    pub compressed: bool,
    /// Program that wrote the stream, inferred from its format and events.
    pub writer: Option<String>,
    /// Id of the traced process; `None` if the stream has several processes, which version 6
    /// allows.
    pub process_id: Option<u64>,
    /// Number of processes that events are about.
    pub processes: u64,
    /// Whether `processes` is a lower bound: no more than 65,536 processes, threads or stacks are
    /// counted exactly.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub processes_are_at_least: bool,
    /// Command line of the process.
    pub command_line: Option<String>,
    /// Operating system, as the runtime names it.
    pub os: Option<String>,
    /// Architecture of the process.
    pub architecture: Option<String>,
    /// Size of an address, in bytes.
    pub pointer_size: u8,
    /// Number of processors of the machine.
    pub processors: Option<u32>,
    /// Number of ticks of the event clock in a second; `None` if the stream has no usable number.
    pub ticks_per_second: Option<u64>,
    /// Period of the CPU sampler according to the stream's header, in nanoseconds.
    pub sampling_period_ns: Option<u32>,
    /// Start of the session in nanoseconds since 1970. The JSON document only has `start_utc`.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub start_unix_ns: Option<i64>,
    /// Start of the session in UTC, as text.
    pub start_utc: Option<String>,
    /// Time from the session's start to the newest event, in nanoseconds.
    pub duration_ns: Option<i64>,
    /// Number of events in the trace.
    pub events: u64,
    /// Number of events with a stack of at least one frame.
    pub events_with_stack: u64,
    /// Total size of the payloads, in bytes.
    pub payload_bytes: u64,
    /// Number of lost events, according to sequence numbers.
    pub lost: u64,
    /// Whether `lost` is a lower bound, because there are too many threads to count the losses of
    /// each.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub lost_is_at_least: bool,
    /// Whether losses can be counted; false for version 3, whose events have no sequence numbers.
    pub losses_known: bool,
    /// Number of threads that lost events.
    pub lost_threads: u64,
    /// Number of times that the operating system gave the id of a thread to a new thread.
    pub restarts: u64,
    /// Number of OS threads that events are about.
    pub threads: u64,
    /// Whether `threads` is a lower bound.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub threads_are_at_least: bool,
    /// Providers that wrote events, those with the most events first.
    pub providers: Vec<ProviderInfo>,
    /// Totals of providers that are not listed; `None` if all are listed.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub other_providers: Option<OtherProviders>,
    /// Number of event types (provider, id, version, name) that have events.
    pub types: u64,
    /// Whether `types` is a lower bound.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub types_are_at_least: bool,
    /// Number of stored stacks. Version 3 stores a stack with each event, so for it this is the
    /// number of different stacks.
    pub stacks: u64,
    /// Whether `stacks` is a lower bound.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub stacks_are_at_least: bool,
    /// Number of blocks of each kind that occurs.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_object"))]
    pub blocks: Vec<(&'static str, u64)>,
    /// Number of bytes in blocks of each kind, including framing.
    #[cfg_attr(feature = "serde", serde(serialize_with = "as_object"))]
    pub bytes: Vec<(&'static str, u64)>,
    /// Findings of damage, at most 64 of each kind.
    pub damage: Vec<DamageRow>,
    /// Number of findings of damage, including those that are not listed.
    pub damage_count: u64,
    /// Number of bytes that were not read because of damage.
    pub damage_bytes: u64,
    /// Harmless deviations from the format, with one row for each kind.
    pub notes: Vec<NoteInfo>,
    /// Further keys and values of the stream's header (version 6).
    #[cfg_attr(feature = "serde", serde(serialize_with = "with_last_values"))]
    pub properties: Vec<(String, String)>,
}

/// A provider and the number of its events.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ProviderInfo {
    /// Name of the provider.
    pub name: String,
    /// Number of events of the provider.
    pub events: u64,
}

/// Totals of the providers that are not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OtherProviders {
    /// Number of providers that are not listed.
    pub providers: u64,
    /// Whether `providers` is a lower bound.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub providers_are_at_least: bool,
    /// Number of events of these providers.
    pub events: u64,
}

/// A kind of harmless deviation from the format.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NoteInfo {
    /// Offset in the stream at which it occurred first.
    pub offset: u64,
    /// Kind of the block in which it occurred first; `None` between blocks.
    pub block: Option<&'static str>,
    /// Part of the stream that was read then, such as `event blob`.
    pub context: &'static str,
    /// Description of the deviation.
    pub fault: String,
    /// Number of times that it occurred.
    pub count: u64,
}

impl TraceInfo {
    /// Adds a fault of the file around the stream, such as the wrong checksum of a compressed file.
    /// If `is_loss` is set, the fault is damage, because a part of the trace may be missing;
    /// otherwise it is a note. `offset` is an offset in the file.
    pub fn add_file_fault(
        &mut self,
        offset: u64,
        context: &'static str,
        fault: String,
        is_loss: bool,
    ) {
        if is_loss {
            // Damage inside the stream often follows from a fault of the file, so the file's comes
            // first.
            self.damage.insert(0, DamageRow::of_file(offset, context, fault));
            self.damage_count = self.damage_count.saturating_add(1);
        } else {
            self.notes.push(NoteInfo { offset, block: None, context, fault, count: 1 });
        }
    }
}

impl Survey {
    /// Returns information about the counted trace, from its header and the outcome of reading it.
    pub fn info(&self, header: &Trace, outcome: &Outcome) -> TraceInfo {
        let (version, minor) =
            outcome.version.map_or((0, 0), |version| (version.major(), version.minor()));
        let statistics = &outcome.statistics;
        let kinds = |count: &dyn Fn(BlockKind) -> u64| {
            let present = BlockKind::all().filter(|kind| statistics.blocks(*kind) > 0);
            present.map(|kind| (kind.as_str(), count(kind))).collect()
        };
        let runtime = self.runtime();
        let clock = header.clock();
        let last = self.last_ticks().and_then(|ticks| clock.nanos_since_start(ticks));
        let start = header.start.unix_nanos();
        let report = OutcomeReport::from_outcome(outcome);
        TraceInfo {
            schema: SCHEMA,
            version,
            minor,
            complete: report.complete,
            end_offset: report.end_offset,
            missing_bytes: report.missing_bytes,
            compressed: false,
            writer: writer(version, runtime.version.as_deref()),
            process_id: header.process_id.map(u64::from).or_else(|| self.processes().only()),
            processes: self.processes().count().number,
            processes_are_at_least: self.processes().count().is_at_least,
            command_line: runtime.command_line.clone(),
            os: runtime.os.clone(),
            architecture: runtime.architecture.clone(),
            pointer_size: header.pointer_size,
            // NativeAOT writes 65,535 because it does not know the number.
            processors: header.processors.filter(|count| *count != 0xffff),
            ticks_per_second: u64::try_from(header.tick_frequency).ok().filter(|ticks| *ticks > 0),
            sampling_period_ns: header.sampling_period_nanos,
            start_unix_ns: start.and_then(|start| i64::try_from(start).ok()),
            start_utc: start.map(|nanos| utc_text(nanos, 3).replace(' ', "T") + "Z"),
            duration_ns: last.map(|nanos| nanos.max(0)),
            events: self.events(),
            events_with_stack: self.events_with_stack(),
            payload_bytes: self.payload_bytes(),
            lost: report.lost,
            lost_is_at_least: outcome.losses.is_at_least(),
            losses_known: report.losses_known,
            lost_threads: report.lost_threads,
            restarts: outcome.losses.restarts(),
            threads: self.thread_count().number,
            threads_are_at_least: self.thread_count().is_at_least,
            providers: self
                .providers()
                .into_iter()
                .map(|(name, events)| ProviderInfo { name: name.to_owned(), events })
                .collect(),
            other_providers: self.other_providers().map(|(count, events)| OtherProviders {
                providers: count.number,
                providers_are_at_least: count.is_at_least,
                events,
            }),
            types: self.type_count().number,
            types_are_at_least: self.type_count().is_at_least,
            stacks: match version {
                3 => self.inline_stack_count().number,
                _ => statistics.rows(BlockKind::Stack),
            },
            stacks_are_at_least: version == 3 && self.inline_stack_count().is_at_least,
            blocks: kinds(&|kind| statistics.blocks(kind)),
            bytes: kinds(&|kind| statistics.bytes(kind)),
            damage: report.damage,
            damage_count: report.damage_count,
            damage_bytes: report.damage_bytes,
            notes: notes(outcome),
            properties: header.pairs.clone(),
        }
    }
}

/// Returns a note for each kind of deviation from the format, with the number of times that it
/// occurred.
fn notes(outcome: &Outcome) -> Vec<NoteInfo> {
    let mut kinds: Vec<&Finding> = Vec::new();
    for finding in outcome.damage.notes() {
        let is_like = |other: &&Finding| {
            other.context == finding.context
                && std::mem::discriminant(&other.fault) == std::mem::discriminant(&finding.fault)
        };
        if !kinds.iter().any(is_like) {
            kinds.push(finding);
        }
    }
    let note = |finding: &Finding| NoteInfo {
        offset: finding.offset,
        block: finding.block.map(BlockKind::as_str),
        context: finding.context,
        fault: finding.fault.to_string(),
        count: outcome.damage.count_like(finding),
    };
    kinds.into_iter().map(note).collect()
}

/// Returns the name of the program that writes streams of this version, with the version of the
/// runtime if that is known.
fn writer(version: u32, runtime: Option<&str>) -> Option<String> {
    match (version, runtime) {
        (6, _) => Some("one-collect".to_owned()),
        (_, Some(runtime)) if runtime.starts_with("3.") || runtime.starts_with("2.") => {
            Some(format!(".NET Core {runtime}"))
        }
        (_, Some(runtime)) => Some(format!(".NET {runtime}")),
        (_, None) => None,
    }
}

#[cfg(feature = "serde")]
fn as_object<S: serde::Serializer>(
    counts: &[(&'static str, u64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().copied())
}

/// Serializes pairs as an object. A repeated key gets its last value.
#[cfg(feature = "serde")]
fn with_last_values<S: serde::Serializer>(
    pairs: &[(String, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let enumerated = || pairs.iter().enumerate();
    let last: HashMap<&str, usize> = enumerated().map(|(at, (key, _))| (&**key, at)).collect();
    let kept = enumerated().filter(|(at, (key, _))| last.get(&**key) == Some(at));
    serializer.collect_map(kept.map(|(_, (key, value))| (key, value)))
}

#[cfg(all(test, feature = "serde"))]
mod tests {
    use super::*;

    #[test]
    fn of_keys_that_come_again_the_last_value_stays_however_many_there_are() {
        // A search among all later keys for each key would take 10^10 comparisons.
        let pair = |number: usize| (format!("k{}", number % 150_000), number.to_string());
        let pairs: Vec<_> = (0..200_000).map(pair).collect();
        let mut json = Vec::new();
        with_last_values(&pairs, &mut serde_json::Serializer::new(&mut json)).unwrap();
        let json = String::from_utf8(json).unwrap();
        assert_eq!(json.matches(':').count(), 150_000);
        assert!(
            json.starts_with("{\"k50000\":\"50000\"") && json.ends_with("\"k49999\":\"199999\"}")
        );
    }
}
