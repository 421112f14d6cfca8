//! Tasks of the page: the page of a trace, a comparison of two, or a file of another format.

use crate::dropped::Dropped;
use nettrace_analysis::convert::{ConvertOptions, FORMATS, Format};
use nettrace_analysis::diff::{self, DiffOptions, DiffPage, DiffReport, MeasuredTrace};
use nettrace_analysis::findings::SummaryReport;
use nettrace_analysis::heap::{HeapDump, HeapReader, HeapReport, Retained};
use nettrace_analysis::input::{Ended, RecordedEnding, TraceBytes, plain, reason, with_causes};
use nettrace_analysis::page::{self, Page, PageAbout};
use nettrace_analysis::{Analysis, AnalysisError, AnalysisOptions, ThreadTimes};
use nettrace_parser::{Reader, Source, TimeOrdered};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::sync::Arc;

/// Number of bytes by which a `.gcdump` is recognised.
const MIN_RECOGNISED_BYTES: u64 = 64;
/// Maximum number of bytes of an unpacked `.gcdump`. It is held in memory, of which WebAssembly has
/// 4 GiB, and its graph takes several times as much.
const MAX_GCDUMP_BYTES: u64 = 512 << 20;

/// What to make of files.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// The page of the first file, a trace or a `.gcdump`, as `nettrace report html` writes it.
    Page,
    /// The page of a comparison, as `nettrace diff OLD NEW -o FILE` writes it. So many of the files
    /// are old ones; the others are new.
    Diff(usize),
    /// The first file in the format of this name, as `nettrace convert` writes it.
    Convert(String),
    /// A JSON list of the formats.
    Formats,
}

/// A format in a list.
#[derive(Serialize)]
struct FormatRow {
    name: &'static str,
    extension: String,
    about: &'static str,
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Done {
    /// Whether all of each trace could be read.
    pub is_intact: bool,
}

impl Task {
    /// Makes it of the files, and writes it.
    ///
    /// # Errors
    /// A message: the file's name, the reason, and what to do.
    pub fn run(&self, files: &[Dropped<'_>], out: &mut (dyn Write + Send)) -> Result<Done, String> {
        match (self, files) {
            (Task::Formats, _) => list_formats(out),
            (Task::Diff(old), files) => compare(files, *old, out),
            (Task::Page, [file, ..]) => write_page(file, out),
            (Task::Convert(format), [file, ..]) => convert(file, format, out),
            (_, []) => Err("no file was given".to_owned()),
        }
    }
}

/// An open trace with its time-ordered events.
struct Opened {
    name: String,
    events: TimeOrdered<TraceBytes>,
}

impl Opened {
    fn new(file: &Dropped<'_>) -> Result<Opened, String> {
        let name = file.name.clone();
        let bytes = file.first().map_err(|error| format!("{name}: {}", plain(&error)))?;
        let mut events = Reader::new(bytes).time_ordered();
        match events.trace().map(drop) {
            Ok(()) => Ok(Opened { name, events }),
            Err(error) => Err(format!("{name}: {}", reason(&name, &error, 0))),
        }
    }

    /// Returns why a pass did not come to the end of the trace.
    fn failed(&self, error: AnalysisError) -> String {
        let name = &self.name;
        match error {
            AnalysisError::Read(error) => {
                let position = self.events.reader().position();
                format!("{name}: {}", reason(name, &error, position))
            }
            error => format!("{name}: {}", with_causes(&error)),
        }
    }

