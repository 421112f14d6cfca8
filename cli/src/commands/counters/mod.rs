//! `nettrace counters`: counters and metrics of running processes as they change.

mod board;
mod launched;
mod rows;
mod screen;
mod series_rows;
mod unseen;

use crate::args::CountersArgs;
use crate::args::OnStall;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::counters::{self, CounterRequest, SHARED, client_id};
use crate::live::feed::Feed;
use crate::live::scrape::Scrape;
use crate::live::signals::Signals;
use crate::live::starting;
use crate::live::target::{self, Reached, Several, TICK, Talk};
use crate::live::{event_sources, meters, metrics_notice, outlet::Outlet};
use crate::units;
use nettrace_analysis::live::LiveCounters;
use nettrace_ipc::{Providers, RequestError, Rundown, SessionConfig};
use rows::Rows;
use std::time::{Duration, Instant};

/// After this many intervals without a value, a name is reported as missing.
const SILENT_INTERVALS: u32 = 3;
/// How often the document that is scraped is made anew.
const PUBLISH: Duration = Duration::from_millis(250);

/// The counters of one process.
type CounterFeed = Feed<LiveCounters>;

pub(super) fn run(args: &CountersArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut view = View::new(args, context)?;
    let talk = Talk::new(&args.talk)?;
    let signals = Signals::notice()?;
    view.signals = signals.clone();
    let result = if args.command.is_empty() {
        watch(args, &mut view, &talk, context)
    } else {
        launched::run(args, &mut view, &talk, context)
    };
    talk.finish()?;
    result
}

/// Processes that are there, or the first that comes to a port.
fn watch(
    args: &CountersArgs,
    view: &mut View<'_>,
    talk: &Talk,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let signals = view.signals.clone();
    let mut open_port = None;
    let processes = match target::find_several(&args.target, talk, &signals)? {
        Several::Processes(processes) => processes,
        Several::Port(port) => {
            context.messages.note(&target::invitation(&port));
            signals.set_waiting(Some(port.resumer()));
            let Some(reached) = target::first(&port, &signals) else { return Ok(Exit::Failed) };
            open_port = Some(port);
            vec![reached]
        }
    };
    let is_only = processes.len() == 1;
    for reached in processes {
        match view.add(&reached, context) {
            Ok(()) => {}
            // One that is just ending must not spoil the others.
            Err(failure) if !is_only => context.messages.error(&failure),
            Err(failure) => return Err(failure),
        }
    }
    let exit = view.show(context, &mut || false)?;
    drop(open_port);
    Ok(exit)
}

/// What is shown, and where it comes from.
struct View<'v> {
    args: &'v CountersArgs,
    rows: Rows,
    feeds: Vec<CounterFeed>,
    signals: Signals,
    deadline: Option<Instant>,
    /// When names that no counter has are said; `None` once they were.
    doubts: Option<Instant>,
    /// A screen instead of rows.
    has_board: bool,
    scrape: Option<Scrape>,
    /// When the scraped document was made.
    scraped: Option<Instant>,
}

