//! What a frame reveals about its thread's state.

use super::names::MethodName;
use super::sample::{Mode, ThreadState};
use super::wait_for::{WaitFor, wait_for};
use super::waits::{Wait, only_calls, wait_of};

/// What a frame reveals about its thread's state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Role {
    pub(crate) wait: Wait,
    /// What it waits for, as a part of a chain of waits.
    pub(crate) wait_for: Option<WaitFor>,
    /// Whether the caller reveals more.
    pub(crate) is_passage: bool,
}

impl Role {
    pub(crate) const WORK: Role = Role { wait: Wait::No, wait_for: None, is_passage: false };
    /// Native code about which nothing is known.
    pub(crate) const NATIVE: Role = Role { wait: Wait::No, wait_for: None, is_passage: true };

    pub(crate) fn of_method(name: &MethodName<'_>) -> Role {
        Role {
            wait: wait_of(name.type_name, name.method),
            wait_for: wait_for(name.type_name, name.method),
            is_passage: only_calls(name.type_name, name.method),
        }
    }
}

/// Whether a thread waits, by the frames of its stack, of which the innermost comes
/// first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitChain {
    pub(crate) wait: Wait,
    pub(crate) wait_for: Option<WaitFor>,
    /// Number of frames that belong to the wait: the next one is its caller.
    pub(crate) length: usize,
    is_undecided: bool,
    is_wait: bool,
    seen: usize,
}

impl WaitChain {
    pub(crate) const NEW: WaitChain = WaitChain {
        wait: Wait::No,
        wait_for: None,
        length: 0,
        is_undecided: true,
        is_wait: false,
        seen: 0,
    };

    /// Adds the caller of the frames so far.
    #[inline]
    pub(crate) fn push(&mut self, role: Role) {
        let index = self.seen;
        self.seen = self.seen.saturating_add(1);
        if self.is_wait {
            // Callers of what waits: the outermost one says what for.
            self.is_wait = role.wait_for.is_some();
            self.wait_for = role.wait_for.or(self.wait_for);
            if self.is_wait {
                self.length = self.seen;
            }
        }
        if self.is_undecided {
            let Role { wait, wait_for, is_passage } = role;
            if wait != Wait::No {
                (self.is_wait, self.wait_for, self.length) = (true, wait_for, self.seen);
            }
            // Whatever was called, it is native code, or on its way there or back.
            self.wait = if index > 0 && wait != Wait::No { Wait::Always } else { wait };
            self.is_undecided = is_passage && wait == Wait::No;
        }
    }
}

/// The state of a thread.
pub(crate) fn state_of(mode: Mode, wait: Wait, is_managed_leaf: bool) -> ThreadState {
    match mode {
        Mode::Blocked => ThreadState::Waiting,
        Mode::Managed if wait == Wait::Always => ThreadState::Waiting,
        Mode::Managed => ThreadState::Managed,
        Mode::External if wait != Wait::No => ThreadState::Waiting,
        Mode::OnCpu | Mode::Unknown if is_managed_leaf => ThreadState::Managed,
        _ => ThreadState::Native,
    }
}
