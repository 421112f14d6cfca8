//! Decides whether a stack was taken during a call that another stack shows.

/// Maximum distance between two return addresses that are taken for one method, in bytes.
pub(crate) const MAX_METHOD_BYTES: u64 = 0x4000;

/// Returns whether `stack` was taken inside the call whose start wrote the stack `start`. Both
/// stacks have the same outer frames, and the next frames inwards belong to one method. Innermost
/// frames are first; `start` may have at most `most_own_frames` frames that are further inwards
/// than that method.
pub(crate) fn is_inside(start: &[u64], stack: &[u64], most_own_frames: usize) -> bool {
    let outer = start.iter().rev().zip(stack.iter().rev());
    let common = outer.take_while(|(one, other)| one == other).count();
    let next = |frames: &[u64]| {
        let place = frames.len().checked_sub(common)?.checked_sub(1)?;
        Some((place, *frames.get(place)?))
    };
    match (next(start), next(stack)) {
        (Some((place, one)), Some((_, other))) => {
            common > 0 && place <= most_own_frames && one.abs_diff(other) <= MAX_METHOD_BYTES
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_inside_the_call_that_wrote_a_start() {
        let start = [1, 2, 0x50_0010, 0x90_0000, 0xa0_0000];
        // Later in the same method, with the same callers.
        assert!(is_inside(&start, &[7, 8, 9, 0x50_0200, 0x90_0000, 0xa0_0000], 2));
        // The start has two frames below the method, and one is allowed.
        assert!(!is_inside(&start, &[7, 8, 9, 0x50_0200, 0x90_0000, 0xa0_0000], 1));
        // The thread of the pool has called another method.
        assert!(!is_inside(&start, &[7, 8, 0x70_0000, 0x90_0000, 0xa0_0000], 2));
        assert!(!is_inside(&start, &[], 2));
        assert!(!is_inside(&[], &start, 2));
        assert!(!is_inside(&start, &start, 2), "the start itself");
    }
}
