//! Computes the memory that rows use, so that tables can be limited in bytes.

use crate::block::metadata::Metadata;
use crate::block::thread::Thread;
use crate::schema::{Field, FieldType};

/// Row of a table, whose memory can be computed.
pub(crate) trait Weigh {
    /// Returns the approximate number of heap bytes that the row owns.
    fn bytes_elsewhere(&self) -> usize;
}

impl Weigh for (u32, u32) {
    fn bytes_elsewhere(&self) -> usize {
        0
    }
}

impl Weigh for Thread {
    fn bytes_elsewhere(&self) -> usize {
        let name = self.name.as_ref().map_or(0, |name| name.len());
        name.saturating_add(pair_bytes(&self.pairs))
    }
}

impl Weigh for Metadata {
    fn bytes_elsewhere(&self) -> usize {
        let split_name = self.split_name.as_ref().map_or(0, |name| name.len());
        let texts = [self.provider.len(), self.name.len(), split_name];
        let texts = texts.into_iter().fold(0, usize::saturating_add);
        let extra = self.extra.as_ref().map_or(0, |extra| {
            let templates = [&extra.message_template, &extra.description].into_iter().flatten();
            let templates = templates.fold(0usize, |sum, text| sum.saturating_add(text.len()));
            size_of_val(&**extra).saturating_add(templates).saturating_add(pair_bytes(&extra.pairs))
        });
        texts.saturating_add(extra).saturating_add(field_bytes(&self.schema.fields))
    }
}

fn pair_bytes(pairs: &[(Box<str>, Box<str>)]) -> usize {
    pairs.iter().fold(size_of_val(pairs), |sum, (key, value)| {
        sum.saturating_add(key.len()).saturating_add(value.len())
    })
}

fn field_bytes(fields: &[Field]) -> usize {
    fields.iter().fold(size_of_val(fields), |sum, field| {
        sum.saturating_add(field.name.len()).saturating_add(type_bytes(&field.kind))
    })
}

/// Returns the number of heap bytes that a type owns. The recursion ends, because the nesting
/// of types is limited.
fn type_bytes(kind: &FieldType) -> usize {
    match kind {
        FieldType::Object(fields) => field_bytes(fields),
        FieldType::Array(element)
        | FieldType::FixedArray(element, _)
        | FieldType::RelLoc(element)
        | FieldType::DataLoc(element) => size_of::<FieldType>().saturating_add(type_bytes(element)),
        _ => 0,
    }
}
