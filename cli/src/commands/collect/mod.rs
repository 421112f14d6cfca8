//! `nettrace collect`: records events of running processes to files.

mod collector;
mod dry_run;
mod files;
mod formats;
mod guard;
mod recording;
mod second_stream;
mod starts;
mod status;
mod summary;

use crate::args::{BufferingMode, CollectArgs};
use crate::context::Context;
use crate::ending;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::counters;
use crate::live::end_rule::EndRule;
use crate::live::enter;
use crate::live::program::{Program, Sharing};
use crate::live::request;
use crate::live::rules::Rules;
use crate::live::signals::SIGINT;
use crate::live::stdout_queue::{Open, StdoutQueue, is_named_pipe};
use crate::live::target::{self, Selected, Talk};
use crate::live::until;
use collector::{Collector, Newcomers};
use files::{Files, RuleFiles};
use formats::Formats;
use guard::Guard;
use nettrace_analysis::fact::ProcessEnd;
use nettrace_export::{CounterName, Predicate};
use nettrace_ipc::{Children, Provider, Providers, RequestError, SessionConfig, WhenFull};
use second_stream::BesideStream;
use starts::Target;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) fn run(args: &CollectArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let conditions = conditions(args)?;
    let config = config(args, &conditions)?;
    check_usage(args, &conditions)?;
    if args.format.iter().any(|format| format == "list") {
        context.out.write_all(crate::commands::convert::formats().as_bytes())?;
        context.out.finish()?;
        return Ok(Exit::Fine);
    }
    let formats = Formats::new(&args.format)?;
    let rules = rules(args)?;
    let watch = rules.as_ref().map(Rules::watch_config).transpose();
    let rules = rules.zip(watch?);
    if args.dry_run {
        match &rules {
            Some((rules, watch)) => {
                let rotation = args.rotate.map(|_| &config);
                dry_run::write_rules(context, args, rules, watch, rotation)?;
            }
            None => dry_run::write(context, args, &config)?,
        }
        return Ok(Exit::Fine);
    }
    // Before a process is touched: a refusal after that would cost the start of a recording.
    let place = Destination::new(args, &formats, context)?;
    for warning in request::warnings(&config)
        .into_iter()
        .chain(until::warnings(&conditions, config.providers().iter()))
    {
        context.messages.warning(&warning);
    }
    let talk = Talk::new(&args.talk)?;
    let duration = args.duration.map(|span| span.0);
    let end = EndRule::notice(&context.delays, duration, &talk.deadlines)?;
    let records = args.rules.is_none() || args.rotate.is_some();
    let opening = Opening {
        table: if records {
            request::table(&args.session, &config, &request::askers(args))
        } else {
            Vec::new()
        },
        // A program started by this command reads Enter itself.
        has_enter: context.stdin_is_terminal && args.command.is_empty(),
    };
    let guard = rules.map(|(rules, watch)| {
        let files = RuleFiles::new(place.given(args), rules.folder.as_deref());
        (Guard::new(rules, files, context.delays.silent_rule), watch)
    });
    let place = place.open(args, &end, context)?;
    let mut collector = Collector::new(args, config, conditions, guard, place, end.clone());
    let result = if args.command.is_empty() {
        collect(args, &mut collector, opening, &end, &talk, context).map(|exit| (exit, false))
    } else {
        launch(args, &mut collector, opening, &end, &talk, context)
    };
    talk.finish()?;
    let (exit, is_cut_off) = result?;
    let mut beside = collector.take_beside();
    let written = collector.into_written();
    let ended = match exit {
        Exit::Program(code) if is_cut_off && written.len() == 1 => {
            Some(ProcessEnd::from_exit_code(code))
        }
        _ => None,
    };
    for trace in &written {
        ending::remove_old(trace);
        if let Some(beside) = beside.remove(trace) {
            beside.end(ended);
        }
    }
    // Recordings that were removed, as by a rotation.
    beside.into_values().for_each(BesideStream::discard);
    if let Some(end) = ended {
        context.messages.note(&format!("the program ended with {end}"));
    }
    match formats.convert(&written, args.talk.force, context) {
        // The exit code of a started program has precedence.
        Ok(Exit::Fine) => Ok(exit),
        Ok(_) if matches!(exit, Exit::Program(_)) => Ok(exit),
        Ok(converted) => Ok(converted),
        Err(failure) if matches!(exit, Exit::Program(_)) => {
            context.messages.error(&failure);
            Ok(exit)
        }
        Err(failure) => Err(failure),
    }
}

/// Returns the configuration of the session that the arguments request.
fn config(args: &CollectArgs, conditions: &[Predicate]) -> Result<SessionConfig, Failure> {
    let rundown = request::rundown(&args.session, args.rundown);
    let config = request::config(&args.session, Vec::new(), rundown)?;
    let config = match args.buffering_mode {
        BufferingMode::Drop => config,
        BufferingMode::Block => config.when_full(WhenFull::Block),
    };
    let config = match args.async_callers {
        true => request::with_tasks(config)?,
        false => config,
    };
    let names_methods = !args.command.is_empty() && !args.no_method_names;
    let config = match names_methods || args.lines {
        true => request::naming_methods(config, args.lines)?,
        false => config,
    };
    Ok(with_counters(config, conditions)?)
}

