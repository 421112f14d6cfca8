//! Writes values of counters as lines for people, or as CSV, NDJSON, JSON or OpenMetrics.

use super::CounterSession;
use crate::args::{CountersArgs, LiveCounterFormat};
use crate::context::Context;
use crate::counter_lines::{LiveProcess, ndjson, utc};
use crate::counter_text;
use crate::failure::Failure;
use crate::json_text;
use crate::new_file::{self, NewFile, Unfinished};
use crate::printable::{printable, printable_lines};
use nettrace_analysis::live::CountersSnapshot;
use nettrace_analysis::report::{CounterKind, CounterSeries, CountersReport};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

/// Maximum number of values in JSON documents, which are held in memory until the end.
const MAX_POINTS: usize = 2_000_000;

/// Output of values as they come.
pub(super) struct ValueWriter {
    format: ValueForm,
    /// Whether lines for people are left out, because the values are served to Prometheus.
    is_quiet: bool,
    /// Whether names are escaped that a spreadsheet or terminal would execute.
    is_safe: bool,
    path: Option<PathBuf>,
    is_forced: bool,
    file: Option<NewFile>,
    /// Series of the JSON documents, one for each process.
    documents: Vec<SeriesByKey>,
    points: usize,
    points_left_out: u64,
}

/// Form in which values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueForm {
    Lines,
    Given(LiveCounterFormat),
}

/// Series of a process by provider, name, kind and tags.
type SeriesByKey = BTreeMap<(String, String, CounterKind, Vec<(String, String)>), CounterSeries>;

/// JSON document of a process.
#[derive(Serialize)]
struct ProcessDocument {
    process_id: Option<u64>,
    process: String,
    #[serde(flatten)]
    report: CountersReport,
}

#[derive(Serialize)]
struct Processes {
    schema: u32,
    processes: Vec<ProcessDocument>,
}

impl ValueWriter {
    pub(super) fn new(args: &CountersArgs, context: &Context<'_>) -> Result<ValueWriter, Failure> {
        let form = match (args.format, &args.output) {
            (Some(format), _) => ValueForm::Given(format),
            (None, Some(_)) => ValueForm::Given(LiveCounterFormat::Csv),
            (None, None) => ValueForm::Lines,
        };
        let mut file = None;
        if let Some(path) = &args.output {
            if form == ValueForm::Given(LiveCounterFormat::Openmetrics) {
                // The file is created again for each publication.
                new_file::check(path, args.talk.force, &[])?;
            } else {
                file = Some(NewFile::create(path, args.talk.force, &[], Unfinished::Kept)?);
            }
        }
        Ok(ValueWriter {
            format: form,
            is_quiet: args.openmetrics_listen.is_some(),
            is_safe: context.has_user && args.output.is_none(),
            path: args.output.clone(),
            is_forced: args.talk.force,
            file,
            documents: Vec::new(),
            points: 0,
            points_left_out: 0,
        })
    }

    /// Returns whether values are written as lines for people.
    pub(super) fn are_for_people(&self) -> bool {
        self.format == ValueForm::Lines
    }

    pub(super) fn goes_to_stdout(&self) -> bool {
        self.path.is_none()
    }

    pub(super) fn begin(
        &mut self,
        sessions: &[CounterSession],
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        self.documents.resize_with(sessions.len(), SeriesByKey::new);
        if self.format == ValueForm::Given(LiveCounterFormat::Csv) {
            self.deliver(CountersReport::CSV_HEADER.as_bytes(), context)?;
        }
        Ok(())
    }

    /// Writes the values that are new since the last call.
    pub(super) fn write_new(
        &mut self,
        sessions: &[CounterSession],
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        let mut has_new = false;
        for (at, session) in sessions.iter().enumerate() {
            let mut new = session.with(|live| live.report.take_new());
            if new.series.is_empty() {
                continue;
            }
            has_new = true;
            let several = (sessions.len() > 1).then_some(session);
            match self.format {
                ValueForm::Lines if self.is_quiet => {}
                ValueForm::Lines => lines(&mut bytes, &new, several)?,
                ValueForm::Given(LiveCounterFormat::Csv) => {
                    several.into_iter().for_each(|session| label(&mut new, session));
                    new.write_csv(&mut bytes, self.is_safe)?;
                }
                ValueForm::Given(LiveCounterFormat::Ndjson) => {
                    let process = LiveProcess { process_id: session.pid, process: &session.name };
                    ndjson(&mut bytes, &new, Some(process))?;
                }
                ValueForm::Given(LiveCounterFormat::Json) => self.keep(at, new),
                ValueForm::Given(LiveCounterFormat::Openmetrics) => {}
            }
        }
        let is_openmetrics = self.format == ValueForm::Given(LiveCounterFormat::Openmetrics);
        if let Some(path) = self.path.as_ref().filter(|_| is_openmetrics && has_new) {
            let mut file = NewFile::create(path, self.is_forced, &[], Unfinished::Removed)?;
            exposition(sessions).write_openmetrics(&mut file)?;
            file.finish()?;
            // The file is the command's own now, and may be replaced.
            self.is_forced = true;
        }
        self.deliver(&bytes, context)
    }

