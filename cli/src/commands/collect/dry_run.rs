//! `nettrace collect --dry-run`: the request, and nothing sent.

use super::super::Context;
use crate::args::CollectArgs;
use crate::failure::Failure;
use crate::live::request;
use nettrace_ipc::{EventFilter, Provider, SessionConfig};
use std::io::Write;

/// Shows the request of that command line and configuration.
pub(super) fn write(
    context: &mut Context<'_>,
    args: &CollectArgs,
    config: &SessionConfig,
) -> Result<(), Failure> {
    let command = config.lowest();
    let message = config.message(command).map_err(|error| Failure::Usage(error.to_string()))?;
    let id = command.id();
    let out = &mut context.out;
    let since = id.since().map(|major| format!(", which .NET {major} has")).unwrap_or_default();
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
        let text: String =
            bytes.iter().map(|byte| if byte.is_ascii_graphic() { char::from(*byte) } else { '.' }).collect();
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
