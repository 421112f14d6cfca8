#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::restriction, clippy::pedantic))]

mod bytes;
#[cfg(feature = "serde")]
mod serialize;

use bytes::{halves, joined};
use core::cmp::Ordering;
use core::fmt;
use core::str::FromStr;

/// A GUID: 16 bytes. The first eight are a u32 and two u16 in little-endian order ([FORMAT.md
/// 2](https://docs.rs/nettrace-parser/latest/nettrace_parser/format_guide/#2)).
///
/// ```
/// use nettrace_guid::Guid;
/// let bytes = [0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff];
/// let guid = Guid::from_bytes(bytes);
/// assert_eq!(guid.to_string(), "33221100-5544-7766-8899-aabbccddeeff");
/// assert_eq!("{33221100-5544-7766-8899-AABBCCDDEEFF}".parse(), Ok(guid));
/// // A GUID can also be compared with bytes as stored.
/// assert_eq!(guid, bytes);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Guid {
    /// Bytes 0 to 7 in the order in which they are stored, least significant first. Two numbers
    /// stay in registers, 16 bytes do not.
    low: u64,
    /// Bytes 8 to 15 in the order in which they are stored, least significant first.
    high: u64,
}

impl Guid {
    /// The GUID whose bytes are all zero. It means "none" wherever a stream stores a GUID.
    pub const ZERO: Guid = Guid { low: 0, high: 0 };

    /// Creates a GUID from its 16 bytes, in the order in which they are stored.
    #[inline]
    pub const fn from_bytes(bytes: [u8; 16]) -> Guid {
        let [low, high] = halves(bytes);
        Guid { low, high }
    }

    /// Returns the 16 bytes in the order in which they are stored.
    #[inline]
    pub const fn to_bytes(self) -> [u8; 16] {
        joined([self.low, self.high])
    }

    /// Returns whether all bytes are zero.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.low | self.high == 0
    }
}

/// Orders GUIDs by their bytes, in the order in which these are stored.
impl Ord for Guid {
    #[inline]
    fn cmp(&self, other: &Guid) -> Ordering {
        self.to_bytes().cmp(&other.to_bytes())
    }
}

impl PartialOrd for Guid {
    #[inline]
    fn partial_cmp(&self, other: &Guid) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares a GUID with its bytes in the order in which they are stored, which is the form that
/// `nettrace-writer` uses.
impl PartialEq<[u8; 16]> for Guid {
    #[inline]
    fn eq(&self, other: &[u8; 16]) -> bool {
        self.to_bytes() == *other
    }
}

impl PartialEq<Guid> for [u8; 16] {
    #[inline]
    fn eq(&self, other: &Guid) -> bool {
        other == self
    }
}

impl fmt::Display for Guid {
    /// Writes the GUID in lower case with dashes: `33221100-5544-7766-8899-aabbccddeeff`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a0, a1, a2, a3, b0, b1, c0, c1, d0, d1, e0, e1, e2, e3, e4, e5] = self.to_bytes();
        // The first three numbers are written with the highest byte first.
        write!(
            f,
            "{a3:02x}{a2:02x}{a1:02x}{a0:02x}-{b1:02x}{b0:02x}-{c1:02x}{c0:02x}-{d0:02x}{d1:02x}-{e0:02x}{e1:02x}{e2:02x}{e3:02x}{e4:02x}{e5:02x}"
        )
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<[u8; 16]> for Guid {
    #[inline]
    fn from(bytes: [u8; 16]) -> Guid {
        Guid::from_bytes(bytes)
    }
}

impl From<Guid> for [u8; 16] {
    #[inline]
    fn from(guid: Guid) -> [u8; 16] {
        guid.to_bytes()
    }
}

/// Error for a text that is not a GUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotAGuid;

impl fmt::Display for NotAGuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not a guid: 32 hexadecimal digits are expected, with dashes after digits 8, 12, 16 and 20 or none",
        )
    }
}

