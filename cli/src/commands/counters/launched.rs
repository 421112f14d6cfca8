//! The counters of a program from its beginning.

use super::View;
use crate::args::CountersArgs;
use crate::commands::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::program::{Program, Sharing};
use crate::live::start;
use crate::live::target::{self, Talk};
use nettrace_ipc::Children;

/// Starts the program, shows its counters, and ends as it does.
pub(super) fn run(
    args: &CountersArgs,
    view: &mut View<'_>,
    talk: &Talk,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let has_io = args.show_child_io;
    let sharing = Sharing { has_io, has_ctrl_c: has_io && context.stdin_is_terminal };
    let end = view.end.clone();
    let program = Program::start(&args.command, Children::Resume, sharing, talk, end.signals())?;
    let Some(mut program) = program else { return Ok(Exit::Usage) };
    let shown = match program.arrival()? {
        Some(arrival) => {
            let runtime = arrival.runtime.clone();
            let added =
                target::reach(arrival, &end).map_or(Ok(()), |reached| view.add(&reached, context));
            // Without a session, the process has not been resumed.
            if view.sessions.is_empty() {
                start::let_go(runtime, &end);
            }
            added.and_then(|()| view.show(context))
        }
        None => {
            context.messages.warning(&program.says_nothing());
            Ok(Exit::Fine)
        }
    };
    // Whatever became of the view, the program is not left alone.
    if let Err(failure) = shown {
        context.messages.error(&failure);
    }
    program.wait(|_| {})
}
