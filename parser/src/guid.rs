//! Globally unique identifiers as .NET writes them.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A guid: 16 bytes, of which the first eight are a u32 and two u16 in little-endian order
/// ([FORMAT.md 2](crate::format_guide#2)).
///
/// ```
/// let bytes = [0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff];
/// let guid = nettrace_parser::Guid::from_bytes(bytes);
/// assert_eq!(guid.to_string(), "33221100-5544-7766-8899-aabbccddeeff");
/// assert_eq!("{33221100-5544-7766-8899-AABBCCDDEEFF}".parse(), Ok(guid));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Guid {
    /// Two numbers instead of 16 bytes: they stay in registers.
    low: u64,
    high: u64,
}

impl Guid {
    /// All zero: stands for "none" wherever a stream stores a guid.
    pub const ZERO: Guid = Guid { low: 0, high: 0 };

    /// A guid from its 16 bytes as stored.
    #[inline]
    pub const fn from_bytes(bytes: [u8; 16]) -> Guid {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
        Guid {
            low: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            high: u64::from_le_bytes([i, j, k, l, m, n, o, p]),
        }
    }

    /// The 16 bytes as stored.
    #[inline]
    pub const fn to_bytes(self) -> [u8; 16] {
        let [a, b, c, d, e, f, g, h] = self.low.to_le_bytes();
        let [i, j, k, l, m, n, o, p] = self.high.to_le_bytes();
        [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
    }

    /// Whether all bytes are zero.
    #[inline]
    pub fn is_zero(self) -> bool {
        self.low | self.high == 0
    }
}

/// By their bytes.
impl Ord for Guid {
    fn cmp(&self, other: &Guid) -> Ordering {
        self.to_bytes().cmp(&other.to_bytes())
    }
}

impl PartialOrd for Guid {
    fn partial_cmp(&self, other: &Guid) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Guid {
    /// Lower-case with dashes: `33221100-5544-7766-8899-aabbccddeeff`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a0, a1, a2, a3, b0, b1, c0, c1, d0, d1, e0, e1, e2, e3, e4, e5] = self.to_bytes();
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{d0:02x}{d1:02x}-{e0:02x}{e1:02x}{e2:02x}{e3:02x}{e4:02x}{e5:02x}",
            u32::from_le_bytes([a0, a1, a2, a3]),
            u16::from_le_bytes([b0, b1]),
            u16::from_le_bytes([c0, c1]),
        )
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<[u8; 16]> for Guid {
    fn from(bytes: [u8; 16]) -> Guid {
        Guid::from_bytes(bytes)
    }
}

impl From<Guid> for [u8; 16] {
    fn from(guid: Guid) -> [u8; 16] {
        guid.to_bytes()
    }
}

/// The text was not a guid.
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

impl std::error::Error for NotAGuid {}

impl FromStr for Guid {
    type Err = NotAGuid;

    /// Reads `33221100-5544-7766-8899-aabbccddeeff`, with or without dashes and braces.
    fn from_str(text: &str) -> Result<Guid, NotAGuid> {
        let text = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(text);
        let lengths: Vec<usize> = text.split('-').map(str::len).collect();
        if lengths != [8, 4, 4, 4, 12] && lengths != [32] {
            return Err(NotAGuid);
        }
        let digits = text.replace('-', "");
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(NotAGuid);
        }
        let value = u128::from_str_radix(&digits, 16).map_err(|_| NotAGuid)?;
        // The first three parts are numbers, whose bytes are stored from the lowest on.
        let [a0, a1, a2, a3, b0, b1, c0, c1, rest @ ..] = value.to_be_bytes();
        let [d0, d1, d2, d3, d4, d5, d6, d7] = rest;
        Ok(Guid::from_bytes([a3, a2, a1, a0, b1, b0, c1, c0, d0, d1, d2, d3, d4, d5, d6, d7]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guid_is_read_as_it_is_shown() {
        let bytes = std::array::from_fn(|at| u8::try_from(at * 17).unwrap());
        let guid = Guid::from(bytes);
        assert_eq!(guid.to_string().parse(), Ok(guid));
        assert_eq!("33221100554477668899aabbccddeeff".parse(), Ok(guid));
        assert_eq!(<[u8; 16]>::from(guid), bytes);
    }

    #[test]
    fn text_that_is_no_guid_is_refused() {
        let texts =
            ["", "-", "{}", "33221100-5544-7766-8899-aabbccddeef", "+3221100-5544-7766-8899-aabbccddeeff"];
        for text in texts.into_iter().chain(["éééééééééééééééé", "33221100-5544-77668899-aabbccddeeff"])
        {
            assert_eq!(text.parse::<Guid>(), Err(NotAGuid), "{text}");
        }
    }
}
