//! Places of numbers that are equal in every payload of a type.

use super::fields::FieldPlace;
use crate::bytes::first;
use crate::schema::{FieldType, Schema};

/// Place of an integer in every payload of a type. Finding it by the name of the field takes longer
/// than reading it, so it is found once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberPlace {
    offset: u32,
    form: NumberForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberForm {
    U32,
    I32,
    U64,
    I64,
}

impl NumberPlace {
    /// Returns the place of the first field with a name. `None` if there is none, if it is no integer
    /// of four or eight bytes, or if its place depends on the payload.
    pub fn find(schema: &Schema, name: &str, pointer_size: u8) -> Option<NumberPlace> {
        let place = FieldPlace::find(schema, name, pointer_size)?;
        let form = match schema.payload_fields().get(place.place)?.kind {
            FieldType::U32 => NumberForm::U32,
            FieldType::I32 => NumberForm::I32,
            FieldType::U64 => NumberForm::U64,
            FieldType::I64 => NumberForm::I64,
            _ => return None,
        };
        let offset = u32::try_from(place.bytes?.0).ok()?;
        Some(NumberPlace { offset, form })
    }

    /// Returns the number in a payload; `None` if it is negative, or if the payload ends before it.
    #[inline]
    pub fn read(self, payload: &[u8]) -> Option<u64> {
        let own = payload.get(self.offset as usize..)?;
        match self.form {
            NumberForm::U32 => first::<u32>(own).map(u64::from),
            NumberForm::I32 => u64::try_from(first::<i32>(own)?).ok(),
            NumberForm::U64 => first(own),
            NumberForm::I64 => u64::try_from(first::<i64>(own)?).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Field;

    #[test]
    fn a_number_is_read_at_its_place_if_all_fields_before_it_have_a_fixed_size() {
        let field = |name: &'static str, kind| Field::new(name, kind);
        let fields = vec![
            field("first", FieldType::I32),
            field("second", FieldType::U64),
            field("text", FieldType::Utf16Text),
            field("last", FieldType::I32),
        ];
        let schema = Schema::from_stream(fields, None, false);
        let payload = [7, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
        let read = |name, payload: &[u8]| NumberPlace::find(&schema, name, 8)?.read(payload);
        assert_eq!((read("first", &payload), read("second", &payload)), (Some(7), Some(9)));
        assert_eq!((read("text", &payload), read("last", &payload)), (None, None));
        assert_eq!((read("second", &payload[..11]), read("first", &[255; 4])), (None, None));
    }
}
