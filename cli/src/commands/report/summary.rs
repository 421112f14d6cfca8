//! `report summary`, which `nettrace FILE` prints too.

use super::words::duration;
use crate::args::ReportArgs;
use crate::commands::{Context, Trace, failed, write_json};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printable::printable;
use crate::{samples, units};
use nettrace_analysis::report::{Finding, ReportPass, Summary, SummaryReport};
use std::io::{self, Write};

pub(super) fn run(args: &ReportArgs, trace: Trace, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let file = trace.file;
    let mut events = trace.reader.time_ordered();
    let options = samples::options(&args.samples);
    let mut pass = ReportPass::new(Summary::new()).filter(options.filter).names(options.names);
    pass.read(&mut events).map_err(|error| failed(&file, events.reader(), &error))?;
    let unused = samples::add_names(&args.samples, pass.model_mut())?;
    let mut report = pass.finish().output;
    let lost = events.reader().losses().total();
    if lost > 0 {
        report.add(Finding::lost_events(lost, report.events));
    }
    context.progress.end();
    if args.json {
        write_json(context, &report)?;
    } else {
        text(&file, &report, context)?;
    }
    context.out.finish()?;
    for text in &unused {
        context.messages.warning(text);
    }
    Ok(context.conclude(&file, events.reader(), true))
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
    let file = shell_word(file);
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

/// A file's name as a shell takes it.
fn shell_word(file: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._-/+,:=@".contains(c);
    let file = if file == "standard input" { "-" } else { file };
    if !file.is_empty() && file.chars().all(is_plain) {
        file.to_owned()
    } else {
        format!("'{}'", printable(file).replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_as_a_shell_takes_it() {
        let files = ["a/b.nettrace", "my trace", "it's", "standard input"];
        assert_eq!(files.map(shell_word), ["a/b.nettrace", "'my trace'", "'it'\\''s'", "-"]);
    }
}
