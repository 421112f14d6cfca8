//! `nettrace collect --dry-run`: shows the request without sending it.

use crate::args::CollectArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::live::request;
use crate::live::rules::{Action, Limit, Rules, WhenFull};
use crate::units;
use nettrace_ipc::{EventFilter, Provider, SessionConfig};
use std::io::Write;
use std::time::Duration;

/// Shows what rules would look for, and what they would record.
pub(super) fn write_rules(
    context: &mut Context<'_>,
    args: &CollectArgs,
    rules: &Rules,
    watch: &SessionConfig,
    rotation: Option<&SessionConfig>,
) -> Result<(), Failure> {
    let out = &mut context.out;
    let time = |duration: Duration| {
        units::duration(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
    };
    writeln!(out, "Watch, with counters every {}:", time(rules.interval))?;
    for provider in watch.providers() {
        writeln!(out, "  {}", line(provider))?;
    }
    for rule in &rules.all {
        writeln!(out, "Rule {}, when {}:", rule.name, rule.condition.text())?;
        match &rule.action {
            Action::Start(start) => {
                let size =
                    start.max_bytes.map(|bytes| format!(", at most {}", units::bytes(bytes)));
                let file = format!("*_PID_DATE_TIME_{}.nettrace", rule.name);
                writeln!(
                    out,
                    "  record {}{} to {file}",
                    time(start.duration),
                    size.unwrap_or_default()
                )?;
                for row in request::table(&start.session, &start.config, &[]) {
                    writeln!(out, "    {row}")?;
                }
            }
            Action::Keep { after } => {
                let file = format!("*_PID_DATE_TIME_{}_NNNN.nettrace", rule.name);
                writeln!(out, "  keep the rotation and {} after that as {file}", time(*after))?;
            }
        }
        writeln!(
            out,
            "  then wait {} before it may fire again{}",
            time(rule.cooldown),
            limits(rule.limit)
        )?;
    }
    if rules.limit.files.is_some() || rules.limit.bytes.is_some() {
        writeln!(out, "All rules{}", limits(rules.limit))?;
    }
    if let Some(rotation) = rotation {
        writeln!(out, "Beside that, in rotation:")?;
        for row in request::table(&args.session, rotation, &request::askers(args)) {
            writeln!(out, "  {row}")?;
        }
    }
    out.finish()?;
    Ok(())
}

/// Returns a limit in words: `; at most 5 files and 1.0 GiB, then the oldest are removed`.
fn limits(limit: Limit) -> String {
    let files = limit.files.map(|files| units::counted(files as u64, "file"));
    let size = limit.bytes.map(units::bytes);
    let most = match (files, size) {
        (None, None) => return String::new(),
        (Some(files), None) => files,
        (None, Some(size)) => size,
        (Some(files), Some(size)) => format!("{files} and {size}"),
    };
    let then = match limit.when_full {
        WhenFull::DeleteOldest => "then the oldest are removed",
        WhenFull::Stop => "then nothing more is recorded",
    };
    format!("; at most {most}, {then}")
}

/// Shows the request: commands, providers, and bytes of the message.
pub(super) fn write(
    context: &mut Context<'_>,
    args: &CollectArgs,
    config: &SessionConfig,
) -> Result<(), Failure> {
    let command = config.lowest();
    let message = config.message(command)?;
    let id = command.id();
    let out = &mut context.out;
    let since = id.since().map(|major| format!(", from .NET {major} on")).unwrap_or_default();
    writeln!(out, "{id} ({:02x} {:02x}){since}", id.set, id.id)?;
    let mut older = command.lower().filter(|_| id.since().is_some_and(|major| major > 3));
    while let Some(lower) = older {
        let (id, lost) = (lower.id(), config.lost_with(lower));
        let lost: Vec<String> = lost.iter().map(ToString::to_string).collect();
        let lost = if lost.is_empty() { "the same".to_owned() } else { lost.join("; ") };
        let since = id.since().map(|major| format!(" (.NET {major})")).unwrap_or_default();
        writeln!(out, "older      {id}{since}: {lost}")?;
        older = lower.lower().filter(|_| id.since().is_some_and(|major| major > 3));
    }
    writeln!(out, "buffer     {} MB", args.session.buffersize)?;
    let rundown = request::rundown(&args.session, args.rundown).keyword();
    writeln!(
        out,
        "rundown    {}",
        if rundown == 0 { "none".to_owned() } else { format!("keyword {rundown:#x}") }
    )?;
    writeln!(out, "stacks     {}", if args.session.no_stacks { "no" } else { "yes" })?;
    for provider in config.providers() {
        writeln!(out, "provider   {}", line(provider))?;
    }
    writeln!(out, "bytes      {}", message.as_bytes().len())?;
    for (at, bytes) in message.as_bytes().chunks(16).enumerate() {
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String = bytes
            .iter()
            .map(|byte| if byte.is_ascii_graphic() { char::from(*byte) } else { '.' })
            .collect();
        writeln!(out, "  {:04x}  {:<47}  {text}", at * 16, hex.join(" "))?;
    }
    out.finish()?;
    Ok(())
}

fn line(provider: &Provider) -> String {
    let level = provider.wanted_level();
    let mut text = format!(
        "{}  keywords {:#x}  level {} {level:?}",
        provider.name(),
        provider.wire_keywords(),
        level.number()
    );
    if let Some(arguments) = provider.wire_arguments() {
        text.push_str(&format!("  arguments {arguments:?}"));
    }
    let list = |ids: &std::collections::BTreeSet<u32>| {
        ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    };
    match provider.event_filter() {
        Some(EventFilter::Only(ids)) => text.push_str(&format!("  only events {}", list(ids))),
        Some(EventFilter::Except(ids)) => text.push_str(&format!("  all events but {}", list(ids))),
        Some(other) => text.push_str(&format!("  only {other:?}")),
        None => {}
    }
    text
}
