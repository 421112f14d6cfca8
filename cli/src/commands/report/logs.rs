//! `report logs`: messages as they come.

use crate::args::ReportArgs;
use crate::commands::{Context, Trace, failed};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printable::printable;
use crate::{samples, units};
use nettrace_analysis::report::{LogLevel, LogRow, Logs, LogsReport, ReportPass};
use std::io::{self, Write};

/// As JSON the report is one object; for reading, messages are written while the trace is read.
pub(super) fn run(args: &ReportArgs, trace: Trace, context: &mut Context<'_>) -> Result<Exit, Failure> {
    if args.json {
        return super::runtime::run(Logs::new(), |_, _, _| Ok(()), args, trace, context);
    }
    context.forgo_progress_on_terminal();
    let file = trace.file;
    let mut events = trace.reader.time_ordered();
    let options = samples::options(&args.samples);
    let mut pass = ReportPass::new(Logs::new()).filter(options.filter).names(options.names);
    loop {
        match events.next_event() {
            Ok(Some(event)) => pass.event(&event),
            Ok(None) => break,
            Err(error) => return Err(failed(&file, events.reader(), &error)),
        }
        for message in pass.report_mut().take() {
            row(&message, context)?;
            context.out.hand_on()?;
        }
    }
    context.progress.end();
    let reported = pass.finish();
    for message in &reported.output.messages {
        row(message, context)?;
    }
    if reported.events > 0 {
        summary(&reported.output, context)?;
    }
    context.out.finish()?;
    if reported.events == 0 {
        super::runtime::advise::<Logs>(&file, context);
    }
    context.messages.losses(&file, events.reader());
    Ok(context.conclude(&file, events.reader(), true))
}

fn row(message: &LogRow, context: &mut Context<'_>) -> io::Result<()> {
    let (faint, name) = (context.style.faint(), context.style.name());
    let level = match message.level {
        LogLevel::Trace | LogLevel::Debug => context.style.faint(),
        LogLevel::Information => context.style.good(),
        LogLevel::Warning => context.style.warning(),
        _ => context.style.bad(),
    };
    let out = context.out.buffer();
    let event =
        if message.event.is_empty() { String::new() } else { format!("[{}]", printable(&message.event)) };
    let text = match &message.arguments {
        Some(arguments) => arguments,
        None => &message.message,
    };
    writeln!(
        out,
        "{:>11}  {}  {:>7}  {}{event} {}",
        units::milliseconds(message.ts_ns),
        level.over(message.level.short_name()),
        message.thread_id.map_or_else(|| "?".to_owned(), |id| id.to_string()),
        name.over(printable(&message.logger)),
        lines(text),
    )?;
    if !message.scopes.is_empty() {
        let scopes: Vec<String> = message.scopes.iter().map(|scope| printable(scope)).collect();
        writeln!(out, "{}", faint.over(format!("{INDENT}=> {}", scopes.join(" => "))))?;
    }
    if let Some(exception) = &message.exception {
        writeln!(out, "{INDENT}{}", lines(exception))?;
    }
    Ok(())
}

/// Below the message.
const INDENT: &str = "                            ";

/// A text of several lines stays below its message.
fn lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(printable).collect();
    lines.join(&format!("\n{INDENT}"))
}

fn summary(report: &LogsReport, context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    let levels: Vec<String> = report
        .levels
        .iter()
        .rev()
        .map(|row| format!("{} {}", units::count(row.count), row.level.short_name()))
        .collect();
    let loggers = units::counted(report.loggers.len() as u64, "logger");
    let levels = if levels.is_empty() { String::new() } else { format!(": {}", levels.join(", ")) };
    let text = format!("{} of {loggers}{levels}", units::counted(report.count, "message"));
    writeln!(context.out.buffer(), "{}", strong.over(text))
}
