//! An allocator with counters for each thread, so that parallel tests do not disturb each other.
#![allow(dead_code, reason = "each test target uses a part of it")]
#![allow(unsafe_code, reason = "an allocator has no safe form")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<i64> = const { Cell::new(0) };
    static MAX_HELD: Cell<i64> = const { Cell::new(0) };
}

fn count(calls: u64, bytes: i64) {
    // The counters of an ending thread are gone.
    let _ = CALLS.try_with(|cell| cell.set(cell.get() + calls));
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = MAX_HELD.try_with(|most| most.set(most.get().max(held.get())));
    });
}

// SAFETY: every call goes to the system's allocator unchanged, and counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, -(layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new block may both exist for a moment.
        count(1, size as i64);
        count(0, -(layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of a piece of work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Number of allocations and reallocations.
    pub(crate) calls: u64,
    /// Maximum number of bytes held at a time, beyond the bytes held before.
    pub(crate) peak: u64,
}

/// Does a piece of work on this thread. Returns its result and its allocations.
pub(crate) fn usage<T>(work: impl FnOnce() -> T) -> (T, Usage) {
    let (calls, held) = (CALLS.get(), HELD.get());
    MAX_HELD.set(held);
    let result = work();
    let usage = Usage { calls: CALLS.get() - calls, peak: (MAX_HELD.get() - held).max(0) as u64 };
    (result, usage)
}
