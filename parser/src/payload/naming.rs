//! Unique names for fields, as needed for the members of a JSON object or the columns of
//! a table.

use crate::schema::{Field, FieldType};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Returns names for fields, none of which is empty or equal to another. The third field
/// is called `field_3` if it has no name, and the second field called `Id` becomes
/// `Id_2`. Padding is left out.
pub fn distinct_names(fields: &[Field]) -> impl Iterator<Item = String> {
    let fields = fields.iter().filter(|field| !matches!(field.kind, FieldType::Padding(_)));
    let stored: HashSet<&str> = fields.clone().map(|field| &*field.name).collect();
    let mut given: HashSet<String> = HashSet::new();
    // Starts each search at the next free number, so that many fields with one name do
    // not all try all numbers.
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

/// The path of a field in nested objects, for messages: `Request.Headers.Host`.
#[derive(Debug, Clone, Copy)]
pub struct FieldPath<'a, N> {
    /// The field that contains the object; `None` for a field of the payload itself.
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
