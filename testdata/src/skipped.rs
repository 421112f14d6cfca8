//! Notes of what tests leave out because something is missing.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{Write, stderr};
use std::sync::Mutex;

/// Prints on stderr what a test leaves out and what is missing, once in a program.
///
/// The harness shows the output of print macros only for tests that fail, so this does
/// not use them.
pub(crate) fn skipped(what: impl Display) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let line = format!("SKIPPED: {what}\n");
    let mut printed = PRINTED.lock().expect("nothing panics while it is held");
    if !printed.contains(&line) {
        // A test does not fail because nobody reads this.
        let _ = stderr().write_all(line.as_bytes());
        printed.insert(line);
    }
}
