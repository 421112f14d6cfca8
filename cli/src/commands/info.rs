//! `nettrace info`: what a trace is.
//!
//! The report is worked out once ([`InfoReport`]); JSON is the report as it is, text is
//! the same for reading ([`super::info_text`]).

use super::info_text;
use crate::args::InfoArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Ended;
use crate::survey::Survey;
use nettrace_analysis::report::DamageRow;
use nettrace_parser::{BlockKind, Finding, utc_text};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::collections::HashMap;

pub(super) fn run(args: &InfoArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut trace = context.open_with(&args.input, Survey::bounds())?;
    let header =
        trace.reader.trace().cloned().map_err(|error| Failure::read(&trace.file, &error, 0))?;
    let has_inline_stacks = trace.reader.version().is_some_and(|version| version.major() == 3);
    let is_gzip = trace.reader.source().is_gzip();
    let of_regions = trace
        .regions(args.threads)
        .map(|regions| Survey::of_regions(&regions.within(Survey::bounds()), Survey::bounded))
        .transpose()
        .map_err(|error| trace.failed(&error))?;
    let (survey, ended): (_, Ended) = match of_regions.flatten() {
        Some((survey, outcome)) => (survey, outcome.into()),
        None => {
            let mut survey = Survey::bounded();
            let ended = if has_inline_stacks {
                trace.reader.for_each(|event| {
                    survey.take(&event);
                    survey.take_inline_stack(&event);
                })
            } else {
                trace.reader.visit(&mut survey)
            };
            ended.map_err(|error| trace.failed(&error))?;
            (survey, (&trace.reader).into())
        }
    };
    context.progress.end();
    let report = InfoReport::new(header, is_gzip, &ended, &survey);
    if args.form.json {
        context.write_json(&report)?;
    } else {
        info_text::write(context, &trace.file, &report)?;
    }
    context.out.finish()?;
    Ok(context.conclude(&trace.file, &ended, true))
}

/// All that `info` knows. The keys are a promise to scripts.
#[derive(Debug, Serialize)]
pub(super) struct InfoReport {
    schema: u32,
    /// Major version of the format: 3, 4 or 6.
    pub(super) version: u32,
    pub(super) minor: u32,
    /// Whether the stream's end mark was seen, whatever is damaged before it.
    pub(super) complete: bool,
    /// Where the stream ended, in bytes, unpacked.
    pub(super) end_offset: u64,
    pub(super) compressed: bool,
    /// Who wrote the stream, as far as its form and events tell.
    pub(super) writer: Option<String>,
    /// The traced process; version 6: if events are of one only.
    pub(super) process_id: Option<u64>,
    /// Processes that events are about.
    pub(super) processes: u64,
    /// Whether the number is an estimate from below, because there are too many to count
    /// exactly.
    #[serde(skip_serializing_if = "is_no")]
    pub(super) processes_are_at_least: bool,
    pub(super) command_line: Option<String>,
    pub(super) os: Option<String>,
    pub(super) architecture: Option<String>,
    pub(super) pointer_size: u8,
    pub(super) processors: Option<u32>,
    pub(super) ticks_per_second: i64,
    pub(super) sampling_period_ns: Option<u32>,
    pub(super) start_utc: Option<String>,
    /// From the session's start to the youngest event.
    pub(super) duration_ns: Option<i64>,
    pub(super) events: u64,
    pub(super) events_with_stack: u64,
    pub(super) payload_bytes: u64,
    pub(super) lost: u64,
    /// Whether there may be more, because there are too many threads to know each.
    #[serde(skip_serializing_if = "is_no")]
    pub(super) lost_is_at_least: bool,
    /// Events that only numbers that contradict others tell to be lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lost_doubted: Option<u64>,
    /// False for version 3, whose events carry no numbers.
    pub(super) losses_known: bool,
    /// How many threads lost events.
    pub(super) lost_threads: u64,
    /// How often the OS gave a thread's id to a new one.
    pub(super) restarts: u64,
    /// OS threads that events are about.
    pub(super) threads: u64,
    /// As of processes.
    #[serde(skip_serializing_if = "is_no")]
    pub(super) threads_are_at_least: bool,
    pub(super) providers: Vec<ProviderReport>,
    /// Providers beyond those, if there are too many to list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) other_providers: Option<OtherProviders>,
    /// Event types (provider, id, version, name) of which there are events.
    pub(super) types: u64,
    /// As of processes.
    #[serde(skip_serializing_if = "is_no")]
    pub(super) types_are_at_least: bool,
    /// Stacks that are stored; version 3, which stores one with every event: different
    /// ones.
    pub(super) stacks: u64,
    /// As of processes.
    #[serde(skip_serializing_if = "is_no")]
    pub(super) stacks_are_at_least: bool,
    /// Blocks by kind, only kinds that there are.
    pub(super) blocks: ByKind,
    /// Bytes by kind of block, framing included.
    pub(super) bytes: ByKind,
    /// What is damaged.
    pub(super) damage: Vec<DamageRow>,
    /// How many findings there are, also beyond those listed in `damage`.
    pub(super) damage_count: u64,
    /// Bytes that were not delivered because of damage.
    pub(super) damage_bytes: u64,
    /// What is odd, but harmless.
    pub(super) notes: Vec<NoteReport>,
    /// Further keys and values of the stream's header (version 6).
    pub(super) properties: Pairs,
}

