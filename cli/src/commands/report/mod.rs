//! `nettrace report`: what happened. [`REPORTS`] is the one list of reports.

mod gc;
mod runtime;
mod samples;
mod samples_text;

use super::{Context, Trace};
use crate::args::{InputArgs, ReportArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::nearest::{nearest, suggestion};
use nettrace_analysis::runtime::Gc;
use std::ffi::OsStr;

/// A report: its name, what it tells, and what makes it.
struct Row {
    name: &'static str,
    about: &'static str,
    run: fn(&ReportArgs, Trace, &mut Context<'_>) -> Result<Exit, Failure>,
}

const REPORTS: &[Row] = &[
    Row { name: "topN", about: "methods in which most time was spent", run: samples::run_top },
    Row { name: "tree", about: "who called whom", run: samples::run_tree },
    Row { name: "threads", about: "what each thread did", run: samples::run_threads },
    Row { name: "modules", about: "what was loaded", run: samples::run_modules },
    Row {
        name: "gc",
        about: "garbage collections: reasons, pauses, sizes",
        run: |args, trace, context| runtime::run(Gc::new(), gc::text, args, trace, context),
    },
];

/// The report of a name; case does not matter.
fn find(name: &OsStr) -> Option<&'static Row> {
    let name = name.to_str()?;
    let name = if name.eq_ignore_ascii_case("top") { "topN" } else { name };
    REPORTS.iter().find(|row| row.name.eq_ignore_ascii_case(name))
}

/// The reports, a line each, for the help.
pub(crate) fn list() -> String {
    let width = REPORTS.iter().map(|row| row.name.len()).max().unwrap_or(0);
    REPORTS.iter().map(|row| format!("  {:<width$}  {}\n", row.name, row.about)).collect()
}

pub(super) fn run(args: &ReportArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let [first, second] = args.what.as_slice() else {
        return Err(Failure::Usage("a report and a trace are due".to_owned()));
    };
    // dotnet-trace has the file in front.
    let (row, file) = match (find(first), find(second)) {
        (Some(row), _) => (row, second),
        (None, Some(row)) => (row, first),
        (None, None) => {
            let name = first.to_string_lossy();
            let names: Vec<&str> = REPORTS.iter().map(|row| row.name).collect();
            let meant = suggestion(&nearest(&name, names.iter().copied()));
            let message = format!("there is no report {name}{meant}; there are {}", names.join(", "));
            return Err(Failure::Usage(message));
        }
    };
    let trace = context.open(&InputArgs { file: file.into(), no_mmap: args.no_mmap })?;
    (row.run)(args, trace, context)
}
