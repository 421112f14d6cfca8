//! `nettrace heap`: shows the objects on the managed heap, and what keeps them alive.

mod diff;
mod live;
mod objects;
mod overview;
mod paths;
mod trace;
mod tree;

pub(super) use trace::missing;

use crate::args::{HeapArgs, HeapQuestion, HeapSource};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;

pub(super) fn run(args: &HeapArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    match &args.question {
        Some(HeapQuestion::Paths(args)) => return paths::run(args, context),
        Some(HeapQuestion::Objects(args)) => return objects::run(args, context),
        Some(HeapQuestion::Tree(args)) => return tree::run(args, context),
        Some(HeapQuestion::Diff(args)) => return diff::run(args, context),
        None => {}
    }
    // A wrong `-n` fails before a process does any work.
    args.rows().map_err(Failure::Usage)?;
    match args.source() {
        Some(HeapSource::Trace(file)) => {
            let trace = trace::HeapTrace::read(file, &args.dump, context)?;
            overview::run(args, &trace, context)
        }
        Some(HeapSource::Process(target)) => live::run(args, &target, context),
        None => Err(Failure::usage(
            "no input: give a FILE, or a process: -p PID, -n NAME, --port ADDRESS or -- COMMAND",
        )),
    }
}
