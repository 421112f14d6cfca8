//! Gives event types numbers that are unique in the process.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number that no other event type in this process has, except copies of the type; 0 for a type
/// that no stream defined. All serials compare equal, because they are no part of a type's
/// description.
#[derive(Clone, Copy, Default)]
pub(crate) struct Serial(u64);

impl Serial {
    pub(crate) fn next() -> Serial {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Serial(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    #[inline]
    pub(crate) fn number(self) -> u64 {
        self.0
    }
}

impl PartialEq for Serial {
    fn eq(&self, _: &Serial) -> bool {
        true
    }
}

impl Eq for Serial {}

/// Hides the number, so that equal descriptions look equal.
impl fmt::Debug for Serial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}
