//! What all reports of the runtime's doings share: one pass, JSON or a table, and what to record when
//! the trace has none of their events.

use crate::args::ReportArgs;
use crate::commands::{Context, Trace, failed, write_json};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::samples;
use nettrace_analysis::report::{Report, ReportPass};
use serde::Serialize;
use std::io;

/// Reads the trace once for a report and writes it.
pub(super) fn run<R: Report>(
    report: R,
    text: fn(&ReportArgs, &R::Output, &mut Context<'_>) -> io::Result<()>,
    args: &ReportArgs,
    trace: Trace,
    context: &mut Context<'_>,
) -> Result<Exit, Failure>
where
    R::Output: Serialize,
{
    let file = trace.file;
    let mut events = trace.reader.time_ordered();
    let options = samples::options(&args.samples);
    let mut filter = options.filter;
    filter.to_nanos = filter.to_nanos.or(args.before);
    let mut pass = ReportPass::new(report).filter(filter).names(options.names);
    pass.read(&mut events).map_err(|error| failed(&file, events.reader(), &error))?;
    let unused = samples::add_names(&args.samples, pass.model_mut())?;
    let reported = pass.finish();
    context.progress.end();
    if args.json {
        write_json(context, &reported.output)?;
    } else if reported.events > 0 {
        text(args, &reported.output, context)?;
    }
    context.out.finish()?;
    if reported.events == 0 {
        advise::<R>(&file, context);
    }
    for text in &unused {
        context.messages.warning(text);
    }
    context.messages.losses(&file, events.reader());
    Ok(context.conclude(&file, events.reader(), true))
}

/// Says what to record to have the events of a report.
pub(super) fn advise<R: Report>(file: &str, context: &mut Context<'_>) {
    let record: Vec<String> = R::RECORD.iter().map(ToString::to_string).collect();
    let message = format!(
        "{file}: the trace has no events for this report; record with --providers {}",
        record.join(" or ")
    );
    context.messages.warning(&message);
}
