//! Counts the events of a trace, with several threads if these can read it.

use crate::args::ThreadArgs;
use crate::context::Trace;
use crate::failure::Failure;
use crate::input::{Ended, ended};
use nettrace_analysis::info::Survey;
use nettrace_parser::Limits;

/// Reads a trace to its end and counts its events. `new` makes an empty survey that keeps to
/// `limits`.
pub(crate) fn survey_trace(
    trace: &mut Trace,
    threads: ThreadArgs,
    limits: Limits,
    new: fn() -> Survey,
) -> Result<(Survey, Ended), Failure> {
    let regions = trace.regions(threads).map(|regions| regions.within(limits));
    let counted = regions.map(|regions| regions.survey(new)).transpose();
    if let Some((survey, outcome)) = counted.map_err(|error| trace.failed(&error))?.flatten() {
        return Ok((survey, outcome.into()));
    }
    let mut survey = new();
    trace.reader.visit(&mut survey).map_err(|error| trace.failed(&error))?;
    Ok((survey, ended(&trace.reader)))
}
