//! Distinct values of a column and their numbers.
//!
//! Values are looked up in tables of slots, each with the number of a value and 1, or 0. The
//! hash has a seed of the process, so that no trace can choose values that lie in the same
//! slots; numbers are given in the order of the values, so files do not depend on it.

use std::hash::{BuildHasher, Hasher, RandomState};
use twox_hash::XxHash64;

/// A prime whose bits are well mixed.
const PRIME: u64 = 0x9e37_79b9_7f4a_7c15;
const FIRST_SLOTS: usize = 64;

fn seed() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Slots that hold numbers of values.
#[derive(Debug)]
struct Slots {
    seed: u64,
    slots: Vec<u32>,
}

impl Slots {
    fn new() -> Slots {
        Slots { seed: seed(), slots: Vec::new() }
    }

    /// The number of the value that `is_it` knows among those with this hash, or the slot
    /// where its number belongs.
    #[inline]
    fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = (hash >> 32) as usize & mask;
        loop {
            match self.slots.get(at).copied() {
                None | Some(0) => return Err(at),
                Some(slot) if is_it(slot.wrapping_sub(1)) => return Ok(slot.wrapping_sub(1)),
                Some(_) => at = at.wrapping_add(1) & mask,
            }
        }
    }

    /// Whether there is no room for a value more; half of the slots stay free.
    #[inline]
    fn is_full(&self, values: usize) -> bool {
        values.wrapping_mul(2) >= self.slots.len()
    }

    fn grow(&mut self, hashes: impl Iterator<Item = u64>) {
        let room = self.slots.len().wrapping_mul(2).max(FIRST_SLOTS);
        self.slots.clear();
        self.slots.resize(room, 0);
        for (number, hash) in (1..).zip(hashes) {
            if let Err(at) = self.find(hash, |_| false)
                && let Some(slot) = self.slots.get_mut(at)
            {
                *slot = number;
            }
        }
    }

    fn set(&mut self, at: usize, number: u32) {
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = number.wrapping_add(1);
        }
    }

    fn clear(&mut self) {
        self.slots.clear();
    }
}

/// Distinct numbers.
#[derive(Debug)]
pub(super) struct Numbers {
    values: Vec<i64>,
    slots: Slots,
    last: (i64, u32),
}

impl Numbers {
    pub(super) fn new() -> Numbers {
        Numbers { values: Vec::new(), slots: Slots::new(), last: (0, 0) }
    }

    /// The number of a value.
    #[inline(always)]
    pub(super) fn number_of(&mut self, value: i64) -> u32 {
        if self.last.0 != value || self.values.is_empty() {
            self.last = (value, self.look_up(value));
        }
        self.last.1
    }

    #[inline]
    fn look_up(&mut self, value: i64) -> u32 {
        if self.slots.is_full(self.values.len()) {
            let seed = self.slots.seed;
            self.slots.grow(self.values.iter().map(|value| hash(seed, *value)));
        }
        let hash = hash(self.slots.seed, value);
        match self.slots.find(hash, |number| self.values.get(number as usize) == Some(&value)) {
            Ok(number) => number,
            Err(at) => {
                let number = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
                self.values.push(value);
                self.slots.set(at, number);
                number
            }
        }
    }

    pub(super) fn values(&self) -> &[i64] {
        &self.values
    }

    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.slots.clear();
    }
}

#[inline]
fn hash(seed: u64, value: i64) -> u64 {
    let product = u128::from(value.cast_unsigned() ^ seed).wrapping_mul(u128::from(PRIME));
    let bytes = product.to_le_bytes();
    let (halves, _) = bytes.as_chunks::<8>();
    halves.iter().fold(0, |all, half| all ^ u64::from_le_bytes(*half))
}

/// Distinct texts.
#[derive(Debug)]
pub(super) struct Texts {
    /// Each after its length in 4 bytes: a dictionary page.
    bytes: Vec<u8>,
    /// Where each begins in `bytes`, after its length, and where it ends.
    places: Vec<(usize, usize)>,
    slots: Slots,
    last: u32,
    /// By the number that the caller gave to a text: its number here and 1.
    named: Vec<u32>,
}

impl Texts {
    pub(super) fn new() -> Texts {
        Texts {
            bytes: Vec::new(),
            places: Vec::new(),
            slots: Slots::new(),
            last: 0,
            named: Vec::new(),
        }
    }

    /// The number of a text.
    #[inline]
    pub(super) fn number_of(&mut self, text: &[u8]) -> u32 {
        if self.text(self.last) != Some(text) {
            self.last = self.look_up(text);
        }
        self.last
    }

    /// The number of a text that the caller has numbered.
    #[inline(always)]
    pub(super) fn number_of_named(&mut self, name: usize, text: &str) -> u32 {
        match self.named.get(name).copied() {
            None | Some(0) => self.learn(name, text),
            Some(number) => number.wrapping_sub(1),
        }
    }

    #[cold]
    fn learn(&mut self, name: usize, text: &str) -> u32 {
        let number = self.look_up(text.as_bytes());
        if name >= self.named.len() {
            self.named.resize(name.saturating_add(1), 0);
        }
        if let Some(named) = self.named.get_mut(name) {
            *named = number.wrapping_add(1);
        }
        number
    }

    fn look_up(&mut self, text: &[u8]) -> u32 {
        let seed = self.slots.seed;
        if self.slots.is_full(self.places.len()) {
            let (places, bytes) = (&self.places, &self.bytes);
            let texts = places.iter().map(|(from, to)| bytes.get(*from..*to).unwrap_or_default());
            self.slots.grow(texts.map(|text| XxHash64::oneshot(seed, text)));
        }
        let hash = XxHash64::oneshot(seed, text);
        match self.slots.find(hash, |number| self.text(number) == Some(text)) {
            Ok(number) => number,
            Err(at) => {
                let number = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
                put_text(&mut self.bytes, text);
                let end = self.bytes.len();
                self.places.push((end.saturating_sub(text.len()), end));
                self.slots.set(at, number);
                number
            }
        }
    }

    #[inline]
    pub(super) fn text(&self, number: u32) -> Option<&[u8]> {
        let (from, to) = self.places.get(number as usize)?;
        self.bytes.get(*from..*to)
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// All of them, each after its length.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
        self.slots.clear();
        self.named.clear();
        self.last = 0;
    }
}

/// Appends a text after its length in 4 bytes. No text here is as long as 4 GB.
#[inline]
pub(super) fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(text);
}

/// Sets the length at `start`, of a text that was appended after it.
#[inline]
pub(super) fn set_length(out: &mut [u8], start: usize, length: usize) {
    if let Some(place) = out.get_mut(start..).and_then(<[u8]>::first_chunk_mut::<4>) {
        *place = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    }
}

/// The texts that [`put_text`] wrote.
pub(super) fn each_text(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        bytes = rest;
        Some(text)
    })
}
