//! `nettrace watch`: events of a running process as they happen, one a line.

use super::Context;
use super::events::shows_names;
use super::stack_names::StackNames;
use crate::args::amount::Bytes;
use crate::args::profiles::{COMMON_KEYWORDS, RUNTIME};
use crate::args::{EventFormat, EventsArgs, InputArgs, Order, ReadArgs, Show, ThreadArgs, WatchArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::method_names::{self, Visible};
use crate::live::outlet::{Outlet, Thrown};
use crate::live::request;
use crate::live::signals::Signals;
use crate::live::stream::{Stream, shared};
use crate::live::target::{self, Place, Reached, Talk};
use crate::live::unless_ended::unless_ended;
use crate::render::{Form, Text};
use crate::units;
use nettrace_export::{Csv, Detail, EventPattern, EventTypes, Filter, Ndjson, Page, ProviderPattern};
use nettrace_ipc::{Ending, Level, Lost, Provider, RequestError, Rundown, Session};
use nettrace_parser::{Error, Reader, TimeOrdered};
use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Bytes come in bursts, about ten a second. After so long without any, the burst is over, and everything that
/// waits for its place in time is shown.
const SILENCE: Duration = Duration::from_millis(50);
/// Events between two looks at signals and clock.
const LOOK: u64 = 32;
/// A process may have hundreds of megabytes of events left when it is stopped. They are shown for so long.
const REST: Duration = Duration::from_secs(2);
/// How often losses are reported at most.
const BETWEEN_LOSSES: Duration = Duration::from_secs(5);

pub(super) fn run(args: &WatchArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let failed = |error: RequestError| Failure::Usage(error.to_string());
    let has_stacks = args.stacks && !args.session.no_stacks;
    let shows_names = shows_names(args.format, args.stacks, args.raw_stacks, args.frames);
    let has_names = has_stacks && shows_names;
    let mut config = request::config(&args.session, wanted(args).map_err(failed)?, Rundown::Off)?;
    let mut visible = None;
    if has_names {
        let (providers, asked) = method_names::with_methods(config.providers()).map_err(failed)?;
        (config, visible) = (config.providing(providers), Some(asked));
    }
    // Stacks that are not shown need not be taken.
    let config = config.stacks(has_stacks);
    for warning in request::warnings(&config) {
        context.messages.warning(&warning);
    }
    let talk = Talk::new(&args.talk)?;
    let signals = Signals::notice()?;
    let mut open_port = None;
    let reached = match target::find(&args.target, &talk, &signals)? {
        Place::Process(reached) => *reached,
        Place::Port(port) => {
            context.messages.note(&target::invitation(&port));
            signals.set_waiting(Some(port.resumer()));
            let Some(reached) = target::first(&port, &signals) else { return Ok(Exit::Failed) };
            open_port = Some(port);
            reached
        }
    };
    let runtime = reached.runtime.clone();
    let started = unless_ended(&signals, move || {
        let started = runtime.start(&config);
        let resumed = started.is_ok().then(|| runtime.resume());
        started.map(|session| (session, resumed))
    })?;
    let Some(started) = started else {
        context.messages.warning(&format!("{} did not answer in time", reached.label()));
        return Ok(Exit::Failed);
    };
    let (session, resumed) = started.map_err(|error| reached.failed(&error))?;
    for lost in session.lost().iter().filter(|lost| **lost != Lost::StacksOff) {
        context.messages.warning(&format!(
            "{}: this runtime is too old for part of the request: {lost}",
            reached.label()
        ));
    }
    resumed.transpose().map_err(|error| reached.failed(&error))?;
    let mut names = StackNames::new(shows_names, None);
    if let Some(names) = names.so_far().filter(|_| has_names) {
        let loaded = method_names::learn_loaded(&reached, args.session.buffersize, &signals, names);
        let lacking = match loaded {
            // Who comes to a port has mostly just begun.
            Ok(Some(0)) if open_port.is_none() => Some("its rundown lists no methods".to_owned()),
            Ok(_) => None,
            Err(reason) => Some(reason),
        };
        if let Some(reason) = lacking {
            let text = "frames of methods that were loaded before are shown as addresses";
            context.messages.note(&format!("{}: {text}: {reason}", reached.label()));
        }
    }
    let naming = Naming { names, visible };
    let result = Watch::new(args, session, signals, naming, context)?.run(&reached, context);
    drop(open_port);
    talk.finish()?;
    result
}

/// Providers that `--show` needs; without any wish those of `--provider`, else the runtime's.
fn wanted(args: &WatchArgs) -> Result<Vec<Provider>, RequestError> {
    let mut wanted = Vec::new();
    for show in &args.show {
        let (name, keywords, level) = match show {
            Show::Gc => (RUNTIME, 0x1, Level::Informational),
            Show::Exceptions => (RUNTIME, 0x8000, Level::Informational),
            Show::Contention => (RUNTIME, 0x4000, Level::Informational),
            // FormattedMessage; levels below Information are chosen by the application.
            Show::Logs => ("Microsoft-Extensions-Logging", 0x4, Level::Verbose),
        };
        wanted.push(Provider::new(name)?.keywords(keywords).level(level));
    }
    let session = &args.session;
    let is_silent = session.providers.is_empty()
        && session.profile.is_empty()
        && session.clrevents.is_none()
        && session.events.is_empty();
    if wanted.is_empty() && is_silent {
        let plain = args
            .filter
            .provider
            .iter()
            .map(ProviderPattern::as_str)
            .filter(|name| !name.contains(['*', '?']));
        for name in plain {
            let keywords = crate::args::providers::default_keywords(name);
            wanted.push(Provider::new(name)?.keywords(keywords).level(Level::Verbose));
        }
        if wanted.is_empty() {
            wanted.push(Provider::new(RUNTIME)?.keywords(COMMON_KEYWORDS).level(Level::Informational));
        }
    }
    Ok(wanted)
}

/// Events that `--show` means.
fn shown(show: Show) -> &'static [&'static str] {
    match show {
        // Start, end, heap sizes, why.
        Show::Gc => &[
            "Microsoft-Windows-DotNETRuntime/1",
            "Microsoft-Windows-DotNETRuntime/2",
            "Microsoft-Windows-DotNETRuntime/4",
            "Microsoft-Windows-DotNETRuntime/35",
        ],
        Show::Exceptions => &["Microsoft-Windows-DotNETRuntime/80"],
        Show::Contention => &["Microsoft-Windows-DotNETRuntime/81", "Microsoft-Windows-DotNETRuntime/91"],
        Show::Logs => &["Microsoft-Extensions-Logging/FormattedMessage"],
    }
}

