//! `nettrace process`: sends the commands of the protocol that start no session.

use crate::args::amount::hex_bytes;
use crate::args::{AskArgs, DumpChoice, PerfMapChoice, ProcessArgs, ProcessRequest};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::end_rule::EndRule;
use crate::live::signals::Signals;
use crate::live::target::{self, Reached, Selected, Talk};
use crate::printable::printable;
use nettrace_ipc::{
    AttachProfiler, CommandId, Dump, DumpType, PerfMapType, RawCommand, SetEnvironmentVariable,
    StartupHook, StartupProfiler, Variable,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

pub(super) fn run(args: &ProcessArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let ask = ask(&args.request);
    let talk = Talk::new(&ask.talk)?;
    let end = EndRule::new(&Signals::none(), None, &talk.deadlines);
    let place = target::find(&ask.target, &talk, &end)?;
    let (reached, port) = match place {
        Selected::Processes(processes) => (target::only(processes)?, None),
        Selected::Port(port) => {
            let end = EndRule::notice(&context.delays, None, &talk.deadlines)?;
            let reached = target::first(&port, &end, &mut context.messages);
            let Some(reached) = reached else { return Ok(Exit::Failed) };
            (reached, Some(port))
        }
    };
    let answer = answer(&args.request, &reached);
    // This also resumes a process that connected to the command's port.
    drop(port);
    talk.finish()?;
    let answer = answer?;
    if ask.form.json {
        context.write_json(&ProcessReport { schema: 1, pid: reached.pid, answer: &answer.json })?;
    } else {
        for line in &answer.text {
            writeln!(context.out, "{}", printable(line))?;
        }
    }
    context.out.finish()?;
    answer.lacking.map_or(Ok(Exit::Fine), Err)
}

/// Document of `--json`, whose keys must not change.
#[derive(Serialize)]
struct ProcessReport<'r> {
    schema: u32,
    pid: Option<u64>,
    #[serde(flatten)]
    answer: &'r Value,
}

struct Answer {
    text: Vec<String>,
    json: Value,
    /// Failure that names requested variables which the process does not have.
    lacking: Option<Failure>,
}

impl Answer {
    /// Returns the answer to a command whose reply has no data.
    fn done(command: CommandId, text: String) -> Answer {
        Answer {
            text: vec![text],
            json: json!({ "command": command.to_string(), "done": true }),
            lacking: None,
        }
    }
}

fn ask(request: &ProcessRequest) -> &AskArgs {
    match request {
        ProcessRequest::Info { ask }
        | ProcessRequest::Env { ask, .. }
        | ProcessRequest::Setenv { ask, .. }
        | ProcessRequest::Resume { ask }
        | ProcessRequest::Perfmap { ask, .. }
        | ProcessRequest::StartupHook { ask, .. }
        | ProcessRequest::Dump { ask, .. }
        | ProcessRequest::AttachProfiler { ask, .. }
        | ProcessRequest::StartupProfiler { ask, .. }
        | ProcessRequest::Send { ask, .. } => ask,
    }
}

