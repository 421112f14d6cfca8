//! What fields are called where each needs a name of its own: in objects of JSON, in columns.

use crate::schema::{Field, FieldType};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Names for fields as they are shown, none of which is empty or the same as another's: the third field is
/// `field_3` if it has no name, and the second one of the name `Id` is `Id_2`. Padding has no name.
pub fn distinct_names(fields: &[Field]) -> impl Iterator<Item = String> {
    let fields = fields.iter().filter(|field| !matches!(field.kind, FieldType::Padding(_)));
    let stored: HashSet<&str> = fields.clone().map(|field| &*field.name).collect();
    let mut given: HashSet<String> = HashSet::new();
    // The next number behind a name, so that many fields of one name do not try all numbers each.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    fields.enumerate().map(move |(at, field)| {
        let mut text = field.name.to_string();
        if text.is_empty() || given.contains(&text) {
            let is_nameless = text.is_empty();
            let stem = if is_nameless { format!("field_{}", at.saturating_add(1)) } else { text };
            let number = numbers.entry(stem.clone()).or_insert(if is_nameless { 1 } else { 2 });
            loop {
                text = if *number == 1 { stem.clone() } else { format!("{stem}_{number}") };
                *number = number.saturating_add(1);
                if !given.contains(&text) && !stored.contains(&*text) {
                    break;
                }
            }
        }
        given.insert(text.clone());
        text
    })
}

/// Where a field lies in nested objects, for messages: `Request.Headers.Host`.
#[derive(Debug, Clone, Copy)]
pub struct FieldPath<'a, N> {
    /// The object's field, if the field is not one of the payload itself.
    pub outer: Option<&'a FieldPath<'a, N>>,
    /// The field's name.
    pub name: N,
}

impl<N: fmt::Display> fmt::Display for FieldPath<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(outer) = self.outer {
            write!(f, "{outer}.")?;
        }
        self.name.fmt(f)
    }
}