#[derive(Debug, Serialize)]
pub(super) struct ProviderReport {
    pub(super) name: String,
    pub(super) events: u64,
}

/// Providers that are not listed.
#[derive(Debug, Serialize)]
pub(super) struct OtherProviders {
    pub(super) providers: u64,
    /// Whether there may be more.
    #[serde(skip_serializing_if = "is_no")]
    pub(super) providers_are_at_least: bool,
    pub(super) events: u64,
}

/// One kind of harmless oddity, where it was met first, and how often.
#[derive(Debug, Serialize)]
pub(super) struct NoteReport {
    pub(super) offset: u64,
    pub(super) block: Option<&'static str>,
    pub(super) context: &'static str,
    pub(super) fault: String,
    pub(super) count: u64,
}

/// Numbers by kind of block, as a JSON object.
#[derive(Debug)]
pub(super) struct ByKind(pub(super) Vec<(&'static str, u64)>);

/// Keys and values as a JSON object. A key that comes twice keeps its last value.
#[derive(Debug)]
pub(super) struct Pairs(pub(super) Vec<(String, String)>);

impl Serialize for ByKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

impl Serialize for Pairs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let last: HashMap<&str, usize> =
            self.0.iter().enumerate().map(|(at, (key, _))| (&**key, at)).collect();
        for (at, (key, value)) in self.0.iter().enumerate() {
            if last.get(&**key) == Some(&at) {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

impl InfoReport {
    pub(super) fn new(
        header: nettrace_parser::Trace,
        is_gzip: bool,
        trace: &Ended,
        survey: &Survey,
    ) -> InfoReport {
        let (version, minor) =
            trace.version().map_or((0, 0), |version| (version.major(), version.minor()));
        let statistics = trace.statistics();
        let kinds = |count: &dyn Fn(BlockKind) -> u64| {
            let present = BlockKind::all().filter(|kind| statistics.blocks(*kind) > 0);
            ByKind(present.map(|kind| (kind.as_str(), count(kind))).collect())
        };
        let session = survey.session();
        let clock = header.clock();
        let last = survey.last_ticks().and_then(|ticks| clock.nanos_since_start(ticks));
        let outcome = trace.outcome();
        let mut report = InfoReport {
            schema: 1,
            version,
            minor,
            complete: outcome.complete,
            end_offset: outcome.end_offset,
            compressed: is_gzip,
            writer: writer(version, session.runtime.as_deref()),
            process_id: header.process_id.map(u64::from).or_else(|| survey.processes().only()),
            processes: survey.processes().count().number,
            processes_are_at_least: survey.processes().count().is_at_least,
            command_line: session.command_line.clone(),
            os: session.os.clone(),
            architecture: session.architecture.clone(),
            pointer_size: header.pointer_size,
            processors: header.processors,
            ticks_per_second: header.tick_frequency,
            sampling_period_ns: header.sampling_period_nanos,
            start_utc: header
                .start
                .unix_nanos()
                .map(|nanos| utc_text(nanos, 3).replace(' ', "T") + "Z"),
            duration_ns: last.map(|nanos| nanos.max(0)),
            events: survey.events(),
            events_with_stack: survey.events_with_stack(),
            payload_bytes: survey.payload_bytes(),
            lost: outcome.lost,
            lost_is_at_least: trace.losses().is_at_least(),
            lost_doubted: Some(outcome.lost_doubted).filter(|count| *count > 0),
            losses_known: outcome.losses_known,
            lost_threads: outcome.lost_threads,
            restarts: trace.losses().restarts(),
            threads: survey.thread_count().number,
            threads_are_at_least: survey.thread_count().is_at_least,
            providers: survey
                .providers()
                .into_iter()
                .map(|(name, events)| ProviderReport { name: name.to_owned(), events })
                .collect(),
            other_providers: survey.other_providers().map(|(count, events)| OtherProviders {
                providers: count.number,
                providers_are_at_least: count.is_at_least,
                events,
            }),
            types: survey.type_count().number,
            types_are_at_least: survey.type_count().is_at_least,
            stacks: match version {
                3 => survey.inline_stack_count().number,
                _ => statistics.rows(BlockKind::Stack),
            },
            stacks_are_at_least: version == 3 && survey.inline_stack_count().is_at_least,
            blocks: kinds(&|kind| statistics.blocks(kind)),
            bytes: kinds(&|kind| statistics.bytes(kind)),
            damage: outcome.damage,
            damage_count: outcome.damage_count,
            damage_bytes: outcome.damage_bytes,
            notes: notes(trace.damage().notes(), |finding| trace.damage().count_like(finding)),
            properties: Pairs(header.pairs),
        };
        // Nothing is lost by what follows the compressed data.
        if let Some(fault) = trace.unpack_fault().filter(|fault| !fault.is_loss()) {
            let (context, text) = ("compressed file", fault.what().to_owned());
            report.notes.push(NoteReport {
                offset: fault.offset,
                block: None,
                context,
                fault: text,
                count: 1,
            });
        }
        report
    }
}

/// Notes of one kind are reported once, with how many there are.
fn notes<'f>(
    findings: impl Iterator<Item = &'f Finding>,
    count: impl Fn(&Finding) -> u64,
) -> Vec<NoteReport> {
    let mut kinds: Vec<&Finding> = Vec::new();
    for finding in findings {
        let is_like = |other: &&Finding| {
            other.context == finding.context
                && std::mem::discriminant(&other.fault) == std::mem::discriminant(&finding.fault)
        };
        if !kinds.iter().any(is_like) {
            kinds.push(finding);
        }
    }
    kinds
        .into_iter()
        .map(|finding| NoteReport {
            offset: finding.offset,
            block: finding.block.map(BlockKind::as_str),
            context: finding.context,
            fault: finding.fault.to_string(),
            count: count(finding),
        })
        .collect()
}

/// Whether a mark is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_no(is_at_least: &bool) -> bool {
    !*is_at_least
}

/// Who writes such streams.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// 10^10 comparisons, if each key looked for itself among all that follow.
    #[test]
    fn of_keys_that_come_again_the_last_value_stays_however_many_there_are() {
        let pair = |number: usize| (format!("k{}", number % 150_000), number.to_string());
        let json = serde_json::to_string(&Pairs((0..200_000).map(pair).collect())).unwrap();
        assert_eq!(json.matches(':').count(), 150_000);
        assert!(
            json.starts_with("{\"k50000\":\"50000\"") && json.ends_with("\"k49999\":\"199999\"}")
        );
    }
}