fn answer(request: &ProcessRequest, reached: &Reached) -> Result<Answer, Failure> {
    let runtime = &reached.runtime;
    let label = reached.label();
    let failed = |error: nettrace_ipc::Error| reached.failed(&error);
    match request {
        ProcessRequest::Info { .. } => info(reached),
        ProcessRequest::Env { names, .. } => {
            let variables = runtime.environment().map_err(failed)?;
            environment(reached, variables, names)
        }
        ProcessRequest::Setenv { variable, unset, .. } => {
            let (variable, text) = variable_change(variable, *unset)?;
            runtime.set_environment_variable(&variable).map_err(failed)?;
            Ok(Answer::done(CommandId::SET_ENVIRONMENT_VARIABLE, format!("{label}: {text}")))
        }
        ProcessRequest::Resume { .. } => {
            runtime.resume().map_err(failed)?;
            Ok(Answer::done(
                CommandId::RESUME_RUNTIME,
                format!("{label}: resumed, if it was suspended"),
            ))
        }
        ProcessRequest::Perfmap { which, .. } => perf_map(*which, reached),
        ProcessRequest::StartupHook { assembly, .. } => {
            let path = absolute(assembly)?;
            let hook = StartupHook::with_root(Path::new(&path), runtime.target_root())?;
            runtime.apply_startup_hook(&hook).map_err(failed)?;
            Ok(Answer::done(CommandId::APPLY_STARTUP_HOOK, format!("{label}: {path} has run")))
        }
        ProcessRequest::Dump { ask, output, kind, crash_report, logging } => {
            let path = absolute(output)?;
            let report = crash_report.then(|| format!("{path}.crashreport.json"));
            for file in [Some(&path), report.as_ref()].into_iter().flatten() {
                replaceable(file, runtime.target_root(), ask.talk.force)?;
            }
            let dump = Dump::new(&path, dump_type(*kind))?;
            let dump = dump.logging(*logging).crash_report(*crash_report);
            let command = runtime.write_dump(&dump).map_err(failed)?.id();
            let mut answer = Answer::done(command, format!("{label}: wrote {path}"));
            answer.json["path"] = json!(path);
            Ok(answer)
        }
        ProcessRequest::AttachProfiler { profiler, timeout, client_data, .. } => {
            let attach = AttachProfiler::new(profiler.class_id, &profiler.path);
            let mut attach = attach?.timeout(timeout.0);
            if let Some(file) = client_data {
                let bytes = std::fs::read(file)
                    .map_err(|error| Failure::open(&file.display().to_string(), file, &error))?;
                attach = attach.client_data(bytes);
            }
            runtime.attach_profiler(&attach).map_err(failed)?;
            let text = format!("{label}: {} is attached", profiler.path);
            Ok(Answer::done(CommandId::ATTACH_PROFILER, text))
        }
        ProcessRequest::StartupProfiler { profiler, .. } => {
            let startup = StartupProfiler::new(profiler.class_id, &profiler.path)?;
            runtime.startup_profiler(&startup).map_err(failed)?;
            let text = format!(
                "{label}: {} will be loaded at startup, unless the process has already started",
                profiler.path
            );
            Ok(Answer::done(CommandId::STARTUP_PROFILER, text))
        }
        // clap has made sure that the user knows the danger.
        ProcessRequest::Send { set, id, payload, .. } => {
            let payload = hex_bytes(payload)
                .ok_or_else(|| Failure::Usage(format!("\"{payload}\" is not hexadecimal")))?;
            let command = CommandId { set: *set, id: *id };
            let reply =
                runtime.send_unchecked(&RawCommand::unchecked(command, payload)).map_err(failed)?;
            let hex: String = reply.iter().map(|byte| format!("{byte:02x}")).collect();
            let json = json!({ "command": command.to_string(), "reply_hex": hex });
            Ok(Answer { text: vec![hex], json, lacking: None })
        }
    }
}

fn perf_map(which: PerfMapChoice, reached: &Reached) -> Result<Answer, Failure> {
    let (runtime, label) = (&reached.runtime, reached.label());
    let failed = |error: nettrace_ipc::Error| reached.failed(&error);
    let (kind, files) = match which {
        PerfMapChoice::All => (PerfMapType::All, "jit-PID.dump and perf-PID.map"),
        PerfMapChoice::Jitdump => (PerfMapType::JitDump, "jit-PID.dump"),
        PerfMapChoice::Perfmap => (PerfMapType::PerfMap, "perf-PID.map"),
        PerfMapChoice::Off => {
            runtime.disable_perf_map().map_err(failed)?;
            let text = format!("{label}: stopped writing perf maps");
            return Ok(Answer::done(CommandId::DISABLE_PERF_MAP, text));
        }
    };
    runtime.enable_perf_map(kind).map_err(failed)?;
    let text = format!("{label}: writes {files} into /tmp");
    Ok(Answer::done(CommandId::ENABLE_PERF_MAP, text))
}

fn dump_type(choice: DumpChoice) -> DumpType {
    match choice {
        DumpChoice::Normal => DumpType::Normal,
        DumpChoice::Heap => DumpType::WithHeap,
        DumpChoice::Triage => DumpType::Triage,
        DumpChoice::Full => DumpType::Full,
    }
}

