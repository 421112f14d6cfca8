//! `nettrace top`: shows methods, threads, allocations and waits of the last seconds of a process.

mod board;
mod request;
mod rows;
mod state;

use super::attached::{Attached, with_process};
use crate::args::{OnStall, TopArgs, TopView};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json_text;
use crate::live::cost::{Cost, Meter};
use crate::live::driver::Received;
use crate::live::end_rule::{EndRule, SIGNAL_CHECK};
use crate::live::live_session::{Beside, LiveSession};
use crate::live::mappings;
use crate::live::method_names;
use crate::live::os_threads;
use crate::live::start::Resume;
use crate::live::target::Reached;
use crate::live::thread_times::ThreadTimes;
use crate::screen::{Pressed, Screen, TerminalInput, Theme};
use crate::units;
use board::TopBoard;
use nettrace_analysis::live::{LiveTop, TopCallee, TopSnapshot};
use serde::Serialize;
use state::TopState;
use std::io::Write;
use std::time::{Duration, Instant};

/// Time to wait for a key before signals and the clock are checked; minimum time between lines.
const KEY_WAIT: Duration = Duration::from_millis(100);
/// Interval at which the memory mappings of the process are read.
const MAPPINGS_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum number of rows that a screen can scroll through.
const MAX_SCREEN_ROWS: usize = 200;

pub(super) fn run(args: &TopArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    if !(Duration::from_secs(1)..=Duration::from_secs(60)).contains(&args.window.0) {
        return Err(Failure::usage("--window is 1s to 60s"));
    }
    let duration = args.duration.map(|span| span.0);
    with_process((&args.target, &args.talk), duration, context, |attached, context| {
        match Watching::start(args, attached, context)? {
            Some(watching) => watching.run(context),
            None => Ok(Exit::Failed),
        }
    })
}

fn shows_screen(args: &TopArgs, context: &Context<'_>) -> bool {
    context.shows_screens() && !args.once && !args.json
}

/// Process that is being observed.
struct Watching<'w> {
    args: &'w TopArgs,
    session: LiveSession<LiveTop>,
    reached: Reached,
    /// Additional session of the current view; `None` if it needs none.
    beside: Option<(TopView, Beside)>,
    /// Session for the reasons why the thread pool grows.
    pool: Option<Beside>,
    earlier: Received,
    /// Reason why the view's additional session could not be started.
    trouble: Option<String>,
    meter: Meter,
    /// Time at which the memory mappings were last read.
    mapped: Option<Instant>,
    end: EndRule,
    start: Instant,
}

/// Document of `--json`, whose keys must not change.
#[derive(Serialize)]
struct TopDocument<'s> {
    process_id: Option<u64>,
    process_name: &'s str,
    /// Number of events that the process lost.
    lost_events: u64,
    cost: Cost,
    #[serde(flatten)]
    snapshot: &'s TopSnapshot,
}

