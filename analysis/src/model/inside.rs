//! Whether a stack goes through the call in which another one was taken.

/// Return addresses of one method lie at most so far apart.
pub(crate) const LARGEST_METHOD: u64 = 0x4000;

/// Returns whether a stack goes through the call in which another one was taken: they have the same
/// outer frames, and the next ones are of the same method. Innermost frames are first; at most
/// `most_own_frames` of them may be those that write the start.
pub(crate) fn is_inside(start: &[u64], stack: &[u64], most_own_frames: usize) -> bool {
    let outer = start.iter().rev().zip(stack.iter().rev());
    let common = outer.take_while(|(one, other)| one == other).count();
    let next = |frames: &[u64]| {
        let place = frames.len().checked_sub(common)?.checked_sub(1)?;
        Some((place, *frames.get(place)?))
    };
    match (next(start), next(stack)) {
        (Some((place, one)), Some((_, other))) => {
            common > 0 && place <= most_own_frames && one.abs_diff(other) <= LARGEST_METHOD
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
        // Its own frames are more than that.
        assert!(!is_inside(&start, &[7, 8, 9, 0x50_0200, 0x90_0000, 0xa0_0000], 1));
        // Another method that the pool's thread has called.
        assert!(!is_inside(&start, &[7, 8, 0x70_0000, 0x90_0000, 0xa0_0000], 2));
        assert!(!is_inside(&start, &[], 2));
        assert!(!is_inside(&[], &start, 2));
        assert!(!is_inside(&start, &start, 2), "the start itself");
    }
}
