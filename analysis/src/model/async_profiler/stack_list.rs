//! The stacks of dispatchers, each kept once.

use crate::hash::HashMap;
use std::sync::Arc;

/// Maximum number of distinct stacks. Further ones are unknown.
const MAX_STACKS: usize = 1 << 16;
/// Maximum number of frames of all stacks, which take 8 bytes each. Further stacks are unknown.
pub(super) const MAX_KEPT_FRAMES: usize = 1 << 22;

/// Number of the stack without frames.
pub(super) const NO_STACK: u32 = u32::MAX;

/// Stacks that differ, by their numbers.
#[derive(Debug, Default)]
pub(super) struct AsyncStackList {
    pub(super) stacks: Vec<Arc<[u64]>>,
    numbers: HashMap<Arc<[u64]>, u32>,
    /// Number of frames of all stacks.
    pub(super) frames: usize,
    pub(super) left_out: u64,
}

impl AsyncStackList {
    /// Returns the addresses of a stack, innermost first.
    pub(super) fn addresses(&self, stack: u32) -> &[u64] {
        self.stacks.get(stack as usize).map_or(&[], |stack| stack)
    }

    pub(super) fn number(&mut self, frames: Vec<u64>) -> u32 {
        if let Some(known) = self.numbers.get(&*frames) {
            return *known;
        }
        let all = self.frames.saturating_add(frames.len());
        if self.stacks.len() >= MAX_STACKS || all > MAX_KEPT_FRAMES {
            self.left_out = self.left_out.saturating_add(1);
            return NO_STACK;
        }
        let number = u32::try_from(self.stacks.len()).unwrap_or(NO_STACK);
        self.frames = all;
        let frames: Arc<[u64]> = frames.into();
        self.stacks.push(Arc::clone(&frames));
        self.numbers.insert(frames, number);
        number
    }
}

/// Returns the largest number of callers with which the frames end. Takes linear time for any content, by
/// the lengths with which beginnings of the callers end with beginnings of them.
pub(super) fn shared(frames: &[u64], callers: &[u64]) -> usize {
    let mut borders: Vec<usize> = Vec::with_capacity(callers.len());
    // Number of callers that match after one more frame.
    let next = |borders: &[usize], matching: usize, frame: u64| {
        let mut matching = matching;
        while callers.get(matching) != Some(&frame) {
            match matching.checked_sub(1).and_then(|last| borders.get(last)) {
                Some(border) => matching = *border,
                None => return 0,
            }
        }
        matching.saturating_add(1)
    };
    for caller in callers {
        let before = borders.last().copied();
        let border = before.map_or(0, |before| next(&borders, before, *caller));
        borders.push(border);
    }
    let first = frames.len().saturating_sub(callers.len());
    let last = frames.get(first..).unwrap_or_default();
    last.iter().fold(0, |matching, frame| next(&borders, matching, *frame))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_shared_part_is_found_in_linear_time() {
        for (frames, callers, count) in [
            (&[1, 2, 3][..], &[2, 3, 4][..], 2),
            (&[1, 2, 1, 2], &[1, 2, 1, 2], 4),
            (&[9, 1, 2, 1, 2], &[1, 2, 1, 3], 2),
            (&[1, 1, 1], &[1, 1, 2], 2),
            (&[1, 2], &[3], 0),
            (&[], &[1], 0),
            (&[1], &[], 0),
        ] {
            assert_eq!(shared(frames, callers), count, "{frames:?} {callers:?}");
        }
        // Comparing each length would take 10^12 steps.
        let (mut frames, mut callers) = (vec![1; 1_000_000], vec![1; 1_000_000]);
        (frames[999_999], callers[999_999]) = (2, 3);
        assert_eq!(shared(&frames, &callers), 0);
    }
}
