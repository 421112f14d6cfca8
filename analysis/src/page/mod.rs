//! The page: a trace as one HTML file, for exploring it in a browser.
//!
//! The page has the documents of reports as `--json` prints them. Data that can be evaluated for a
//! range of time, such as samples, are stored row by row, and the page's code computes the sums. If
//! there are too many rows, some are kept, and the others are counted in bins of time (`sums`). The
//! document's member `thinned` says which parts are incomplete.

mod activities;
mod call_nodes;
mod collections;
mod compilations;
mod events;
mod exceptions;
mod heap;
mod messages;
mod observers;
mod readings;
mod samples;
mod spans;
mod sums;
mod tracks;
mod triggers;

use crate::driver::AnalysisOptions;
use crate::fact::Fact;
use crate::fact::thinned::Thinned;
use crate::findings::SummaryReport;
use crate::html::{ColumnPlace, Columns, write_html};
use crate::model::{Coverage, Kind, Model, NamesAdvice};
use crate::over_time::gathering_pass;
use crate::report::{OutcomeReport, ReportPass, Reports};
use nettrace_export::units;
use observers::PageReports;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Kinds of samples on a page.
const KINDS: &[Kind] = &[
    Kind::Cpu,
    Kind::AllocationTicks,
    Kind::AllocationSamples,
    Kind::Exceptions,
    Kind::Contention,
    Kind::Waits,
    Kind::OffCpu,
];

/// Returns the pass that makes a page of the events that the options select. The options' kinds of
/// samples are ignored, because a page shows all kinds.
///
/// ```
/// use nettrace_analysis::{AnalysisError, AnalysisOptions};
/// use nettrace_analysis::page::{self, PageAbout};
/// use nettrace_analysis::report::OutcomeReport;
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut pass = page::pass(AnalysisOptions::default());
/// let outcome = pass.read(&mut Reader::from_slice(&bytes).time_ordered())?;
/// let about = PageAbout {
///     title: "tiny.nettrace".into(),
///     outcome: OutcomeReport::from_outcome(&outcome),
///     facts: Vec::new(),
/// };
/// let mut html = Vec::new();
/// pass.finish().output.write(&about, &mut html).unwrap();
/// assert!(html.starts_with(b"<!doctype html>"));
/// # Ok::<(), AnalysisError>(())
/// ```
pub fn pass(mut options: AnalysisOptions) -> ReportPass<'static, impl Reports<Outputs = Page>> {
    options.folding.is_recording = Some(true);
    let times = options.thread_times.clone();
    gathering_pass(options, KINDS, |tracks| PageReports::new(tracks, times))
}

/// Returns information about the session for the document.
fn session(model: &Model) -> Value {
    let processes: Vec<Value> = model
        .processes()
        .filter(|(_, process)| process.id.is_some() || !process.name.is_empty())
        .map(|(_, process)| serde_json::json!({ "id": process.id, "name": process.name }))
        .take(100)
        .collect();
    let start = model.session().and_then(|session| session.start.unix_nanos());
    let start_millis = start.map(|nanos| nanos / 1_000_000);
    serde_json::json!({ "start_unix_ms": start_millis, "period_ns": model.period_nanos(), "processes": processes })
}

/// The notice of a page about an incomplete part.
#[derive(Debug, Clone, Serialize)]
struct Notice<'p> {
    #[serde(flatten)]
    fact: &'p Thinned,
    text: String,
}

/// Information on a page that events do not have.
#[derive(Debug, Clone)]
pub struct PageAbout {
    /// Title of the page, such as the file name of the trace.
    pub title: String,
    /// Outcome of reading the trace. The caller may add damage outside of the stream, such as of a
    /// compressed file.
    pub outcome: OutcomeReport,
    /// Names and values to show beside the title.
    pub facts: Vec<(String, String)>,
}

impl PageAbout {
    /// Returns what a page says of a trace's file: its size in bytes, if it is known, and the
    /// version that made the page.
    pub fn from_file(title: String, outcome: OutcomeReport, bytes: Option<u64>) -> PageAbout {
        let size = bytes.map(|bytes| ("File size".to_owned(), units::bytes(bytes)));
        let maker = concat!("nettrace ", env!("CARGO_PKG_VERSION"));
        let facts = size.into_iter().chain([("Page by".to_owned(), maker.to_owned())]).collect();
        PageAbout { title, outcome, facts }
    }
}

