//! Measures allocations and memory of the process.

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::fs;

/// The system's allocator with counters. A binary installs it with
/// `#[global_allocator] static ALLOCATOR: &Counting = &COUNTING;`
pub type Counting = StatsAlloc<System>;

/// The only instance of [`Counting`].
pub use stats_alloc::INSTRUMENTED_SYSTEM as COUNTING;

/// Returns the number of allocations and reallocations so far, or 0 if [`COUNTING`] is
/// not installed.
pub fn allocations() -> u64 {
    let stats = INSTRUMENTED_SYSTEM.stats();
    (stats.allocations + stats.reallocations) as u64
}

/// Returns the maximum resident memory of the process in bytes, which includes pages of mapped
/// files; `None` if the system does not tell.
pub fn peak_bytes() -> Option<u64> {
    status("self", "VmHWM:")
}

/// Returns the maximum resident memory of another process, which runs, in bytes.
pub fn peak_bytes_of(process: u32) -> Option<u64> {
    status(&process.to_string(), "VmHWM:")
}

/// Returns the current resident memory of the process in bytes, without pages of files.
pub fn anonymous_bytes() -> Option<u64> {
    status("self", "RssAnon:")
}

fn status(process: &str, key: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
