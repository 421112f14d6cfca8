//! Comparison of a thread's stacks, which shows the calls that have returned between two events.

use crate::model::{MAX_METHOD_BYTES, RUNTIME_FRAMES};
use nettrace_parser::Event;

/// Stack of a thread's last event: return addresses, innermost first. Empty if unknown or cut off.
#[derive(Debug, Default)]
pub(super) struct LastCall(Vec<u64>);

impl LastCall {
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    pub(super) fn keep(&mut self, event: &Event<'_>) {
        self.0.clear();
        let stack = event.stack();
        if stack.len() < RUNTIME_FRAMES {
            self.0.extend(stack.addresses());
        }
    }

    /// Returns the frames that the stacks of the last event and of this one share, innermost first.
    /// Deeper calls of the last event have returned. `None` if one of the stacks is unknown.
    pub(super) fn returned_to(&self, event: &Event<'_>) -> Option<&[u64]> {
        let stack = event.stack();
        if stack.len() >= RUNTIME_FRAMES {
            return None;
        }
        let now: Vec<u64> = stack.addresses().collect();
        Some(common(&self.0, &now)).filter(|frames| !frames.is_empty())
    }
}

/// Returns the outer frames of `before` that both stacks share.
fn common<'b>(before: &'b [u64], now: &[u64]) -> &'b [u64] {
    let pairs = before.iter().rev().zip(now.iter().rev());
    let same = pairs.take_while(|(one, other)| one == other).count();
    let inner = |frames: &[u64]| {
        let at = frames.len().checked_sub(same)?.checked_sub(1)?;
        frames.get(at).copied()
    };
    // The next frame may be another place of one method.
    let is_next_same = inner(before)
        .zip(inner(now))
        .is_some_and(|(one, other)| one.abs_diff(other) <= MAX_METHOD_BYTES);
    let count = same.saturating_add(usize::from(is_next_same));
    before.get(before.len().saturating_sub(count)..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_methods_of_both_stacks_have_not_returned() {
        let start = [1, 0x50_0000, 0x90_0000, 0xa0_0000];
        // It goes on in a method, at another place.
        let later = common(&start, &[7, 0x50_0100, 0x90_0000, 0xa0_0000]);
        assert_eq!(later, [0x50_0000, 0x90_0000, 0xa0_0000]);
        // The same place calls another method.
        let other = common(&start, &[7, 0x70_0000, 0x90_0000, 0xa0_0000]);
        assert_eq!(other, [0x90_0000, 0xa0_0000]);
        assert_eq!(common(&start, &start), start);
        assert!(common(&start, &[0xb0_0000]).is_empty() && common(&[], &start).is_empty());
    }
}