    fn ended(&self) -> Ended {
        Ended::from(self.events.reader())
    }
}

/// Returns the times of the process and its threads that a recording has behind its events.
fn thread_times(file: &Dropped<'_>) -> Option<Arc<ThreadTimes>> {
    ThreadTimes::read(&mut file.second()?).ok().map(Arc::new)
}

fn write_page(file: &Dropped<'_>, out: &mut dyn Write) -> Result<Done, String> {
    if let Some(done) = write_page_of_gcdump(file, out) {
        return done;
    }
    let mut trace = Opened::new(file)?;
    let mut options = AnalysisOptions::default();
    options.thread_times = thread_times(file);
    let mut pass = page::pass(options);
    pass.read(&mut trace.events).map(drop).map_err(|error| trace.failed(error))?;
    let mut page = pass.finish().output;
    let ended = trace.ended();
    drop(trace);
    complete(&mut page, file);
    let about = PageAbout::from_file(file.name.clone(), ended.outcome(), Some(file.bytes));
    page.write(&about, out).map_err(|error| error.to_string())?;
    Ok(done([&ended]))
}

/// Writes the page of a `.gcdump`, which has a heap and nothing else; `None` if the file is another
/// one, or cannot be read.
fn write_page_of_gcdump(file: &Dropped<'_>, out: &mut dyn Write) -> Option<Result<Done, String>> {
    let mut bytes = file.first().ok()?;
    let _ = bytes.fill(MIN_RECOGNISED_BYTES).ok()?;
    if !HeapDump::is_gcdump(bytes.bytes()) {
        return None;
    }
    let made = || {
        let name = &file.name;
        let has_more = bytes.fill(MAX_GCDUMP_BYTES.saturating_add(1));
        if has_more.map_err(|error| format!("{name}: {}", plain(&error)))? {
            return Err(format!(
                "{name}: a .gcdump of more than 512 MiB: `nettrace report html` makes its page"
            ));
        }
        let dump = HeapDump::from_gcdump(bytes.bytes());
        let dump = dump
            .map_err(|error| format!("{name}: {error}; get another copy, or make another dump"))?;
        let length = bytes.bytes().len() as u64;
        let ended = Ended::from(&Reader::new(bytes)).of_whole_file(length);
        let about = PageAbout::from_file(name.clone(), ended.outcome(), Some(file.bytes));
        let page = Page::from_heap(&dump);
        page.write(&about, out).map_err(|error| error.to_string())?;
        Ok(Done { is_intact: dump.losses.is_complete() })
    };
    Some(made())
}

/// Adds the heap and how the process ended to a page.
fn complete(page: &mut Page, file: &Dropped<'_>) {
    let Some(summary) = &mut page.summary else { return };
    let dumps = heap(summary, file).unwrap_or_default();
    let dump = HeapDump::usual(&dumps).and_then(|usual| dumps.get(usual));
    let heap = dump.map(|dump| {
        let retained = Retained::from_dump(dump);
        let report = HeapReport::new(&dumps, dump, &retained);
        summary.add_heap(&report);
        (dump, report, retained)
    });
    let recorded = file.second().and_then(|mut second| RecordedEnding::read(&mut second));
    let recorded = recorded.unwrap_or_default();
    if let Some(end) = recorded.end {
        summary.set_process_end(end);
    }
    summary.add_silent_sources(recorded.silent());
    if let Some((dump, report, retained)) = heap {
        page.add_heap(dump, report, &retained);
    }
}

/// Reads a trace once more for its heap dumps, because they take more memory than most pages need.
fn heap(summary: &SummaryReport, file: &Dropped<'_>) -> Option<Vec<HeapDump>> {
    if !summary.has_heap_dump {
        return None;
    }
    let mut events = Reader::new(file.first().ok()?).time_ordered();
    let mut reader = HeapReader::default();
    let _ = reader.read(&mut events).ok()?;
    Some(reader.finish())
}

fn compare(files: &[Dropped<'_>], old: usize, out: &mut dyn Write) -> Result<Done, String> {
    let (old, new) = files.split_at_checked(old).unwrap_or((files, &[]));
    if old.is_empty() || new.is_empty() {
        return Err("a comparison needs an old trace and a new one".to_owned());
    }
    let (mut endings, mut sides) = (Vec::new(), Vec::new());
    for files in [old, new] {
        let mut traces = Vec::new();
        for file in files {
            let (trace, ended) = measured(file)?;
            traces.push(trace);
            endings.push(ended);
        }
        sides.push(traces);
    }
    let names = [old, new].map(|files| files.iter().map(|file| file.name.clone()).collect());
    let report = DiffReport::new(&sides[0], &sides[1], DiffOptions::default());
    let page = DiffPage { report: &report, old: &sides[0], new: &sides[1], names, conditions: &[] };
    page.write("nettrace diff", out).map_err(|error| error.to_string())?;
    Ok(done(&endings))
}

fn measured(file: &Dropped<'_>) -> Result<(MeasuredTrace, Ended), String> {
    let mut trace = Opened::new(file)?;
    let mut options = AnalysisOptions::default();
    options.thread_times = thread_times(file);
    let mut pass = diff::pass(options);
    pass.read(&mut trace.events).map(drop).map_err(|error| trace.failed(error))?;
    Ok((pass.finish().output, trace.ended()))
}

fn convert(file: &Dropped<'_>, format: &str, out: &mut (dyn Write + Send)) -> Result<Done, String> {
    let Some(format) = Format::by_name(format) else {
        return Err(format!("there is no format {format}"));
    };
    let mut trace = Opened::new(file)?;
    let mut options = AnalysisOptions::default();
    options.thread_times = thread_times(file);
    let mut wanted = ConvertOptions::default();
    wanted.title.clone_from(&file.name);
    // A spreadsheet may open it.
    wanted.is_csv_safe = true;
    let mut analysis = Analysis::new(options);
    analysis.add_format(format, out, &wanted);
    analysis.read(&mut trace.events).map(drop).map_err(|error| trace.failed(error))?;
    let ended = trace.ended();
    drop(trace);
    analysis.finish().map_err(|error| format!("{}: {}", file.name, with_causes(&error)))?;
    Ok(done([&ended]))
}

fn list_formats(out: &mut dyn Write) -> Result<Done, String> {
    let row = |format: &Format| {
        let extension = format.extensions.first().copied().unwrap_or(format.name);
        let packed = if format.is_always_gzip { ".gz" } else { "" };
        let extension = format!("{extension}{packed}");
        FormatRow { name: format.name, extension, about: format.about }
    };
    let rows: Vec<FormatRow> = FORMATS.iter().map(row).collect();
    serde_json::to_writer(out, &rows).map_err(|error| error.to_string())?;
    Ok(done([]))
}

fn done<'e>(endings: impl IntoIterator<Item = &'e Ended>) -> Done {
    Done {
        is_intact: endings
            .into_iter()
            .all(|ended| ended.outcome().damage_count == 0 && ended.is_complete),
    }
}
