//! `nettrace counters`: shows counters and metrics of running processes as they change.

mod board;
mod rows;
mod screen;
mod series_rows;
mod unseen;

use super::attached::with_program;
use crate::args::CountersArgs;
use crate::args::OnStall;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::counters::{self, CounterRequest, SHARED, client_id};
use crate::live::end_rule::{EndRule, SIGNAL_CHECK};
use crate::live::live_session::LiveSession;
use crate::live::program::Sharing;
use crate::live::scrape::Scrape;
use crate::live::start::Resume;
use crate::live::stdout_queue::StdoutQueue;
use crate::live::target::{self, Reached, Selected, Talk};
use crate::live::{event_sources, meters, metrics_notice};
use crate::units;
use nettrace_analysis::live::LiveCounters;
use nettrace_ipc::{Providers, Rundown, SessionConfig};
use rows::ValueWriter;
use std::time::{Duration, Instant};

/// Number of intervals after which a name on the command line that had no value is reported.
const MAX_UNSEEN_INTERVALS: u32 = 3;

/// Session with the counters of one process.
type CounterSession = LiveSession<LiveCounters>;

pub(super) fn run(args: &CountersArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let rows = ValueWriter::new(args, context)?;
    let scrape = scrape(args, context)?;
    let duration = args.duration.map(|span| span.0);
    if args.command.is_empty() {
        return watch(args, (rows, scrape), duration, context);
    }
    let has_io = args.show_child_io;
    let sharing = Sharing { has_io, has_ctrl_c: has_io && context.stdin_is_terminal };
    let program = (&*args.command, sharing);
    with_program(program, &args.talk, duration, context, |attached, context| {
        let mut view = View::new(args, rows, scrape, attached.end.clone(), context);
        view.add(&attached.reached, context)?;
        if view.sessions.is_empty() { Ok(None) } else { view.show(context).map(Some) }
    })
}

/// Serves values to Prometheus if `--openmetrics-listen` is given.
fn scrape(args: &CountersArgs, context: &mut Context<'_>) -> Result<Option<Scrape>, Failure> {
    let scrape =
        args.openmetrics_listen.map(|at| Scrape::listen(at, &args.openmetrics_host)).transpose()?;
    if let Some(scrape) = &scrape {
        let address = scrape.address();
        context.messages.note(&format!("metrics are served at http://{address}/metrics"));
        if !address.ip().is_loopback() {
            let text =
                "anyone who can connect to this address can read them: there is no authentication";
            context.messages.warning(&format!("{address}: {text}"));
        }
    }
    Ok(scrape)
}

/// Shows the counters of running processes, or of the first process that connects to a port.
fn watch(
    args: &CountersArgs,
    (rows, scrape): (ValueWriter, Option<Scrape>),
    duration: Option<Duration>,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let talk = Talk::new(&args.talk)?;
    let end = EndRule::notice(&context.delays, duration, &talk.deadlines)?;
    let mut open_port = None;
    let processes = match target::find(&args.target, &talk, &end)? {
        Selected::Processes(processes) => processes,
        Selected::Port(port) => {
            let reached = target::first(&port, &end, &mut context.messages);
            let Some(reached) = reached else { return Ok(Exit::Failed) };
            open_port = Some(port);
            vec![reached]
        }
    };
    let is_only = processes.len() == 1;
    let mut view = View::new(args, rows, scrape, end, context);
    for reached in processes {
        match view.add(&reached, context) {
            Ok(()) => {}
            // A process that is just exiting must not fail the others.
            Err(failure) if !is_only => context.messages.error(&failure),
            Err(failure) => return Err(failure),
        }
    }
    let exit = view.show(context);
    drop(open_port);
    talk.finish()?;
    exit
}

/// Sessions whose values are shown, and the outputs that show them.
struct View<'v> {
    args: &'v CountersArgs,
    rows: ValueWriter,
    sessions: Vec<CounterSession>,
    end: EndRule,
    /// Time at which names without a counter are reported; `None` once they are reported.
    unseen_due: Option<Instant>,
    /// Whether a screen is shown instead of rows.
    has_board: bool,
    scrape: Option<Scrape>,
    /// Time at which the latest document for Prometheus was made.
    scraped: Option<Instant>,
}

