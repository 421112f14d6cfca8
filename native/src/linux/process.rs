//! The parts of a process that unwinding needs: the stack of a thread, and the code at an address.

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

/// Access to a process, and to the stack of the thread that is unwound.
pub(super) trait Process {
    /// Reads eight bytes of the stack.
    fn word(&mut self, address: u64) -> Option<u64>;

    /// Returns the kind of code at an address.
    fn code(&mut self, address: u64) -> Code;

    /// Reads machine code. Returns fewer bytes where the code ends.
    fn bytes(&self, address: u64, count: usize) -> Vec<u8>;
}
