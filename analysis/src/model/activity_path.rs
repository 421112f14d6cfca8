//! Decodes activity ids that are paths.
//!
//! .NET derives the ids of activities from their position in a tree: the third child of the first
//! activity is `//1/3`. The GUID contains the numbers of the path in nibbles
//! (docs/activity-ids.md):
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
//!
//! Runtimes differ in numbers whose first nibble is a high one:
//!
//! | number | .NET up to 9 | .NET 10 and 11 |
//! |---|---|---|
//! | 11 to 255 | `c0` and the number | `c0` alone: the number is lost |
//! | 256 to 4,095 | `c1` to `cf`, the lower byte, and a 0 byte that says nothing | `c1` to `cf` and the lower byte |

use nettrace_parser::Guid;
use nettrace_parser::unstable::first;
use std::fmt::Write;

/// Number that is added to a checksum, and thereby tells paths from other GUIDs.
const MARK: u32 = 0x599d_99ad;
const NUMBER_BYTES: usize = 12;
/// Number of nibbles in which a path is stored.
const MAX_NIBBLES: usize = 24;
const PREFIX: u8 = 11;
const MULTIPLE_BYTES: u8 = 12;
/// Number of nibbles of `c0`.
const LOST_NIBBLES: usize = 2;

/// How a runtime writes the numbers 11 to 255 that begin in a high nibble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum PathForm {
    /// `c0` and the number: .NET up to 9.
    #[default]
    Complete,
    /// `c0` alone, so that the children of an activity from the eleventh on have the same id: .NET
    /// 10 and 11.
    LosesNumbers,
}

/// A path in the tree of activities. Two paths are equal if the runtime wrote the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ActivityPath {
    /// The nibbles, the first one highest, and below them the id of the process that made the path,
    /// which is 0 in old runtimes.
    bits: u128,
}

/// Bits of the id of the process.
const OWNER: u128 = u32::MAX as u128;
/// Bits of a nibble.
const NIBBLE_BITS: usize = 4;

/// A number of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathNumber {
    /// The number; 0 if the runtime lost it.
    number: u32,
    /// Whether the number did not fit the space of the tree.
    is_spilled: bool,
}

/// What is at a nibble of a path.
enum AtNibble {
    /// A number, and the nibble after it.
    Number(PathNumber, usize),
    End,
    /// Nibbles that no known runtime writes.
    Unknown,
}

/// Returns the byte after the one with a code, the number of bytes of the code's number, and the byte
/// after that. `at`: nibble of the code.
#[inline]
fn extent(code: u8, at: usize) -> (usize, usize, usize) {
    let from = (at / 2).saturating_add(1);
    let length = usize::from(code.saturating_sub(MULTIPLE_BYTES)).saturating_add(1);
    (from, length, from.saturating_add(length))
}

/// Returns whether nibbles begin with a byte that says nothing: .NET up to 9 writes a second byte,
/// which is always 0, after the lower one of a number from 256 on. `rest`: the nibbles after that, the
/// first one highest.
#[inline]
fn is_empty_byte(rest: u128) -> bool {
    rest != 0 && rest >> (u128::BITS - 8) == 0
}

/// Returns whether nibbles, the first one highest, are numbers of a path up to their end. It finds
/// where each number ends, as [`ActivityPath::at`] does, but not the number, and so takes a third of the
/// time.
fn are_numbers(nibbles: u128) -> bool {
    let highest = |rest: u128| u8::try_from(rest >> (u128::BITS - 4)).unwrap_or(0);
    let (mut rest, mut at) = (nibbles, 0_usize);
    loop {
        let mut code = highest(rest);
        if code == 0 {
            return true;
        }
        if code <= PREFIX {
            rest <<= NIBBLE_BITS;
            at = at.saturating_add(1);
            if code < PREFIX {
                continue;
            }
            code = highest(rest);
            if code < MULTIPLE_BYTES {
                return false;
            }
        }
        let (_, _, end) = extent(code, at);
        if end > NUMBER_BYTES {
            return true;
        }
        let next = end.saturating_mul(2);
        let is_short = at.is_multiple_of(2) && code == MULTIPLE_BYTES;
        let has_above = highest(rest << NIBBLE_BITS) > 0;
        rest <<= next.saturating_sub(at).saturating_mul(NIBBLE_BITS);
        at = next;
        if is_short && has_above && is_empty_byte(rest) {
            rest <<= 2 * NIBBLE_BITS;
            at = at.saturating_add(2);
        }
    }
}

