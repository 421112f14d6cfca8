//! Every byte, once: no reader that looks at all of its input is faster.

/// The sum of all bytes, eight at a time.
#[inline(never)]
pub fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut sums = [0u64; 8];
    let (eights, last) = words.as_chunks::<8>();
    for eight in eights {
        for (sum, word) in sums.iter_mut().zip(eight) {
            *sum = sum.wrapping_add(u64::from_le_bytes(*word));
        }
    }
    let rest = rest.iter().map(|byte| u64::from(*byte));
    let last = last.iter().map(|word| u64::from_le_bytes(*word));
    sums.into_iter().chain(last).chain(rest).fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_byte_counts() {
        let mut bytes = vec![0u8; 203];
        for at in 0..bytes.len() {
            bytes[at] = 1;
            assert_ne!(super::sum(&bytes), 0, "byte {at}");
            bytes[at] = 0;
        }
    }
}