/// The same choices as `nettrace events` has them.
fn as_events(args: &WatchArgs) -> EventsArgs {
    let shown = args.show.iter().flat_map(|show| shown(*show));
    // Reading a pattern cannot fail.
    let shown = shown.filter_map(|pattern| pattern.parse::<EventPattern>().ok());
    let mut filter = args.filter.clone();
    filter.event.extend(shown);
    let read = ReadArgs { no_mmap: true, input_limit: Bytes(u64::MAX), only_sound: false };
    EventsArgs {
        csv_safe: None,
        input: InputArgs { file: PathBuf::from("-"), read },
        threads: ThreadArgs { threads: None },
        format: args.format,
        order: Order::Time,
        filter,
        time: None,
        limit: args.limit,
        stacks: args.stacks,
        raw_stacks: args.raw_stacks,
        frames: args.frames,
        raw: args.raw,
        utc: args.utc,
        conditions: args.conditions.clone(),
        fields: Vec::new(),
        big_ints: Default::default(),
    }
}

/// Names of frames, and the events that were asked for on top of their telling.
struct Naming {
    names: StackNames<'static>,
    /// `None`: all that come were asked for.
    visible: Option<Visible>,
}

/// A session being shown.
struct Watch {
    session: Rc<RefCell<Session>>,
    events: TimeOrdered<Stream<'static>>,
    form: Form,
    naming: Naming,
    told_nameless: bool,
    page: Page,
    filter: Filter,
    types: EventTypes,
    left: u64,
    signals: Signals,
    outlet: Option<Outlet>,
    told_stall: bool,
    deadline: Option<Instant>,
    is_stopping: bool,
    stopping_since: Option<Instant>,
    told_losses: (u64, Instant),
}

impl Watch {
    fn new(
        args: &WatchArgs,
        mut session: Session,
        signals: Signals,
        naming: Naming,
        context: &mut Context<'_>,
    ) -> Result<Watch, Failure> {
        session.set_read_timeout(Some(SILENCE));
        let choice = as_events(args);
        let mut detail = Detail::default();
        detail.stacks = args.stacks;
        detail.frames = shows_names(args.format, args.stacks, args.raw_stacks, args.frames);
        detail.raw = args.raw;
        detail.utc = args.utc;
        let mut form = match args.format {
            EventFormat::Text => Form::Text(Text::new(detail, context.style, context.terminal_columns())),
            EventFormat::Ndjson => Form::Ndjson(Ndjson::new(detail)),
            EventFormat::Csv => Form::Csv(Csv::new(detail, None, false).safe(context.has_user && !args.raw)),
        };
        let deadline = args.duration.and_then(|span| Instant::now().checked_add(span.0));
        let stdout = (context.detached_stdout)();
        let outlet = stdout.map(|stdout| Outlet::new(stdout, args.on_stall, signals.clone())).transpose()?;
        if let Some(outlet) = &outlet {
            outlet.set_deadline(deadline);
            context.out.lead_to(outlet.clone());
        }
        form.begin(context.out.buffer(), false);
        context.out.finish()?;
        let (session, bytes) = shared(session);
        Ok(Watch {
            session,
            events: Reader::new(bytes).time_ordered(),
            form,
            naming,
            told_nameless: false,
            page: Page::default(),
            filter: Filter::new(choice.filter_options()),
            types: EventTypes::default(),
            left: args.limit.unwrap_or(u64::MAX),
            signals,
            outlet,
            told_stall: false,
            deadline,
            is_stopping: false,
            stopping_since: None,
            told_losses: (0, Instant::now()),
        })
    }

