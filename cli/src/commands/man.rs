//! `nettrace man`: manual pages.

use super::Context;
use crate::args::{Cli, ManArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::nearest::{nearest, suggestion};
use clap::CommandFactory;
use clap_mangen::Man;

pub(super) fn run(args: &ManArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut whole = Cli::command().version(env!("CARGO_PKG_VERSION"));
    // Gives the commands their full names and the global flags.
    whole.build();
    let command = match &args.command {
        None => whole,
        Some(name) => match whole.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                let names = nearest(name, whole.get_subcommands().map(clap::Command::get_name));
                return Err(Failure::Usage(format!("there is no command {name}{}", suggestion(&names))));
            }
        },
    };
    Man::new(command).render(context.out.buffer())?;
    context.out.finish()?;
    Ok(Exit::Fine)
}
