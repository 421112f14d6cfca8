//! Protocol Buffers wire format.
//!
//! | type | key's low bits | bytes |
//! |---|---|---|
//! | varint | 0 | 7 bits a byte, lowest first |
//! | 64 bits | 1 | 8 bytes, lowest first |
//! | length-delimited | 2 | varint length, then bytes: text, message, packed numbers |

/// A message while it is written. A nested message is written in its place ([`Message::nested`]), or
/// separately and added with [`Message::message`].
#[derive(Debug, Default, Clone)]
pub(crate) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// Returns the encoded message.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns whether the message is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Removes all fields, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    fn varint(&mut self, value: u64) {
        let mut left = value;
        while left >= 0x80 {
            self.bytes.push(low_bits(left) | 0x80);
            left >>= 7;
        }
        self.bytes.push(low_bits(left));
    }

    fn key(&mut self, field: u32, wire_type: u64) {
        self.varint(u64::from(field) << 3 | wire_type);
    }

    /// Appends an unsigned number, an enumeration or a boolean. It is written even if it is 0.
    pub(crate) fn uint(&mut self, field: u32, value: u64) -> &mut Self {
        self.key(field, 0);
        self.varint(value);
        self
    }

    /// Appends a signed number of type `int64` or `int32`.
    pub(crate) fn int(&mut self, field: u32, value: i64) -> &mut Self {
        self.uint(field, value.cast_unsigned())
    }

    /// Appends a number of type `fixed64`.
    pub(crate) fn fixed64(&mut self, field: u32, value: u64) -> &mut Self {
        self.key(field, 1);
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// Appends a number of type `double`.
    pub(crate) fn double(&mut self, field: u32, value: f64) -> &mut Self {
        self.fixed64(field, value.to_bits())
    }

    /// Appends a text.
    pub(crate) fn text(&mut self, field: u32, text: &str) -> &mut Self {
        self.delimited(field, text.as_bytes())
    }

    /// Appends bytes.
    pub(crate) fn delimited(&mut self, field: u32, bytes: &[u8]) -> &mut Self {
        self.key(field, 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Appends a nested message.
    pub(crate) fn message(&mut self, field: u32, message: &Message) -> &mut Self {
        self.delimited(field, &message.bytes)
    }

    /// Appends a nested message, which `fill` writes.
    pub(crate) fn nested(&mut self, field: u32, fill: impl FnOnce(&mut Message)) -> &mut Self {
        self.key(field, 2);
        let at = self.bytes.len();
        // Most lengths take one byte.
        self.bytes.push(0);
        fill(self);
        let begin = at.saturating_add(1);
        let length = self.bytes.len().saturating_sub(begin) as u64;
        match self.bytes.get_mut(at) {
            Some(place) if length < 0x80 => *place = low_bits(length),
            _ => {
                // The other bytes of the length push what was written aside.
                let end = self.bytes.len();
                let more = usize::from(varint_bytes(length).saturating_sub(1));
                self.bytes.resize(end.saturating_add(more), 0);
                self.bytes.copy_within(begin..end, begin.saturating_add(more));
                let mut left = length;
                for place in self.bytes.iter_mut().skip(at).take(more.saturating_add(1)) {
                    *place = low_bits(left) | if left < 0x80 { 0 } else { 0x80 };
                    left >>= 7;
                }
            }
        }
        self
    }

    /// Appends unsigned numbers in packed encoding; appends nothing if there are none.
    pub(crate) fn packed(
        &mut self,
        field: u32,
        values: impl Iterator<Item = u64> + Clone,
    ) -> &mut Self {
        let length: u64 = values.clone().map(|value| u64::from(varint_bytes(value))).sum();
        if length > 0 {
            self.key(field, 2);
            self.varint(length);
            values.for_each(|value| self.varint(value));
        }
        self
    }
}

fn low_bits(value: u64) -> u8 {
    (value & 0x7f) as u8
}

/// Returns the length of a number, in bytes: 1 to 10.
fn varint_bytes(value: u64) -> u8 {
    let bits = u64::BITS.saturating_sub((value | 1).leading_zeros());
    u8::try_from(bits.div_ceil(7)).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_has_its_key_in_front() {
        let mut message = Message::default();
        message.uint(1, 150).text(2, "hi");
        assert_eq!(message.bytes(), [0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i']);
    }

    #[test]
    fn a_message_is_the_same_written_in_its_place_and_added() {
        for length in [0, 1, 127, 128, 70_000] {
            let text = "x".repeat(length);
            let (mut inner, mut added, mut nested) = <(Message, Message, Message)>::default();
            added.uint(1, 7).message(2, inner.text(3, &text)).uint(4, 8);
            let fill = |inner: &mut Message| {
                inner.text(3, &text);
            };
            nested.uint(1, 7).nested(2, fill).uint(4, 8);
            assert_eq!(nested.bytes(), added.bytes());
        }
    }

    #[test]
    fn numbers_are_packed_with_their_length() {
        let mut message = Message::default();
        message.packed(3, [1u64, 300, u64::MAX].into_iter());
        let mut expected = vec![0x1a, 13, 1, 0xac, 2];
        expected.extend([0xff; 9]);
        expected.push(1);
        assert_eq!(message.bytes(), expected);
        assert!(Message::default().packed(3, std::iter::empty()).is_empty());
    }

    #[test]
    fn a_double_takes_eight_bytes_lowest_first() {
        assert_eq!(
            Message::default().double(44, 1.0).bytes(),
            [0xe1, 2, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]
        );
    }

    #[test]
    fn a_negative_number_takes_ten_bytes() {
        assert_eq!(Message::default().int(1, -1).bytes().len(), 11);
        assert_eq!([0, 0x7f, 0x80, u64::MAX].map(varint_bytes), [1, 1, 2, 10]);
    }
}
