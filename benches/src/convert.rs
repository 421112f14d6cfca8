//! Traces in other tools' formats, thrown away.

use std::fs::File;
use std::io;
use std::path::Path;

use nettrace_analysis::convert::{ConvertOptions, Format};
use nettrace_analysis::{Analysis, AnalysisOptions};
use nettrace_parser::{Buffered, Mapping, Reader, Source, Whole};

use crate::pass::Input;

/// Converts a trace as `nettrace convert` does, to nowhere. Gives the number of events.
///
/// # Errors
/// When there is no such format, when the trace cannot be read, or has nothing to show.
pub fn file(file: &Path, format: &str, input: Input) -> io::Result<u64> {
    let format = Format::by_name(format).ok_or_else(|| io::Error::other("no such format"))?;
    match input {
        Input::Mapped => convert(Reader::new(Whole::new(whole(file)?)), format),
        Input::Read => convert(Reader::new(Buffered::new(File::open(file)?)), format),
    }
}

#[expect(unsafe_code, reason = "benchmarks read files that nobody else has")]
fn whole(file: &Path) -> io::Result<Mapping> {
    // SAFETY: the traces of a benchmark are written before it begins, and not changed
    // until it ends.
    unsafe { Mapping::open(file) }
}

fn convert<S: Source>(reader: Reader<S>, format: &Format) -> io::Result<u64> {
    let mut options = AnalysisOptions::new();
    options.kinds = format.kinds.to_vec();
    let mut analysis = Analysis::new(options);
    analysis.add((format.make)(Box::new(io::sink()), &ConvertOptions::new()));
    let mut events = reader.time_ordered();
    let outcome = analysis.read(&mut events).map_err(io::Error::other)?;
    if !outcome.is_complete() {
        return Err(io::Error::other(outcome.to_string()));
    }
    analysis.finish().map_err(io::Error::other)?;
    Ok(outcome.statistics().events)
}