/// The contents of a page.
#[derive(Debug, Clone, Default)]
#[must_use = "a page is to be written"]
pub struct Page {
    /// Summary with its findings. The caller may add findings that events do not show, before the
    /// page is written.
    pub summary: Option<SummaryReport>,
    /// Documents of reports as JSON, by name.
    reports: BTreeMap<&'static str, Vec<u8>>,
    columns: Columns,
    frames: Value,
    kinds: Value,
    categories: Value,
    texts: Value,
    threads: Value,
    events: Value,
    session: Value,
    coverage: Option<Coverage>,
    activity_names: Value,
    task_names: Value,
    /// Length of bins of each list of sums, by its name.
    sums: Map<String, Value>,
    thinned: Vec<Thinned>,
}

/// Share of frames without names, with advice.
#[derive(Serialize)]
struct Unnamed {
    percent: f64,
    /// The sentence of `advice_facts`.
    advice: Option<String>,
    advice_facts: Option<NamesAdvice>,
}

/// The document read by the page's code, up to the reports.
#[derive(Serialize)]
struct DocumentHead<'p> {
    /// Version of the data layout.
    schema: u32,
    title: &'p str,
    facts: &'p [(String, String)],
    outcome: &'p OutcomeReport,
    summary: &'p Option<SummaryReport>,
}

/// The document behind the reports.
#[derive(Serialize)]
struct DocumentTail<'p> {
    frames: &'p Value,
    kinds: &'p Value,
    categories: &'p Value,
    texts: &'p Value,
    threads: &'p Value,
    events: &'p Value,
    session: &'p Value,
    unnamed: Option<Unnamed>,
    sums: &'p Map<String, Value>,
    thinned: Vec<Notice<'p>>,
    columns: &'p BTreeMap<String, ColumnPlace>,
}

impl Page {
    /// Writes the page: one HTML file.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, about: &PageAbout, out: &mut dyn Write) -> io::Result<()> {
        let head = serde_json::to_vec(&DocumentHead {
            schema: 1,
            title: &about.title,
            facts: &about.facts,
            outcome: &about.outcome,
            summary: &self.summary,
        })?;
        let tail = serde_json::to_vec(&DocumentTail {
            frames: &self.frames,
            kinds: &self.kinds,
            categories: &self.categories,
            texts: &self.texts,
            threads: &self.threads,
            events: &self.events,
            session: &self.session,
            unnamed: self.unnamed(about.outcome.complete),
            sums: &self.sums,
            thinned: self.thinned.iter().map(|fact| Notice { fact, text: fact.text() }).collect(),
            columns: self.columns.rows(),
        })?;
        let mut parts: Vec<&[u8]> =
            vec![head.strip_suffix(b"}").unwrap_or(&head), b",\"reports\":{"];
        for (place, (name, document)) in self.reports.iter().enumerate() {
            let before: &[u8] = if place > 0 { b",\"" } else { b"\"" };
            parts.extend([before, name.as_bytes(), b"\":", document]);
        }
        parts.extend([b"},", tail.strip_prefix(b"{").unwrap_or(&tail)]);
        write_html(&parts, &self.columns, out)
    }

    /// Adds the document of a report.
    fn add(&mut self, name: &'static str, document: &impl Serialize) {
        // A report's keys are names, so this cannot fail.
        let document = serde_json::to_vec(document).unwrap_or_else(|_| b"null".to_vec());
        self.reports.insert(name, document);
    }

    /// Returns the share of frames without names that all views show. It is the finding's share, of
    /// frames of samples, or without the finding the share of all stacks.
    fn unnamed(&self, is_complete: bool) -> Option<Unnamed> {
        let findings = self.summary.iter().flat_map(|summary| &summary.findings);
        let of_samples = findings.filter_map(|finding| match &finding.fact {
            Fact::MissingNames { coverage, .. } => Some(*coverage),
            _ => None,
        });
        let coverage = of_samples.chain(self.coverage).find(|coverage| coverage.frames > 0)?;
        let unnamed = coverage.frames.saturating_sub(coverage.named);
        let advice_facts = coverage.advice(is_complete);
        let percent = match advice_facts {
            Some(advice) => advice.percent as f64,
            None => unnamed as f64 * 100.0 / coverage.frames as f64,
        };
        Some(Unnamed { percent, advice: advice_facts.map(|advice| advice.text()), advice_facts })
    }
}
