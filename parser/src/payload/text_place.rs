//! Places of texts that are equal in every payload of a type.

use super::fields::FieldPlace;
use super::text::Utf16;
use crate::bytes::utf16_end;
use crate::schema::{FieldType, Schema};

/// Place of a text of UTF-16 units in every payload of a type. Finding it by the name of the field
/// takes longer than reading it, so it is found once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPlace {
    offset: u32,
}

impl TextPlace {
    /// Returns the place of the first field with a name. `None` if there is none, if it is no text
    /// that a zero unit ends, or if its place depends on the payload.
    pub fn find(schema: &Schema, name: &str, pointer_size: u8) -> Option<TextPlace> {
        let field =
            schema.payload_fields().get(FieldPlace::find(schema, name, pointer_size)?.place)?;
        let is_text = matches!(field.kind, FieldType::Utf16Text) && !schema.is_ambiguous();
        let offset = field.offset.filter(|offset| is_text && offset.is_certain)?;
        Some(TextPlace { offset: u32::try_from(offset.start.bytes(pointer_size)).ok()? })
    }

    /// Returns the text in a payload; `None` if the payload ends before the text does.
    #[inline]
    pub fn read(self, payload: &[u8]) -> Option<Utf16<'_>> {
        let own = payload.get(self.offset as usize..)?;
        Some(Utf16::new(own.get(..utf16_end(own)?)?, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Field;

    #[test]
    fn a_text_is_read_at_its_place_if_all_fields_before_it_have_a_fixed_size() {
        let field = |name: &'static str, kind| Field::new(name, kind);
        let fields = vec![
            field("number", FieldType::I32),
            field("first", FieldType::Utf16Text),
            field("second", FieldType::Utf16Text),
        ];
        let schema = Schema::from_stream(fields, None, false);
        let payload = [7, 0, 0, 0, b'h', 0, b'i', 0, 0, 0, b'o', 0, 0, 0];
        let read = |name, payload| {
            let text = TextPlace::find(&schema, name, 8)?.read(payload)?;
            Some(text.to_string())
        };
        assert_eq!(read("first", &payload).as_deref(), Some("hi"));
        assert_eq!((read("first", &payload[..8]), read("first", &payload[..2])), (None, None));
        assert_eq!((read("second", &payload), read("number", &payload)), (None, None));
    }
}
