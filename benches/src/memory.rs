//! What the process allocates, holds and takes.

use std::alloc::System;
use std::fs;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// The system's allocator, counting. A binary that wants counts installs it:
/// `#[global_allocator] static ALLOCATOR: &Counting = &COUNTING;`
pub type Counting = StatsAlloc<System>;

/// The one instance of it.
pub use stats_alloc::INSTRUMENTED_SYSTEM as COUNTING;

/// Allocations and reallocations so far; 0 for ever if [`COUNTING`] is not installed.
pub fn allocations() -> u64 {
    let stats = INSTRUMENTED_SYSTEM.stats();
    (stats.allocations + stats.reallocations) as u64
}

/// Bytes of memory that the process held at most so far, pages of mapped files among
/// them. `None` where the system does not say.
pub fn peak_bytes() -> Option<u64> {
    status("VmHWM:")
}

/// Bytes that the process holds now and that no file backs.
pub fn anonymous_bytes() -> Option<u64> {
    status("RssAnon:")
}

fn status(key: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Processor time of all threads so far, user and system, in steps of 10 ms. `None` where
/// the system does not say.
pub fn processor_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program may hold anything, but ends with the last parenthesis.
    let (_, behind) = stat.rsplit_once(')')?;
    let mut fields = behind.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    // The kernel counts 100 of them a second for whoever asks.
    Some((ticks()? + ticks()?) / 100.0)
}

/// How many processes want a processor, of late and on average: as Linux says it.
pub fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}
