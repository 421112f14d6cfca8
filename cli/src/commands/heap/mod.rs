//! `nettrace heap`: what is on the managed heap.

mod diff;
mod objects;
mod overview;
mod paths;
mod trace;
mod tree;

use super::Context;
use crate::args::{HeapArgs, HeapQuestion};
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
    let Some(file) = &args.file else {
        return Err(Failure::Usage("which trace? Give a FILE".to_owned()));
    };
    let trace = trace::HeapTrace::read(file, &args.dump, context)?;
    overview::run(args, &trace, context)
}
