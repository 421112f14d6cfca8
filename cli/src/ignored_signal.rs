//! Signals that stay ignored, as a hangup does under `nohup`.

/// Returns whether the program that started this one set a signal to be ignored; `false` if the
/// system does not tell.
pub(crate) fn is_ignored(signal: i32) -> bool {
    // `sigaction` tells it on every system, but needs unsafe code.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
