//! `nettrace ps`: lists the .NET processes of this machine.

use crate::args::PsArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::with_causes;
use crate::failure::{Failure, without_number};
use crate::live::target::NAME_TIMEOUT;
use crate::live::transcript::Transcript;
use crate::printable::printable;
use crate::style::Paint;
use crate::table::{Cell, Detail, Table, end_page, layout_of, left, right};
use crate::units;
use nettrace_ipc::{
    CommandId, Deadlines, Found, LeftBy, Leftover, NamedPort, ProcessInfo, ProcessKind, Recorder,
    RuntimeVersion, Search, Startup,
};
use serde::{Serialize, Serializer};
use std::io::Write;
use std::time::Duration;

/// Time after which a process that does not answer is listed without details of its runtime.
const ANSWER_TIMEOUT: Duration = NAME_TIMEOUT;
/// Maximum characters of a command line, unless `--all` is given.
const MAX_COMMAND_COLUMNS: usize = 60;

/// Document of `--json`, whose keys must not change.
#[derive(Debug, Serialize)]
struct PsReport {
    schema: u32,
    processes: Vec<PsProcess>,
    leftovers: Vec<LeftoverReport>,
}

#[derive(Debug, Serialize)]
struct PsProcess {
    pid: u32,
    /// Process id in the process's own namespace, if it differs.
    own_pid: Option<u32>,
    /// Whether the process is in another container, where `pid` is its id.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    elsewhere: bool,
    #[serde(serialize_with = "write_kind")]
    kind: ProcessKind,
    name: String,
    version: Option<String>,
    architecture: Option<String>,
    os: Option<String>,
    runtime_identifier: Option<String>,
    entry_assembly: Option<String>,
    uptime_s: Option<f64>,
    owner: Option<u32>,
    command_line: String,
    reachable: bool,
    /// Reason why the process cannot be reached or did not answer.
    reason: Option<String>,
    endpoint: Option<String>,
    /// Ports in listen mode that its environment names and that its runtime ignores.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored_ports: Vec<String>,
    /// Whether the process is suspended at startup; `None` if not known.
    suspended: Option<bool>,
    /// Commands that a runtime of the process's version knows.
    #[serde(serialize_with = "write_names")]
    commands: Vec<CommandId>,
}

#[derive(Debug, Serialize)]
struct LeftoverReport {
    path: String,
    pid: u32,
    left_by: &'static str,
}

pub(super) fn run(args: &PsArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let transcript =
        args.record.as_deref().map(|path| Transcript::create(path, args.force)).transpose()?;
    let recorder = transcript.as_ref().map(|transcript| transcript.recorder().clone());
    let listing = Search::new().run();
    let asked: Vec<_> = listing
        .processes
        .into_iter()
        // All processes are queried at the same time, because each may take seconds to answer.
        .map(|found| {
            let recorder = recorder.clone();
            std::thread::Builder::new().spawn(move || report(&found, recorder))
        })
        .collect();
    let mut processes = Vec::new();
    for thread in asked {
        let thread = thread.map_err(Failure::Output)?;
        processes.extend(thread.join().ok());
    }
    transcript.as_ref().map_or(Ok(()), Transcript::finish)?;
    if let Some(why) = &listing.failure {
        return Err(Failure::input("processes", without_number(why)));
    }
    let leftovers = listing.leftovers.iter().map(leftover).collect();
    let report = PsReport { schema: 1, processes, leftovers };
    if args.form.json {
        context.write_json(&report)?;
    } else {
        write_text(context, args, &report)?;
    }
    context.out.finish()?;
    Ok(Exit::Fine)
}