/// Refuses combinations of options that contradict each other.
fn check_usage(args: &CollectArgs, conditions: &[Predicate]) -> Result<(), Failure> {
    if let Some(platform) = &args.dsrouter {
        return Err(Failure::Usage(format!(
            "--dsrouter {platform}: nettrace needs no router. Let the app connect to a port here (Android: adb \
             reverse tcp:9000 tcp:9000) and give --port tcp://127.0.0.1:9000, or run dotnet-dsrouter and give --port \
             with the address that it names"
        )));
    }
    if args.keep_after.is_some() && conditions.is_empty() {
        return Err(Failure::usage(
            "--keep-after needs --until: it says how long to keep recording after that event",
        ));
    }
    if args.children && args.command.is_empty() {
        return Err(Failure::usage("--children needs a program to start; give -- COMMAND"));
    }
    Ok(())
}

/// Output that the arguments name for traces.
enum Destination {
    Stdout,
    Pipe(PathBuf),
    Files(Files),
}

impl Destination {
    /// Returns the output that the arguments name. Refuses outputs that would fail later.
    fn new(
        args: &CollectArgs,
        formats: &Formats,
        context: &Context<'_>,
    ) -> Result<Destination, Failure> {
        let usage = |text: &str| Err(Failure::usage(text));
        let has_several = args.all || args.children || args.rotate.is_some();
        if args.output.as_deref() != Some(Path::new("-")) {
            let given = args.output.as_deref();
            let Some(pipe) = given.filter(|path| is_named_pipe(path)) else {
                let is_rotating = args.rotate.is_some();
                let files = Files::new(given, args.talk.force, args.all, is_rotating);
                files.check(formats)?;
                return Ok(Destination::Files(files));
            };
            if has_several || !formats.is_empty() {
                return usage(
                    "a pipe takes one trace, and nothing is placed beside it; give -o FILE",
                );
            }
            return Ok(Destination::Pipe(pipe.to_owned()));
        }
        if has_several {
            return usage("standard output takes one trace; give -o FILE");
        }
        if !formats.is_empty() {
            return usage("converted files are placed beside the trace; give -o FILE");
        }
        if context.stdout_is_terminal {
            return usage("a trace is binary; redirect standard output to a file or a program");
        }
        Ok(Destination::Stdout)
    }

    /// Returns the path given with `-o`, unless it stands for standard output.
    fn given<'a>(&self, args: &'a CollectArgs) -> Option<&'a Path> {
        args.output.as_deref().filter(|_| !matches!(self, Destination::Stdout))
    }

    /// Returns the naming of files, or opens the queue that writes to standard output or a pipe.
    fn open(
        self,
        args: &CollectArgs,
        end: &EndRule,
        context: &Context<'_>,
    ) -> Result<(Option<Files>, Option<StdoutQueue>), Failure> {
        let open: Open = match self {
            Destination::Files(files) => return Ok((Some(files), None)),
            Destination::Pipe(path) => {
                Box::new(move || Ok(Box::new(File::options().write(true).open(path)?)))
            }
            Destination::Stdout => {
                let text = "standard output cannot be written by a thread";
                let stdout = (context.detached_stdout)();
                let stdout = stdout.ok_or_else(|| Failure::Output(io::Error::other(text)))?;
                Box::new(|| Ok(stdout))
            }
        };
        let stall = context.delays.stdout_stall;
        Ok((None, Some(StdoutQueue::new(open, args.on_stall, stall, end)?)))
    }
}

/// Reads the rules of `--rules`.
fn rules(args: &CollectArgs) -> Result<Option<Rules>, Failure> {
    let Some(path) = &args.rules else { return Ok(None) };
    if args.output.as_deref().is_some_and(|path| path == Path::new("-") || is_named_pipe(path)) {
        return Err(Failure::usage("recordings of rules are files; give -o FILE, or no -o"));
    }
    let rules = Rules::read(path, &args.session, args.rundown)?;
    if rules.keep_rotations() && args.rotate.is_none() {
        return Err(Failure::input(
            path.display().to_string(),
            "action = \"keep\" keeps what --rotate has; give --rotate 5x100MB, too",
        ));
    }
    Ok(Some(rules))
}

/// Adds the counters of these conditions to a session, with a value each second. Providers that
/// already have arguments stay as they are.
fn with_counters(
    config: SessionConfig,
    conditions: &[Predicate],
) -> Result<SessionConfig, RequestError> {
    let wanted: Vec<&CounterName> = conditions.iter().flat_map(Predicate::counters).collect();
    let is_there = |wanted: &Provider| {
        let mut own = config.providers().iter().filter(|own| own.name() == wanted.name());
        own.any(|own| own.wire_arguments().is_some())
    };
    let mut more = counters::providers(&wanted, Duration::from_secs(1))?;
    more.retain(|wanted| !is_there(wanted));
    if more.is_empty() {
        return Ok(config);
    }
    let all = Providers::new(config.providers().iter().cloned().chain(more))?;
    Ok(config.providing(all))
}

