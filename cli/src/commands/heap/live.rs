//! `nettrace heap -p PID`: a dump of a running process.
//!
//! A session with the keyword for it makes the runtime collect, with all threads stopped,
//! and tell of what is left. The session is stopped when that collection has ended and
//! the threads run again, however long it takes; what the runtime says of modules at the
//! end is taken, too.
//!
//! The runtime describes a type once to all sessions together. So a short session without
//! types comes first: with it the last session that wanted types is forgotten. Beside one
//! that still wants them this does not help, and types that were reported to it have no
//! names here; that is said.

use super::overview;
use super::trace::HeapTrace;
use crate::args::profiles::RUNTIME;
use crate::args::{HeapArgs, TargetArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::program::{Program, Sharing};
use crate::live::signals::Signals;
use crate::live::stream::shared;
use crate::live::target::{self, One, Reached, TICK, Talk};
use crate::new_file::{NewFile, Unfinished};
use crate::units;
use nettrace_analysis::heap::{HeapReader, RECORD_KEYWORDS};
use nettrace_ipc::{
    Children, Ending, Level, Provider, Providers, RequestError, Rundown, Session, SessionConfig,
};
use nettrace_parser::{Error, Reader};
use std::fs::File;
use std::io::{self, Read, Write};
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

/// Memory that the process may spend on events not yet sent: what dotnet-gcdump asks for.
const BUFFER: NonZeroU32 = NonZeroU32::new(1024).expect("is not zero");
/// How often it is looked whether to stop, and how far the dump is.
const LOOK: Duration = Duration::from_millis(50);
/// How long a program that was started runs before its dump, unless it is said.
const RUN_UP: Duration = Duration::from_secs(1);

pub(super) fn run(
    args: &HeapArgs,
    target: &TargetArgs,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let talk = Talk::new(&args.talk)?;
    let save = args.save.as_deref();
    let save = save
        .map(|path| NewFile::create(path, args.talk.force, &[], Unfinished::Kept))
        .transpose()?;
    let signals = Signals::notice()?;
    let result = if args.program.is_empty() {
        attach(args, target, save, &signals, &talk, context)
    } else {
        launch(args, save, &signals, &talk, context)
    };
    talk.finish()?;
    result
}

fn attach(
    args: &HeapArgs,
    target: &TargetArgs,
    save: Option<NewFile>,
    signals: &Signals,
    talk: &Talk,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let one = target::one(target, talk, signals, &mut context.messages)?;
    let Some(One { reached, port }) = one else { return Ok(Exit::Failed) };
    if port.is_some() {
        reached.runtime.resume().map_err(|error| reached.failed(&error))?;
    }
    let run_up = if port.is_some() { RUN_UP } else { Duration::ZERO };
    wait(args.after.map_or(run_up, |span| span.0), signals);
    let exit = dump(args, &reached, save, signals, context);
    drop(port);
    exit
}

/// Lets a process run for a while.
fn wait(time: Duration, signals: &Signals) {
    let start = Instant::now();
    while start.elapsed() < time && signals.seen().is_none() {
        std::thread::sleep(TICK.min(time.saturating_sub(start.elapsed())));
    }
}

fn launch(
    args: &HeapArgs,
    save: Option<NewFile>,
    signals: &Signals,
    talk: &Talk,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let sharing = Sharing { has_io: true, has_ctrl_c: true };
    let program = Program::start(&args.program, Children::Resume, sharing, talk, signals)?;
    let Some(mut program) = program else { return Ok(Exit::Usage) };
    match program.arrival() {
        Ok(Some(arrival)) => {
            let reached = Reached::arrived(arrival);
            if let Err(error) = reached.runtime.resume() {
                context.messages.error(&reached.failed(&error));
            }
            wait(args.after.map_or(RUN_UP, |span| span.0), signals);
            // Whatever became of the dump, the program is not left alone.
            if let Err(failure) = dump(args, &reached, save, signals, context) {
                context.messages.error(&failure);
            }
        }
        Ok(None) => {
            context.messages.warning(&format!("{}; there is no dump", program.says_nothing()));
        }
        Err(failure) => context.messages.error(&failure),
    }
    program.wait(|_| {})
}

fn config() -> Result<SessionConfig, RequestError> {
    let heap = Provider::new(RUNTIME)?.keywords(RECORD_KEYWORDS).level(Level::Verbose);
    // The heap's events have no use for stacks. The rundown names modules, and types by
    // their methods.
    Ok(SessionConfig::new(Providers::new([heap])?)
        .rundown(Rundown::Default)
        .buffer_megabytes(BUFFER)
        .stacks(false))
}

/// Makes the runtime forget to whom it described which types.
fn forget_types(reached: &Reached) -> Result<(), nettrace_ipc::Error> {
    // Collections, at a level at which there are none.
    let Ok(providers) = Provider::new(RUNTIME)
        .map(|provider| provider.keywords(0x1).level(Level::Critical))
        .and_then(|provider| Providers::new([provider]))
    else {
        return Ok(());
    };
    let config = SessionConfig::new(providers).rundown(Rundown::Off);
    reached.runtime.start(&config)?.stop().map(drop)
}

/// Takes a dump and shows it.
fn dump(
    args: &HeapArgs,
    reached: &Reached,
    save: Option<NewFile>,
    signals: &Signals,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    // A session of before leaves a list of types; without this they lack names, which is
    // said.
    let _ = forget_types(reached);
    let config = config().map_err(|error| Failure::Usage(error.to_string()))?;
    let mut session = reached.runtime.start(&config).map_err(|error| reached.failed(&error))?;
    session.set_read_timeout(Some(LOOK));
    let stop = session.stop_handle();
    let (file, pending) = save.map(NewFile::split).unzip();
    let (tee, bytes) = shared(Tee { session, save: file, failure: None });
    let mut events = Reader::new(bytes).time_ordered();
    let mut heap = HeapReader::new();
    let mut line = ProgressLine::new(context.shows_status);
    let mut is_stopping = false;
    let fault = loop {
        match events.next_event() {
            Ok(Some(event)) => heap.event(&event),
            Ok(None) => break None,
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => events.release(),
            Err(error) => break Some(error),
        }
        line.show(heap.objects(), is_stopping);
        if !is_stopping && (heap.has_dump() || signals.seen().is_some()) {
            is_stopping = true;
            // Without a thread to stop it on, it is stopped when it is dropped.
            let _ = stop.stop_soon();
        }
    };
    line.clear();
    let outcome = events.outcome();
    let tee = tee.borrow();
    let (was_killed, unsaved) =
        (tee.session.ending() == Some(Ending::ByTarget), tee.failure.as_ref());
    if let (Some(error), Some(path)) = (unsaved, &args.save) {
        let message = format!("cannot be written: {error}");
        context.messages.error(&Failure::Input { file: path.display().to_string(), message });
    }
    if let Some(error) = fault.filter(|_| unsaved.is_none()) {
        let message = format!("its stream cannot be parsed: {error}");
        context.messages.error(&Failure::Input { file: reached.label(), message });
    }
    if was_killed && !outcome.is_complete() {
        let text = "exited without completing the trace (was it killed?)";
        context.messages.warning(&format!("{} {text}", reached.label()));
    }
    let is_unsaved = unsaved.is_some();
    drop(events);
    let dumps = heap.finish();
    if let Some(pending) = pending.filter(|_| !is_unsaved) {
        match pending.finish() {
            Ok(written) => {
                context.messages.note(&format!("the trace is in {}", written.path().display()))
            }
            // The dump is shown all the same.
            Err(failure) => context.messages.error(&failure),
        }
    }
    let trace = HeapTrace::live(reached.label(), outcome, dumps);
    if let (Some(shown), there @ 2..) = (trace.dump(), trace.dumps.len()) {
        let text = format!(
            "{}: it collected by itself just then, so it made {}; this is number {}",
            trace.file,
            units::counted(there as u64, "heap dump"),
            shown.index()
        );
        context.messages.note(&text);
    }
    overview::run(args, &trace, context)
}

/// The bytes on their way: what is read is kept, too.
struct Tee {
    session: Session,
    save: Option<File>,
    /// The file could not be written.
    failure: Option<io::Error>,
}

impl Read for Tee {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.session.read(buffer)?;
        let bytes = buffer.get(..count).unwrap_or_default();
        if let Some(Err(error)) = self.save.as_mut().map(|file| file.write_all(bytes)) {
            // The dump is shown all the same.
            self.failure.get_or_insert(error);
            self.save = None;
        }
        Ok(count)
    }
}

/// How far the dump is: one line on stderr, rewritten in place, if stderr is a terminal.
struct ProgressLine {
    is_wanted: bool,
    is_shown: bool,
    last: Option<Instant>,
}

impl ProgressLine {
    const BETWEEN: Duration = Duration::from_millis(100);

    fn new(is_wanted: bool) -> ProgressLine {
        ProgressLine { is_wanted, is_shown: false, last: None }
    }

    fn show(&mut self, objects: u64, is_stopping: bool) {
        if !self.is_wanted || self.last.is_some_and(|last| last.elapsed() < ProgressLine::BETWEEN) {
            return;
        }
        (self.last, self.is_shown) = (Some(Instant::now()), true);
        let what = if is_stopping { "  taking the names of modules" } else { "" };
        // A line that cannot be shown is no reason to stop.
        let _ = write!(io::stderr(), "\r{}{what}\x1b[K", units::counted(objects, "object"));
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
