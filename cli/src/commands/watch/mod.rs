//! `nettrace watch`: what happens in a running process, one a line.

mod besides;
mod rows;
mod shows;

pub(super) use shows::requests;

use crate::args::WatchArgs;
use crate::args::profiles::{COMMON_KEYWORDS, RUNTIME};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::method_names::{self, Visible};
use crate::live::outlet::{Outlet, Thrown};
use crate::live::request;
use crate::live::signals::Signals;
use crate::live::stream::{Stream, shared};
use crate::live::target::{self, One, Reached, Talk};
use crate::live::unless_ended::unless_ended;
use crate::output::Output;
use crate::stack_names::StackNames;
use crate::units;
use besides::Besides;
use nettrace_analysis::live::WatchRow;
use nettrace_export::{
    EventPattern, EventTypes, EventWriter, Filter, ProviderPattern, WriteOptions,
};
use nettrace_ipc::{Ending, Level, Lost, Provider, RequestError, Rundown, Session};
use nettrace_parser::{Error, Reader, TimeOrdered};
use rows::Rows;
use std::borrow::Cow;
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Bytes come in bursts, about ten a second. After this much time without any, the burst
/// is over, and all events that were held back for sorting by time are shown.
const SILENCE: Duration = Duration::from_millis(50);
/// Events between two looks at signals and clock.
const LOOK: u64 = 32;
/// How long the remaining events are shown after the session was stopped: a process may
/// have hundreds of megabytes of them.
const REST: Duration = Duration::from_secs(2);
/// How often losses are reported at most.
const BETWEEN_LOSSES: Duration = Duration::from_secs(5);

pub(super) fn run(args: &WatchArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let failed = |error: RequestError| Failure::Usage(error.to_string());
    let has_stacks = args.stacks && !args.session.no_stacks;
    let shows_names = args.shape.shows_names(args.format, args.stacks);
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
    let one = target::one(&args.target, &talk, &signals, &mut context.messages)?;
    let Some(One { reached, port }) = one else { return Ok(Exit::Failed) };
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
            Ok(Some(0)) if port.is_none() => Some("its rundown lists no methods".to_owned()),
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
    drop(port);
    talk.finish()?;
    result
}

/// Providers that `--show` needs; without any wish those of `--provider`, else the
/// runtime's.
fn wanted(args: &WatchArgs) -> Result<Vec<Provider>, RequestError> {
    let mut wanted = shows::providers(args)?;
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
            wanted.push(
                Provider::new(RUNTIME)?.keywords(COMMON_KEYWORDS).level(Level::Informational),
            );
        }
    }
    Ok(wanted)
}

/// Which events are shown.
fn filter(args: &WatchArgs) -> Filter {
    let is_row = shows::shows_rows(args);
    let shown = args.show.iter().filter(|_| !is_row).flat_map(|show| shows::events(*show));
    // Reading a pattern cannot fail.
    let shown = shown.filter_map(|pattern| pattern.parse::<EventPattern>().ok());
    let mut filter = args.filter.clone();
    filter.event.extend(shown);
    Filter::new(filter.options(&args.conditions))
}

/// Names of frames, and the events that were asked for on top of their telling.
struct Naming {
    names: StackNames<'static>,
    /// `None`: all that come were asked for.
    visible: Option<Visible>,
}

/// Where rows are shown.
struct To<'t, 'o> {
    left: &'t mut u64,
    outlet: Option<&'t Outlet>,
    out: &'t mut Output<'o>,
}

