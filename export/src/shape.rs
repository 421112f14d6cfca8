//! Names and places of a payload's fields, computed once per event type.
//!
//! In a JSON object, a line of text and a row of CSV, each name occurs once and no name
//! is empty. So a field without a name is called `field_N` by its position among its
//! siblings, counting from 1, and a repeated name gets a suffix `_2`, `_3` and so on.

use crate::hidden::escaped;
use crate::json::Json;
use crate::long::cut;
use nettrace_parser::unstable::distinct_names;
use nettrace_parser::{Content, Event, Field, FieldType, FieldValue, Object, Schema, Unit};
use std::fmt;

/// The names of sibling fields, in payload order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(Box<[Name]>);

/// The name of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The display name.
    pub text: Box<str>,
    /// The display name as lines of text have it: cut, and without control characters.
    pub(crate) shown: Box<str>,
    /// The key in JSON with a comma before it: `,"name":`.
    key: Box<[u8]>,
    /// Whether numbers are shown in hexadecimal.
    pub is_hex: bool,
    /// Unit of numbers; `None` if it is not known.
    pub unit: Option<Unit>,
    /// What bytes hold; `None` if it is not known.
    pub(crate) content: Option<Content>,
    /// Names of the fields within an object, or within the elements of an array.
    pub inner: Names,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Name {
    fn new(text: String, field: &Field) -> Name {
        let mut key = Vec::new();
        key.push(b',');
        key.string(&cut(&text));
        key.push(b':');
        Name {
            shown: shown(&text),
            text: text.into_boxed_str(),
            key: key.into_boxed_slice(),
            is_hex: field.is_hex,
            unit: field.unit,
            content: field.content,
            inner: Names::from_type(&field.kind),
        }
    }

    /// Returns a copy of the name with another display name.
    #[must_use]
    pub fn renamed(&self, text: &str) -> Name {
        let mut key = Vec::new();
        key.push(b',');
        key.string(&cut(text));
        key.push(b':');
        Name { shown: shown(text), text: text.into(), key: key.into_boxed_slice(), ..self.clone() }
    }

    /// Returns the key in JSON, preceded by a comma unless it is the first key of an object.
    #[inline]
    pub fn key(&self, is_first: bool) -> &[u8] {
        self.key.get(usize::from(is_first)..).unwrap_or_default()
    }
}

/// Returns a name as lines of text have it.
fn shown(name: &str) -> Box<str> {
    let mut shown = Vec::new();
    escaped(&mut shown, &cut(name), false);
    String::from_utf8(shown).unwrap_or_default().into()
}

impl Names {
    /// Returns the names of the fields in a schema's payloads.
    pub fn from_schema(schema: &Schema) -> Names {
        Names::from_fields(schema.payload_fields())
    }

    fn from_fields(fields: &[Field]) -> Names {
        // The parser skips padding silently, so it is not shown either.
        let shown = fields.iter().filter(|field| !matches!(field.kind, FieldType::Padding(_)));
        Names(
            distinct_names(fields).zip(shown).map(|(text, field)| Name::new(text, field)).collect(),
        )
    }

    fn from_type(kind: &FieldType) -> Names {
        match kind {
            FieldType::Object(fields) => Names::from_fields(fields),
            FieldType::Array(element)
            | FieldType::FixedArray(element, _)
            | FieldType::RelLoc(element)
            | FieldType::DataLoc(element)
            | FieldType::Repeated(element, _) => Names::from_type(element),
            _ => Names::default(),
        }
    }