fn report(found: &Found, recorder: Option<Recorder>) -> PsProcess {
    let deadlines = Deadlines::default().connect(ANSWER_TIMEOUT).reply(ANSWER_TIMEOUT);
    let runtime = match found.kind {
        ProcessKind::Runtime => found.runtime().ok().map(|runtime| runtime.deadlines(deadlines)),
        // A router would pass the request on to a device, or wait for one.
        _ => None,
    };
    let runtime = match recorder {
        Some(recorder) => runtime.map(|runtime| runtime.recorder(recorder)),
        None => runtime,
    };
    let (info, mut reason) = match runtime.as_ref().map(nettrace_ipc::Runtime::info) {
        Some(Ok(info)) => (Some(info), None),
        Some(Err(error)) if error.is_unknown_command() => (None, None),
        Some(Err(error)) => (None, Some(with_causes(&error))),
        None => (None, None),
    };
    if let Err(error) = &found.endpoint {
        reason = Some(error.to_string());
    }
    let suspended = match (&runtime, &info) {
        (Some(runtime), Some(info)) if found.suspends_at_startup => {
            runtime.startup_of(info).ok().map(|startup| startup == Startup::Suspended)
        }
        (Some(_), Some(_)) => Some(false),
        _ => None,
    };
    let version = info.as_ref().and_then(ProcessInfo::version);
    // Only .NET Core 3 does not know the command ProcessInfo.
    let is_old = runtime.is_some() && info.is_none() && reason.is_none();
    let core_3 = RuntimeVersion::parse("3.0.0").unwrap();
    let version_for_commands = version.or(is_old.then_some(core_3));
    let told = info.as_ref().filter(|_| found.is_elsewhere || found.name.is_empty());
    let ports = NamedPort::parse(found.ports.as_deref().unwrap_or_default());
    PsProcess {
        pid: told
            .filter(|_| found.is_elsewhere)
            .and_then(|info| u32::try_from(info.pid).ok())
            .unwrap_or(found.pid),
        own_pid: found.own_pid,
        elsewhere: found.is_elsewhere,
        kind: found.kind,
        name: match told.and_then(|info| info.entry_assembly.clone()) {
            Some(name) => name,
            None => found.name.clone(),
        },
        version: match &info {
            Some(info) => {
                info.product_version.as_deref().map(|text| without_build(text).to_owned())
            }
            None => is_old.then(|| "3.x".to_owned()),
        },
        architecture: info.as_ref().map(|info| info.architecture.clone()),
        os: info.as_ref().map(|info| info.operating_system.clone()),
        runtime_identifier: info.as_ref().and_then(|info| info.runtime_identifier.clone()),
        entry_assembly: info.as_ref().and_then(|info| info.entry_assembly.clone()),
        uptime_s: found.uptime.map(|uptime| uptime.as_secs_f64()),
        owner: found.owner,
        command_line: match told {
            Some(info) => info.command_line.clone(),
            None => found.command_line.join(" "),
        },
        reachable: found.endpoint.is_ok() && reason.is_none(),
        reason,
        endpoint: found.endpoint.as_ref().ok().map(ToString::to_string),
        ignored_ports: ports
            .into_iter()
            .filter(|port| port.listens)
            .map(|port| port.address)
            .collect(),
        suspended,
        commands: version_for_commands
            .map(|version| version.commands().collect())
            .unwrap_or_default(),
    }
}

/// Writes `router` or `runtime`.
fn write_kind<S: Serializer>(kind: &ProcessKind, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(if *kind == ProcessKind::Router { "router" } else { "runtime" })
}

fn write_names<S: Serializer>(commands: &[CommandId], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(commands.iter().map(CommandId::to_string))
}

fn leftover(leftover: &Leftover) -> LeftoverReport {
    LeftoverReport {
        path: leftover.path.display().to_string(),
        pid: leftover.pid,
        left_by: match leftover.left_by {
            LeftBy::Recycled => "another process has its id",
            LeftBy::Untried { .. } => {
                "no process here has made it, and only its owner may try whether one elsewhere listens"
            }
            _ => "the process is gone",
        },
    }
}

/// Returns a version without its commit: `10.0.12` for `10.0.12+4aa8ba5a`.
fn without_build(version: &str) -> &str {
    version.split('+').next().unwrap_or(version)
}

fn write_text(context: &mut Context<'_>, args: &PsArgs, report: &PsReport) -> Result<(), Failure> {
    if report.processes.is_empty() {
        context.messages.note("no .NET process is running, or none is visible to this user");
    }
    if !report.processes.is_empty() {
        table(context, args, report)?;
    }
    if args.all {
        for leftover in &report.leftovers {
            let text = format!(
                "{}: left behind by process {}: {}",
                leftover.path, leftover.pid, leftover.left_by
            );
            writeln!(context.out, "{}", context.style.faint().over(printable(&text)))?;
        }
    }
    Ok(())
}

/// Index of the column `CAN`.
const CAN_COLUMN: usize = 5;

