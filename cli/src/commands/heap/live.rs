//! `nettrace heap -p PID`: takes a dump of a running process.
//!
//! A session with the keyword for heap dumps makes the runtime stop all threads, collect, and
//! report the objects that are left. The session is stopped when that collection has ended, however
//! long it takes, and is read to its end, where the modules are named.
//!
//! The runtime describes each type only once, to all sessions together. A short session without
//! types comes first, because it makes the runtime forget which types it has described. The runtime
//! does not forget while another tool's session wants types: types already described to that
//! session have no names here, and a message says so.

use super::super::attached::{Attached, with_process, with_program};
use super::overview;
use super::trace::HeapTrace;
use crate::args::profiles::RUNTIME;
use crate::args::{HeapArgs, TargetArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, plain};
use crate::live::driver::{Consumer, Driven, Driver, Next, Received};
use crate::live::end_rule::EndRule;
use crate::live::program::Sharing;
use crate::live::sink::{Saved, Sink};
use crate::live::start::{self, Resume};
use crate::live::target::Reached;
use crate::messages::Messages;
use crate::new_file::{NewFile, Unfinished};
use crate::outer_types::{self, Modules};
use crate::status_line::StatusLine;
use crate::units;
use nettrace_analysis::heap::{HeapReader, RECORD};
use nettrace_ipc::{Error, Level, Provider, Providers, RequestError, Rundown, SessionConfig};
use nettrace_parser::{Event, Feed};
use std::io;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

/// Buffer for events in the process in megabytes, equal to dotnet-gcdump's.
const BUFFER_MEGABYTES: NonZeroU32 = NonZeroU32::new(1024).expect("is not zero");
/// Time that a started program runs before its dump, unless `--after` is given.
const RUN_BEFORE_DUMP: Duration = Duration::from_secs(1);

pub(super) fn run(
    args: &HeapArgs,
    target: &TargetArgs,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let save = args.save.as_deref();
    let save = save
        .map(|path| NewFile::create(path, args.talk.force, &[], Unfinished::Kept))
        .transpose()?;
    let sink = save.map_or(Sink::Nowhere, |file| Sink::file(file, false));
    if args.program.is_empty() {
        return with_process((target, &args.talk), None, context, |attached, context| {
            dump(args, attached, sink, context)
        });
    }
    let program = (&*args.program, Sharing { has_io: true, has_ctrl_c: true });
    with_program(program, &args.talk, None, context, |attached, context| {
        dump(args, attached, sink, context).map(Some)
    })
}

fn config() -> Result<SessionConfig, RequestError> {
    let [record, _] = RECORD;
    let heap = Provider::new(record.provider)?.keywords(record.keywords).level(Level::Verbose);
    // Stacks of the heap's events are not shown. The rundown names modules, and types by their
    // methods.
    Ok(SessionConfig::new(Providers::new([heap])?)
        .rundown(Rundown::Default)
        .buffer_megabytes(BUFFER_MEGABYTES)
        .stacks(false))
}

/// Makes the runtime forget which types it has described.
///
/// # Errors
/// The process did not answer in time, so that waiting for a dump would fail, too.
fn forget_types(reached: &Reached, end: &EndRule) -> Result<(), Failure> {
    // The keyword is for garbage collections, which have no events at this level.
    let provider = Provider::new(RUNTIME)?.keywords(0x1).level(Level::Critical);
    let config = SessionConfig::new(Providers::new([provider])?).rundown(Rundown::Off);
    let runtime = reached.runtime.clone();
    // The end of an earlier session may still be sending types, and these would lack names.
    reached.settle(end);
    match end.ask(move || runtime.start(&config)?.stop())? {
        Some(Err(error @ Error::Deadline { .. })) => Err(reached.failed(&error)),
        _ => Ok(()),
    }
}