impl<'v> View<'v> {
    fn new(args: &'v CountersArgs, context: &mut Context<'_>) -> Result<View<'v>, Failure> {
        let rows = Rows::new(args, context)?;
        let (feeds, signals) = (Vec::new(), Signals::unnoticed());
        // A program that prints on the same terminal would spoil the screen.
        let has_board = context.shows_screens() && rows.are_for_people() && !args.show_child_io;
        let scrape = args.openmetrics_listen.map(Scrape::listen).transpose()?;
        if let Some(scrape) = &scrape {
            let address = scrape.address();
            context.messages.note(&format!("metrics are served at http://{address}/metrics"));
            if !address.ip().is_loopback() {
                let text = "anyone who can connect to this address can read them: there is no authentication";
                context.messages.warning(&format!("{address}: {text}"));
            }
        }
        let scraped = None;
        Ok(View {
            args,
            rows,
            feeds,
            signals,
            deadline: None,
            doubts: None,
            has_board,
            scrape,
            scraped,
        })
    }

    /// Starts a session in a process.
    fn add(&mut self, reached: &Reached, context: &mut Context<'_>) -> Result<(), Failure> {
        let args = self.args;
        let (list, interval) = (args.list(), args.refresh_interval.0);
        // Those that are named need no looking for.
        let has_names = !list.choices().iter().any(|choice| choice.provider.ends_with('*'));
        let found = match !list.is_empty() && has_names {
            true => Vec::new(),
            false => event_sources::names(reached.pid),
        };
        let meters = meters::to_name(reached, &found, &self.signals);
        let request = CounterRequest {
            list: &list,
            found: &found,
            meters: meters.as_deref(),
            interval,
            max_time_series: args.max_time_series.get(),
            max_histograms: args.max_histograms.get(),
        };
        let refused = |error: RequestError| Failure::Usage(error.to_string());
        let mut providers = request.providers().map_err(refused)?;
        if providers.is_empty() {
            let patterns: Vec<&str> =
                list.choices().iter().map(|choice| choice.provider.as_str()).collect();
            context.messages.note(&format!(
                "{}: no provider or meter matches {} yet",
                reached.label(),
                patterns.join(", ")
            ));
            providers.push(counters::silent().map_err(refused)?);
        }
        let providers = Providers::new(providers).map_err(refused)?;
        let config = SessionConfig::new(providers).stacks(false).rundown(Rundown::Off);
        let session = starting::start(reached, config, &self.signals, &mut context.messages)?;
        let Some(session) = session else { return Ok(()) };
        let report = LiveCounters::new()
            .wanted(list)
            .interval(interval.as_secs_f64())
            .session(SHARED, &client_id());
        let report = if self.has_board { report } else { report.keeping_new() };
        self.feeds.push(Feed::start(reached, session, report).map_err(Failure::Output)?);
        Ok(())
    }

    /// Shows values until the user, a signal, a time limit or `is_over` ends it.
    fn show(
        &mut self,
        context: &mut Context<'_>,
        is_over: &mut dyn FnMut() -> bool,
    ) -> Result<Exit, Failure> {
        if self.feeds.is_empty() {
            return Ok(Exit::Failed);
        }
        self.deadline = self.args.duration.and_then(|span| Instant::now().checked_add(span.0));
        let patience = self.args.refresh_interval.0.saturating_mul(SILENT_INTERVALS);
        self.doubts = Instant::now().checked_add(patience);
        if self.has_board {
            let shown = self.show_board(context);
            let exit = self.end(context, None)?;
            return shown.map(|()| exit);
        }
        let stdout = if self.rows.goes_to_stdout() { (context.detached_stdout)() } else { None };
        let outlet = stdout
            .map(|stdout| Outlet::new(stdout, OnStall::Drop, self.signals.clone()))
            .transpose()?;
        if let Some(outlet) = &outlet {
            outlet.set_deadline(self.deadline);
            context.out.lead_to(outlet.clone());
        }
        self.rows.begin(&self.feeds, context)?;
        while !self.is_over() && !is_over() {
            self.rows.write_new(&self.feeds, context)?;
            self.tell(context);
            self.publish()?;
            std::thread::sleep(TICK);
        }
        self.end(context, outlet)
    }

    fn is_over(&self) -> bool {
        self.signals.seen().is_some() || self.is_late() || self.feeds.iter().all(Feed::is_over)
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Renews what is served.
    fn publish(&mut self) -> Result<(), Failure> {
        let Some(scrape) = &self.scrape else { return Ok(()) };
        if self.scraped.is_some_and(|scraped| scraped.elapsed() < PUBLISH) {
            return Ok(());
        }
        self.scraped = Some(Instant::now());
        let mut document = Vec::new();
        rows::exposition(&self.feeds).write_openmetrics(&mut document)?;
        scrape.publish(document);
        Ok(())
    }

    /// Notices of the processes, and names on the command line that had no value.
    fn notices(&mut self) -> Vec<String> {
        let is_late = self.doubts.is_some_and(|doubts| Instant::now() >= doubts);
        if is_late {
            self.doubts = None;
        }
        let of = |feed: &CounterFeed| {
            let notices = feed.with(|live| live.report_mut().take_notices());
            let said = |notice| format!("{}: {}", feed.label, metrics_notice::text(notice));
            let mut said: Vec<String> = notices.iter().map(said).collect();
            if is_late {
                said.extend(self.unseen(feed));
            }
            said
        };
        self.feeds.iter().flat_map(of).collect()
    }

    /// Names on the command line that no counter of a process has had so far.
    fn unseen(&self, feed: &CounterFeed) -> Vec<String> {
        let unseen = feed.with(|live| live.report().unseen());
        unseen.iter().map(|name| format!("{}: {}", feed.label, unseen::text(name))).collect()
    }

    fn tell(&mut self, context: &mut Context<'_>) {
        for notice in self.notices() {
            context.messages.warning(&notice);
        }
    }

    /// Stops the sessions and writes what still comes.
    fn end(&mut self, context: &mut Context<'_>, outlet: Option<Outlet>) -> Result<Exit, Failure> {
        self.signals.end_by_itself();
        self.feeds.iter().for_each(Feed::stop);
        self.feeds.iter().for_each(Feed::end);
        self.tell(context);
        if !self.has_board {
            self.rows.write_new(&self.feeds, context)?;
            self.rows.finish(&self.feeds, context)?;
        }
        if let Some(outlet) = outlet {
            let thrown = outlet.finish()?;
            if thrown.bytes > 0 {
                let text = "not shown, since standard output was not read";
                context.messages.warning(&format!("{} {text}", units::bytes(thrown.bytes)));
            }
        }
        let mut exit = Exit::Fine;
        let is_due = self.doubts.take().is_some();
        for feed in std::mem::take(&mut self.feeds) {
            let label = feed.label.clone();
            // Without any value the interval was too short to tell.
            if is_due && feed.with(|live| live.events()) > 0 {
                self.unseen(&feed).iter().for_each(|text| context.messages.warning(text));
            }
            let (events, left_out) =
                feed.with(|live| (live.events(), live.report().values_left_out()));
            let Some(end) = feed.outcome() else { continue };
            if left_out > 0 {
                let values = units::counted(left_out, "value");
                let text = "not shown: there are too many series";
                context.messages.warning(&format!("{label}: {values} {text}"));
            }
            if end.lost > 0 {
                let lost = units::counted(end.lost, "event");
                context.messages.warning(&format!("{label}: {lost} lost"));
            }
            if let Some(fault) = end.fault {
                context.messages.warning(&format!("{label}: its stream cannot be parsed: {fault}"));
                exit = Exit::Damaged;
            } else if end.is_cut {
                let text = "exited without completing the session (was it killed?)";
                context.messages.warning(&format!("{label} {text}"));
                exit = Exit::Damaged;
            }
            if events == 0 {
                let text = "no counter had a value: they come at the end of each interval";
                context.messages.warning(&format!("{label}: {text}"));
            }
        }
        Ok(exit)
    }
}
