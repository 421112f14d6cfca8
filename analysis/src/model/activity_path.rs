//! Decodes activity ids that are paths.
//!
//! .NET derives the ids of activities from their position in a tree: the third child of the first
//! activity is `//1/3`. The GUID contains the numbers of the path in nibbles (FORMAT.md 15):
//!
//! | bytes | what |
//! |---|---|
//! | 0–11 | numbers, in nibbles, the high one of a byte first |
//! | 12–15 | the sum of the first three u32 and 0x599d99ad, in newer runtimes xor the process id |
//!
//! | nibble | meaning |
//! |---|---|
//! | 0 | the path ends |
//! | 1–10 | this number |
//! | 11 | prefix: the following number did not fit the space of the tree, and is shown with `$` |
//! | 12–15 | the number is in the next one to four bytes; if this was the high nibble, the low one holds its highest bits |

use nettrace_parser::Guid;
use nettrace_parser::internal::first;
use std::fmt::Write;

/// Number that is added to a checksum, and thereby tells paths from other GUIDs.
const MARK: u32 = 0x599d_99ad;
const NUMBER_BYTES: usize = 12;
const PREFIX: u8 = 11;
const MULTIPLE_BYTES: u8 = 12;

/// Returns the path in an activity id, such as `//1/1/5`, or `/#17178/1/5` with a process id;
/// `None` for other GUIDs. Without `process_id`, the check is less strict.
pub(crate) fn activity_path(id: Guid, process_id: Option<u64>) -> Option<String> {
    let bytes = id.to_bytes();
    let [one, two, three, last]: [u32; 4] = first(&bytes)?;
    let sum = one.wrapping_add(two).wrapping_add(three).wrapping_add(MARK);
    let owner = sum ^ last;
    let is_path = match process_id {
        Some(id) => owner == 0 || u64::from(owner) == id,
        // Process ids are usually small.
        None => owner >> 22 == 0,
    };
    if !is_path {
        return None;
    }
    let mut path = if owner == 0 { "/".to_owned() } else { format!("/#{owner}") };
    let numbers = bytes.get(..NUMBER_BYTES)?;
    append_numbers(numbers, &mut path)?;
    Some(path)
}

fn append_numbers(bytes: &[u8], path: &mut String) -> Option<()> {
    let nibble_at = |at: usize| {
        let byte = bytes.get(at / 2)?;
        Some(if at.is_multiple_of(2) { byte >> 4 } else { byte & 15 })
    };
    let mut at = 0_usize;
    while let Some(mut nibble) = nibble_at(at) {
        if nibble == 0 {
            break;
        }
        let mut separator = '/';
        if nibble < PREFIX {
            append(path, separator, u32::from(nibble));
            at = at.saturating_add(1);
            continue;
        }
        if nibble == PREFIX {
            at = at.saturating_add(1);
            nibble = nibble_at(at)?;
            if nibble < MULTIPLE_BYTES {
                // No known runtime writes this.
                return None;
            }
            separator = '$';
        }
        let above = if at.is_multiple_of(2) { nibble_at(at.saturating_add(1))? } else { 0 };
        let from = (at / 2).saturating_add(1);
        let to = from
            .saturating_add(usize::from(nibble.saturating_sub(MULTIPLE_BYTES)))
            .saturating_add(1);
        let Some(digits) = bytes.get(from..to) else { break };
        let number =
            digits.iter().rev().fold(u32::from(above), |sum, byte| sum << 8 | u32::from(*byte));
        append(path, separator, number);
        at = to.saturating_mul(2);
    }
    Some(())
}

fn append(path: &mut String, separator: char, number: u32) {
    // Writing to a String cannot fail.
    let _ = write!(path, "{separator}{number}");
}

/// Returns the path of the parent activity, such as `//1` for `//1/5`.
pub(crate) fn parent_path(path: &str) -> Option<&str> {
    let (parent, _) = path.rsplit_once(['/', '$'])?;
    (parent.len() > 1).then_some(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a GUID from numbers in nibbles, with their checksum.
    fn id(numbers: [u8; NUMBER_BYTES], process_id: u32) -> Guid {
        let words: [u32; 3] = first(&numbers).unwrap();
        let sum = words.into_iter().fold(MARK, u32::wrapping_add);
        let mut bytes = [0; 16];
        bytes[..NUMBER_BYTES].copy_from_slice(&numbers);
        bytes[NUMBER_BYTES..].copy_from_slice(&(sum ^ process_id).to_le_bytes());
        Guid::from_bytes(bytes)
    }

    fn path(start: &[u8]) -> Option<String> {
        let mut numbers = [0; NUMBER_BYTES];
        numbers[..start.len()].copy_from_slice(start);
        activity_path(id(numbers, 0), None)
    }

    #[test]
    fn numbers_to_ten_take_a_nibble() {
        assert_eq!(path(&[0x11, 0x50]).as_deref(), Some("//1/1/5"));
        assert_eq!(path(&[0x1a]).as_deref(), Some("//1/10"));
    }

    #[test]
    fn larger_numbers_take_bytes_and_the_rest_of_the_nibble() {
        assert_eq!(path(&[0x1c, 0x10]).as_deref(), Some("//1/16"));
        assert_eq!(path(&[0xc1, 0x10, 0x20]).as_deref(), Some("//272/2"));
        assert_eq!(path(&[0x1d, 0x34, 0x12]).as_deref(), Some("//1/4660"));
        assert_eq!(path(&[0xf0, 0x78, 0x56, 0x34, 0x12, 0x90]).as_deref(), Some("//305419896/9"));
        assert_eq!(path(&[0x1b, 0xc0, 0x07]).as_deref(), Some("//1$7"));
    }

    #[test]
    fn a_number_that_does_not_fit_ends_the_path_and_an_unknown_prefix_is_no_path() {
        assert_eq!(
            path(&[0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x1f])
                .unwrap()
                .len(),
            47
        );
        assert_eq!(path(&[0x1b, 0x10]), None);
        assert_eq!(path(&[]).as_deref(), Some("/"));
    }

    #[test]
    fn a_path_is_recognised_by_its_checksum() {
        let numbers = [0x1c, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(activity_path(id(numbers, 0), Some(5)).as_deref(), Some("//1/16"));
        assert_eq!(activity_path(id(numbers, 5), Some(5)).as_deref(), Some("/#5/1/16"));
        assert_eq!(activity_path(id(numbers, 5), None).as_deref(), Some("/#5/1/16"));
        assert_eq!(activity_path(id(numbers, 5), Some(6)), None);
        assert_eq!(activity_path(Guid::from_bytes([0xab; 16]), None), None);
    }

    #[test]
    fn parents_lose_the_last_number() {
        assert_eq!(parent_path("//1/5"), Some("//1"));
        assert_eq!(parent_path("/#7/1$5"), Some("/#7/1"));
        assert_eq!(
            (parent_path("//1"), parent_path("/#7"), parent_path("x"), parent_path("")),
            (None, None, None, None)
        );
    }
}
