//! `nettrace heap`: what is on the managed heap.

mod overview;
mod trace;

use super::Context;
use crate::args::HeapArgs;
use crate::exit::Exit;
use crate::failure::Failure;

pub(super) fn run(args: &HeapArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let Some(file) = &args.file else {
        return Err(Failure::Usage("which trace? Give a FILE".to_owned()));
    };
    let trace = trace::HeapTrace::read(file, &args.dump, context)?;
    overview::run(args, &trace, context)
}
