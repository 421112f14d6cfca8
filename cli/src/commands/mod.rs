//! Commands of `nettrace`, each in a file or folder of its own.

mod attached;
mod check;
mod collect;
mod completions;
mod convert;
mod counters;
#[cfg(feature = "page")]
mod diff;
mod discover;
mod events;
#[cfg(feature = "parquet")]
mod export;
mod heap;
mod info;
mod list_profiles;
mod man;
#[cfg(feature = "page")]
mod open;
mod process;
mod ps;
mod replay;
mod report;
mod schema;
mod stack;
mod stats;
mod top;
mod watch;

use crate::args::Command;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
#[cfg(not(all(feature = "page", feature = "parquet")))]
use crate::failure::not_built;
use std::io;

/// Runs a command, reports its failure if it fails, and returns the exit code.
pub(crate) fn run(command: Command, context: &mut Context<'_>) -> Exit {
    let result = match command {
        Command::Info(args) => info::run(&args, context),
        Command::Check(args) => check::run(&args, context),
        Command::Stats(args) => stats::run(&args, context),
        Command::Events(args) => events::run(&args, context),
        Command::Report(args) => report::run(&args.report, context),
        #[cfg(feature = "page")]
        Command::Diff(args) => diff::run(&args, context),
        #[cfg(feature = "page")]
        Command::Open(args) => open::run(&args, context),
        #[cfg(not(feature = "page"))]
        Command::Diff(_) => Err(Failure::usage(not_built("comparison", "page"))),
        #[cfg(not(feature = "page"))]
        Command::Open(_) => Err(Failure::usage(not_built("page", "page"))),
        Command::Convert(args) => convert::run(&args, context),
        #[cfg(feature = "parquet")]
        Command::Export(args) => export::run(&args, context),
        #[cfg(not(feature = "parquet"))]
        Command::Export(_) => Err(Failure::usage(not_built("tables", "parquet"))),
        Command::Heap(args) => heap::run(&args, context),
        Command::Schema(args) => schema::run(&args, context),
        Command::Ps(args) => ps::run(&args, context),
        Command::Collect(args) => collect::run(&args, context),
        Command::Watch(args) => watch::run(&args, context),
        Command::Stack(args) => stack::run(&args, context),
        Command::Counters(args) => counters::run(&args, context),
        Command::Discover(args) => discover::run(&args, context),
        Command::Top(args) => top::run(&args, context),
        Command::Process(args) => process::run(&args, context),
        Command::Replay(args) => replay::run(&args, context),
        Command::ListProfiles(_) => list_profiles::run(context),
        Command::Completions(args) => completions::run(&args, context),
        Command::Man(args) => man::run(&args, context),
    };
    context.progress.end();
    match result {
        Ok(exit) => exit,
        // The reader of the results has closed the pipe: `nettrace events … | head`.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Fine,
        Err(failure) => {
            context.messages.error(&failure);
            if matches!(failure, Failure::Usage(_)) { Exit::Usage } else { Exit::Failed }
        }
    }
}
