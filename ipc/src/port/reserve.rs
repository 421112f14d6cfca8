//! Keeps spare descriptors for the moment in which the process has no others left.
//!
//! A runtime whose connection cannot be accepted waits for ever. So a port opens some descriptors
//! that it does not need, and closes them one by one when the system refuses a new one.

use crate::endpoint::Listener;

/// Maximum number of runtimes that can be resumed at the same time when descriptors have
/// run out.
#[cfg(unix)]
const MAX_SPARE_DESCRIPTORS: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Reserve {
    #[cfg(unix)]
    spare: Vec<std::os::fd::OwnedFd>,
}

#[cfg(unix)]
impl Reserve {
    /// Opens spare descriptors, up to the maximum or until the system refuses.
    pub(super) fn fill(&mut self, listener: &Listener) {
        while self.spare.len() < MAX_SPARE_DESCRIPTORS {
            let Ok(one) = listener.spare() else { return };
            self.spare.push(one);
        }
    }

    /// Returns whether a spare descriptor has been closed or could not be opened, because
    /// descriptors have run out.
    pub(super) fn is_touched(&self) -> bool {
        self.spare.len() < MAX_SPARE_DESCRIPTORS
    }

    /// Closes one spare descriptor. Returns whether there was one.
    pub(super) fn spend(&mut self) -> bool {
        self.spare.pop().is_some()
    }

    /// Closes all spare descriptors.
    pub(super) fn close(self) {
        drop(self.spare);
    }
}

/// Keeps no handles, because they do not run out in practice on Windows.
#[cfg(not(unix))]
impl Reserve {
    pub(super) fn fill(&mut self, _listener: &Listener) {}

    pub(super) fn is_touched(&self) -> bool {
        false
    }

    pub(super) fn spend(&mut self) -> bool {
        false
    }

    pub(super) fn close(self) {}
}
