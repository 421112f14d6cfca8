//! Waiting without a limit of one's own.

use std::io::{Write, stderr};
use std::thread::sleep;
use std::time::Duration;

/// Waits until it is so. There is no limit, since how long something takes is a matter of
/// the machine: who runs the tests ends one that hangs. After a minute it says what it
/// waits for.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    const PAUSE: Duration = Duration::from_millis(5);
    const PAUSES_OF_A_MINUTE: u32 = 12_000;
    let mut pauses = 0_u32;
    while !is_so() {
        sleep(PAUSE);
        pauses = pauses.saturating_add(1);
        if pauses == PAUSES_OF_A_MINUTE {
            // Past the harness, which keeps what a test prints until it has ended.
            let _ = writeln!(stderr(), "still waiting: {what}");
        }
    }
}
