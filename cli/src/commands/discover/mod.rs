//! `nettrace discover`: shows the events, counters and instruments of a process, and the options
//! that record them.

mod document;

use super::attached::{Attached, with_process, with_program};
use crate::args::DiscoverArgs;
use crate::args::profiles::RUNTIME;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::cost::Meter;
use crate::live::counters::{CounterRequest, METRICS, listing};
use crate::live::end_rule::{EndRule, SIGNAL_CHECK};
use crate::live::event_sources;
use crate::live::live_session::LiveSession;
use crate::live::program::Sharing;
use crate::live::start::Resume;
use crate::live::target::Reached;
use crate::units;
use document::DiscoverDocument;
use nettrace_analysis::live::{CounterList, Discovery, DiscoverySnapshot};
use nettrace_ipc::{Level, Provider, Providers, RequestError, Rundown, SessionConfig};
use std::time::{Duration, Instant};

/// Name that stands for all providers in a request to the runtime.
const EVERYTHING: &str = "*";
/// Keywords that make the runtime do extra work: enumerate methods, walk or collect the heap, watch
/// or sample allocations, take stacks.
const COSTLY_KEYWORDS: u64 = 0x43F0_00C0 | 0x800_0000_0000;
/// Time for which the process's CPU use is measured before the session begins.
const BASELINE_TIME: Duration = Duration::from_secs(2);
pub(super) fn run(args: &DiscoverArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let duration = Some(args.duration.0);
    if args.command.is_empty() {
        let process = (&args.target, &args.talk);
        return with_process(process, duration, context, |attached, context| {
            Ok(look(args, attached, context)?.unwrap_or(Exit::Failed))
        });
    }
    let program = (&*args.command, Sharing { has_io: false, has_ctrl_c: false });
    with_program(program, &args.talk, duration, context, |attached, context| {
        look(args, attached, context)
    })
}

/// Observes a process. Returns `None` if the command ended before the process answered.
fn look(
    args: &DiscoverArgs,
    attached: &Attached,
    context: &mut Context<'_>,
) -> Result<Option<Exit>, Failure> {
    let Attached { reached, end, .. } = attached;
    let mut meter = Meter::new(reached.pid_here());
    // A program that this command started is still suspended, so that it has no CPU use.
    if args.command.is_empty() && end.sleep_until(Instant::now() + BASELINE_TIME) {
        meter.begin();
    }
    let Some(mut sessions) = start(reached, end, context)? else { return Ok(None) };
    end.begin();
    while !end.is_due() && !sessions.all.is_over() {
        std::thread::sleep(SIGNAL_CHECK);
    }
    end.end_now();
    let cost = meter.look();
    // What the process still sends then happened before.
    let problem = sessions.named.end().problem();
    let problem = sessions.all.end().problem().or(problem);
    let snapshot = sessions.snapshot();
    let document = DiscoverDocument::new(args, reached, &snapshot, sessions.all.lost(), cost);
    if args.json {
        context.write_json(&document)?;
    } else {
        document::write_text(&document, context)?;
    }
    context.out.finish()?;
    if snapshot.events_left_out > 0 {
        let events = units::counted(snapshot.events_left_out, "event");
        context.messages.warning(&format!("{events} of too many types are not listed"));
    }
    let lost = sessions.all.lost();
    if lost > 0 {
        let lost = units::counted(lost, "event");
        context.messages.warning(&format!("{lost} lost: rates are too low"));
    }
    if let Some(problem) = problem {
        // The events that came are shown, but the process may emit others.
        context.messages.warning(&format!("{}{problem}", reached.label()));
        return Ok(Some(Exit::Failed));
    }
    Ok(Some(Exit::Fine))
}

/// Two sessions that listen to a process.
struct DiscoverySessions {
    /// Session for counters, instruments, and providers requested by name.
    named: LiveSession<Discovery>,
    /// Session for everything else.
    all: LiveSession<Discovery>,
}

/// Starts both sessions; returns `None` if the command ended before the process answered.
///
/// `named` starts first, because the runtime sends the list of instruments at once, and only to the
/// session that requests it. A suspended process is resumed by `all`.
fn start(
    reached: &Reached,
    end: &EndRule,
    context: &mut Context<'_>,
) -> Result<Option<DiscoverySessions>, Failure> {
    let (named, all) = (named(&event_sources::names(reached.pid_here()))?, everything()?);
    let messages = &mut context.messages;
    let view = Discovery::default;
    let named = LiveSession::start(reached, named, Resume::No, view(), end, messages)?;
    let Some(mut named) = named else { return Ok(None) };
    let all = LiveSession::start(reached, all, Resume::Yes, view(), end, messages)?;
    let Some(all) = all else { return Ok(None) };
    if !named.start_later(reached, end, messages)? {
        return Ok(None);
    }
    Ok(Some(DiscoverySessions { named, all }))
}

impl DiscoverySessions {
    /// Returns the events of `all`, with the counters and instruments of both sessions.
    fn snapshot(&self) -> DiscoverySnapshot {
        let mut snapshot = self.all.with(|live| live.snapshot());
        let named = self.named.with(|live| live.snapshot());
        snapshot.counters.extend(named.counters);
        snapshot.counters.sort();
        snapshot.counters.dedup();
        snapshot.instruments.extend(named.instruments);
        snapshot.instruments.sort();
        snapshot.instruments.dedup();
        snapshot
    }
}

fn everything() -> Result<SessionConfig, RequestError> {
    let all = Provider::new(EVERYTHING)?.exact_keywords(u64::MAX).level(Level::Verbose);
    // Stacks are not shown; runtimes before .NET 9 take them nevertheless.
    Ok(SessionConfig::new(Providers::new([all])?).rundown(Rundown::Off).stacks(false))
}

/// Returns the configuration for what a session for `*` does not receive: counters, instruments,
/// and most events of the runtime. The runtime sends these only once a session has named its
/// provider, but then to every session.
fn named(found: &[String]) -> Result<SessionConfig, RequestError> {
    let request = CounterRequest {
        list: &CounterList::default(),
        found,
        meters: Some(&[]),
        interval: Duration::from_secs(1),
        max_time_series: 1000,
        max_histograms: 10,
    };
    // A named event source sends the session for `*` only the keywords requested by name: without
    // them its events would be missing there.
    let all = |provider: Provider| match provider.name() == METRICS {
        true => provider,
        false => provider.exact_keywords(u64::MAX).level(Level::Verbose),
    };
    let mut providers: Vec<Provider> = request.providers()?.into_iter().map(all).collect();
    providers.push(listing()?);
    providers.push(Provider::new(RUNTIME)?.keywords(!COSTLY_KEYWORDS).level(Level::Verbose));
    let providers = Providers::new(providers)?;
    Ok(SessionConfig::new(providers).rundown(Rundown::Off).stacks(false))
}
