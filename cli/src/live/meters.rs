//! Which meters a process has. Runtimes before .NET 9 publish instruments only of meters
//! that are named, so they are asked first.

use super::counters::listing;
use super::signals::Signals;
use super::stream::stream;
use super::target::Reached;
use super::unless_ended::unless_ended;
use nettrace_ipc::{ProcessInfo, Providers, SessionConfig, Startup};
use nettrace_parser::{Error, Reader};
use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

/// First version that knows patterns of meters.
const KNOWS_PATTERNS: u32 = 9;
/// A process tells its meters at once; one that has no such source tells nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(50);
/// Names that are asked for at most.
const MOST: usize = 500;

/// The meters that have to be named; `None` if a pattern does it. None are named if a
/// signal comes before the process answers. `found` is what its assemblies suggest, for a
/// process that cannot be asked yet.
pub(crate) fn to_name(
    reached: &Reached,
    found: &[String],
    signals: &Signals,
) -> Option<Vec<String>> {
    let (asked, found, ended) = (reached.clone(), found.to_vec(), signals.clone());
    let answer = unless_ended(signals, move || ask(&asked, found, &ended));
    answer.ok().flatten().unwrap_or_else(|| Some(Vec::new()))
}

fn ask(reached: &Reached, found: Vec<String>, signals: &Signals) -> Option<Vec<String>> {
    let info = reached.runtime.info().ok();
    let version = info.as_ref().and_then(ProcessInfo::version);
    if version.is_some_and(|version| version.major >= KNOWS_PATTERNS) {
        return None;
    }
    // .NET Core 3.1 does not tell its version, and has no meters.
    let (Some(info), Some(_)) = (info, version.filter(|version| version.major >= 6)) else {
        return Some(Vec::new());
    };
    // A process that waits at its start has none yet, and must not be asked: it may crash
    // when a second session is stopped (see the quirks in `nettrace_ipc`'s
    // `session::stop`).
    match reached.runtime.startup_of(&info) {
        Ok(Startup::Running) => Some(list(reached, signals).unwrap_or_default()),
        _ => Some(found),
    }
}

fn list(reached: &Reached, signals: &Signals) -> Option<Vec<String>> {
    let providers = Providers::new([listing().ok()?]).ok()?;
    let mut session = reached.runtime.start(&SessionConfig::new(providers)).ok()?;
    session.set_read_timeout(Some(TICK));
    let mut reader = Reader::new(stream(session));
    let (start, mut names) = (Instant::now(), BTreeSet::new());
    while start.elapsed() < PATIENCE && signals.seen().is_none() && names.len() < MOST {
        match reader.next_event() {
            Ok(Some(event)) => match event.name() {
                "InstrumentPublished" => {
                    let name = event.field("meterName").and_then(|value| value.to_text());
                    names.extend(name);
                }
                "InitialInstrumentEnumerationComplete" => break,
                _ => {}
            },
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(None) | Err(_) => break,
        }
    }
    Some(names.into_iter().collect())
}