fn table(context: &mut Context<'_>, args: &PsArgs, report: &PsReport) -> Result<(), Failure> {
    let is_whole = args.all || context.is_wide();
    let make = || {
        Table::new([
            right("PID", 0, 0),
            left("NAME", 0, 0),
            left("VERSION", 0, 1),
            left("ARCH", 0, 4),
            left("UPTIME", 0, 3),
            left("CAN", 0, 5),
            left("COMMAND", 0, 0).whole(args.all),
        ])
    };
    let mut rows = make();
    for process in &report.processes {
        rows.add_row(row(process, is_whole, context));
    }
    let layout = layout_of(std::slice::from_ref(&rows), context);
    if !layout.lacks(CAN_COLUMN) {
        return Ok(rows.write_in(&layout, context)?);
    }
    // Without the column, only exceptions are shown, because capabilities follow from the version.
    let (mut rows, warning) = (make(), context.style.warning());
    for process in &report.processes {
        rows.add_row(row(process, is_whole, context));
        if process.suspended == Some(true)
            || process.reason.is_some()
            || process.elsewhere
            || !process.ignored_ports.is_empty()
            || process.kind == ProcessKind::Router
        {
            rows.add_detail(Detail::new("  can ".to_owned(), can(process)), &warning);
        }
    }
    rows.write_in(&layout, context)?;
    Ok(end_page(context)?)
}

fn row(process: &PsProcess, is_whole: bool, context: &Context<'_>) -> [Cell; 7] {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "?".to_owned());
    let mut command = process.command_line.clone();
    if !is_whole && command.chars().count() > MAX_COMMAND_COLUMNS {
        command = command.chars().take(MAX_COMMAND_COLUMNS - 1).chain(['…']).collect();
    }
    let paint = if process.reachable { Paint::default() } else { context.style.warning() };
    [
        process.pid.to_string(),
        process.name.clone(),
        known(&process.version),
        known(&process.architecture),
        process.uptime_s.map_or_else(|| "?".to_owned(), uptime),
        can(process),
        command,
    ]
    .map(|cell| Cell::new(cell, &paint))
}

/// Returns the features that a process supports, or the reason why it cannot be used.
fn can(process: &PsProcess) -> String {
    let mut notes = String::new();
    if let (true, Some(endpoint)) = (process.elsewhere, &process.endpoint) {
        notes = format!("; in another container, reached with --port {endpoint},connect");
    }
    for port in &process.ignored_ports {
        notes.push_str(&format!("; its runtime ignores the port {port}, which is in listen mode"));
    }
    if let Some(reason) = &process.reason {
        return format!("nothing: {reason}{notes}");
    }
    if process.kind == ProcessKind::Router {
        return "route to devices".to_owned();
    }
    let words = [
        (CommandId::COLLECT_TRACING_2, "trace"),
        (CommandId::COLLECT_TRACING_4, "no-stacks"),
        (CommandId::COLLECT_TRACING_5, "event ids"),
        (CommandId::COLLECT_TRACING_6, "block instead of drop"),
        (CommandId::GENERATE_CORE_DUMP, "dump"),
        (CommandId::PROCESS_ENVIRONMENT, "env"),
        (CommandId::ENABLE_PERF_MAP, "perfmap"),
        (CommandId::APPLY_STARTUP_HOOK, "hook"),
    ];
    let mut words: Vec<&str> = words
        .into_iter()
        .filter(|(id, _)| process.commands.contains(id))
        .map(|(_, word)| word)
        .collect();
    if process.suspended == Some(true) {
        words.push("resume (it waits)");
    }
    format!("{}{notes}", words.join(", "))
}

/// Returns the time that a process has run: `3 s`, `5 min`, `2 h 5 min`, `3 d 4 h`.
fn uptime(seconds: f64) -> String {
    let seconds = seconds as u64;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min"),
        (0, ..) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{} d {} h", units::count(days), hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uptime_needs_two_units_at_most() {
        assert_eq!(
            [3.9, 300.0, 7500.0, 273_600.0].map(uptime),
            ["3 s", "5 min", "2 h 5 min", "3 d 4 h"]
        );
    }

    #[test]
    fn a_version_is_shown_without_its_commit() {
        assert_eq!(without_build("10.0.12+4aa8ba5a"), "10.0.12");
        assert_eq!(without_build("9.0.0-rc.1"), "9.0.0-rc.1");
    }
}
