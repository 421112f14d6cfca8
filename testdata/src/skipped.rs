//! What tests leave out where something is missing.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{Write, stderr};
use std::sync::Mutex;

/// Says on stderr, once in a program, what its tests leave out and what is missing.
///
/// The harness shows what the print macros write only of tests that fail, so this does not
/// use them.
pub fn skipped(what: impl Display) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let line = format!("SKIPPED: {what}\n");
    let mut printed = PRINTED.lock().expect("nothing panics while it is held");
    if !printed.contains(&line) {
        // A test does not fail because nobody reads this.
        let _ = stderr().write_all(line.as_bytes());
        printed.insert(line);
    }
}
