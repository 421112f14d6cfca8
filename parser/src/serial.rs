//! Unique numbers for rows, independent of their ids and slots.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that no other row read by this process has. Copies of a row keep it. It is
/// not part of the row's content, so all serials compare equal. A row that no stream
/// defined has 0.
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

/// Hides the number, so that rows with equal content look equal.
impl fmt::Debug for Serial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}
