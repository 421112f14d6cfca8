//! Names for the frames of a live session.
//!
//! A stack is a list of addresses. The runtime reports which method lies where in two ways: in an
//! event when a method is loaded, and in a rundown at the end of a session. So the watched session
//! also asks for these events, and a second session, which is stopped at once, brings a rundown.

use super::counters::silent;
use super::driver::{Driver, Next};
use super::end_rule::EndRule;
use super::target::Reached;
use crate::args::profiles::RUNTIME;
use crate::failure::with_causes;
use nettrace_analysis::NamesSoFar;
use nettrace_ipc::{EventFilter, Level, Provider, Providers, RequestError, Rundown, SessionConfig};
use nettrace_parser::view::KnownProvider;
use nettrace_parser::{Event, Feed};
use std::num::NonZeroU32;

/// Keywords of the events that name methods: Loader, JIT and NGEN for methods and modules that come
/// and go, CompilationDiagnostic for precompiled code that is handed out.
pub(crate) const METHOD_KEYWORDS: u64 = 0x8 | 0x10 | 0x20 | 0x20_0000_0000;
/// Ids of the events that name methods: method load and unload, without and with names; module load
/// and unload; precompiled code handed out.
const IDS: [u32; 7] = [141, 142, 143, 144, 152, 153, 159];
/// The rundown that names methods at the session's end: loader, JIT, NGEN. Runtimes before .NET 9
/// send their whole rundown.
pub(crate) const RUNDOWN: Rundown = Rundown::Keyword(0x8 | 0x10 | 0x20 | 0x100);

/// Filter of the runtime's events that hides those which the user did not request.
#[derive(Debug)]
pub(crate) struct Visible {
    /// The runtime's provider as the user requested it; `None` if the user did not.
    asked: Option<Provider>,
}

impl Visible {
    /// Returns whether the user requested an event, by the rule by which the runtime sends events
    /// to a session: an event without keywords, or of level 0, comes to every session that has its
    /// provider.
    pub(crate) fn is(&self, event: &Event<'_>) -> bool {
        if event.known_provider() != KnownProvider::Runtime {
            return true;
        }
        let Some(asked) = &self.asked else { return false };
        let (keywords, level) = (event.keywords(), event.level());
        let wanted = asked.wanted_level().number();
        (keywords == 0 || keywords & asked.wire_keywords() != 0)
            && (level == 0 || wanted == 0 || level <= wanted)
            && asked.event_filter().is_none_or(|filter| filter.passes(event.id()))
    }
}

/// Adds to a session the events that name methods which are loaded while it runs. Names come only
/// at level verbose, which then applies to all events of the runtime's provider.
pub(crate) fn with_methods(providers: &Providers) -> Result<(Providers, Visible), RequestError> {
    let asked = providers.iter().find(|provider| provider.name() == RUNTIME).cloned();
    let mut names = Provider::new(RUNTIME)?.keywords(METHOD_KEYWORDS).level(Level::Verbose);
    if asked.as_ref().is_some_and(|asked| asked.event_filter().is_some()) {
        names = names.filter(EventFilter::only(IDS));
    }
    let all = Providers::new(providers.iter().cloned().chain([names]))?;
    Ok((all, Visible { asked }))
}

/// Learns the methods that were loaded before, from the rundown of a session without other events.
/// Returns their number.
///
/// # Errors
/// Why some or all names are missing, for the user.
pub(crate) fn learn_loaded(
    reached: &Reached,
    buffer: NonZeroU32,
    end: &EndRule,
    names: &mut NamesSoFar,
) -> Result<usize, String> {
    let before = names.method_count();
    rundown(reached, buffer, end, |event| names.learn(event))?;
    Ok(names.method_count().saturating_sub(before))
}

/// Passes the events of a rundown to `learn`, from a session without other events.
///
/// # Errors
/// Why some or all events are missing, for the user.
pub(crate) fn rundown(
    reached: &Reached,
    buffer: NonZeroU32,
    end: &EndRule,
    mut learn: impl FnMut(&Event<'_>),
) -> Result<(), String> {
    // A session needs a provider.
    let quiet = silent()
        .and_then(|provider| Providers::new([provider]))
        .map_err(|error| error.to_string())?;
    let config = SessionConfig::new(quiet).rundown(RUNDOWN).buffer_megabytes(buffer);
    let runtime = reached.runtime.clone();
    let started = end.ask(move || runtime.start(&config)).map_err(|error| error.to_string())?;
    let session = started.ok_or(INTERRUPTED)?.map_err(|error| with_causes(&error))?;
    let driver = Driver::new(session, Feed::new()).until(end);
    driver.handle().stop();
    let mut take = |event: &Event<'_>| {
        learn(event);
        Next::Read
    };
    let read = driver.run(&mut take).map_err(|failure| failure.to_string())?;
    match read.fault {
        Some(fault) => Err(fault),
        None if read.outcome.is_complete => Ok(()),
        None if end.is_due() => Err(INTERRUPTED.to_owned()),
        None => Err("its rundown ended too early".to_owned()),
    }
}

const INTERRUPTED: &str = "there was no time for its rundown";
