//! `nettrace info`: shows a trace's origin, amounts, losses and damage.

use crate::args::{InfoArgs, InputArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Packing;
use crate::messages::cause_of_loss;
use crate::printable::printable;
use crate::style::Style;
use crate::{survey, units};
use nettrace_analysis::info::{Survey, TraceInfo};
use std::io::{self, Write};

pub(super) fn run(args: &InfoArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let limits = Survey::limits();
    let mut trace = context.open_with(&args.input, limits)?;
    let header =
        trace.reader.trace().cloned().map_err(|error| Failure::read(&trace.file, &error, 0))?;
    let (survey, ended) = survey::survey_trace(&mut trace, args.threads, limits, Survey::bounded)?;
    context.progress.end();
    let info = ended.info(&survey, &header);
    if args.form.json {
        context.write_json(&info)?;
    } else {
        text(context, &args.input, &info, ended.packing())?;
    }
    context.out.finish()?;
    Ok(context.conclude(&trace.file, &ended, true))
}

/// Maximum number of items listed in a section; further items are only counted.
const MAX_LISTED_ITEMS: usize = 12;

fn text(
    context: &mut Context<'_>,
    input: &InputArgs,
    report: &TraceInfo,
    packing: Option<Packing>,
) -> Result<(), Failure> {
    let style = context.style;
    let mut writer = InfoWriter { out: context.out.buffer(), style };
    writer.write_heading(&input.name())?;
    writer.write_trace(report, packing)?;
    writer.write_blank_line()?;
    writer.write_amounts(report)?;
    writer.write_blank_line()?;
    writer.write_providers(report)?;
    writer.write_blank_line()?;
    writer.write_blocks(report)?;
    writer.write_damage(report)?;
    writer.write_blank_line()?;
    writer.write_next_steps(input, report)?;
    Ok(())
}

/// Writes the document of `info` as text, section by section.
struct InfoWriter<'o> {
    out: &'o mut Vec<u8>,
    style: Style,
}

