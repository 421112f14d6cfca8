//! Reports of a trace, alone and several in one pass.

use std::io;
use std::path::Path;

use nettrace_analysis::TopNOptions;
use nettrace_analysis::report::{Contention, Exceptions, Gc, ReportPass, Reports, TreeOptions};
use nettrace_parser::Reader;

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
        "gc" => count(Gc::new(), &stream),
        "contention" => count(Contention::new(), &stream),
        "exceptions" => count(Exceptions::new(), &stream),
        "topN" => count(TopNOptions::default(), &stream),
        "tree" => count(TreeOptions::default(), &stream),
        "gc+contention" => count((Gc::new(), Contention::new()), &stream),
        "gc+exceptions" => count((Gc::new(), Exceptions::new()), &stream),
        "topN+tree" => count((TopNOptions::default(), TreeOptions::default()), &stream),
        _ => Err(io::Error::other("no such reports")),
    }
}

fn count<R: Reports>(reports: R, stream: &[u8]) -> io::Result<u64> {
    let mut pass = ReportPass::new(reports);
    let outcome =
        pass.read(&mut Reader::from_slice(stream).time_ordered()).map_err(io::Error::other)?;
    let events = pass.finish().events;
    if !outcome.is_complete() || events == 0 {
        return Err(io::Error::other(format!("the trace has nothing for a report: {outcome}")));
    }
    Ok(outcome.statistics().events)
}
