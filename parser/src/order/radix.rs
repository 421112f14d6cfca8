//! Radix sort of packed times and places.

/// Bits of a digit: its counters fit the first-level cache. Wider ones are taken where that saves a pass.
const DIGIT_BITS: u32 = 11;
const WIDE_BITS: u32 = 12;
/// Fewer keys than this are sorted by comparison: the counters alone would cost more.
const SMALL: usize = 256;

/// Sorts the first `count` keys by the `time_bits` bits above their lowest `place_bits`. Places are in
/// order already, and the sort is stable, so they need not be looked at.
///
/// Unlike merging the runs of threads it has no unpredictable branch, and its cost does not grow
/// with the number of threads.
pub(super) fn sort(
    keys: &mut Vec<u64>,
    scratch: &mut Vec<u64>,
    count: usize,
    place_bits: u32,
    time_bits: u32,
) {
    if count < SMALL {
        return keys.get_mut(..count).unwrap_or_default().sort_unstable();
    }
    // What lies in it is written over.
    scratch.resize(keys.len(), 0);
    let passes = time_bits.div_ceil(WIDE_BITS);
    let width = time_bits.div_ceil(passes.max(1));
    for pass in 0..passes {
        let (from, shift) =
            (keys.get(..count).unwrap_or_default(), place_bits.saturating_add(pass.saturating_mul(width)));
        if width > DIGIT_BITS {
            distribute::<{ 1 << WIDE_BITS }>(from, scratch, shift);
        } else {
            distribute::<{ 1 << DIGIT_BITS }>(from, scratch, shift);
        }
        std::mem::swap(keys, scratch);
    }
}

/// One pass: `from` into `to` by one digit. A digit may be wider than those that follow each other, which
/// sorts no worse: `DIGITS` are their values.
#[expect(clippy::indexing_slicing, reason = "digits are masked to the number of counters")]
#[expect(clippy::arithmetic_side_effects, reason = "counts of keys in memory, each of 8 bytes")]
fn distribute<const DIGITS: usize>(from: &[u64], to: &mut [u64], shift: u32) {
    let digit = |key: u64| usize::try_from(key >> shift & (DIGITS as u64 - 1)).unwrap_or(0);
    let mut places = [0u32; DIGITS];
    for key in from {
        places[digit(*key)] += 1;
    }
    let mut next = 0;
    for place in &mut places {
        next += std::mem::replace(place, next);
    }
    for key in from {
        let place = &mut places[digit(*key)];
        if let Some(slot) = to.get_mut(*place as usize) {
            *slot = *key;
        }
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_by_time_and_keep_their_places_in_order() {
        let mut state = 7u64;
        for count in [0usize, 1, 255, 256, 5000] {
            for time_bits in [1, 10, 11, 12, 33, 50] {
                let mut keys: Vec<u64> = (0..count as u64)
                    .map(|place| {
                        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                        (state >> 10 & ((1 << time_bits) - 1)) << 13 | place
                    })
                    .collect();
                let mut expected = keys.clone();
                expected.sort();
                // What is behind the keys that count is not touched.
                keys.push(0);
                sort(&mut keys, &mut Vec::new(), count, 13, time_bits);
                assert_eq!(keys.get(..count), Some(&*expected));
            }
        }
    }
}