impl ActivityPath {
    /// Returns the path in an activity id; `None` for other GUIDs. Without `process_id`, the check
    /// is less strict.
    pub(crate) fn from_guid(id: Guid, process_id: Option<u64>) -> Option<ActivityPath> {
        let whole = first::<u128>(&id.to_bytes())?;
        let word = |at: u32| u32::try_from((whole >> at) & OWNER).unwrap_or(0);
        let sum = word(0).wrapping_add(word(32)).wrapping_add(word(64)).wrapping_add(MARK);
        let owner = sum ^ word(96);
        let is_path = match process_id {
            Some(id) => owner == 0 || u64::from(owner) == id,
            // Process ids are usually small.
            None => owner >> 22 == 0,
        };
        if !is_path {
            return None;
        }
        // A byte has its high nibble first, and a swapped number has its first byte highest.
        let nibbles = whole.swap_bytes() & !OWNER;
        are_numbers(nibbles).then_some(ActivityPath { bits: nibbles | u128::from(owner) })
    }

    /// Returns the id of the process that made the path; 0 in old runtimes.
    pub(crate) fn owner(self) -> u32 {
        u32::try_from(self.bits & OWNER).unwrap_or(0)
    }

    /// Returns the nibbles from one on, the first one highest, with zeros after the last one.
    #[inline]
    fn nibbles_from(self, at: usize) -> u128 {
        if at < MAX_NIBBLES { (self.bits & !OWNER) << at.saturating_mul(NIBBLE_BITS) } else { 0 }
    }

    #[inline]
    fn nibble(self, at: usize) -> Option<u8> {
        let nibble = u8::try_from(self.nibbles_from(at) >> (u128::BITS - 4)).ok();
        nibble.filter(|_| at < MAX_NIBBLES)
    }

    /// Reads the number that begins at a nibble.
    #[inline(always)]
    fn at(self, at: usize, form: PathForm) -> AtNibble {
        match self.nibble(at) {
            None | Some(0) => AtNibble::End,
            Some(nibble) if nibble < PREFIX => {
                let number = PathNumber { number: u32::from(nibble), is_spilled: false };
                AtNibble::Number(number, at.saturating_add(1))
            }
            Some(nibble) => self.long_number_at(nibble, at, form),
        }
    }

    /// Reads a number that takes more than the nibble at which it begins.
    fn long_number_at(self, nibble: u8, at: usize, form: PathForm) -> AtNibble {
        let (mut nibble, mut at, mut is_spilled) = (nibble, at, false);
        if nibble == PREFIX {
            at = at.saturating_add(1);
            is_spilled = true;
            match self.nibble(at) {
                Some(code) if code >= MULTIPLE_BYTES => nibble = code,
                _ => return AtNibble::Unknown,
            }
        }
        let is_high = at.is_multiple_of(2);
        let above = match is_high {
            true => self.nibble(at.saturating_add(1)).unwrap_or(0),
            false => 0,
        };
        let is_short = is_high && nibble == MULTIPLE_BYTES;
        if is_short && above == 0 && form == PathForm::LosesNumbers {
            let lost = PathNumber { number: 0, is_spilled };
            return AtNibble::Number(lost, at.saturating_add(LOST_NIBBLES));
        }
        let (from, length, end) = extent(nibble, at);
        let mut to = end;
        if to > NUMBER_BYTES {
            return AtNibble::End;
        }
        // The lowest byte comes first.
        let digits = u32::try_from(self.nibbles_from(from.saturating_mul(2)) >> 96).unwrap_or(0);
        let digits = digits.swap_bytes() & u32::MAX >> length.abs_diff(4).saturating_mul(8);
        let highest = match length {
            4 => 0,
            _ => u32::from(above) << length.saturating_mul(8),
        };
        let number = highest | digits;
        if is_short && above > 0 && is_empty_byte(self.nibbles_from(to.saturating_mul(2))) {
            to = to.saturating_add(1);
        }
        AtNibble::Number(PathNumber { number, is_spilled }, to.saturating_mul(2))
    }

