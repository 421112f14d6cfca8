//! Reports which parts of tests are left out.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{Write, stderr};
use std::sync::Mutex;

/// Prints a message on stderr, once in a program run. It does not use the print macros, because the
/// test harness would show their output only for tests that fail.
pub(crate) fn skipped(what: impl Display) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let line = format!("SKIPPED: {what}\n");
    let mut printed = PRINTED.lock().expect("nothing panics while it is held");
    if !printed.contains(&line) {
        // A closed stderr is no reason to fail a test.
        let _ = stderr().write_all(line.as_bytes());
        printed.insert(line);
    }
}