impl To<'_, '_> {
    /// Shows rows, each with the frames of the event that ended it.
    fn show(
        &mut self,
        rows: &Rows,
        ended: &[WatchRow],
        frames: &[Cow<'_, str>],
    ) -> Result<(), Failure> {
        for row in ended {
            if *self.left == 0 {
                break;
            }
            if let Some(outlet) = self.outlet.filter(|outlet| outlet.is_full()) {
                outlet.throw(1);
                continue;
            }
            rows.write(self.out.buffer(), row, frames);
            *self.left -= 1;
            self.out.count_item();
            self.out.hand_on()?;
        }
        Ok(())
    }
}

/// A session being shown.
struct Watch {
    session: Rc<RefCell<Session>>,
    events: TimeOrdered<Stream<'static>>,
    writer: EventWriter,
    naming: Naming,
    has_warned_of_nameless: bool,
    /// Of events that are shown as they are; `None`: none is.
    filter: Option<Filter>,
    /// What has happened, if that is shown and not events.
    rows: Option<Rows>,
    /// Facts about events that come from other events.
    besides: Option<Besides>,
    types: EventTypes,
    left: u64,
    signals: Signals,
    outlet: Option<Outlet>,
    has_warned_of_stall: bool,
    deadline: Option<Instant>,
    is_stopping: bool,
    stopping_since: Option<Instant>,
    reported_losses: (u64, Instant),
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
        let mut options = WriteOptions::default();
        options.detail = args.shape.detail(args.format, args.stacks, args.utc);
        options.csv_safe = context.has_user && !args.shape.raw;
        options.text = context.event_text();
        let mut writer = EventWriter::new(args.format.form(), options);
        let deadline = args.duration.and_then(|span| Instant::now().checked_add(span.0));
        let stdout = (context.detached_stdout)();
        let outlet =
            stdout.map(|stdout| Outlet::new(stdout, args.on_stall, signals.clone())).transpose()?;
        if let Some(outlet) = &outlet {
            outlet.set_deadline(deadline);
            context.out.lead_to(outlet.clone());
        }
        let rows = Rows::new(args, context.style)?;
        match &rows {
            Some(rows) => rows.begin(context.out.buffer()),
            None => writer.page().pour(context.out.buffer()),
        }
        context.out.finish()?;
        // Beside rows, events that were named.
        let has_events = rows.is_none() || !args.filter.event.is_empty();
        let (session, bytes) = shared(session);
        Ok(Watch {
            session,
            events: Reader::new(bytes).time_ordered(),
            writer,
            naming,
            has_warned_of_nameless: false,
            filter: has_events.then(|| filter(args)),
            rows,
            besides: Besides::new(args),
            types: EventTypes::default(),
            left: args.limit.unwrap_or(u64::MAX),
            signals,
            outlet,
            has_warned_of_stall: false,
            deadline,
            is_stopping: false,
            stopping_since: None,
            reported_losses: (0, Instant::now()),
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
                    let beside = self.besides.as_mut().and_then(|besides| besides.event(&event));
                    let ended = match &mut self.rows {
                        Some(rows) => rows.event(&event, place, &self.types),
                        None => Vec::new(),
                    };
                    if let (Some(rows), false) = (&self.rows, ended.is_empty()) {
                        let frames = match rows.has_stacks() {
                            true => self.naming.names.of(&event),
                            false => Vec::new(),
                        };
                        let mut to = To {
                            left: &mut self.left,
                            outlet: self.outlet.as_ref(),
                            out: &mut context.out,
                        };
                        to.show(rows, &ended, &frames)?;
                    }
                    let types = &self.types;
                    let filter = self.filter.as_mut();
                    if filter.is_none_or(|filter| !filter.accepts(&event, place, types))
                        || self.left == 0
                    {
                        continue;
                    }
                    if let Some(outlet) = self.outlet.as_ref().filter(|outlet| outlet.is_full()) {
                        // It would be thrown away; the session must be read as fast as
                        // possible.
                        outlet.throw(1);
                        continue;
                    }
                    let names = &mut self.naming.names;
                    self.writer.write_named(context.out.buffer(), &event, |event| names.of(event));
                    if let Some(beside) = beside {
                        beside.append(context.out.buffer())?;
                    }
                    self.left -= 1;
                    context.out.count_item();
                    context.out.hand_on()?;
                }
                Ok(None) => break,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.events.release();
                    // Unless something waits there is nothing more to show for now.
                    if self.events.waiting() == 0 {
                        self.show_rest(context)?;
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
        self.show_rest(context)?;
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
            let rows = self.rows.as_ref().map(|rows| rows.unmatched(&self.types));
            let events = self.filter.as_ref().map(|filter| filter.unmatched(&self.types));
            for message in rows.into_iter().chain(events).flatten() {
                context.messages.warning(&format!("{}: {message}", reached.label()));
            }
        }
        self.tell_losses(context);
        let is_cut =
            self.session.borrow().ending() == Some(Ending::ByTarget) && !self.events.is_complete();
        if is_cut {
            let text = "exited without completing the trace (was it killed?)";
            context.messages.warning(&format!("{} {text}", reached.label()));
        }
        Ok(if is_cut { Exit::Damaged } else { Exit::Fine })
    }

    /// Rows that waited for more about them.
    fn show_rest(&mut self, context: &mut Context<'_>) -> Result<(), Failure> {
        let ended = self.rows.as_mut().map(Rows::rest).unwrap_or_default();
        let Some(rows) = self.rows.as_ref().filter(|_| !ended.is_empty()) else { return Ok(()) };
        let mut to =
            To { left: &mut self.left, outlet: self.outlet.as_ref(), out: &mut context.out };
        to.show(rows, &ended, &[])
    }

    /// While nothing comes.
    fn pause(&mut self, context: &mut Context<'_>) {
        if self.reported_losses.1.elapsed() >= BETWEEN_LOSSES {
            self.tell_losses(context);
        }
        let has_nameless = self.naming.names.so_far().is_some_and(|names| names.left_out() > 0);
        if has_nameless && !self.has_warned_of_nameless {
            self.has_warned_of_nameless = true;
            let text = "too many methods to keep all names: frames of the latest ones are shown as addresses";
            context.messages.warning(text);
        }
    }

    fn tell_losses(&mut self, context: &mut Context<'_>) {
        let total = self.events.losses().total();
        if total > self.reported_losses.0 {
            context.messages.warning(&format!("{} lost so far", units::counted(total, "event")));
        }
        self.reported_losses = (total, Instant::now());
    }

    /// Stops the session when it is time to; what still comes is shown, unless that takes
    /// too long: true.
    fn look_up(&mut self, context: &mut Context<'_>) -> bool {
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let mut is_over = is_late || self.signals.seen().is_some();
        if let Some(outlet) = &self.outlet {
            is_over |= outlet.is_given_up();
            if outlet.has_thrown() && !std::mem::replace(&mut self.has_warned_of_stall, true) {
                context
                    .messages
                    .warning("standard output is not read: events are thrown away until it is");
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
            context
                .messages
                .warning("the rest is not shown: the process had too much left to tell");
        }
        is_long
    }
}
