//! Numbers as differences to the one before (`DELTA_BINARY_PACKED`): what times need.
//!
//! | bytes | what |
//! |---|---|
//! | variable | 128: numbers of a block |
//! | variable | 4: parts of a block, 32 numbers each |
//! | variable | how many numbers there are |
//! | variable | the first, its sign in the lowest bit |
//!
//! Then blocks:
//!
//! | bytes | what |
//! |---|---|
//! | variable | the smallest difference, its sign in the lowest bit |
//! | 4 | bits of a number in each part |
//! | 4 × bits a part | differences less the smallest one |

use super::runs::{bits, variable};

const BLOCK: usize = 128;
const PART: usize = 32;

/// Appends the numbers.
pub(super) fn write(out: &mut Vec<u8>, numbers: &[i64]) {
    variable(out, BLOCK as u64);
    variable(out, (BLOCK / PART) as u64);
    variable(out, numbers.len() as u64);
    let Some((first, rest)) = numbers.split_first() else { return variable(out, 0) };
    signed(out, *first);
    let mut before = *first;
    for block in rest.chunks(BLOCK) {
        let mut steps = [0i64; BLOCK];
        let (mut least, mut most) = (i64::MAX, i64::MIN);
        for (step, number) in steps.iter_mut().zip(block) {
            *step = number.wrapping_sub(before);
            before = *number;
            least = least.min(*step);
            most = most.max(*step);
        }
        signed(out, least);
        let widths = out.len();
        out.extend_from_slice(&[0; BLOCK / PART]);
        for (at, part) in steps.chunks(PART).take(block.len().div_ceil(PART)).enumerate() {
            // What lies behind the last number must be none that needs more bits.
            let there = block.len().wrapping_sub(at.wrapping_mul(PART)).min(PART);
            let mut above = [0u64; PART];
            let mut all = 0;
            for (above, step) in above.iter_mut().zip(part).take(there) {
                *above = step.wrapping_sub(least).cast_unsigned();
                all |= *above;
            }
            let width = u64::BITS.wrapping_sub(all.leading_zeros());
            if let Some(byte) = out.get_mut(widths.wrapping_add(at)) {
                *byte = width.to_le_bytes()[0];
            }
            if width <= 32 {
                bits(out, above.into_iter(), width);
            } else {
                wide_bits(out, &above, width);
            }
        }
    }
}

/// As [`bits`], for numbers of up to 64 bits.
fn wide_bits(out: &mut Vec<u8>, numbers: &[u64; PART], width: u32) {
    let (mut held, mut count) = (0u128, 0u32);
    for number in numbers {
        held |= u128::from(*number) << (count & 63);
        count = count.wrapping_add(width);
        if count >= 64 {
            let (low, _) = halves(held);
            out.extend_from_slice(&low);
            held >>= 64;
            count = count.wrapping_sub(64);
        }
    }
    // 32 numbers end with a whole byte.
    let (low, _) = halves(held);
    out.extend_from_slice(low.get(..(count / 8) as usize).unwrap_or(&low));
}

fn halves(number: u128) -> ([u8; 8], [u8; 8]) {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = number.to_le_bytes();
    ([a, b, c, d, e, f, g, h], [i, j, k, l, m, n, o, p])
}

fn signed(out: &mut Vec<u8>, number: i64) {
    variable(out, ((number << 1) ^ (number >> 63)).cast_unsigned());
}
