//! `nettrace watch`: writes a line for each event of a running process, or for each request,
//! collection or message.

mod extra_facts;
mod rows;
mod shows;

pub(super) use rows::level_paint;
pub(super) use shows::requests;

use super::attached::{Attached, with_process};
use crate::args::WatchArgs;
use crate::args::profiles::{COMMON_KEYWORDS, RUNTIME};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::driver::{Consumer, Driven, Driver, Next, Received};
use crate::live::end_rule::EndRule;
use crate::live::method_names::{self, Visible};
use crate::live::request;
use crate::live::start::{self, Resume};
use crate::live::stdout_queue::{Dropped, StdoutQueue};
use crate::live::target::Reached;
use crate::stack_names::StackNames;
use crate::units;
use extra_facts::ExtraFacts;
use nettrace_analysis::NamesSoFar;
use nettrace_analysis::live::WatchRow;
use nettrace_export::{
    EventPattern, EventTypes, EventWriter, Filter, ProviderPattern, WriteOptions,
};
use nettrace_ipc::{Ending, Level, Provider, RequestError, Rundown, SessionConfig};
use nettrace_parser::{Event, Feed};
use rows::EventRows;
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// Minimum time between two reports of losses.
const LOSS_REPORT_INTERVAL: Duration = Duration::from_secs(5);

pub(super) fn run(args: &WatchArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    args.format.check_utc(args.utc)?;
    let shows_names = args.shape.shows_names(args.format, args.stacks);
    let (config, visible) = config(args, shows_names)?;
    for warning in request::warnings(&config) {
        context.messages.warning(&warning);
    }
    let duration = args.duration.map(|span| span.0);
    with_process((&args.target, &args.talk), duration, context, |attached, context| {
        let Attached { reached, end, .. } = attached;
        let session = start::start(reached, config, Resume::Yes, end, &mut context.messages)?;
        let Some(session) = session else { return Ok(Exit::Failed) };
        let mut names = StackNames::new(shows_names, None);
        if let Some(names) = names.so_far().filter(|_| visible.is_some()) {
            learn_names(args, attached, names, context);
        }
        let mut watch = EventDisplay::new(args, Naming { names, visible }, end, context)?;
        end.begin();
        let driver = Driver::new(session, Feed::new().time_ordered()).until(end);
        let read = driver.run(&mut watch)?;
        watch.conclude(&read, reached)
    })
}

/// Learns the names of methods that were loaded before, or notes why they are missing.
fn learn_names(
    args: &WatchArgs,
    attached: &Attached,
    names: &mut NamesSoFar,
    context: &mut Context<'_>,
) {
    let Attached { reached, is_new, end } = attached;
    let loaded = method_names::learn_loaded(reached, args.session.buffersize, end, names);
    let lacking = match loaded {
        Ok(0) if !is_new => "its rundown lists no methods".to_owned(),
        Ok(_) => String::new(),
        Err(reason) => reason,
    };
    if !lacking.is_empty() {
        let text = "frames of methods that were loaded before are shown as addresses";
        context.messages.note(&format!("{}: {text}: {lacking}", reached.label()));
    }
}

/// Returns the configuration of the session. If it has more events than the user chose, for names
/// of frames, also returns the events that the user chose.
fn config(
    args: &WatchArgs,
    shows_names: bool,
) -> Result<(SessionConfig, Option<Visible>), Failure> {
    let has_stacks = args.stacks && !args.session.no_stacks;
    let config = request::config(&args.session, wanted(args)?, Rundown::Off)?;
    // Stacks that are not shown need not be taken.
    if !has_stacks || !shows_names {
        return Ok((config.stacks(has_stacks), None));
    }
    let (providers, visible) = method_names::with_methods(config.providers())?;
    Ok((config.providing(providers).stacks(true), Some(visible)))
}

/// Returns the providers that `--show` needs; without `--show`, the providers of `--provider`, or
/// the runtime's.
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

