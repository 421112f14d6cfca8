//! What unwinding has to read from a process: the stack of a thread, and the code at an address.

use super::image::Image;
use std::rc::Rc;

/// What kind of code is at an address.
#[derive(Debug, Clone)]
pub(super) enum Code {
    /// Code of a mapped file, and its address as the linker counts it.
    File(Rc<Image>, u64),
    /// Code that the runtime compiled.
    Compiled,
    /// Code of a file that cannot be read.
    Unread,
    /// No code: memory that is not executable.
    None,
}

/// What the unwinder can read of a process and of a thread's stack.
pub(super) trait Process {
    /// Reads eight bytes at an address of the stack as a number.
    fn word(&mut self, address: u64) -> Option<u64>;

    /// Returns what kind of code is at an address.
    fn code(&mut self, address: u64) -> Code;

    /// Reads machine code at an address. Returns fewer bytes if the code ends.
    fn bytes(&self, address: u64, count: usize) -> Vec<u8>;
}
