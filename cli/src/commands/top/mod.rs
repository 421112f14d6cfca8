//! `nettrace top`: what a running process has been doing for the last seconds.

mod board;
mod rows;

use super::attached::{Attached, with_process};
use crate::args::profiles::RUNTIME;
use crate::args::{OnStall, TopArgs, TopView};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json_text;
use crate::live::cost::{Cost, Meter};
use crate::live::end_rule::{EndRule, SIGNAL_CHECK};
use crate::live::live_session::LiveSession;
use crate::live::mappings;
use crate::live::method_names;
use crate::live::start::Resume;
use crate::screen::{Input, Pressed, Screen, Theme};
use crate::units;
use board::{Board, TopState};
use nettrace_analysis::live::{LiveTop, TopCallee, TopSnapshot};
use nettrace_ipc::{Arguments, Level, Provider, Providers, RequestError, Rundown, SessionConfig};
use serde::Serialize;
use std::io::Write;
use std::time::{Duration, Instant};

/// Of the runtime: GC (ticks of allocation), loader, JIT, NGEN, contention, exceptions,
/// and precompiled code that is handed out. What is known of the thread pool comes from
/// counters.
const RUNTIME_KEYWORDS: u64 = 0x1 | 0x8 | 0x10 | 0x20 | 0x4000 | 0x8000 | 0x20_0000_0000;
/// How long the use of processors is measured before the session begins, to compare with.
const BASELINE_TIME: Duration = Duration::from_millis(300);
/// How long a key is waited for before signals and the clock are looked at. Lines are not
/// written more often.
const KEY_WAIT: Duration = Duration::from_millis(100);
/// How often it is looked what the memory of the process holds.
const MAPPINGS_INTERVAL: Duration = Duration::from_secs(10);
/// Rows that a screen may scroll through.
const SCREEN_ROWS: usize = 200;

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

fn config(args: &TopArgs) -> Result<SessionConfig, RequestError> {
    let sampler = Provider::new("Microsoft-DotNETCore-SampleProfiler")?;
    let counters = Provider::new("System.Runtime")?.keywords(0).level(Level::Critical);
    let mut wanted = vec![
        sampler.keywords(0).level(Level::Verbose),
        Provider::new(RUNTIME)?.keywords(RUNTIME_KEYWORDS).level(Level::Verbose),
        counters.arguments(Arguments::pairs([("EventCounterIntervalSec", "1")])?),
    ];
    wanted.extend(super::watch::requests()?);
    let config = SessionConfig::new(Providers::new(wanted)?);
    Ok(config.rundown(Rundown::Off).buffer_megabytes(args.buffersize))
}

/// A session that is looked at.
struct Watching<'w> {
    args: &'w TopArgs,
    session: LiveSession<LiveTop>,
    meter: Meter,
    /// When the memory of the process was looked at.
    mapped: Option<Instant>,
    end: EndRule,
    start: Instant,
}

/// The keys are a promise to scripts.
#[derive(Serialize)]
struct TopDocument<'s> {
    process_id: Option<u64>,
    process_name: &'s str,
    /// Events that the process could not send.
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
        let config = config(args)?;
        let Attached { reached, end, .. } = attached;
        let mut meter = Meter::new(reached.pid);
        if !end.sleep_until(Instant::now() + BASELINE_TIME) {
            return Ok(None);
        }
        meter.begin();
        let rows = if shows_screen(args, context) { SCREEN_ROWS } else { args.number };
        let top = LiveTop::default().window(args.window.0).rows(rows);
        let messages = &mut context.messages;
        let session = LiveSession::start(reached, config, Resume::Yes, top, end, messages)?;
        let Some(session) = session else { return Ok(None) };
        // Once: methods that are loaded from now on are reported by the session itself.
        let learnt = method_names::rundown(reached, args.buffersize, end, |event| {
            session.with(|live| live.report_mut().names_mut().learn(event));
        });
        if let Err(reason) = learnt {
            let text = "frames of methods that were loaded before are shown as addresses";
            context.messages.note(&format!("{}: {text}: {reason}", reached.label()));
        }
        end.begin();
        let (end, start) = (end.clone(), Instant::now());
        Ok(Some(Watching { args, session, meter, mapped: None, end, start }))
    }

    fn run(mut self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let mut queue = None;
        let shown = if shows_screen(self.args, context) {
            self.show_screen(context)
        } else {
            // A stalled reader must not slow down the process.
            queue = context.queue_results(OnStall::Drop, &self.end)?;
            self.show_lines(context)
        };
        let (label, is_over) = (self.session.label.clone(), self.session.is_over());
        self.end.end_now();
        let problem = self.session.end().problem();
        shown?;
        context.finish_queue(queue)?;
        let lost = self.session.lost();
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
        let cost = self.meter.look();
        let is_time = self.mapped.is_none_or(|mapped| mapped.elapsed() >= MAPPINGS_INTERVAL);
        if let Some(pid) = self.session.pid.filter(|_| is_time) {
            self.mapped = Some(Instant::now());
            let mappings = mappings::of_process(pid);
            self.session.with(|live| live.report_mut().set_mappings(&mappings));
        }
        let snapshot = self.session.with(|live| live.snapshot());
        let (lost, is_over) = (self.session.lost(), self.session.is_over());
        TopState { label: self.session.label.clone(), snapshot, lost, is_over, cost }
    }

    fn show_screen(&mut self, context: &Context<'_>) -> Result<(), Failure> {
        let mut board = Board::new(Theme::of(context.style), self.args.view);
        let mut screen = Screen::enter()?;
        let mut looked: Option<Instant> = None;
        let mut is_drawn = false;
        // Once the process has ended its last seconds stay: later looks would be empty.
        // Who had the view paused sees them afterwards.
        let (mut ended_ns, mut last) = (None, None);
        while !self.end.is_due() {
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
                        let (top, now) = (live.report(), ended_ns.unwrap_or(live.now_ns()));
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
                Input::Key(key) => match board.press(key) {
                    Pressed::Quit => break,
                    Pressed::Something => is_drawn = false,
                    Pressed::Nothing => {}
                },
                Input::Resized => is_drawn = false,
                Input::Nothing => {}
                Input::HungUp => break,
            }
        }
        Ok(())
    }

    fn show_lines(&mut self, context: &mut Context<'_>) -> Result<(), Failure> {
        // The first look is at a whole window.
        let mut next = self.start + self.args.window.0;
        loop {
            while Instant::now() < next && !self.is_over() {
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
                rows::write(&seen, self.args.view, context)?;
            }
            context.out.finish()?;
            if ends {
                return Ok(());
            }
            next = Instant::now() + self.args.refresh_interval.0.max(KEY_WAIT);
        }
    }
}
