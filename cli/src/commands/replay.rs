//! stub
use super::Context;
use crate::args::ReplayArgs;
use crate::exit::Exit;
use crate::failure::Failure;
pub(super) fn run(_args: &ReplayArgs, _context: &mut Context<'_>) -> Result<Exit, Failure> {
    Ok(Exit::Fine)
}