impl<'w> Watching<'w> {
    fn start(
        args: &'w TopArgs,
        attached: &Attached,
        context: &mut Context<'_>,
    ) -> Result<Option<Watching<'w>>, Failure> {
        let shown = match (shows_screen(args, context), args.view) {
            // The board starts an additional session when the user opens another view.
            (true, _) => request::RequestedLists::Samples,
            (false, None) if args.json => request::RequestedLists::All,
            (false, view) => request::RequestedLists::View(view.unwrap_or(TopView::Methods)),
        };
        let config = request::config(shown, args.buffersize)?;
        let Attached { reached, end, .. } = attached;
        let meter = Meter::new(reached.pid_here());
        let rows = if shows_screen(args, context) { MAX_SCREEN_ROWS } else { args.number };
        let top = LiveTop::default().window(args.window.0).rows(rows);
        let messages = &mut context.messages;
        let times = args.thread_times.interval().map(ThreadTimes::new);
        let top = (top, times.as_ref());
        let session = LiveSession::start_reading(reached, config, Resume::Yes, top, end, messages)?;
        let Some(session) = session else { return Ok(None) };
        // The session itself reports methods that are loaded later.
        let learnt = method_names::rundown(reached, args.buffersize, end, |event| {
            session.with(|live| live.report.names_mut().learn(event));
        });
        if let Err(reason) = learnt {
            let text = "frames of methods that were loaded before are shown as addresses";
            context.messages.note(&format!("{}: {text}: {reason}", reached.label()));
        }
        end.begin();
        let mut watching = Watching {
            args,
            pool: session.beside(reached, request::pool(args.buffersize)?, end).ok(),
            session,
            reached: reached.clone(),
            beside: None,
            earlier: Received::default(),
            trouble: None,
            meter,
            mapped: None,
            end: end.clone(),
            start: Instant::now(),
        };
        watching.look_at_threads();
        watching.look();
        Ok(Some(watching))
    }

    /// Returns the sums of all sessions, including ended ones.
    fn received(&self) -> Received {
        let mut received = self.session.received();
        received.add(self.earlier);
        let of_view = self.beside.iter().map(|(_, beside)| beside);
        of_view.chain(&self.pool).for_each(|beside| received.add(beside.received()));
        received
    }

    /// Starts the additional session of a view, and ends the session of the view before.
    fn follow(&mut self, view: TopView) {
        if self.beside.as_ref().is_some_and(|(of, _)| *of == view) {
            return;
        }
        if let Some((_, beside)) = self.beside.take() {
            self.earlier.add(beside.received());
        }
        let begun = match request::beside(view, self.args.buffersize) {
            Ok(None) => {
                self.trouble = None;
                return;
            }
            Ok(Some(config)) => self
                .session
                .beside(&self.reached, config, &self.end)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match begun {
            Ok(beside) => (self.beside, self.trouble) = (Some((view, beside)), None),
            Err(error) => self.trouble = Some(error),
        }
    }

    /// Takes the readings of the threads, which weigh the samples.
    fn look_at_threads(&mut self) {
        self.session.look_at_threads(|top, now_ns, process_ns, threads| {
            top.set_threads(now_ns, process_ns, threads.iter().copied());
        });
    }

    fn run(mut self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let mut queue = None;
        let shown = if shows_screen(self.args, context) {
            self.show_screen(context)
        } else {
            // A reader that stalls must not slow down the process.
            queue = context.queue_results(OnStall::Drop, &self.end)?;
            self.show_lines(context)
        };
        let (label, is_over) = (self.session.label.clone(), self.session.is_over());
        self.end.end_now();
        if let Some((_, beside)) = self.beside.take() {
            self.earlier.add(beside.received());
            beside.end();
        }
        if let Some(pool) = self.pool.take() {
            self.earlier.add(pool.received());
            pool.end();
        }
        let problem = self.session.end().problem();
        shown?;
        context.finish_queue(queue)?;
        let lost = self.received().lost;
        if lost > 0 {
            let events = units::counted(lost, "event");
            context
                .messages
                .warning(&format!("{label}: {events} lost, and not in the percentages"));
        }
        if let Some(problem) = problem {
            context.messages.warning(&format!("{label}{problem}"));
            return Ok(Exit::Damaged);
        }
        if is_over {
            context.messages.note(&format!("{label} has ended"));
        }
        Ok(Exit::Fine)
    }

    fn is_over(&self) -> bool {
        self.end.is_due() || self.session.is_over()
    }

    fn look(&mut self) -> TopState {
        self.look_at_threads();
        let received = self.received();
        let threads = self.session.pid_here.and_then(|pid| os_threads::list(pid).ok());
        let cost = self.meter.look_at_events(received.events, threads.as_ref());
        let is_time = self.mapped.is_none_or(|mapped| mapped.elapsed() >= MAPPINGS_INTERVAL);
        if let Some(pid) = self.session.pid_here.filter(|_| is_time) {
            self.mapped = Some(Instant::now());
            let mappings = mappings::of_process(pid);
            self.session.with(|live| live.report.set_mappings(&mappings));
        }
        let snapshot = self.session.with(|live| live.snapshot());
        let of_beside = self.beside.as_ref().and_then(|(_, beside)| beside.failure());
        TopState {
            label: self.session.label.clone(),
            snapshot,
            lost: received.lost,
            is_over: self.session.is_over(),
            trouble: of_beside.or_else(|| self.trouble.clone()),
            cost,
        }
    }

    fn show_screen(&mut self, context: &Context<'_>) -> Result<(), Failure> {
        let view = self.args.view.unwrap_or(TopView::Methods);
        let mut board = TopBoard::new(Theme::from_style(context.style), view);
        let mut screen = Screen::enter()?;
        let mut looked: Option<Instant> = None;
        let mut is_drawn = false;
        // After the process has ended, its last seconds are kept, because later windows would be
        // empty. A user who has paused the view sees them afterwards.
        let (mut ended_ns, mut last) = (None, None);
        while !self.end.is_due() {
            self.follow(board.view());
            self.look_at_threads();
            let is_time =
                looked.is_none_or(|looked| looked.elapsed() >= self.args.refresh_interval.0);
            if ended_ns.is_none() && (self.session.is_over() || is_time && !board.is_paused()) {
                looked = Some(Instant::now());
                ended_ns = self.session.is_over().then(|| self.session.with(|live| live.now_ns()));
                last = Some(self.look());
            }
            if let Some(seen) = last.take_if(|_| !board.is_paused()) {
                board.update(seen);
                is_drawn = false;
            }
            if !is_drawn {
                if let Some((view, name)) = board.wants_callers() {
                    let callers = self.session.with(|live| {
                        let (top, now) = (&live.report, ended_ns.unwrap_or(live.now_ns()));
                        let callee = match view {
                            TopView::Methods => TopCallee::Method(&name),
                            TopView::Allocations => TopCallee::Allocation(&name),
                            TopView::Exceptions => TopCallee::Exception(&name),
                            TopView::Contention => TopCallee::Contention(&name),
                            TopView::Waits => TopCallee::Wait(&name),
                            TopView::Threads | TopView::Http => return Vec::new(),
                        };
                        top.callers(now, callee)
                    });
                    board.take_callers(callers);
                }
                screen.draw(|frame| board.draw(frame))?;
                is_drawn = true;
            }
            match screen.next(KEY_WAIT)? {
                TerminalInput::Key(key) => match board.press(key) {
                    Pressed::Quit => break,
                    Pressed::Something => is_drawn = false,
                    Pressed::Nothing => {}
                },
                TerminalInput::Resized => is_drawn = false,
                TerminalInput::Nothing => {}
                TerminalInput::HungUp => break,
            }
        }
        Ok(())
    }

    fn show_lines(&mut self, context: &mut Context<'_>) -> Result<(), Failure> {
        // The first lines wait for a whole window.
        let mut next = self.start + self.args.window.0;
        let mut is_first = true;
        loop {
            while Instant::now() < next && !self.is_over() {
                self.look_at_threads();
                std::thread::sleep(
                    SIGNAL_CHECK.min(next.saturating_duration_since(Instant::now())),
                );
            }
            let ends = self.args.once || self.is_over();
            let seen = self.look();
            if self.args.json {
                let document = TopDocument {
                    process_id: self.session.pid,
                    process_name: &self.session.name,
                    lost_events: seen.lost,
                    cost: seen.cost,
                    snapshot: &seen.snapshot,
                };
                if self.args.once {
                    json_text::pretty(&mut context.out, &document)?;
                } else {
                    json_text::line(&mut context.out, &document)?;
                }
                context.out.write_all(b"\n")?;
            } else {
                let view = self.args.view.unwrap_or(TopView::Methods);
                rows::write(&seen, view, std::mem::take(&mut is_first), context)?;
            }
            context.out.finish()?;
            if ends {
                return Ok(());
            }
            next = Instant::now() + self.args.refresh_interval.0.max(KEY_WAIT);
        }
    }
}
