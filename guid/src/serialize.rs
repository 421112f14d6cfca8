//! Serde support for GUIDs: as text in human-readable formats, 16 bytes in others.

use crate::Guid;
use core::fmt;
use serde_core::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde_core::ser::{Serialize, Serializer};

/// Serializes to the text of `Display` in human-readable formats such as JSON. In other formats,
/// serializes to the 16 bytes in the order in which they are stored.
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl Serialize for Guid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_bytes(&self.to_bytes())
        }
    }
}

/// Accepts texts that `FromStr` accepts, or the 16 bytes in the order in which they are stored.
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
impl<'de> Deserialize<'de> for Guid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Guid, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(TextOrBytes)
        } else {
            deserializer.deserialize_bytes(TextOrBytes)
        }
    }
}

struct TextOrBytes;

impl<'de> Visitor<'de> for TextOrBytes {
    type Value = Guid;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a guid, as text or as 16 bytes")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Guid, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Guid, E> {
        let bytes = bytes.try_into().map_err(|_| E::invalid_length(bytes.len(), &self))?;
        Ok(Guid::from_bytes(bytes))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Guid, A::Error> {
        let mut bytes = [0; 16];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = numbers.next_element()?.ok_or_else(|| de::Error::invalid_length(at, &self))?;
        }
        match numbers.next_element::<de::IgnoredAny>()? {
            Some(_) => Err(de::Error::invalid_length(17, &self)),
            None => Ok(Guid::from_bytes(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use serde_core::de::IntoDeserializer;
    use serde_core::de::value::{BytesDeserializer, Error, SeqDeserializer};

    #[test]
    fn a_guid_is_text_in_json_and_read_from_it() {
        let guid = Guid::from_bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
        let json = serde_json::to_string(&guid).unwrap();
        assert_eq!(json, "\"03020100-0504-0706-0809-0a0b0c0d0e0f\"");
        assert_eq!(serde_json::from_str::<Guid>(&json).unwrap(), guid);
        assert!(serde_json::from_str::<Guid>("\"03020100\"").is_err());
        assert!(serde_json::from_str::<Guid>("3").is_err());
    }

    #[test]
    fn sixteen_bytes_are_a_guid_and_no_other_count_of_them() {
        let bytes: [u8; 17] = core::array::from_fn(|at| u8::try_from(at).unwrap());
        for count in 0..=17 {
            let of_bytes = Guid::deserialize(BytesDeserializer::<Error>::new(&bytes[..count]));
            let numbers = bytes[..count].iter().copied();
            let of_numbers =
                Guid::deserialize(SeqDeserializer::<_, Error>::new(numbers).into_deserializer());
            assert_eq!(
                (of_bytes.is_ok(), of_numbers.is_ok()),
                (count == 16, count == 16),
                "{count}"
            );
            assert!(of_bytes.is_err() || of_bytes == of_numbers);
        }
    }
}
