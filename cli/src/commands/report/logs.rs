//! `report logs`: writes log messages while the trace is read, or their templates.

use super::pass::{Asked, Steps, show_in_steps};
use super::words::errors;
use crate::args::{InputArgs, LogLevelArg, LogsArgs};
use crate::commands::watch::level_paint;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printable::printable;
use crate::table::{Cell, first, left, right};
use crate::units;
use nettrace_analysis::report::{LogFilter, LogLevel, LogRow, Logs, LogsReport};
use std::io::{self, Write};

pub(super) fn run(
    args: &LogsArgs,
    asked: Asked<'_>,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let each = |logs: &mut Logs, context: &mut Context<'_>| {
        logs.take().iter().try_for_each(|message| {
            row(message, context)?;
            context.out.hand_on()
        })
    };
    let text = |_: &InputArgs, report: &LogsReport, context: &mut Context<'_>| {
        if args.templates {
            templates(args.rows.number, report, context)?;
        } else {
            report.messages.iter().try_for_each(|message| row(message, context))?;
        }
        summary(report, context)
    };
    let mut filter = LogFilter::default();
    filter.least = level(args.level);
    filter.logger.clone_from(&args.logger);
    filter.request.clone_from(&args.request);
    let mut logs = Logs::default().filter(filter);
    if args.templates {
        logs = logs.without_messages();
    }
    let each: Option<fn(&mut Logs, &mut Context<'_>) -> io::Result<()>> =
        if args.templates { None } else { Some(each) };
    let steps = Steps { each, complete: |_, _, _, _| false, text: &text };
    show_in_steps(logs, asked, &steps, context)
}

fn templates(rows: usize, report: &LogsReport, context: &mut Context<'_>) -> io::Result<()> {
    let (bad, faint) = (context.style.bad(), context.style.faint());
    first(context, &report.templates, rows).columns([
        right("COUNT", 7, 0).fill(&|row| units::count(row.count).into()),
        left("LEVEL", 5, 2).fill(&|row| row.level.short_name().into()),
        right("EXCEPTIONS", 10, 3).fill(&|row| errors(row.exceptions, &bad)),
        left("LOGGER", 12, 1).fill(&|row| Cell::new(printable(&row.logger), &faint)),
        left("TEMPLATE", 20, 0).fill(&|row| printable(&row.template.replace('\n', " ")).into()),
    ])?;
    writeln!(context.out.buffer())
}

fn level(level: LogLevelArg) -> LogLevel {
    match level {
        LogLevelArg::Trace => LogLevel::Trace,
        LogLevelArg::Debug => LogLevel::Debug,
        LogLevelArg::Information => LogLevel::Information,
        LogLevelArg::Warning => LogLevel::Warning,
        LogLevelArg::Error => LogLevel::Error,
        LogLevelArg::Critical => LogLevel::Critical,
    }
}

fn row(message: &LogRow, context: &mut Context<'_>) -> io::Result<()> {
    let (faint, name) = (context.style.faint(), context.style.name());
    let level = level_paint(message.level, context.style);
    let out = context.out.buffer();
    let event = if message.event.is_empty() {
        String::new()
    } else {
        format!("[{}]", printable(&message.event))
    };
    // .NET Core 3.1 has an event with arguments but without a text.
    let text = match &message.arguments {
        Some(arguments) if message.message.is_empty() => arguments,
        _ => &message.message,
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
    if let (Some(template), Some(arguments)) = (&message.template, &message.arguments) {
        let text = format!("{} {}", printable(template), printable(arguments));
        writeln!(out, "{INDENT}{}", faint.over(text))?;
    }
    if !message.scopes.is_empty() {
        let scopes: Vec<String> = message.scopes.iter().map(|scope| printable(scope)).collect();
        writeln!(out, "{}", faint.over(format!("{INDENT}=> {}", scopes.join(" => "))))?;
    }
    if let Some(exception) = &message.exception {
        writeln!(out, "{INDENT}{}", lines(exception))?;
    }
    Ok(())
}

/// Indentation of a message's further lines.
const INDENT: &str = "                            ";

/// Indents all lines of a text but the first.
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
