//! Comparison of a visitor of values with an iteration over the fields.

use nettrace_parser::{Event, FieldValue, Fields, Value, VisitValues};

/// Lines for each field and element; the lines of nested values follow those of their parent.
#[derive(Default)]
struct Lines(Vec<String>);

impl Lines {
    fn line(&mut self, name: &str, offset: usize, value: &Value<'_>) {
        self.0.push(match value {
            Value::Array(array) => format!("{name} {offset} {} elements", array.len()),
            Value::Object(object) => format!("{name} {offset} object of {}", object.bytes().len()),
            // Bits, because texts of different NaNs are equal.
            Value::F64(number) => format!("{name} {offset} F64 {:x}", number.to_bits()),
            Value::F32(number) => format!("{name} {offset} F32 {:x}", number.to_bits()),
            Value::Utf16(text) => {
                format!("{name} {offset} {:?} {}", text.bytes(), text.is_terminated())
            }
            value => format!("{name} {offset} {value:?}"),
        });
    }

    fn field_line(&mut self, field: &FieldValue<'_>) {
        match &field.value {
            Ok(value) => self.line(field.name(), field.offset, value),
            Err(fault) => self.0.push(format!("{} {} {fault}", field.name(), field.offset)),
        }
    }

    fn walk(&mut self, fields: Fields<'_>) {
        for field in fields {
            self.field_line(&field);
            if let Ok(value) = field.value {
                self.walk_into(value);
            }
        }
    }

    fn walk_into(&mut self, value: Value<'_>) {
        match value {
            Value::Object(object) => self.walk(object.fields()),
            Value::Array(array) => {
                for element in array.iter() {
                    if let Value::Object(object) = element {
                        self.walk(object.fields());
                    } else {
                        self.line("", 0, &element);
                        self.walk_into(element);
                    }
                }
            }
            _ => {}
        }
    }

    fn visit_into(&mut self, value: Value<'_>) {
        match value {
            Value::Object(object) => object.fields().visit(self),
            Value::Array(array) => array.visit(self),
            _ => {}
        }
    }
}

impl<'r> VisitValues<'r> for Lines {
    fn field(&mut self, field: FieldValue<'r>) {
        self.field_line(&field);
        if let Ok(value) = field.value {
            self.visit_into(value);
        }
    }

    fn element(&mut self, element: Value<'r>) {
        self.line("", 0, &element);
        self.visit_into(element);
    }
}

/// Asserts that a visitor sees the values of all fields, in their order.
pub(crate) fn assert_as_walked(event: &Event<'_>) {
    let (mut walked, mut by_visitor, mut half) =
        (Lines::default(), Lines::default(), Lines::default());
    walked.walk(event.fields());
    event.visit_fields(&mut by_visitor);
    assert_eq!(by_visitor.0, walked.0, "{event:?}");
    // Visits from every field on, and from the end.
    let mut fields = event.fields();
    if let Some(field) = fields.next() {
        half.field(field);
    }
    fields.visit(&mut half);
    assert_eq!(half.0, walked.0, "{event:?}");
    let mut all = event.fields();
    all.by_ref().for_each(drop);
    assert_eq!((fields.rest_offset(), fields.rest()), (all.rest_offset(), all.rest()), "{event:?}");
}