/// Returns the conditions that end the recording.
fn conditions(args: &CollectArgs) -> Result<Vec<Predicate>, Failure> {
    let mut conditions: Vec<Predicate> = args.until.iter().cloned().collect();
    if let Some(provider) = &args.stopping_event_provider_name {
        let event = args.stopping_event_event_name.as_deref();
        let filter = args.stopping_event_payload_filter.as_deref();
        conditions.push(Predicate::from_stopping_event(provider, event, filter).map_err(
            |error| Failure::Usage(format!("--stopping-event-payload-filter: {error}")),
        )?);
    }
    Ok(conditions)
}

/// Messages before the first process is recorded.
struct Opening {
    table: Vec<String>,
    has_enter: bool,
}

impl Opening {
    fn print(self, end: &EndRule, context: &mut Context<'_>) -> Result<(), Failure> {
        for line in self.table {
            context.messages.note(&line);
        }
        if self.has_enter {
            enter::watch(end.signals())?;
            context.messages.note("Enter or Ctrl-C ends the recording");
        }
        Ok(())
    }
}

/// Records running processes, or processes that connect to a port.
fn collect(
    args: &CollectArgs,
    collector: &mut Collector,
    opening: Opening,
    end: &EndRule,
    talk: &Talk,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    if args.all && args.target.port.is_none() {
        let all = target::all(talk)?;
        if all.is_empty() {
            let message = "no process can be reached; nettrace ps says why".to_owned();
            return Err(Failure::input("processes", message));
        }
        opening.print(end, context)?;
        for reached in all {
            // A process that is just exiting must not end the other recordings.
            collector.add(Target::Reached(reached), false, false)?;
        }
        collector.run(&mut Newcomers::None, context)?;
        return collector.conclude(context);
    }
    let found = target::find(&args.target, talk, end)?;
    opening.print(end, context)?;
    match found {
        Selected::Processes(processes) => {
            let reached = target::only(processes)?;
            collector.add(Target::Reached(reached), args.resume_runtime, true)?;
            collector.run(&mut Newcomers::None, context)?;
        }
        Selected::Port(port) if args.all => {
            target::invite(&port, end, &mut context.messages);
            collector.run(&mut Newcomers::Port(&port), context)?;
        }
        Selected::Port(port) => {
            let arrival = target::first_arrival(&port, end, &mut context.messages);
            let Some(arrival) = arrival else { return Ok(Exit::Failed) };
            collector.add(Target::Arrived(arrival), args.resume_runtime, true)?;
            collector.run(&mut Newcomers::LetGo(&|| port.let_go()), context)?;
        }
    }
    collector.conclude(context)
}

/// Starts a program and records it from its first method. Returns its exit code, and whether its
/// trace is damaged.
fn launch(
    args: &CollectArgs,
    collector: &mut Collector,
    opening: Opening,
    end: &EndRule,
    talk: &Talk,
    context: &mut Context<'_>,
) -> Result<(Exit, bool), Failure> {
    // A program that does not read the terminal need not receive Ctrl-C.
    let has_io = args.show_child_io;
    let sharing = Sharing { has_io, has_ctrl_c: has_io && context.stdin_is_terminal };
    let children = if args.children { Children::GiveOut } else { Children::Resume };
    let program = Program::start(&args.command, children, sharing, talk, end.signals())?;
    let Some(mut program) = program else { return Ok((Exit::Usage, false)) };
    opening.print(end, context)?;
    let recorded = record_launched(args, collector, &mut program, context);
    // A program that was started is waited for even if recording failed.
    if let Err(failure) = recorded {
        context.messages.error(&failure);
    } else if collector.is_empty() {
        context.messages.warning(&format!("{}; nothing is recorded", program.says_nothing()));
    }
    let trace = collector.conclude(context);
    if let Err(failure) = &trace {
        context.messages.error(failure);
    }
    let has_ctrl_c = program.has_ctrl_c() && end.signals().seen() == Some(SIGINT);
    if has_ctrl_c && matches!(trace, Ok(Exit::Damaged)) {
        let text = "Ctrl-C reached the program too, and ended it before its trace: the end is missing, and names of \
                    methods with it; with </dev/null it would have been stopped first";
        context.messages.warning(text);
    }
    let exit = program.wait(|launched| {
        if !args.children {
            collector.tell_let_go(&launched.let_go(), context);
        }
    })?;
    Ok((exit, matches!(trace, Ok(Exit::Damaged))))
}

fn record_launched(
    args: &CollectArgs,
    collector: &mut Collector,
    program: &mut Program,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let Some(arrival) = program.arrival()? else { return Ok(()) };
    collector.add(Target::Arrived(arrival), true, true)?;
    let launched = &mut program.launched;
    if args.children {
        return collector.run(&mut Newcomers::Launched(launched), context);
    }
    collector.run(&mut Newcomers::LetGo(&|| launched.let_go()), context)
}
