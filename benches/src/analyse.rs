//! Conversions and reports, alone and several in one pass, whose results are thrown away.

use crate::pass::{Input, mapped};
use nettrace_analysis::convert::{ConvertOptions, Format};
use nettrace_analysis::findings::Summary;
use nettrace_analysis::report::TopNOptions;
use nettrace_analysis::report::{
    Contention, Exceptions, Gc, Http, ReportPass, Reports, TreeOptions,
};
use nettrace_analysis::{Analysis, AnalysisOptions};
use nettrace_parser::{Buffered, Outcome, Reader, Source};
use std::fs::File;
use std::io;
use std::path::Path;

/// Converts a trace as `nettrace convert` does, and returns the number of events.
///
/// # Errors
/// If there is no such format, or if the trace cannot be read or is empty in this format.
pub fn convert(file: &Path, format: &str, input: Input) -> io::Result<u64> {
    let format = Format::by_name(format).ok_or_else(|| io::Error::other("no such format"))?;
    match input {
        Input::Mapped => converted(Reader::new(mapped(file)?), format),
        Input::Read => converted(Reader::new(Buffered::new(File::open(file)?)), format),
    }
}

fn converted<S: Source>(reader: Reader<S>, format: &Format) -> io::Result<u64> {
    let mut options = AnalysisOptions::default();
    options.kinds = format.kinds.to_vec();
    let mut analysis = Analysis::new(options);
    analysis.add_format(format, io::sink(), &ConvertOptions::default());
    let outcome = analysis.read(&mut reader.time_ordered()).map_err(io::Error::other)?;
    analysis.finish().map_err(io::Error::other)?;
    events(&outcome)
}

/// Makes the reports of a trace in one pass, and returns the number of events. `name` is one
/// report, such as `gc`, or several, such as `gc+exceptions`.
///
/// # Errors
/// If there are no such reports, or if the trace cannot be read or is not complete.
pub fn report(file: &Path, name: &str) -> io::Result<u64> {
    let stream = std::fs::read(file)?;
    match name {
        "gc" => reports(Gc::default(), &stream),
        "contention" => reports(Contention::default(), &stream),
        "exceptions" => reports(Exceptions::default(), &stream),
        "http" => reports(Http::default(), &stream),
        "summary" => reports(Summary::default(), &stream),
        "topN" => reports(TopNOptions::default(), &stream),
        "tree" => reports(TreeOptions::default(), &stream),
        "gc+contention" => reports((Gc::default(), Contention::default()), &stream),
        "gc+exceptions" => reports((Gc::default(), Exceptions::default()), &stream),
        "topN+tree" => reports((TopNOptions::default(), TreeOptions::default()), &stream),
        _ => Err(io::Error::other("no such reports")),
    }
}

/// Makes the reports of a stream, and returns the number of events.
///
/// # Errors
/// The errors of [`report`].
pub fn reports<R: Reports>(reports: R, stream: &[u8]) -> io::Result<u64> {
    let mut pass = ReportPass::new(reports);
    let outcome =
        pass.read(&mut Reader::from_slice(stream).time_ordered()).map_err(io::Error::other)?;
    let _ = std::hint::black_box(pass.finish());
    events(&outcome)
}

/// Returns the number of events in a trace. Fails if the trace is not complete.
fn events(outcome: &Outcome) -> io::Result<u64> {
    if !outcome.is_complete {
        return Err(io::Error::other(format!("the trace is not complete: {outcome}")));
    }
    Ok(outcome.statistics.events)
}
