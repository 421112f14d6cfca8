//! `nettrace completions`: a script for the shell.

use super::Context;
use crate::args::{CompletionsArgs, shown_command};
use crate::exit::Exit;
use crate::failure::Failure;

pub(super) fn run(args: &CompletionsArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    clap_complete::generate(args.shell, &mut shown_command(), "nettrace", context.out.buffer());
    context.out.finish()?;
    Ok(Exit::Fine)
}
