//! Hashes that are stable across traces, machines and versions.

use twox_hash::{XxHash3_128, XxHash64};

/// Returns XXH64 with seed 0, as a signed number, because some engines have no unsigned numbers.
pub(crate) fn id_of(bytes: &[u8]) -> i64 {
    XxHash64::oneshot(0, bytes).cast_signed()
}

/// Returns a common id for several texts.
pub(crate) fn id_of_texts(texts: &[&str]) -> i64 {
    // With a separator, "a" and "bc" do not get the id of "ab" and "c".
    id_of(texts.join("\0").as_bytes())
}

/// Hash of a file's content: XXH3 with 128 bits.
///
/// ```
/// use nettrace_tables::ContentHash;
/// let mut hash = ContentHash::new();
/// hash.add(b"net");
/// hash.add(b"trace");
/// let mut whole = ContentHash::new();
/// whole.add(b"nettrace");
/// assert_eq!(hash.hex(), whole.hex());
/// assert_eq!(hash.hex().len(), 32);
/// ```
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "as the hash that it holds")]
pub struct ContentHash(XxHash3_128);

impl Default for ContentHash {
    fn default() -> ContentHash {
        ContentHash::new()
    }
}

impl ContentHash {
    /// Makes a hash to which no bytes were added yet.
    pub fn new() -> ContentHash {
        ContentHash(XxHash3_128::new())
    }

    /// Adds bytes after those that were added before.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// Returns the hash as 32 hexadecimal digits, in the form in which `xxhsum -H2` prints it.
    pub fn hex(&self) -> String {
        format!("{:032x}", self.0.finish_128())
    }

    /// Returns the first 64 bits of the hash, which are [`inputs.input_id`](crate::schema::INPUTS).
    pub fn input_id(&self) -> i64 {
        u64::try_from(self.0.finish_128() >> 64).unwrap_or_default().cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares hashes with those in the descriptions of XXH64 and XXH3.
    #[test]
    fn ids_are_the_same_on_every_machine() {
        assert_eq!(id_of(b"").cast_unsigned(), 0xef46_db37_51d8_e999);
        assert_eq!(id_of(b"abc").cast_unsigned(), 0x44bc_2cf5_ad77_0999);
        let empty = ContentHash::new();
        assert_eq!(empty.hex(), "99aa06d3014798d86001c324468d497f");
        assert_eq!(empty.input_id().cast_unsigned(), 0x99aa_06d3_0147_98d8);
    }
}
