//! Reads the memory of a process through `/proc/PID/mem`.

use crate::bytes;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Size of a page, in bytes.
const PAGE_BYTES: usize = 4096;
/// Bits of an address that give the offset within its page.
const OFFSET_IN_PAGE_MASK: u64 = 4095;
/// Maximum number of bytes of a thread's stack that are read, from the stack pointer on. If deeper
/// frames are missing, the stack's end says so.
const MAX_STACK_BYTES: u64 = 256 * 1024;

/// The memory of a process.
#[derive(Debug)]
pub(super) struct Memory(File);

impl Memory {
    /// Opens the memory of a process. The user needs the right to trace that process.
    pub(super) fn open(pid: u64) -> io::Result<Memory> {
        File::open(format!("/proc/{pid}/mem")).map(Memory)
    }

    /// Reads a number of bytes at an address. Returns fewer if mapped memory ends.
    pub(super) fn read(&self, address: u64, bytes: usize) -> Vec<u8> {
        let mut buffer = vec![0; bytes];
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.0.read_at(rest, address.saturating_add(filled as u64)) {
                Ok(0) => break,
                Ok(count) => filled = filled.saturating_add(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        buffer.truncate(filled);
        buffer
    }
}

/// Memory of one thread's stack. Its pages are read when they are needed; most threads need a few.
#[derive(Debug)]
pub(super) struct StackMemory<'m> {
    memory: &'m Memory,
    low: u64,
    pages: BTreeMap<u64, Vec<u8>>,
}

impl<'m> StackMemory<'m> {
    pub(super) fn new(memory: &'m Memory, stack_pointer: u64) -> StackMemory<'m> {
        StackMemory { memory, low: stack_pointer, pages: BTreeMap::new() }
    }

    /// Reads the eight bytes at an address of the stack as a number.
    pub(super) fn word(&mut self, address: u64) -> Option<u64> {
        let end = address.checked_add(8)?;
        if address < self.low || end > self.low.saturating_add(MAX_STACK_BYTES) {
            return None;
        }
        let mut bytes = [0; 8];
        for (byte, at) in bytes.iter_mut().zip(address..end) {
            let page = at & !OFFSET_IN_PAGE_MASK;
            let held = self.pages.entry(page);
            let held = held.or_insert_with(|| self.memory.read(page, PAGE_BYTES));
            *byte = *held.get(usize::try_from(at & OFFSET_IN_PAGE_MASK).ok()?)?;
        }
        Some(bytes::u64(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_read_upwards_from_its_pointer_and_no_further_than_its_limit() {
        let words: Vec<u64> = (0..100_000).collect();
        let start = words.as_ptr() as u64;
        let memory = Memory::open(u64::from(std::process::id())).unwrap();
        let mut stack = StackMemory::new(&memory, start + 80);
        assert_eq!(stack.word(start + 80), Some(10));
        assert_eq!(stack.word(start + 80 + 8 * 1000), Some(1010));
        assert_eq!(stack.word(start + 72), None);
        assert_eq!(
            stack.word(start + 80 + MAX_STACK_BYTES - 8),
            Some(10 + MAX_STACK_BYTES / 8 - 1)
        );
        assert_eq!(stack.word(start + 80 + MAX_STACK_BYTES), None);
        assert_eq!(stack.word(u64::MAX - 3), None);
        assert!(stack.pages.len() <= 6);
        // Nothing is mapped there.
        assert!(memory.read(8, 16).is_empty());
        drop(words);
    }
}
