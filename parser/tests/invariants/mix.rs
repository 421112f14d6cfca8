//! A fast hasher whose results are equal in every run.

use std::hash::Hasher;

#[derive(Clone, Copy, Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| self.write_u8(*byte));
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value) + 1);
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0xff51_afd7_ed55_8ccd) ^ self.0 >> 32
    }
}