    fn run(mut self, reached: &Reached, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let mut round = 0_u64;
        while self.left > 0 {
            // Also when no event is one to be shown.
            if round.is_multiple_of(LOOK) && self.look_up(context) {
                break;
            }
            round += 1;
            match self.events.next_event() {
                Ok(Some(event)) => {
                    self.naming.names.learn(&event);
                    if self.naming.visible.as_ref().is_some_and(|visible| !visible.is(&event)) {
                        continue;
                    }
                    let place = self.types.index_of(&event);
                    if !self.filter.accepts(&event, place, &self.types) {
                        continue;
                    }
                    if let Some(outlet) = self.outlet.as_ref().filter(|outlet| outlet.is_full()) {
                        // Nobody would see it; the session is to be read as fast as can be.
                        outlet.throw(1);
                        continue;
                    }
                    self.naming.names.name(&event, &mut self.form);
                    self.form.event(&mut self.page, &event, place, &self.types, None);
                    self.page.pour(context.out.buffer());
                    self.left -= 1;
                    context.out.count_item();
                    context.out.hand_on()?;
                }
                Ok(None) => break,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.events.release();
                    // Unless something waits there is nothing more to show for now.
                    if self.events.waiting() == 0 {
                        context.out.finish()?;
                    }
                    self.pause(context);
                    round = 0;
                }
                Err(error) => {
                    context.out.finish()?;
                    let message = format!("its stream cannot be parsed: {error}");
                    return Err(Failure::Input { file: reached.label(), message });
                }
            }
        }
        context.out.finish()?;
        if let Some(outlet) = &self.outlet {
            let thrown = outlet.finish()?;
            if thrown != Thrown::default() {
                let events = units::counted(thrown.items, "event");
                let text = "not shown, since standard output was not read";
                context.messages.warning(&format!("{events} {text}"));
            }
        }
        if self.left > 0 {
            for message in self.filter.unmatched(&self.types) {
                context.messages.warning(&format!("{}: {message}", reached.label()));
            }
        }
        self.tell_losses(context);
        let is_cut = self.session.borrow().ending() == Some(Ending::ByTarget) && !self.events.is_complete();
        if is_cut {
            let text = "exited without completing the trace (was it killed?)";
            context.messages.warning(&format!("{} {text}", reached.label()));
        }
        Ok(if is_cut { Exit::Damaged } else { Exit::Fine })
    }

    /// While nothing comes.
    fn pause(&mut self, context: &mut Context<'_>) {
        if self.told_losses.1.elapsed() >= BETWEEN_LOSSES {
            self.tell_losses(context);
        }
        let has_nameless = self.naming.names.so_far().is_some_and(|names| names.left_out() > 0);
        if has_nameless && !self.told_nameless {
            self.told_nameless = true;
            let text = "too many methods to keep all names: frames of the latest ones are shown as addresses";
            context.messages.warning(text);
        }
    }

    fn tell_losses(&mut self, context: &mut Context<'_>) {
        let total = self.events.losses().total();
        if total > self.told_losses.0 {
            context.messages.warning(&format!("{} lost so far", units::counted(total, "event")));
        }
        self.told_losses = (total, Instant::now());
    }

    /// Stops the session when it is time to; what still comes is shown, unless that takes too long: true.
    fn look_up(&mut self, context: &mut Context<'_>) -> bool {
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let mut is_over = is_late || self.signals.seen().is_some();
        if let Some(outlet) = &self.outlet {
            is_over |= outlet.is_given_up();
            if outlet.has_thrown() && !std::mem::replace(&mut self.told_stall, true) {
                context.messages.warning("standard output is not read: events are thrown away until it is");
            }
        }
        if !self.is_stopping && is_over {
            self.is_stopping = true;
            self.signals.end_by_itself();
            self.stopping_since = Some(Instant::now());
            // Without a thread to stop it on, it is stopped when it is dropped.
            let _ = self.session.borrow().stop_handle().stop_soon();
        }
        let is_long = self.stopping_since.is_some_and(|since| since.elapsed() >= REST);
        if is_long {
            context.messages.warning("the rest is not shown: the process had too much left to tell");
        }
        is_long
    }
}