    /// Writes documents that are complete only at the end, and gives the file its name.
    pub(super) fn finish(
        &mut self,
        sessions: &[CounterSession],
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        match self.format {
            ValueForm::Given(LiveCounterFormat::Json) => {
                self.write_documents(sessions, &mut bytes)?
            }
            ValueForm::Given(LiveCounterFormat::Openmetrics) if self.path.is_none() => {
                exposition(sessions).write_openmetrics(&mut bytes)?;
                if self.is_safe {
                    bytes = printable_lines(&bytes);
                }
            }
            _ => {}
        }
        self.deliver(&bytes, context)?;
        if self.points_left_out > 0 {
            let values = crate::units::counted(self.points_left_out, "value");
            let text = "are not in the document: it would be too large; --format ndjson has all";
            context.messages.warning(&format!("{values} {text}"));
        }
        if let Some(file) = self.file.take() {
            file.finish()?;
        }
        Ok(())
    }

    fn deliver(&mut self, bytes: &[u8], context: &mut Context<'_>) -> Result<(), Failure> {
        if bytes.is_empty() {
            return Ok(());
        }
        match &mut self.file {
            Some(file) => file.write_all(bytes)?,
            None => {
                context.out.pass_on(bytes)?;
                context.out.finish()?;
            }
        }
        Ok(())
    }

    fn keep(&mut self, at: usize, new: CountersReport) {
        let Some(document) = self.documents.get_mut(at) else { return };
        for mut series in new.series {
            let count = series.points.len();
            if self.points + count > MAX_POINTS {
                self.points_left_out += count as u64;
                series.points.clear();
            }
            self.points += series.points.len();
            let key =
                (series.provider.clone(), series.name.clone(), series.kind, series.tags.clone());
            match document.get_mut(&key) {
                Some(known) => {
                    let mut points = std::mem::take(&mut known.points);
                    points.append(&mut series.points);
                    series.points = points;
                    *known = series;
                }
                None => drop(document.insert(key, series)),
            }
        }
    }

    fn write_documents(
        &mut self,
        sessions: &[CounterSession],
        bytes: &mut Vec<u8>,
    ) -> io::Result<()> {
        let mut processes: Vec<ProcessDocument> = Vec::new();
        for (session, document) in sessions.iter().zip(std::mem::take(&mut self.documents)) {
            // `write_new` has taken all series, so that this report has none.
            let mut report = session.with(|live| live.report.take_new());
            report.series = document.into_values().collect();
            let (process_id, process) = (session.pid, session.name.clone());
            processes.push(ProcessDocument { process_id, process, report });
        }
        match processes.as_slice() {
            [one] => json_text::pretty(&mut *bytes, one)?,
            _ => {
                let schema = nettrace_analysis::report::SCHEMA;
                json_text::pretty(&mut *bytes, &Processes { schema, processes })?;
            }
        }
        bytes.push(b'\n');
        Ok(())
    }
}

/// Returns the last values of all processes. With several processes, values have the process id as
/// a tag.
pub(super) fn exposition(sessions: &[CounterSession]) -> CountersReport {
    let mut all = CountersReport::default();
    for session in sessions {
        let snapshot: CountersSnapshot = session.with(|live| live.snapshot());
        let mut last = CountersReport::from(&snapshot);
        if sessions.len() > 1 {
            label(&mut last, session);
        }
        // Times of points are relative to the start of their session; here, to the first start.
        let start = last.start_unix_ns.unwrap_or(0);
        let shift = start.saturating_sub(*all.start_unix_ns.get_or_insert(start));
        for point in last.series.iter_mut().flat_map(|series| &mut series.points) {
            point.ts_ns = point.ts_ns.saturating_add(shift);
        }
        all.series.append(&mut last.series);
    }
    all
}

/// Adds the process id to the tags of each series.
fn label(report: &mut CountersReport, session: &CounterSession) {
    let id = session.pid.map_or_else(|| session.label.clone(), |pid| pid.to_string());
    for series in &mut report.series {
        series.tags.insert(0, ("process_id".to_owned(), id.clone()));
    }
}

/// Writes a line for each value: `2026-11-21 00:13:41.014  System.Runtime  dotnet.process.cpu.count
/// 2 {cpu}`.
fn lines(
    out: &mut Vec<u8>,
    report: &CountersReport,
    process: Option<&CounterSession>,
) -> io::Result<()> {
    for (series, point) in report.in_time_order() {
        let time =
            utc(report, point.ts_ns).unwrap_or_else(|| crate::units::milliseconds(point.ts_ns));
        let process =
            process.map_or(String::new(), |session| format!("  {}", printable(&session.label)));
        let provider = printable(&series.provider);
        let name = counter_text::name(series);
        let value = counter_text::number(series.shown(point));
        let unit = match point.rate_per_second {
            Some(_) => counter_text::unit_per_second(series),
            None => counter_text::unit(series),
        };
        let line = format!("{time}{process}  {provider}  {name}  {value} {unit}");
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