    /// Returns the numbers of the path. A number is 0 if the runtime lost it.
    fn numbers(self, form: PathForm) -> impl Iterator<Item = PathNumber> {
        let mut at = 0;
        std::iter::from_fn(move || match self.at(at, form) {
            AtNibble::Number(number, next) => {
                at = next;
                Some(number)
            }
            AtNibble::End | AtNibble::Unknown => None,
        })
    }

    /// Returns whether a byte of the path is `c0`, the only one that the forms of paths read
    /// differently.
    fn has_short_number(self) -> bool {
        const ONES: u128 = u128::MAX / 0xff;
        const SHORT: u128 = ONES * 0xc0;
        // A byte is 0 if subtracting 1 sets its highest bit, which it did not have.
        let other = (self.bits | OWNER) ^ SHORT;
        other.wrapping_sub(ONES) & !other & (ONES << 7) != 0
    }

    /// Returns the nibbles at which a number begins, in either form of paths: a bit for each.
    fn begins(self) -> u32 {
        const FORMS: [PathForm; 2] = [PathForm::Complete, PathForm::LosesNumbers];
        let mut begins = 0_u32;
        for form in FORMS.into_iter().take(if self.has_short_number() { 2 } else { 1 }) {
            let mut at = 0;
            while let AtNibble::Number(_, next) = self.at(at, form) {
                begins |= 1 << at;
                at = next;
            }
        }
        begins
    }

    /// Returns the paths around this one, the nearest first, down to the one without numbers. Where
    /// the form of paths decides what is around it, the paths of both forms are among them: a
    /// runtime writes only those of one.
    pub(crate) fn around(self) -> impl Iterator<Item = ActivityPath> {
        let mut begins = self.begins();
        let places = std::iter::from_fn(move || {
            let place = begins.checked_ilog2()?;
            begins &= !(1 << place);
            Some(place as usize)
        });
        places.map(move |at| self.up_to(at)).filter(move |path| *path != self)
    }

    /// Returns the path of the nibbles before one of them.
    fn up_to(self, end: usize) -> ActivityPath {
        let dropped = u128::MAX >> end.saturating_mul(NIBBLE_BITS);
        ActivityPath { bits: self.bits & (!dropped | OWNER) }
    }

    /// Returns whether the path shows that its runtime loses numbers: it has `c0 00`, which a runtime
    /// that writes every number never writes.
    pub(crate) fn shows_lost_number(self) -> bool {
        self.may_repeat(PathForm::Complete)
    }

    /// Returns whether several activities may have this path at once, because a number of it is
    /// lost.
    pub(crate) fn may_repeat(self, form: PathForm) -> bool {
        self.numbers(form).any(|number| number.number == 0)
    }

    /// Returns the path as a text, such as `//1/1/5`, or `/#17178/1/5` with a process id. A lost
    /// number is 0.
    pub(crate) fn text(self, form: PathForm) -> String {
        let owner = self.owner();
        let mut text = if owner == 0 { "/".to_owned() } else { format!("/#{owner}") };
        for PathNumber { number, is_spilled } in self.numbers(form) {
            let separator = if is_spilled { '$' } else { '/' };
            // Writing to a String cannot fail.
            let _ = write!(text, "{separator}{number}");
        }
        text
    }
}

/// Text of a path that a user wrote, as numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenPath {
    owner: u32,
    numbers: Vec<PathNumber>,
}