/// Takes a dump and shows it.
fn dump(
    args: &HeapArgs,
    attached: &Attached,
    sink: Sink,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let Attached { reached, is_new, end } = attached;
    if *is_new {
        start::resume_unrecorded(reached.runtime.clone(), end);
    }
    let run_up = if *is_new { RUN_BEFORE_DUMP } else { Duration::ZERO };
    end.sleep_until(Instant::now() + args.after.map_or(run_up, |span| span.0));
    reached.refuse_stopped(end)?;
    forget_types(reached, end)?;
    let config = config()?;
    let session = start::start(reached, config, Resume::No, end, &mut context.messages)?;
    let Some(session) = session else { return Ok(Exit::Failed) };
    let line = StatusLine::new(context.shows_status);
    let file = args.save.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let mut dumping = Dumping {
        heap: HeapReader::default(),
        line,
        is_stopping: false,
        file: &file,
        messages: &mut context.messages,
        reached,
        has_begun: false,
        asked: Instant::now(),
        requests_after: Some(context.delays.heap_dump),
    };
    let driver = Driver::new(session, Feed::new().time_ordered()).into_sink(sink).until(end);
    let read = driver.run(&mut dumping)?;
    dumping.line.clear();
    // A process at a port may run on another machine, whose modules are not here.
    if let (Some(pid), true) = (reached.pid_here(), args.port.is_none()) {
        outer_types::add(&mut dumping.heap, Modules::Process(pid), dumping.messages);
    }
    let dumps = dumping.heap.finish();
    let is_saved = conclude(&read, reached, &file, context);
    let trace = HeapTrace::live(reached.label(), read.outcome, dumps);
    if let (Some(shown), count @ 2..) = (trace.dump(), trace.dumps.len()) {
        let text = format!(
            "{}: a garbage collection ran during the dump, so there are {}; this is number {}",
            trace.file,
            units::counted(count as u64, "heap dump"),
            shown.index
        );
        context.messages.note(&text);
    }
    // A dump that could not be saved is shown, because the process was stopped for it.
    let exit = overview::run(args, &trace, context)?;
    Ok(if is_saved { exit } else { Exit::Failed })
}

/// Reports how the session ended and where its bytes are. Returns false if the file that the user
/// named lacks any.
fn conclude(read: &Driven, reached: &Reached, file: &str, context: &mut Context<'_>) -> bool {
    let messages = &mut context.messages;
    if let Some(fault) = &read.fault {
        let message = format!("its stream cannot be parsed: {fault}");
        messages.error(&Failure::input(reached.label(), message));
    }
    if read.is_cut() {
        let text = "exited without completing the trace (was it killed?)";
        messages.warning(&format!("{} {text}", reached.label()));
    }
    match &read.saved {
        Saved::Nothing => true,
        Saved::Whole { file, .. } => {
            messages.note(&format!("the trace is in {}", file.path().display()));
            true
        }
        Saved::Unnamed(failure) => {
            messages.error(failure);
            false
        }
        Saved::Part(part) => {
            let place = part.as_ref().map(|part| part.display().to_string());
            let text = match place {
                Some(place) => format!("what was recorded is in {place}"),
                None => format!("{file}: nothing was recorded"),
            };
            messages.note(&text);
            false
        }
    }
}

/// Dump that is being taken.
struct Dumping<'d, 'm> {
    heap: HeapReader,
    line: StatusLine,
    is_stopping: bool,
    /// Path to which the trace is saved; empty without `--save`.
    file: &'d str,
    messages: &'d mut Messages<'m>,
    reached: &'d Reached,
    /// Whether any event of the runtime has come, such as the start of a collection.
    has_begun: bool,
    /// Time of the first request.
    asked: Instant,
    /// Time after which the dump is requested again; `None` after that, because each dump stops the
    /// process.
    requests_after: Option<Duration>,
}

impl Dumping<'_, '_> {
    /// Requests the dump again, in another session, whose events come to this session, too. A .NET
    /// 8 runtime that was just starting may have lost the first request.
    fn request_again(&mut self) -> Result<(), Failure> {
        self.requests_after = None;
        let text = "no heap dump has begun; it is asked for again";
        self.messages.warning(&format!("{}: {text}", self.reached.label()));
        let (runtime, config) = (self.reached.runtime.clone(), config()?);
        let ask = std::thread::Builder::new().name("nettrace-ask".to_owned());
        // On a thread of its own, because the process may not answer.
        let asked =
            ask.spawn(move || runtime.start(&config).map(|session| session.stop().map(drop)));
        asked.map(drop).map_err(Failure::Output)
    }
}

impl Consumer for Dumping<'_, '_> {
    fn event(&mut self, event: &Event<'_>) -> Result<Next, Failure> {
        self.heap.event(event);
        self.has_begun |= event.provider() == RUNTIME;
        // Once the dump is whole, no other collection need be awaited.
        self.is_stopping |= self.heap.has_dump();
        Ok(if self.is_stopping { Next::Stop } else { Next::Read })
    }

    fn look(&mut self, _: Received, _: bool) -> Result<Next, Failure> {
        let is_late = |after| self.asked.elapsed() >= after;
        if !self.has_begun && self.requests_after.is_some_and(is_late) {
            self.request_again()?;
        }
        let what = if self.is_stopping { "  taking the names of modules" } else { "" };
        let objects = self.heap.objects();
        self.line.show(|| format!("{}{what}", units::counted(objects, "object")));
        Ok(Next::Read)
    }

    fn unwritten(&mut self, error: &io::Error) -> Next {
        self.line.clear();
        let message = format!("cannot be written: {}", plain(error));
        self.messages.error(&Failure::input(self.file, message));
        // A dump is shown even if it cannot be saved.
        Next::Read
    }
}