fn info(reached: &Reached) -> Result<Answer, Failure> {
    let info = reached.runtime.info().map_err(|error| reached.failed(&error))?;
    let version = info.version();
    let commands: Vec<String> = version
        .iter()
        .flat_map(|version| version.commands())
        .map(|command| command.to_string())
        .collect();
    let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| "?".to_owned());
    let text = vec![
        format!("process       {}", info.pid),
        format!("command line  {}", info.command_line),
        format!("assembly      {}", shown(&info.entry_assembly)),
        format!("version       {}", shown(&info.product_version)),
        format!("machine       {}, {}", info.operating_system, info.architecture),
        format!("identifier    {}", shown(&info.runtime_identifier)),
        format!("cookie        {}", info.cookie),
        format!("commands      {}", commands.join(", ")),
    ];
    let json = json!({
        "own_pid": info.pid,
        "cookie": info.cookie.to_string(),
        "command_line": info.command_line,
        "os": info.operating_system,
        "architecture": info.architecture,
        "entry_assembly": info.entry_assembly,
        "product_version": info.product_version,
        "runtime_identifier": info.runtime_identifier,
        "commands": commands,
    });
    Ok(Answer { text, json, lacking: None })
}

fn environment(
    reached: &Reached,
    variables: Vec<Variable>,
    names: &[String],
) -> Result<Answer, Failure> {
    let is_wanted = |variable: &&Variable| names.is_empty() || names.contains(&variable.name);
    let wanted: Vec<&Variable> = variables.iter().filter(is_wanted).collect();
    let is_missing = |name: &&String| !wanted.iter().any(|variable| variable.name == **name);
    let missing: Vec<&str> = names.iter().filter(is_missing).map(String::as_str).collect();
    let lacking = (!missing.is_empty()).then(|| {
        let message = format!("its environment has no {}", missing.join(", "));
        Failure::input(reached.label(), message)
    });
    let text = wanted.iter().map(|variable| match &variable.value {
        Some(value) => format!("{}={value}", variable.name),
        None => variable.name.clone(),
    });
    let json: Vec<Value> = wanted
        .iter()
        .map(|variable| json!({ "name": variable.name, "value": variable.value }))
        .collect();
    Ok(Answer { text: text.collect(), json: json!({ "variables": json }), lacking })
}

fn variable_change(
    text: &str,
    is_unset: bool,
) -> Result<(SetEnvironmentVariable, String), Failure> {
    match (text.split_once('='), is_unset) {
        (None, true) => {
            let variable = SetEnvironmentVariable::unset(text)?;
            Ok((variable, format!("{text} is removed")))
        }
        (Some((name, value)), false) => {
            let variable = SetEnvironmentVariable::set(name, value)?;
            Ok((variable, format!("{name} is set")))
        }
        (Some(_), true) => Err(Failure::usage("--unset takes only the name")),
        (None, false) => Err(Failure::Usage(format!("write {text}=VALUE, or --unset {text}"))),
    }
}

/// Refuses a file that exists, unless `is_forced`, because the runtime would replace it, even
/// through links and on devices.
fn replaceable(file: &str, target_root: &Path, is_forced: bool) -> Result<(), Failure> {
    // The path in this command's file system. `symlink_metadata` finds dangling links, too.
    let seen = target_root.join(file.trim_start_matches('/'));
    let message = match std::fs::symlink_metadata(&seen) {
        Err(_) => return Ok(()),
        Ok(there) if !there.is_file() => "already exists and is not a regular file",
        Ok(_) if is_forced => return Ok(()),
        Ok(_) => "already exists; use --force to overwrite",
    };
    Err(Failure::input(file, message))
}

/// Returns an absolute path, because the process may have another current folder.
fn absolute(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::open(&path.display().to_string(), path, &error);
    let path = std::path::absolute(path).map_err(failed)?;
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::Usage(format!("{}: the protocol supports only Unicode", path.display()))
    })
}
