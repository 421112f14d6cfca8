//! Small numbers as runs of one number, and between them packed to as many bits as the
//! largest needs: the hybrid encoding of levels and of numbers of distinct values.
//!
//! | bytes | what |
//! |---|---|
//! | variable | `count << 1`: the number that follows comes so many times |
//! | variable | or `groups << 1 \| 1`: so many times 8 packed numbers follow |

/// Numbers from which on a run of one number is written as such. Shorter ones would cut
/// packed numbers into pieces that each need a head.
const SHORTEST: usize = 24;

/// Bits that numbers up to `most` need. Readers differ in what they take zero bits for.
pub(super) fn bits_of(most: u32) -> u32 {
    (u32::BITS.wrapping_sub(most.leading_zeros())).max(1)
}

/// Appends numbers of at most `width` bits.
pub(super) fn write(out: &mut Vec<u8>, numbers: &[u32], width: u32) {
    // What lies between the last run that was written and `at` is packed.
    let (mut from, mut at) = (0usize, 0usize);
    for run in numbers.chunk_by(|one, next| one == next) {
        // Packed numbers come in groups of 8, which the run fills up.
        let fill = from.wrapping_sub(at) & 7;
        let end = at.wrapping_add(run.len());
        if run.len() >= fill.wrapping_add(SHORTEST) {
            pack(out, numbers.get(from..at.wrapping_add(fill)).unwrap_or_default(), width);
            let number = run.first().copied().unwrap_or_default();
            repeat(out, number, run.len().wrapping_sub(fill), width);
            from = end;
        }
        at = end;
    }
    pack(out, numbers.get(from..).unwrap_or_default(), width);
}

/// Appends a number that comes `count` times.
pub(super) fn repeat(out: &mut Vec<u8>, number: u32, count: usize, width: u32) {
    variable(out, (count as u64) << 1);
    let bytes = number.to_le_bytes();
    out.extend_from_slice(bytes.get(..width.div_ceil(8) as usize).unwrap_or(&bytes));
}

fn pack(out: &mut Vec<u8>, numbers: &[u32], width: u32) {
    if numbers.is_empty() {
        return;
    }
    let groups = numbers.len().div_ceil(8);
    variable(out, (groups as u64) << 1 | 1);
    let end = out.len().wrapping_add(groups.wrapping_mul(width as usize));
    bits(out, numbers.iter().map(|number| u64::from(*number)), width);
    out.resize(end, 0);
}

/// Appends numbers of at most 32 bits, the first one in the lowest bits.
pub(super) fn bits(out: &mut Vec<u8>, numbers: impl Iterator<Item = u64>, width: u32) {
    let (mut held, mut count) = (0u64, 0u32);
    for number in numbers {
        held |= number << (count & 31);
        count = count.wrapping_add(width);
        if count >= 32 {
            let [a, b, c, d, ..] = held.to_le_bytes();
            out.extend_from_slice(&[a, b, c, d]);
            held >>= 32;
            count = count.wrapping_sub(32);
        }
    }
    let bytes = held.to_le_bytes();
    out.extend_from_slice(bytes.get(..count.div_ceil(8) as usize).unwrap_or(&bytes));
}

/// Appends a number in as many bytes as it needs, 7 bits in each.
pub(super) fn variable(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}
