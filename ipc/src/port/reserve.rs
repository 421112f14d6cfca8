//! Descriptors held back for the moment in which the process has no more of them.
//!
//! A runtime that cannot be accepted waits for ever. So a port keeps some descriptors
//! that it does not need, and gives them up one by one when it is refused another.

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
    /// Takes as many descriptors as the system gives.
    pub(super) fn fill(&mut self, listener: &Listener) {
        while self.spare.len() < MAX_SPARE_DESCRIPTORS {
            let Ok(one) = listener.spare() else { return };
            self.spare.push(one);
        }
    }

    /// Returns whether descriptors have run out.
    pub(super) fn is_touched(&self) -> bool {
        self.spare.len() < MAX_SPARE_DESCRIPTORS
    }

    /// Gives one descriptor up. Returns whether there was one.
    pub(super) fn spend(&mut self) -> bool {
        self.spare.pop().is_some()
    }
}

/// Holds nothing back: on other systems handles do not run out in practice.
#[cfg(not(unix))]
impl Reserve {
    pub(super) fn fill(&mut self, _listener: &Listener) {}

    pub(super) fn is_touched(&self) -> bool {
        false
    }

    pub(super) fn spend(&mut self) -> bool {
        false
    }
}
