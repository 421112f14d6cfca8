//! `report summary`, which `nettrace FILE` prints too.

use super::pass::{Steps, show_in_steps};
use super::words::duration;
use crate::args::ReportArgs;
use crate::commands::{Context, Trace};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Ended;
use crate::printable::printable;
use crate::recommended::shell_word;
use crate::units;
use nettrace_analysis::report::{Finding, Summary, SummaryReport};
use std::io::{self, Write};

pub(super) fn run(args: &ReportArgs, trace: Trace, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let complete = |report: &mut SummaryReport, trace: &dyn Ended| {
        let lost = trace.losses().total();
        if lost > 0 {
            report.add(Finding::lost_events(lost, report.events));
        }
        true
    };
    let text = |_: &ReportArgs, file: &str, report: &SummaryReport, context: &mut Context<'_>| {
        text(file, report, context)
    };
    let steps = Steps { each: None, complete, text };
    show_in_steps(Summary::new(), &steps, args, trace, context)
}

fn text(file: &str, report: &SummaryReport, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, faint, name) = (context.style.strong(), context.style.faint(), context.style.name());
    let out = context.out.buffer();
    writeln!(out, "{}", strong.over(format!("{}: {}", printable(file), report.kind)))?;
    let process =
        report.process.as_deref().map_or_else(String::new, |process| format!(" of {}", printable(process)));
    writeln!(
        out,
        "{}{process}, {}, {}",
        duration(report.duration_ns),
        units::counted(report.events, "event"),
        units::counted(report.threads, "thread"),
    )?;
    let file = if file == "standard input" { "-".to_owned() } else { shell_word(file) };
    if !report.findings.is_empty() {
        writeln!(out)?;
        writeln!(out, "{}", strong.over("What stands out"))?;
        for finding in &report.findings {
            writeln!(out, "  {}", printable(&finding.text))?;
            writeln!(out, "    {}", name.over(format!("nettrace {} {file}", finding.command)))?;
        }
    }
    if !report.answers.is_empty() {
        writeln!(out)?;
        writeln!(out, "{}", strong.over("What it can answer"))?;
        for answer in &report.answers {
            let about = format!("{:<34}", answer.about);
            let count = faint.over(format!("{:>9}", units::count(answer.events)));
            writeln!(
                out,
                "  {about}{count}  {}",
                name.over(format!("nettrace report {} {file}", answer.report))
            )?;
        }
    }
    Ok(())
}
