//! `nettrace completions`: prints a script for the shell.

use crate::args::{Cli, CompletionsArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use clap::CommandFactory;

pub(super) fn run(args: &CompletionsArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    clap_complete::generate(args.shell, &mut Cli::command(), "nettrace", context.out.buffer());
    context.out.finish()?;
    Ok(Exit::Fine)
}
