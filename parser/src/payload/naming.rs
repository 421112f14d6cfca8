//! Makes names of fields unique, as members of a JSON object and columns of a table need.

use crate::schema::{Field, FieldType};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Returns unique names for fields: `field_3` for a third field without a name, `Id_2` for the
/// second field called `Id`. Padding is left out.
pub fn distinct_names(fields: &[Field]) -> impl Iterator<Item = String> {
    let fields = fields.iter().filter(|field| !matches!(field.kind, FieldType::Padding(_)));
    let stored: HashSet<&str> = fields.clone().map(|field| &*field.name).collect();
    let mut given: HashSet<String> = HashSet::new();
    // The next number for each name, so that many fields with one name do not try all numbers.
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

/// Path of a field in nested objects for messages, such as `Request.Headers.Host`.
#[derive(Debug, Clone, Copy)]
pub struct FieldPath<'a, N> {
    /// Field that contains this field; `None` for a field of the payload itself.
    pub outer: Option<&'a FieldPath<'a, N>>,
    /// Name of the field, which is displayed.
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
