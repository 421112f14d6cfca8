//! `nettrace man`: prints manual pages.

use crate::args::{Cli, ManArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use clap::CommandFactory;
use clap_mangen::Man;
use nettrace_export::nearest::{nearest, suggestion};

pub(super) fn run(args: &ManArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut command = Cli::command().version(env!("CARGO_PKG_VERSION"));
    // Adds global options to all commands, and gives commands their full names.
    command.build();
    for name in &args.command {
        command = match command.find_subcommand(name) {
            Some(inner) => inner.clone(),
            None => {
                let names = nearest(name, command.get_subcommands().map(clap::Command::get_name));
                return Err(Failure::Usage(format!(
                    "there is no command {name}{}",
                    suggestion(&names)
                )));
            }
        };
    }
    Man::new(command).render(context.out.buffer())?;
    context.out.finish()?;
    Ok(Exit::Fine)
}
