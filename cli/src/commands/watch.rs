//! stub
use super::Context;
use crate::args::WatchArgs;
use crate::exit::Exit;
use crate::failure::Failure;
pub(super) fn run(_args: &WatchArgs, _context: &mut Context<'_>) -> Result<Exit, Failure> {
    Ok(Exit::Fine)
}
