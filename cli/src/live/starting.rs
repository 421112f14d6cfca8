//! Sessions of views: how one begins.

use super::signals::Signals;
use super::target::Reached;
use super::unless_ended::unless_ended;
use crate::failure::Failure;
use crate::messages::Messages;
use nettrace_ipc::{Lost, Runtime, Session, SessionConfig};

/// Starts a session, lets a process that waits for one go, and says what its runtime is
/// too old for. `None`: a signal came, and no answer.
pub(crate) fn start(
    reached: &Reached,
    config: SessionConfig,
    signals: &Signals,
    messages: &mut Messages<'_>,
) -> Result<Option<Session>, Failure> {
    let runtime = reached.runtime.clone();
    let started = unless_ended(signals, move || {
        let started = runtime.start(&config);
        let resumed = started.is_ok().then(|| runtime.resume());
        started.map(|session| (session, resumed))
    })
    .map_err(Failure::Output)?;
    let Some(started) = started else {
        messages.warning(&format!("{} did not answer in time", reached.label()));
        return Ok(None);
    };
    let (session, resumed) = started.map_err(|error| reached.failed(&error))?;
    for lost in session.lost().iter().filter(|lost| **lost != Lost::StacksOff) {
        let text = "this runtime is too old for part of the request";
        messages.warning(&format!("{}: {text}: {lost}", reached.label()));
    }
    resumed.transpose().map_err(|error| reached.failed(&error))?;
    Ok(Some(session))
}

/// Lets a process go in which no session has begun: what waits at its start would wait
/// for ever. It is not waited for longer than a signal allows.
pub(crate) fn let_go(runtime: Runtime, signals: &Signals) {
    // One that does not answer, or is gone, cannot be helped.
    let _ = unless_ended(signals, move || runtime.resume());
}
