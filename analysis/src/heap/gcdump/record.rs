//! The records of nodes: type, size and children, as numbers of one to five bytes.
//!
//! | number | meaning |
//! |---|---|
//! | x | twice the index of the type, plus 1 if a size follows |
//! | size | only if x is odd; else the type has the size |
//! | c | number of children |
//! | c numbers | the number of each child, minus the number of this node |
//!
//! A number has its most significant seven bits first. Bit 0x80 of a byte says that another one follows, and
//! bit 0x40 of the first is the sign.

use super::error::GcDumpFault as Fault;

/// Maximum length of a number in bytes.
const MAX_NUMBER_BYTES: u32 = 5;
const MORE: u8 = 0x80;
const SIGN: u8 = 0x40;
const BITS: u32 = 7;

/// The part of a record before its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordHead {
    pub(super) type_index: usize,
    /// Size in bytes; `None` if the type has it.
    pub(super) bytes: Option<i32>,
    pub(super) children: usize,
}

/// Removes the number at the beginning of some bytes and returns it.
#[inline]
pub(super) fn take_number(rest: &mut &[u8]) -> Result<i32, Fault> {
    let Some((head, mut tail)) = rest.split_first() else { return Err(Fault::CutOff) };
    let mut byte = *head;
    let mut number = i32::from(byte & !MORE);
    if byte & SIGN != 0 {
        number |= !i32::from(!MORE);
    }
    for _ in 1..MAX_NUMBER_BYTES {
        if byte & MORE == 0 {
            break;
        }
        let Some((next, after)) = tail.split_first() else { return Err(Fault::CutOff) };
        (byte, tail) = (*next, after);
        number = number.wrapping_shl(BITS) | i32::from(byte & !MORE);
    }
    if byte & MORE != 0 {
        return Err(Fault::NumberTooLong);
    }
    *rest = tail;
    Ok(number)
}

/// Appends a number in its shortest form.
pub(super) fn push_number(out: &mut Vec<u8>, number: i32) {
    let fits = |bytes: &u32| {
        let unused = i32::BITS.saturating_sub(BITS.saturating_mul(*bytes));
        number.wrapping_shl(unused).wrapping_shr(unused) == number
    };
    let bytes = (1..MAX_NUMBER_BYTES).find(fits).unwrap_or(MAX_NUMBER_BYTES);
    for at in (0..bytes).rev() {
        let [low, ..] = number.wrapping_shr(at.saturating_mul(BITS)).to_le_bytes();
        out.push(if at > 0 { low | MORE } else { low & !MORE });
    }
}

/// Removes the head of a record, behind which the children are.
#[inline]
pub(super) fn take_head(rest: &mut &[u8]) -> Result<RecordHead, Fault> {
    let x = take_number(rest)?;
    let type_index = usize::try_from(x >> 1).map_err(|_| Fault::TypeIndex(x >> 1))?;
    let bytes = if x & 1 == 1 { Some(take_number(rest)?) } else { None };
    let children = take_number(rest)?;
    // Each child takes a byte or more.
    let fits = usize::try_from(children).ok().filter(|children| *children <= rest.len());
    Ok(RecordHead { type_index, bytes, children: fits.ok_or(Fault::Children(children))? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_few_bytes_as_they_can() {
        let cases: [(i32, &[u8]); 11] = [
            (0, &[0]),
            (63, &[0x3f]),
            (-64, &[0x40]),
            (-1, &[0x7f]),
            (64, &[0x80, 0x40]),
            (-65, &[0xff, 0x3f]),
            (8191, &[0xbf, 0x7f]),
            (8192, &[0x80, 0xc0, 0]),
            (1_048_576, &[0x80, 0xc0, 0x80, 0]),
            (i32::MAX, &[0x87, 0xff, 0xff, 0xff, 0x7f]),
            (i32::MIN, &[0xf8, 0x80, 0x80, 0x80, 0]),
        ];
        for (number, bytes) in cases {
            let mut out = Vec::new();
            push_number(&mut out, number);
            assert_eq!(out, bytes, "{number}");
            let mut rest = bytes;
            assert_eq!((take_number(&mut rest), rest), (Ok(number), &[][..]));
        }
        assert_eq!(take_number(&mut &[0x80; 5][..]), Err(Fault::NumberTooLong));
        assert_eq!(take_number(&mut &[0x80; 4][..]), Err(Fault::CutOff));
    }

    proptest::proptest! {
        #[test]
        fn each_number_is_read_as_it_was_written(number: i32) {
            let mut out = Vec::new();
            push_number(&mut out, number);
            proptest::prop_assert_eq!(take_number(&mut &*out), Ok(number));
        }
    }
}