impl InfoWriter<'_> {
    fn write_heading(&mut self, file: &str) -> io::Result<()> {
        writeln!(self.out, "{}", self.style.strong().over(printable(file)))
    }

    fn write_blank_line(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    fn write_line(&mut self, label: &str, text: &str) -> io::Result<()> {
        writeln!(self.out, "  {}  {text}", self.style.faint().over(format_args!("{label:<9}")))
    }

    fn write_trace(&mut self, report: &TraceInfo, packing: Option<Packing>) -> io::Result<()> {
        let name = match report.version {
            3 => "NetPerf (nettrace 3)".to_owned(),
            6 => format!("nettrace {}.{}", report.version, report.minor),
            version => format!("nettrace {version}"),
        };
        let packed = packing.map_or(String::new(), |packing| format!(", {}", packing.name()));
        let size = units::bytes(report.end_offset);
        let unpacked = if packing.is_some() { " unpacked" } else { "" };
        let end = match report.complete {
            true => self.style.good().over("complete"),
            false => {
                let missing = report.missing_bytes.map_or_else(String::new, |bytes| {
                    format!(", at least {} too early", units::bytes(bytes))
                });
                let text = format!("incomplete: ends at {:#x}{missing}", report.end_offset);
                self.style.bad().over(text)
            }
        };
        self.write_line("format", &format!("{name}{packed}, {size}{unpacked}, {end}"))?;
        let writer = report.writer.as_deref().unwrap_or(".NET, version not in the trace");
        self.write_line("writer", &printable(writer))?;
        let process = match report.process_id {
            Some(id) => id.to_string(),
            None if report.processes > 0 => units::counted(report.processes, "process"),
            None => "unknown".to_owned(),
        };
        let command = report.command_line.as_deref().map(printable).unwrap_or_default();
        self.write_line("process", format!("{process}  {command}").trim_end())?;
        let machine = [
            report.os.as_deref().map(printable),
            report.architecture.as_deref().map(printable),
            report.processors.map(|count| units::counted(u64::from(count), "processor")),
            Some(format!("{}-bit", u32::from(report.pointer_size) * 8)),
        ];
        self.write_line("machine", &machine.into_iter().flatten().collect::<Vec<_>>().join(", "))?;
        let start = match &report.start_utc {
            Some(start) => start.replace('T', " ").replace('Z', " UTC"),
            None => "unknown".to_owned(),
        };
        self.write_line("started", &start)?;
        let duration = report.duration_ns.map_or_else(|| "unknown".to_owned(), units::duration);
        self.write_line("lasted", &format!("{duration} to the last event"))?;
        let frequency = report.ticks_per_second.map_or_else(|| "unknown".to_owned(), units::count);
        self.write_line("clock", &format!("{frequency} ticks a second"))
    }

    fn write_amounts(&mut self, report: &TraceInfo) -> io::Result<()> {
        self.write_line(
            "events",
            &format!(
                "{} of {}{}, {} with stacks, {} of payload",
                units::count(report.events),
                if report.types_are_at_least { "at least " } else { "" },
                units::counted(report.types, "type"),
                units::count(report.events_with_stack),
                units::bytes(report.payload_bytes),
            ),
        )?;
        let lost = match (report.losses_known, report.lost) {
            (false, _) => "unknown: NetPerf does not number its events".to_owned(),
            (true, 0) => self.style.good().over("none"),
            (true, lost) => self.style.bad().over(format_args!(
                "{}{} of {} ({} of all) {}",
                if report.lost_is_at_least { "at least " } else { "" },
                units::counted(lost, "event"),
                units::counted(report.lost_threads, "thread"),
                units::share(lost, lost.saturating_add(report.events)),
                cause_of_loss(report.damage_count > 0),
            )),
        };
        self.write_line("lost", &lost)?;
        if report.restarts > 0 {
            let times = units::counted(report.restarts, "time");
            self.write_line("", &format!("{times} a thread id was reused by another thread"))?;
        }
        let at_least = |number, is_at_least| match is_at_least {
            true => format!("at least {}", units::count(number)),
            false => units::count(number),
        };
        self.write_line("threads", &at_least(report.threads, report.threads_are_at_least))?;
        self.write_line("stacks", &at_least(report.stacks, report.stacks_are_at_least))
    }

    fn write_providers(&mut self, report: &TraceInfo) -> io::Result<()> {
        let (others, is_at_least) = report
            .other_providers
            .as_ref()
            .map_or((0, false), |others| (others.providers, others.providers_are_at_least));
        let count = units::count((report.providers.len() as u64).saturating_add(others));
        self.write_line(
            "providers",
            &if is_at_least { format!("at least {count}") } else { count },
        )?;
        for provider in report.providers.iter().take(MAX_LISTED_ITEMS) {
            let name = self.style.name().over(printable(&provider.name));
            writeln!(self.out, "  {:>21}  {name}", units::count(provider.events))?;
        }
        if let Some(rest) = report.providers.len().checked_sub(MAX_LISTED_ITEMS + 1) {
            let rest = units::count((rest as u64 + 1).saturating_add(others));
            let at_least = if is_at_least { "at least " } else { "" };
            writeln!(self.out, "  {:>21}  and {at_least}{rest} more", "…")?;
        }
        Ok(())
    }

    fn write_blocks(&mut self, report: &TraceInfo) -> io::Result<()> {
        let total: u64 = report.blocks.iter().map(|(_, count)| count).sum();
        self.write_line("blocks", &units::count(total))?;
        for ((kind, count), (_, bytes)) in report.blocks.iter().zip(&report.bytes) {
            writeln!(
                self.out,
                "  {:>21}  {kind:<13} {:>11}",
                units::count(*count),
                units::bytes(*bytes)
            )?;
        }
        Ok(())
    }

    fn write_damage(&mut self, report: &TraceInfo) -> io::Result<()> {
        if report.damage_count == 0 {
            let good = self.style.good().over("none");
            self.write_line("damage", &good)?;
        } else {
            let lost = match report.damage_bytes {
                0 => String::new(),
                bytes => format!(", {} not delivered", units::bytes(bytes)),
            };
            let text = format!("{}{lost}", units::counted(report.damage_count, "finding"));
            let text = self.style.bad().over(text);
            self.write_line("damage", &text)?;
            for finding in report.damage.iter().take(MAX_LISTED_ITEMS) {
                let block =
                    finding.block.map_or_else(String::new, |block| format!("{block} block, "));
                writeln!(
                    self.out,
                    "  {:>#21x}  {}: {block}{}: {}",
                    finding.offset, finding.class, finding.context, finding.fault
                )?;
            }
            let listed = report.damage.len().min(MAX_LISTED_ITEMS) as u64;
            if report.damage_count > listed {
                writeln!(
                    self.out,
                    "  {:>21}  and {} more",
                    "…",
                    units::count(report.damage_count - listed)
                )?;
            }
        }
        for note in report.notes.iter().take(MAX_LISTED_ITEMS) {
            let times = if note.count > 1 {
                format!(" ({} times)", units::count(note.count))
            } else {
                String::new()
            };
            let text = format!("{:#x}: {}: {}{times}", note.offset, note.context, note.fault);
            self.write_line("note", &text)?;
        }
        Ok(())
    }

    fn write_next_steps(&mut self, input: &InputArgs, report: &TraceInfo) -> io::Result<()> {
        let file = input.shell_word();
        let (command, why) = match report.events {
            0 => (format!("nettrace info --json {file}"), "all of this for programs"),
            _ => (format!("nettrace stats {file}"), "which events, how many, how large"),
        };
        let text =
            format!("{}   {}", self.style.strong().over(command), self.style.faint().over(why));
        self.write_line("next", &text)
    }
}