impl WrittenPath {
    /// Reads the text of a path, such as `/#17178/1/5`; `None` for other texts.
    pub(crate) fn from_text(text: &str) -> Option<WrittenPath> {
        let rest = text.strip_prefix('/')?;
        let numbers_at = rest.find(['/', '$']).unwrap_or(rest.len());
        let (owner, mut rest) = rest.split_at_checked(numbers_at)?;
        let owner = match owner.strip_prefix('#') {
            Some(owner) => owner.parse().ok()?,
            None if owner.is_empty() => 0,
            None => return None,
        };
        let mut numbers = Vec::new();
        while let Some(separator) = rest.chars().next() {
            let digits = rest.get(1..)?;
            let end = digits.find(['/', '$']).unwrap_or(digits.len());
            let (digits, after) = digits.split_at_checked(end)?;
            numbers.push(PathNumber { number: digits.parse().ok()?, is_spilled: separator == '$' });
            rest = after;
        }
        Some(WrittenPath { owner, numbers })
    }

    /// Returns whether a path is the written one, in either form of paths.
    pub(crate) fn is(&self, path: ActivityPath) -> bool {
        self.is_one(path, |path, form| path.numbers(form).eq(self.numbers.iter().copied()))
    }

    /// Returns whether a path is the written one or a path below it, in either form of paths.
    pub(crate) fn holds(&self, path: ActivityPath) -> bool {
        self.is_one(path, |path, form| {
            let mut numbers = path.numbers(form);
            self.numbers.iter().all(|number| numbers.next() == Some(*number))
        })
    }

    fn is_one(&self, path: ActivityPath, fits: impl Fn(ActivityPath, PathForm) -> bool) -> bool {
        self.owner == path.owner()
            && [PathForm::Complete, PathForm::LosesNumbers].into_iter().any(|it| fits(path, it))
    }
}

#[cfg(test)]
impl ActivityPath {
    /// Makes a path from its first bytes.
    pub(crate) fn of_bytes(start: &[u8]) -> ActivityPath {
        let mut nibbles = [0; 16];
        nibbles[..start.len()].copy_from_slice(start);
        let bits = nibbles.into_iter().fold(0, |bits, byte| (bits << 8) | u128::from(byte));
        ActivityPath { bits: bits & !OWNER }
    }
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

    fn decoded(start: &[u8]) -> Option<ActivityPath> {
        let mut numbers = [0; NUMBER_BYTES];
        numbers[..start.len()].copy_from_slice(start);
        ActivityPath::from_guid(id(numbers, 0), None)
    }

    fn path(start: &[u8]) -> Option<String> {
        decoded(start).map(|path| path.text(PathForm::Complete))
    }

    fn around(start: &[u8], form: PathForm) -> Vec<String> {
        decoded(start).unwrap().around().map(|path| path.text(form)).collect()
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
        let text = |id, process| {
            ActivityPath::from_guid(id, process).map(|path| path.text(PathForm::Complete))
        };
        assert_eq!(text(id(numbers, 0), Some(5)).as_deref(), Some("//1/16"));
        assert_eq!(text(id(numbers, 5), Some(5)).as_deref(), Some("/#5/1/16"));
        assert_eq!(text(id(numbers, 5), None).as_deref(), Some("/#5/1/16"));
        assert_eq!(text(id(numbers, 5), Some(6)), None);
        assert_eq!(text(Guid::from_bytes([0xab; 16]), None), None);
    }

    #[test]
    fn an_empty_byte_after_a_number_from_256_on_says_nothing() {
        // .NET up to 9, and .NET 10 and 11.
        for bytes in [&[0x11, 0xc1, 0, 0, 0x10][..], &[0x11, 0xc1, 0, 0x10]] {
            assert_eq!(path(bytes).as_deref(), Some("//1/1/256/1"));
            assert_eq!(around(bytes, PathForm::Complete), ["//1/1/256", "//1/1", "//1", "/"]);
        }
        assert_eq!(path(&[0x11, 0xc1, 0, 0]).as_deref(), Some("//1/1/256"));
        assert_eq!(path(&[0x11, 0xcf, 0xff, 0, 0xc0, 0x0b]).as_deref(), Some("//1/1/4095/11"));
    }

