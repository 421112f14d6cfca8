//! `nettrace completions`: a script for the shell.

use super::command_line;
use crate::args::CompletionsArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

pub(super) fn run(args: &CompletionsArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    clap_complete::generate(
        args.shell,
        &mut command_line::shown(),
        "nettrace",
        context.out.buffer(),
    );
    context.out.finish()?;
    Ok(Exit::Fine)
}