impl core::error::Error for NotAGuid {}

/// Positions of the dashes in a GUID with dashes.
const DASHES: [usize; 4] = [8, 13, 18, 23];

impl FromStr for Guid {
    type Err = NotAGuid;

    /// Parses a GUID in the form `33221100-5544-7766-8899-aabbccddeeff`, in upper or lower case,
    /// with or without dashes and braces.
    fn from_str(text: &str) -> Result<Guid, NotAGuid> {
        let text = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(text);
        let has_dashes = match text.len() {
            32 => false,
            36 => true,
            _ => return Err(NotAGuid),
        };
        let mut value: u128 = 0;
        for (at, letter) in text.bytes().enumerate() {
            if has_dashes && DASHES.contains(&at) {
                if letter != b'-' {
                    return Err(NotAGuid);
                }
                continue;
            }
            let digit = char::from(letter).to_digit(16).ok_or(NotAGuid)?;
            value = value << 4 | u128::from(digit);
        }
        // The first three parts are numbers, whose bytes are stored lowest first.
        let [a0, a1, a2, a3, b0, b1, c0, c1, rest @ ..] = value.to_be_bytes();
        let [d0, d1, d2, d3, d4, d5, d6, d7] = rest;
        Ok(Guid::from_bytes([a3, a2, a1, a0, b1, b0, c1, c0, d0, d1, d2, d3, d4, d5, d6, d7]))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::string::ToString;

    #[test]
    fn text_swaps_the_bytes_of_the_first_three_parts() {
        let bytes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        let guid = Guid::from_bytes(bytes);
        assert_eq!(guid.to_string(), "03020100-0504-0706-0809-0a0b0c0d0e0f");
        assert_eq!("{03020100-0504-0706-0809-0A0B0C0D0E0F}".parse(), Ok(guid));
        assert_eq!("030201000504070608090a0b0c0d0e0f".parse(), Ok(guid));
        assert_eq!(guid.to_bytes(), bytes);
    }

    #[test]
    fn each_byte_is_kept_shown_and_read_in_its_own_place() {
        for at in 0..16 {
            let bytes = std::array::from_fn(|byte| if byte == at { 0xa5 } else { 0 });
            let guid = Guid::from_bytes(bytes);
            assert_eq!(guid.to_bytes(), bytes);
            assert_eq!(guid, bytes);
            assert_eq!(bytes, guid);
            assert_ne!(guid, [0; 16]);
            assert_ne!([0; 16], guid);
            assert!(!guid.is_zero(), "{guid}");
            assert_eq!(guid.to_string().parse(), Ok(guid));
            assert_eq!((guid.to_string().len(), guid.to_string().matches("a5").count()), (36, 1));
        }
        assert!(Guid::ZERO.is_zero() && Guid::default() == Guid::ZERO);
    }

    #[test]
    fn guids_are_ordered_by_their_bytes() {
        let first =
            |byte| Guid::from_bytes([byte, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, !byte]);
        assert!(first(1) < first(2) && Guid::ZERO < first(0));
    }

    #[test]
    fn text_that_is_no_guid_is_refused() {
        let texts = [
            "",
            "-",
            "{}",
            "33221100-5544-7766-8899-aabbccddeef",
            "33221100-5544-7766-8899-aabbccddeefff",
            "+3221100-5544-7766-8899-aabbccddeeff",
            "éééééééééééééééé",
            "33221100-5544-77668899--aabbccddeeff",
            "33221100-5544-7766-8899aabbccddeeff",
            "{33221100-5544-7766-8899-aabbccddeeff",
            "332211005544-7766-8899-aabbccddeeff-",
        ];
        for text in texts {
            assert_eq!(text.parse::<Guid>(), Err(NotAGuid), "{text}");
        }
    }

    #[test]
    fn guids_and_their_error_may_go_to_another_thread() {
        fn shared<T: Send + Sync>() {}
        shared::<Guid>();
        shared::<NotAGuid>();
    }
}
