//! What unwinding needs of a process: its stack, and what lies at an address.

use super::image::Image;
use std::rc::Rc;

/// The kind of code at an address.
#[derive(Debug, Clone)]
pub(super) enum Code {
    /// Code of a mapped file, with the linker's address.
    File(Rc<Image>, u64),
    /// Code that the runtime made.
    Compiled,
    /// Code of a file that cannot be read.
    Unread,
    /// Memory that is not executed.
    None,
}

/// The process, as far as stacks need it.
pub(super) trait Process {
    /// Reads eight bytes of the stack.
    fn word(&mut self, address: u64) -> Option<u64>;

    /// Returns the kind of code at an address.
    fn code(&mut self, address: u64) -> Code;

    /// Reads machine code; fewer bytes where it ends.
    fn bytes(&self, address: u64, count: usize) -> Vec<u8>;
}
