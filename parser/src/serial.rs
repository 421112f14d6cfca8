//! Gives event types numbers that are unique in the process, and copies that kept events share.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

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

/// Copy of an event type that all kept events share; made when the first one is kept. It is no part
/// of a type's description, as [`Serial`].
pub(crate) struct SharedCopy<T>(OnceLock<Arc<T>>);

impl<T> SharedCopy<T> {
    /// Returns the copy, which `copy` makes if there is none.
    pub(crate) fn get_or_make(&self, copy: impl FnOnce() -> T) -> Arc<T> {
        Arc::clone(self.0.get_or_init(|| Arc::new(copy())))
    }
}

impl<T> Default for SharedCopy<T> {
    fn default() -> Self {
        SharedCopy(OnceLock::new())
    }
}

impl<T> Clone for SharedCopy<T> {
    fn clone(&self) -> Self {
        SharedCopy(self.0.clone())
    }
}

impl<T> PartialEq for SharedCopy<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for SharedCopy<T> {}

impl<T> fmt::Debug for SharedCopy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}
