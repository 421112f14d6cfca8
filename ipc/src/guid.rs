//! GUIDs as .NET writes them: a `u32`, two `u16` (all little-endian) and eight plain bytes.

use std::fmt;
use std::str::FromStr;

/// A 16-byte identifier: the cookie of a runtime, the class id of a profiler.
///
/// The bytes are kept in wire order. Text is the usual `aabbccdd-eeff-0011-2233-445566778899`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Guid([u8; 16]);

impl Guid {
    /// From the 16 bytes as they stand on the wire.
    pub const fn from_wire(bytes: [u8; 16]) -> Self {
        Guid(bytes)
    }

    /// The 16 bytes as they stand on the wire.
    pub const fn to_wire(self) -> [u8; 16] {
        self.0
    }
}

impl From<[u8; 16]> for Guid {
    fn from(bytes: [u8; 16]) -> Self {
        Guid(bytes)
    }
}

impl From<Guid> for [u8; 16] {
    fn from(guid: Guid) -> Self {
        guid.0
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a0, a1, a2, a3, b0, b1, c0, c1, d @ ..] = self.0;
        let (a, b, c) = (
            u32::from_le_bytes([a0, a1, a2, a3]),
            u16::from_le_bytes([b0, b1]),
            u16::from_le_bytes([c0, c1]),
        );
        write!(f, "{a:08x}-{b:04x}-{c:04x}-")?;
        for (index, byte) in d.iter().enumerate() {
            if index == 2 {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text was not a GUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAGuid;

impl fmt::Display for NotAGuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not a GUID: expected 32 hexadecimal digits, with dashes after digits 8, 12, 16 and 20 or none",
        )
    }
}

impl std::error::Error for NotAGuid {}

impl FromStr for Guid {
    type Err = NotAGuid;

    /// Reads `aabbccdd-eeff-0011-2233-445566778899`, with or without dashes and braces.
    fn from_str(text: &str) -> Result<Self, NotAGuid> {
        let text = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(text);
        let parts: Vec<&str> = text.split('-').collect();
        let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
        if lengths != [8, 4, 4, 4, 12] && lengths != [32] {
            return Err(NotAGuid);
        }
        let digits: String = parts.concat();
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(NotAGuid);
        }
        let value = u128::from_str_radix(&digits, 16).map_err(|_| NotAGuid)?;
        let [a0, a1, a2, a3, b0, b1, c0, c1, d0, d1, d2, d3, d4, d5, d6, d7] = value.to_be_bytes();
        Ok(Guid([a3, a2, a1, a0, b1, b0, c1, c0, d0, d1, d2, d3, d4, d5, d6, d7]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_swaps_the_first_three_parts_of_the_wire_order() {
        let wire = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
        let guid = Guid::from_wire(wire);
        assert_eq!(guid.to_string(), "03020100-0504-0706-0809-0a0b0c0d0e0f");
        assert_eq!("{03020100-0504-0706-0809-0A0B0C0D0E0F}".parse(), Ok(guid));
        assert_eq!("030201000504070608090a0b0c0d0e0f".parse::<Guid>().map(Guid::to_wire), Ok(wire));
    }

    #[test]
    fn text_that_is_no_guid_is_refused() {
        for text in [
            "",
            "-",
            "03020100-0504-0706-0809-0a0b0c0d0e0",
            "+3020100-0504-0706-0809-0a0b0c0d0e0f",
            "éééééééééééééééé",
        ] {
            assert_eq!(text.parse::<Guid>(), Err(NotAGuid), "{text}");
        }
    }
}