    /// Iterates over the names, in payload order.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, Name> {
        self.0.iter()
    }

    /// Finds the place of the field with this name. The name of a field within an object is
    /// `Object.Field`. The case of letters only matters if several names match.
    pub fn find(&self, wanted: &str) -> Option<Path> {
        let exactly = |name: &str, wanted: &str| name == wanted;
        self.find_by(wanted, &exactly).or_else(|| self.find_by(wanted, &str::eq_ignore_ascii_case))
    }

    fn find_by(&self, wanted: &str, is: &dyn Fn(&str, &str) -> bool) -> Option<Path> {
        let whole = self.iter().position(|name| is(&name.text, wanted)).map(|at| Path(vec![at]));
        whole.or_else(|| {
            self.iter().enumerate().find_map(|(at, name)| {
                let (head, rest) = wanted.split_at_checked(name.text.len())?;
                let rest = rest.strip_prefix('.').filter(|_| is(head, &name.text))?;
                let mut path = name.inner.find_by(rest, is)?;
                path.0.insert(0, at);
                Some(path)
            })
        })
    }

    /// Returns the name of the field at a place.
    pub fn at(&self, path: &Path) -> Option<&Name> {
        let (last, outer) = path.0.split_last()?;
        let mut names = self;
        for at in outer {
            names = &names.0.get(*at)?.inner;
        }
        names.0.get(*last)
    }

    /// Returns the name of the field at a place, preceded by the names of the objects around it:
    /// `Object.Field`.
    pub fn spelt(&self, path: &Path) -> String {
        let mut text = String::new();
        let mut names = self;
        for at in &path.0 {
            let Some(name) = names.0.get(*at) else { break };
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(&name.text);
            names = &name.inner;
        }
        text
    }

    /// Returns the names of all fields, also within objects; these are spelt `Object.Field`.
    pub fn all(&self) -> Vec<String> {
        let mut all = Vec::new();
        for name in self.iter() {
            all.push(name.text.to_string());
            all.extend(name.inner.all().into_iter().map(|inner| format!("{}.{inner}", name.text)));
        }
        all
    }
}

/// Place of a field: its index among its siblings, preceded by the indices of the objects around
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(Vec<usize>);

impl Path {
    /// Returns the index of a field that is not within an object.
    pub fn outermost(&self) -> Option<usize> {
        match self.0.as_slice() {
            [at] => Some(*at),
            _ => None,
        }
    }

    /// Returns the field at this place, or `None` if the payload ends before it or a
    /// field before it is broken.
    pub fn field<'r>(&self, event: &Event<'r>) -> Option<FieldValue<'r>> {
        let (first, inner) = self.0.split_first()?;
        let mut field = event.fields().nth(*first)?;
        for at in inner {
            let object: Object<'r> = field.value.ok()?.as_object()?;
            field = object.fields().nth(*at)?;
        }
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_parser::Reader;
    use nettrace_testdata::synth::{
        EventType, Field as SynthField, FieldType as SynthType, Session, SessionThread, Step,
        Value, Version,
    };

    fn names_of(fields: Vec<SynthField>) -> Names {
        let values = Value::samples(&fields, 1);
        let session = Session {
            types: vec![EventType { name: "E".into(), fields, ..EventType::default() }],
            threads: vec![SessionThread::new(1)],
            steps: vec![Step::event(0, 0, 1, values)],
            ..Session::new(Version::V4)
        };
        let bytes = session.record().stream.into_bytes();
        let mut reader = Reader::from_slice(&bytes);
        let event = reader.next_event().unwrap().unwrap();
        Names::from_schema(event.schema().unwrap())
    }

    fn texts(names: &Names) -> Vec<&str> {
        names.iter().map(|name| &*name.text).collect()
    }

    #[test]
    fn every_field_has_a_name_and_none_has_that_of_another() {
        let field = |name: &str| SynthField::new(name, SynthType::Int32);
        let names = names_of(["", "a", "a", "a_2", "a", "", "field_1"].map(field).to_vec());
        assert_eq!(texts(&names), ["field_1_2", "a", "a_3", "a_2", "a_4", "field_6", "field_1"]);
    }

    #[test]
    fn fields_are_found_by_their_names_in_any_case_and_within_objects() {
        let inner =
            vec![SynthField::new("x", SynthType::Int32), SynthField::new("y.z", SynthType::Int32)];
        let names = names_of(vec![
            SynthField::new("a", SynthType::Int32),
            SynthField::new("A", SynthType::Int32),
            SynthField::new("o", SynthType::Object(inner)),
        ]);
        let find = |name: &str| names.find(name).map(|path| path.0);
        assert_eq!(
            (find("a"), find("A"), find("o")),
            (Some(vec![0]), Some(vec![1]), Some(vec![2]))
        );
        assert_eq!((find("O.X"), find("o.y.z")), (Some(vec![2, 0]), Some(vec![2, 1])));
        assert_eq!((find("x"), find("o.q"), find("")), (None, None, None));
        assert_eq!(names.all(), ["a", "A", "o", "o.x", "o.y.z"]);
    }
}
