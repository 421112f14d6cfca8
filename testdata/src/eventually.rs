//! Waits for a condition without a time limit.

use std::io::{Write, stderr};
use std::thread::sleep;
use std::time::Duration;

/// Waits until `is_so` returns true. There is no time limit, because times depend on the machine,
/// and the test runner ends a test that hangs. After a minute the function prints `what`, which
/// says what it waits for.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    const PAUSE: Duration = Duration::from_millis(5);
    const PAUSES_OF_A_MINUTE: u32 = 12_000;
    let mut pauses = 0_u32;
    while !is_so() {
        sleep(PAUSE);
        pauses = pauses.saturating_add(1);
        if pauses == PAUSES_OF_A_MINUTE {
            // The harness would keep the output of `eprintln!` until the test has ended.
            let _ = writeln!(stderr(), "still waiting: {what}");
        }
    }
}
