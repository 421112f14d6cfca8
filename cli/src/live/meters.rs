//! Lists the meters of a process. Runtimes before .NET 9 publish instruments only of meters that a
//! session names, so a first session has to list them.

use super::counters::listing;
use super::driver::{Driver, Next};
use super::end_rule::EndRule;
use super::target::Reached;
use nettrace_ipc::{ProcessInfo, Providers, SessionConfig, Startup};
use nettrace_parser::{Event, Feed};
use std::collections::BTreeSet;
use std::time::Duration;

/// First version of .NET whose requests may name meters by a pattern.
const PATTERNS_SINCE: u32 = 9;
/// Maximum time for the list: a process names its meters at once, and sends nothing if it has no
/// such source.
const LIST_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of meters in a request.
const MAX_METERS: usize = 500;

/// Returns the meters that a request has to name; `None` if a pattern stands for all. The list is
/// empty if it is time to end before the process answers. `found` are the meters that its
/// assemblies suggest, for a process that cannot answer yet.
pub(crate) fn to_name(reached: &Reached, found: &[String], end: &EndRule) -> Option<Vec<String>> {
    let (asked, found, own) = (reached.clone(), found.to_vec(), end.clone());
    let answer = end.ask(move || ask(&asked, found, &own));
    answer.ok().flatten().unwrap_or_else(|| Some(Vec::new()))
}

fn ask(reached: &Reached, found: Vec<String>, end: &EndRule) -> Option<Vec<String>> {
    let info = reached.runtime.info().ok();
    let version = info.as_ref().and_then(ProcessInfo::version);
    if version.is_some_and(|version| version.major >= PATTERNS_SINCE) {
        return None;
    }
    // .NET Core 3.1 does not tell its version, and has no meters.
    let (Some(info), Some(_)) = (info, version.filter(|version| version.major >= 6)) else {
        return Some(Vec::new());
    };
    // A process that waits at its start has no meters yet, and must not be asked: it may crash when
    // a second session is stopped (see the quirks in `nettrace_ipc`'s `session::stop`).
    match reached.runtime.startup_of(&info) {
        Ok(Startup::Running) => Some(list(reached, end).unwrap_or_default()),
        _ => Some(found),
    }
}

fn list(reached: &Reached, end: &EndRule) -> Option<Vec<String>> {
    let providers = Providers::new([listing().ok()?]).ok()?;
    reached.settle(end);
    let session = reached.runtime.start(&SessionConfig::new(providers)).ok()?;
    let mut names = BTreeSet::new();
    let mut take = |event: &Event<'_>| {
        match event.name() {
            "InstrumentPublished" => {
                names.extend(event.field("meterName").and_then(|value| value.to_text()));
            }
            "InitialInstrumentEnumerationComplete" => return Next::Leave,
            _ => {}
        }
        if names.len() < MAX_METERS { Next::Read } else { Next::Leave }
    };
    let end = end.part(LIST_TIMEOUT);
    let _ = Driver::new(session, Feed::new()).until(&end).run(&mut take);
    Some(names.into_iter().collect())
}