impl<'v> View<'v> {
    fn new(
        args: &'v CountersArgs,
        rows: ValueWriter,
        scrape: Option<Scrape>,
        end: EndRule,
        context: &Context<'_>,
    ) -> View<'v> {
        // A program that prints on the same terminal would spoil the screen.
        let has_board = context.shows_screens() && rows.are_for_people() && !args.show_child_io;
        let (unseen_due, scraped) = (None, None);
        View { args, rows, sessions: Vec::new(), end, unseen_due, has_board, scrape, scraped }
    }

    /// Starts a session in a process.
    fn add(&mut self, reached: &Reached, context: &mut Context<'_>) -> Result<(), Failure> {
        let args = self.args;
        let (list, interval) = (args.list(), args.refresh_interval.0);
        // Providers that are named in full need no search among the event sources of the process.
        let has_names = !list.choices.iter().any(|choice| choice.provider.ends_with('*'));
        let found = match !list.choices.is_empty() && has_names {
            true => Vec::new(),
            false => event_sources::names(reached.pid_here()),
        };
        let meters = meters::to_name(reached, &found, &self.end);
        let request = CounterRequest {
            list: &list,
            found: &found,
            meters: meters.as_deref(),
            interval,
            max_time_series: args.max_time_series.get(),
            max_histograms: args.max_histograms.get(),
        };
        let mut providers = request.providers()?;
        if providers.is_empty() {
            let patterns: Vec<&str> =
                list.choices.iter().map(|choice| choice.provider.as_str()).collect();
            context.messages.note(&format!(
                "{}: no provider or meter matches {} yet",
                reached.label(),
                patterns.join(", ")
            ));
            providers.push(counters::silent()?);
        }
        let providers = Providers::new(providers)?;
        let config = SessionConfig::new(providers).stacks(false).rundown(Rundown::Off);
        let report = LiveCounters::default()
            .wanted(list)
            .interval(interval.as_secs_f64())
            .session(SHARED, &client_id());
        let report = if self.has_board { report } else { report.keeping_new() };
        let messages = &mut context.messages;
        let session =
            LiveSession::start(reached, config, Resume::Yes, report, &self.end, messages)?;
        self.sessions.extend(session);
        Ok(())
    }

    /// Shows values until the user, a signal or a time limit ends it, or all processes have ended.
    fn show(&mut self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        if self.sessions.is_empty() {
            return Ok(Exit::Failed);
        }
        self.end.begin();
        let silence = self.args.refresh_interval.0.saturating_mul(MAX_UNSEEN_INTERVALS);
        self.unseen_due = Instant::now().checked_add(silence);
        if self.has_board {
            let shown = self.show_board(context);
            let exit = self.finish(context, None)?;
            return shown.map(|()| exit);
        }
        let queue = match self.rows.goes_to_stdout() {
            true => context.queue_results(OnStall::Drop, &self.end)?,
            false => None,
        };
        self.rows.begin(&self.sessions, context)?;
        while !self.end.is_due() && !self.sessions.iter().all(LiveSession::is_over) {
            self.rows.write_new(&self.sessions, context)?;
            self.report(context);
            self.publish(context)?;
            std::thread::sleep(SIGNAL_CHECK);
        }
        self.finish(context, queue)
    }

    /// Renews the document for Prometheus if the latest is older than `Delays::publication`.
    fn publish(&mut self, context: &Context<'_>) -> Result<(), Failure> {
        let Some(scrape) = &self.scrape else { return Ok(()) };
        if self.scraped.is_some_and(|scraped| scraped.elapsed() < context.delays.publication) {
            return Ok(());
        }
        self.scraped = Some(Instant::now());
        let mut document = Vec::new();
        rows::exposition(&self.sessions).write_openmetrics(&mut document)?;
        scrape.publish(document);
        Ok(())
    }

    /// Returns the new notices of the processes and, once, the names on the command line without a
    /// value.
    fn take_notices(&mut self) -> Vec<String> {
        let is_due = self.unseen_due.take_if(|due| *due <= Instant::now()).is_some();
        let of = |session: &CounterSession| {
            let label = &session.label;
            let notices = session.with(|live| live.report.take_notices());
            let text = |notice| format!("{label}: {}", metrics_notice::text(notice));
            let mut texts: Vec<String> = notices.iter().map(text).collect();
            if is_due {
                texts.extend(unseen_of(session));
            }
            texts
        };
        self.sessions.iter().flat_map(of).collect()
    }

    fn report(&mut self, context: &mut Context<'_>) {
        for notice in self.take_notices() {
            context.messages.warning(&notice);
        }
    }

    /// Stops the sessions and writes the values that still come.
    fn finish(
        &mut self,
        context: &mut Context<'_>,
        queue: Option<StdoutQueue>,
    ) -> Result<Exit, Failure> {
        self.end.end_now();
        for session in &mut self.sessions {
            session.end();
        }
        self.report(context);
        if !self.has_board {
            self.rows.write_new(&self.sessions, context)?;
            self.rows.finish(&self.sessions, context)?;
        }
        context.finish_queue(queue)?;
        let mut exit = Exit::Fine;
        let is_due = self.unseen_due.take().is_some();
        for mut session in std::mem::take(&mut self.sessions) {
            if conclude(&mut session, is_due, context) == Exit::Damaged {
                exit = Exit::Damaged;
            }
        }
        Ok(exit)
    }
}

/// Returns a sentence for each name on the command line that no counter of a process has.
fn unseen_of(session: &CounterSession) -> Vec<String> {
    let unseen = session.with(|live| live.report.unseen());
    unseen.iter().map(|name| format!("{}: {}", session.label, unseen::text(name))).collect()
}

/// Stops a session and warns of what is missing. `is_due`: names without a value were not reported
/// yet.
fn conclude(session: &mut CounterSession, is_due: bool, context: &mut Context<'_>) -> Exit {
    let (label, messages) = (session.label.clone(), &mut context.messages);
    let (events, left_out) = session.with(|live| (live.event_count, live.report.values_left_out));
    // A session without any value was too short to judge names.
    if is_due && events > 0 {
        unseen_of(session).iter().for_each(|text| messages.warning(text));
    }
    if left_out > 0 {
        let values = units::counted(left_out, "value");
        messages.warning(&format!("{label}: {values} not shown: there are too many series"));
    }
    let lost = session.lost();
    if lost > 0 {
        messages.warning(&format!("{label}: {} lost", units::counted(lost, "event")));
    }
    let problem = session.end().problem();
    if let Some(problem) = &problem {
        messages.warning(&format!("{label}{problem}"));
    }
    if events == 0 {
        let text = "no counter had a value: they come at the end of each interval";
        messages.warning(&format!("{label}: {text}"));
    }
    if problem.is_some() { Exit::Damaged } else { Exit::Fine }
}