/// Returns the filter for events that are shown as events.
fn filter(args: &WatchArgs) -> Filter {
    let is_row = shows::shows_rows(args);
    let shown = args.show.iter().filter(|_| !is_row).flat_map(|show| shows::events(*show));
    // The patterns are constants, which always parse.
    let shown = shown.filter_map(|pattern| pattern.parse::<EventPattern>().ok());
    let mut filter = args.filter.clone();
    filter.event.extend(shown);
    Filter::new(filter.options(&args.conditions))
}

/// Names of frames, and the events that are shown; other events only bring names.
struct Naming {
    names: StackNames<'static>,
    /// Events that the user chose; `None` if the session has no others.
    visible: Option<Visible>,
}

/// Copies names so that they borrow nothing.
fn own(names: Vec<Cow<'_, str>>) -> Vec<Cow<'static, str>> {
    names.into_iter().map(|name| Cow::Owned(name.into_owned())).collect()
}

/// Writer of events and rows as they arrive.
struct EventDisplay<'w, 'c> {
    context: &'w mut Context<'c>,
    writer: EventWriter,
    naming: Naming,
    has_warned_of_nameless: bool,
    /// Filter for events that are shown as events; `None` if only rows are shown.
    filter: Option<Filter>,
    /// Rows that are shown instead of events.
    rows: Option<EventRows>,
    /// Facts about events that come from other events.
    extra_facts: Option<ExtraFacts>,
    types: EventTypes,
    left: u64,
    queue: Option<StdoutQueue>,
    has_warned_of_stall: bool,
    /// Number of lost events in the latest report, and its time.
    reported_losses: (u64, Instant),
}

impl<'w, 'c> EventDisplay<'w, 'c> {
    fn new(
        args: &WatchArgs,
        naming: Naming,
        end: &EndRule,
        context: &'w mut Context<'c>,
    ) -> Result<EventDisplay<'w, 'c>, Failure> {
        let mut options = WriteOptions::default();
        options.detail = args.shape.detail(args.format, args.stacks, args.utc);
        options.csv_safe = context.has_user && !args.shape.raw;
        options.text = context.event_text();
        let mut writer = EventWriter::new(args.format.form(), options);
        let queue = context.queue_results(args.on_stall, end)?;
        let rows = EventRows::new(args, context.style)?;
        match &rows {
            Some(rows) => rows.write_heading(context.out.buffer()),
            None => writer.page().pour(context.out.buffer()),
        }
        context.out.finish()?;
        // Events that `--event` names are shown beside rows.
        let has_events = rows.is_none() || !args.filter.event.is_empty();
        Ok(EventDisplay {
            context,
            writer,
            naming,
            has_warned_of_nameless: false,
            filter: has_events.then(|| filter(args)),
            rows,
            extra_facts: ExtraFacts::new(args),
            types: EventTypes::default(),
            left: args.limit.unwrap_or(u64::MAX),
            queue,
            has_warned_of_stall: false,
            reported_losses: (0, Instant::now()),
        })
    }

    /// Returns whether the next line is dropped, and counts it then.
    fn drops_line(&self) -> bool {
        let full = self.queue.as_ref().filter(|queue| queue.is_full());
        full.inspect(|queue| queue.count_dropped(1)).is_some()
    }

    /// Counts a line that was written, and hands it on to the output.
    fn hand_on(&mut self) -> Result<(), Failure> {
        self.left -= 1;
        self.context.out.count_item();
        Ok(self.context.out.hand_on()?)
    }

    /// Writes rows, each with the frames of the event that completed it.
    fn show_rows(&mut self, ended: &[WatchRow], frames: &[Cow<'_, str>]) -> Result<(), Failure> {
        for row in ended {
            if self.left == 0 {
                break;
            }
            if self.drops_line() {
                continue;
            }
            if let Some(rows) = &self.rows {
                rows.write(self.context.out.buffer(), row, frames);
            }
            self.hand_on()?;
        }
        Ok(())
    }

    /// Writes rows that waited for further events, and hands on all lines.
    fn flush(&mut self) -> Result<(), Failure> {
        let ended = self.rows.as_mut().map(EventRows::take_rest).unwrap_or_default();
        self.show_rows(&ended, &[])?;
        Ok(self.context.out.finish()?)
    }

    fn report_losses(&mut self, total: u64) {
        if total > self.reported_losses.0 {
            let text = format!("{} lost so far", units::counted(total, "event"));
            self.context.messages.warning(&text);
        }
        self.reported_losses = (total, Instant::now());
    }

    /// Writes waiting rows and reports losses in a pause of the stream.
    fn pause(&mut self, lost: u64) -> Result<(), Failure> {
        self.flush()?;
        if self.reported_losses.1.elapsed() >= LOSS_REPORT_INTERVAL {
            self.report_losses(lost);
        }
        let has_nameless = self.naming.names.so_far().is_some_and(|names| names.left_out() > 0);
        if has_nameless && !std::mem::replace(&mut self.has_warned_of_nameless, true) {
            let text = "too many methods to keep all names: frames of the latest ones are shown as addresses";
            self.context.messages.warning(text);
        }
        Ok(())
    }

    /// Warns of what is missing, and returns the exit code.
    fn conclude(mut self, read: &Driven, reached: &Reached) -> Result<Exit, Failure> {
        self.flush()?;
        let label = reached.label();
        if let Some(fault) = &read.fault {
            let message = format!("its stream cannot be parsed: {fault}");
            return Err(Failure::input(label, message));
        }
        if let Some(queue) = &self.queue {
            let dropped = queue.finish()?;
            if dropped != Dropped::default() {
                let events = units::counted(dropped.items, "event");
                let text = "not shown, since standard output was not read";
                self.context.messages.warning(&format!("{events} {text}"));
            }
        }
        if self.left > 0 {
            let rows = self.rows.as_ref().map(|rows| rows.unmatched(&self.types));
            let events = self.filter.as_ref().map(|filter| filter.unmatched(&self.types));
            for message in rows.into_iter().chain(events).flatten() {
                self.context.messages.warning(&format!("{label}: {message}"));
            }
        }
        self.report_losses(read.outcome.losses.total());
        if read.ending == Some(Ending::Cut) {
            let text = "the rest is not shown: the process did not send it in time";
            self.context.messages.warning(text);
        }
        if read.is_cut() {
            let text = "exited without completing the trace (was it killed?)";
            self.context.messages.warning(&format!("{label} {text}"));
        }
        Ok(if read.is_cut() { Exit::Damaged } else { Exit::Fine })
    }
}

impl Consumer for EventDisplay<'_, '_> {
    fn event(&mut self, event: &Event<'_>) -> Result<Next, Failure> {
        self.naming.names.learn(event);
        if self.naming.visible.as_ref().is_some_and(|visible| !visible.is(event)) {
            return Ok(Next::Read);
        }
        let place = self.types.index_of(event);
        let facts = self.extra_facts.as_mut().and_then(|facts| facts.process_event(event));
        if let Some(rows) = &mut self.rows {
            let ended = rows.process_event(event, place, &self.types);
            if !ended.is_empty() {
                let frames = match rows.has_stacks() {
                    true => own(self.naming.names.frames(event)),
                    false => Vec::new(),
                };
                self.show_rows(&ended, &frames)?;
            }
        }
        let types = &self.types;
        let is_shown =
            self.filter.as_mut().is_some_and(|filter| filter.accepts(event, place, types));
        // A line that is dropped is not formatted, because the session must be read as fast as
        // possible.
        if is_shown && self.left > 0 && !self.drops_line() {
            let names = &mut self.naming.names;
            self.writer.write_named(self.context.out.buffer(), event, |event| names.frames(event));
            if let Some(facts) = facts {
                facts.append(self.context.out.buffer())?;
            }
            self.hand_on()?;
        }
        Ok(if self.left > 0 { Next::Read } else { Next::Leave })
    }

    fn look(&mut self, received: Received, is_idle: bool) -> Result<Next, Failure> {
        if is_idle {
            self.pause(received.lost)?;
        }
        let Some(queue) = &self.queue else { return Ok(Next::Read) };
        let (has_dropped, is_cut) = (queue.has_dropped(), queue.is_cut());
        if has_dropped && !std::mem::replace(&mut self.has_warned_of_stall, true) {
            let text = "standard output is not read: events are thrown away until it is";
            self.context.messages.warning(text);
        }
        Ok(if is_cut { Next::Stop } else { Next::Read })
    }
}