    #[test]
    fn a_lost_number_is_zero_and_its_child_begins_in_the_next_byte() {
        let lost = decoded(&[0x11, 0xc0]).unwrap();
        assert!(lost.shows_lost_number() && lost.may_repeat(PathForm::Complete));
        assert_eq!(lost.text(PathForm::LosesNumbers), "//1/1/0");
        // The second byte is 48 in .NET up to 9; in later ones it is the third child of any number.
        let inner = decoded(&[0x11, 0xc0, 0x30]).unwrap();
        assert_eq!(inner.text(PathForm::Complete), "//1/1/48");
        assert_eq!(inner.text(PathForm::LosesNumbers), "//1/1/0/3");
        assert!(!inner.shows_lost_number());
        assert!(inner.may_repeat(PathForm::LosesNumbers) && !inner.may_repeat(PathForm::Complete));
        assert_eq!(inner.around().next(), Some(lost));
        let bytes = [0x11, 0xc0, 0xc0, 0x2c, 0x15];
        let form = PathForm::LosesNumbers;
        assert_eq!(decoded(&bytes).unwrap().text(form), "//1/1/0/0/2/21");
        assert_eq!(around(&bytes, form)[..2], ["//1/1/0/0/2", "//1/1/0/0"]);
    }

    #[test]
    fn a_written_path_holds_the_paths_below_it_in_either_form() {
        let written = |text| WrittenPath::from_text(text).unwrap();
        let inner = decoded(&[0x11, 0xc0, 0x30]).unwrap();
        for text in ["//1/1/48", "//1/1/0/3"] {
            assert!(written(text).is(inner), "{text}");
        }
        for text in ["//1/1/0", "//1/1", "//1", "/"] {
            assert!(written(text).holds(inner) && !written(text).is(inner), "{text}");
        }
        for text in ["//1/1/4", "/#5/1/1", "//1$1", "//1/1/0/3/1"] {
            assert!(!written(text).holds(inner), "{text}");
        }
        for text in ["", "x", "/x", "/1", "//x", "//1/", "/#x/1", "//99999999999"] {
            assert_eq!(WrittenPath::from_text(text), None, "{text}");
        }
    }

    #[test]
    fn nibbles_are_numbers_if_each_of_them_can_be_read() {
        let (mut seed, mut paths) = (1_u128, 0);
        for _ in 0..200_000 {
            seed = seed.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(0x1d);
            // Codes of long numbers and zeros are frequent.
            let often = (seed >> 64).wrapping_mul(0x1_0001_0000_0001) & seed.rotate_left(20);
            for nibbles in [seed, seed & often, seed | often, often] {
                let nibbles = nibbles & !OWNER;
                let (path, mut at) = (ActivityPath { bits: nibbles }, 0);
                let can_be_read = loop {
                    match path.at(at, PathForm::Complete) {
                        AtNibble::Number(_, next) => at = next,
                        AtNibble::End => break true,
                        AtNibble::Unknown => break false,
                    }
                };
                paths += u32::from(can_be_read);
                assert_eq!(are_numbers(nibbles), can_be_read, "{nibbles:032x}");
            }
        }
        assert!((100_000..700_000).contains(&paths), "{paths}");
    }

    #[test]
    fn paths_of_any_bytes_have_an_end() {
        for first in 0..=255_u8 {
            for second in 0..=255_u8 {
                let path = ActivityPath::of_bytes(&[first, second, second, first]);
                assert!(path.around().count() < MAX_NIBBLES);
                for form in [PathForm::Complete, PathForm::LosesNumbers] {
                    assert!(path.numbers(form).count() <= MAX_NIBBLES);
                }
            }
        }
    }
}
