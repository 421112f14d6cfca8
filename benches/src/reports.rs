//! Reports of a trace, alone and several in one pass.

use std::io;
use std::path::Path;

use nettrace_analysis::TopNOptions;
use nettrace_analysis::report::{
    Contention, Exceptions, Gc, Report, ReportPass, Reports, SharedPass, TreeOptions,
};
use nettrace_parser::{Outcome, Reader};

/// Before the names of reports, where a mode is asked for.
pub const PREFIX: &str = "report:";

/// Sets of reports, by name: each of a pair alone, and both in one pass.
pub const PAIRS: [[&str; 3]; 3] = [
    ["gc", "contention", "gc+contention"],
    ["gc", "exceptions", "gc+exceptions"],
    ["topN", "tree", "topN+tree"],
];

/// Makes the reports of a trace in one pass. Gives the number of events.
///
/// # Errors
/// When there are no such reports, or the trace cannot be read, or has nothing for them.
pub fn file(file: &Path, name: &str) -> io::Result<u64> {
    let stream = std::fs::read(file)?;
    match name {
        "gc" => alone(Gc::new(), &stream),
        "contention" => alone(Contention::new(), &stream),
        "exceptions" => alone(Exceptions::new(), &stream),
        "topN" => alone(TopNOptions::default(), &stream),
        "tree" => alone(TreeOptions::default(), &stream),
        "gc+contention" => together((Gc::new(), Contention::new()), &stream),
        "gc+exceptions" => together((Gc::new(), Exceptions::new()), &stream),
        "topN+tree" => together((TopNOptions::default(), TreeOptions::default()), &stream),
        _ => Err(io::Error::other("no such reports")),
    }
}

fn alone<R: Report>(report: R, stream: &[u8]) -> io::Result<u64> {
    let mut pass = ReportPass::new(report);
    let outcome =
        pass.read(&mut Reader::from_slice(stream).time_ordered()).map_err(io::Error::other)?;
    events(&outcome, &[pass.finish().events])
}

fn together<T: Reports>(reports: T, stream: &[u8]) -> io::Result<u64> {
    let mut pass = SharedPass::new(reports);
    let outcome =
        pass.read(&mut Reader::from_slice(stream).time_ordered()).map_err(io::Error::other)?;
    events(&outcome, &pass.finish().events)
}

fn events(outcome: &Outcome, told: &[u64]) -> io::Result<u64> {
    if !outcome.is_complete() || told.contains(&0) {
        return Err(io::Error::other(format!(
            "the trace has nothing for a report: {told:?}, {outcome}"
        )));
    }
    Ok(outcome.statistics().events)
}
