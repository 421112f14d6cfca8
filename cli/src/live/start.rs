//! Starts sessions, and resumes processes that wait for them.

use super::end_rule::EndRule;
use super::target::Reached;
use crate::failure::Failure;
use crate::messages::Messages;
use nettrace_ipc::{Error, Lost, Runtime, Session, SessionConfig};

/// Whether to resume a process that is suspended at startup once the session has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resume {
    Yes,
    No,
}

/// Starts a session, and warns of the parts of the request for which the runtime is too old.
/// Returns `None` if it was time to end before the process answered, which a message says.
pub(crate) fn start(
    reached: &Reached,
    config: SessionConfig,
    resume: Resume,
    end: &EndRule,
    messages: &mut Messages<'_>,
) -> Result<Option<Session>, Failure> {
    // Stacks that the request does not want may be recorded all the same.
    start_telling(reached, config, (resume, end), messages, |lost| *lost != Lost::StacksOff)
}

/// Starts a session as [`start`] does, without warnings about events that come although they were
/// not requested: a view ignores them.
pub(crate) fn start_view(
    reached: &Reached,
    config: SessionConfig,
    resume: Resume,
    end: &EndRule,
    messages: &mut Messages<'_>,
) -> Result<Option<Session>, Failure> {
    start_telling(reached, config, (resume, end), messages, |lost| {
        !matches!(lost, Lost::StacksOff | Lost::EventFilter { .. } | Lost::RundownKeyword { .. })
    })
}

fn start_telling(
    reached: &Reached,
    config: SessionConfig,
    (resume, end): (Resume, &EndRule),
    messages: &mut Messages<'_>,
    tells: impl Fn(&Lost) -> bool,
) -> Result<Option<Session>, Failure> {
    reached.settle(end);
    let runtime = reached.runtime.clone();
    let started = end.ask(move || -> Result<_, Error> {
        let session = runtime.start(&config)?;
        // This follows the start of the session, so that it has the program's first events.
        let resumed = if resume == Resume::Yes { runtime.resume() } else { Ok(()) };
        Ok((session, resumed))
    });
    let Some(started) = started.map_err(Failure::Output)? else {
        messages.warning(&format!("{} did not answer in time", reached.label()));
        return Ok(None);
    };
    let (session, resumed) = started.map_err(|error| reached.failed(&error))?;
    for lost in session.lost().iter().filter(|lost| tells(lost)) {
        let text = "this runtime is too old for part of the request";
        messages.warning(&format!("{}: {text}: {lost}", reached.label()));
    }
    match resumed {
        // The process may have ended in the meantime; the session has its events until then.
        Err(error) if is_end(&error) => {}
        resumed => resumed.map_err(|error| reached.failed(&error))?,
    }
    Ok(Some(session))
}

/// Returns whether an error says that the process has ended.
fn is_end(error: &Error) -> bool {
    use std::io::ErrorKind::{ConnectionRefused, NotFound};
    match error {
        Error::Gone { .. } => true,
        Error::Io { source, .. } => matches!(source.kind(), ConnectionRefused | NotFound),
        _ => false,
    }
}

/// Resumes a process whose session could not be started, because otherwise it would stay
/// suspended for ever.
pub(crate) fn resume_unrecorded(runtime: Runtime, end: &EndRule) {
    // A process that does not answer, or is gone, cannot be helped.
    let _ = end.last_request().ask(move || runtime.resume());
}
