//! Finds or starts the process for commands that work on one process.

use crate::args::{TalkArgs, TargetArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::end_rule::EndRule;
use crate::live::program::{Program, Sharing};
use crate::live::start;
use crate::live::target::{self, Reached, Talk};
use nettrace_ipc::Children;
use std::ffi::OsString;
use std::time::Duration;

/// Process that a command works on.
pub(super) struct Attached {
    pub(super) reached: Reached,
    /// Whether the process connected to the command's port or was started by the command, so that
    /// it has most likely just begun.
    pub(super) is_new: bool,
    pub(super) end: EndRule,
}

/// Calls `act` with the process that the user named, or with the first that connects to the port.
pub(super) fn with_process(
    (target, talk): (&TargetArgs, &TalkArgs),
    duration: Option<Duration>,
    context: &mut Context<'_>,
    act: impl FnOnce(&Attached, &mut Context<'_>) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let talk = Talk::new(talk)?;
    let end = EndRule::notice(&context.delays, duration, &talk.deadlines)?;
    let one = target::one(target, &talk, &end, &mut context.messages)?;
    let Some(target::One { reached, port }) = one else { return Ok(Exit::Failed) };
    let result = act(&Attached { reached, is_new: port.is_some(), end }, context);
    // Until now, the port resumed processes that connected later.
    drop(port);
    talk.finish()?;
    result
}

/// Starts a program, calls `act` with its first process, and returns the program's exit code.
/// `act` returns `None` if it did not resume a process that is suspended at startup.
pub(super) fn with_program(
    (command, sharing): (&[OsString], Sharing),
    talk: &TalkArgs,
    duration: Option<Duration>,
    context: &mut Context<'_>,
    act: impl FnOnce(&Attached, &mut Context<'_>) -> Result<Option<Exit>, Failure>,
) -> Result<Exit, Failure> {
    let talk = Talk::new(talk)?;
    let end = EndRule::notice(&context.delays, duration, &talk.deadlines)?;
    let program = Program::start(command, Children::Resume, sharing, &talk, end.signals())?;
    let Some(mut program) = program else { return Ok(Exit::Usage) };
    match program.arrival() {
        Ok(Some(arrival)) => {
            let (runtime, own) = (arrival.runtime.clone(), end.clone());
            let acted = target::reach(arrival, &end)
                .map_or(Ok(None), |reached| act(&Attached { reached, is_new: true, end }, context));
            if !matches!(acted, Ok(Some(_))) {
                start::resume_unrecorded(runtime, &own);
            }
            if let Err(failure) = acted {
                context.messages.error(&failure);
            }
        }
        Ok(None) => context.messages.warning(&program.says_nothing()),
        Err(failure) => context.messages.error(&failure),
    }
    // A started program is waited for even if `act` failed.
    let exit = program.wait(|_| {});
    talk.finish()?;
    exit
}
