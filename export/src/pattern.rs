//! Patterns for the names of providers and events, as users write them.

use crate::event_types::{EventType, catalog_names};
use crate::glob::Glob;
use crate::nearest::{nearest, suggestion};
use nettrace_parser::catalog;
use std::convert::Infallible;
use std::str::FromStr;

/// A provider name with wildcards.
#[derive(Debug, Clone)]
pub struct ProviderPattern(Glob);

impl ProviderPattern {
    /// Returns whether the type belongs to a matching provider.
    pub fn is_match(&self, row: &EventType) -> bool {
        self.0.is_match(&row.provider)
    }

    /// Returns a message for users if no event matched.
    pub fn unmatched(&self, rows: &[EventType]) -> Option<String> {
        if rows.iter().any(|row| self.is_match(row)) {
            return None;
        }
        let names = nearest(self.0.as_str(), rows.iter().map(|row| &*row.provider));
        Some(format!("no event is of a provider like {}{}", self.0.as_str(), suggestion(&names)))
    }

    /// Returns the pattern as written.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl FromStr for ProviderPattern {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(ProviderPattern(Glob::new(text)))
    }
}

/// A pattern with wildcards for an event's id, its name, or `Provider/Name`.
#[derive(Debug, Clone)]
pub struct EventPattern {
    glob: Glob,
    id: Option<u32>,
}

impl FromStr for EventPattern {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(EventPattern::new(text))
    }
}

impl EventPattern {
    /// Parses a pattern; every text is valid.
    pub fn new(text: &str) -> EventPattern {
        EventPattern { glob: Glob::new(text), id: text.parse().ok() }
    }

    /// Returns whether the pattern can match only one name.
    pub fn is_exact(&self) -> bool {
        !self.glob.as_str().contains(['*', '?'])
    }

    /// Returns whether events of a type match.
    pub fn accepts(&self, row: &EventType) -> bool {
        if !row.is_defined {
            return false;
        }
        let is = |name: &str| {
            self.glob.is_match(name) || self.glob.is_match(&format!("{}/{name}", row.provider))
        };
        self.id == Some(row.id)
            || is(&row.id.to_string())
            || row.names().iter().any(|name| is(name))
    }

    /// Returns a message for users if no event matched.
    pub(crate) fn unmatched(&self, rows: &[EventType]) -> Option<String> {
        if rows.iter().any(|row| self.accepts(row)) {
            return None;
        }
        let wanted = self.glob.as_str();
        if let Some(known) = self.known() {
            return Some(format!("no event is {wanted}: {known}, but it is not in this trace"));
        }
        let paths: Vec<String> = rows.iter().map(EventType::path).collect();
        let names: Vec<String> = rows.iter().flat_map(EventType::names).collect();
        let mut found = nearest(wanted, names.iter().map(String::as_str));
        if found.is_empty() && wanted.contains('/') {
            found = nearest(wanted, paths.iter().map(String::as_str));
        }
        Some(format!("no event is {wanted}{}", suggestion(&found)))
    }

    /// Returns a sentence for users if the catalog has the event although the trace does not.
    fn known(&self) -> Option<String> {
        let wanted = self.glob.as_str();
        if !self.is_exact() || wanted.is_empty() {
            return None;
        }
        let event = catalog::events().find(|event| {
            let own = wanted
                .strip_prefix(event.provider)
                .and_then(|rest| rest.strip_prefix('/'))
                .unwrap_or(wanted);
            catalog_names(event)
                .iter()
                .any(|known| !known.is_empty() && known.eq_ignore_ascii_case(own))
        })?;
        let keywords: Vec<String> = catalog::keywords(event.provider)
            .iter()
            .filter(|(bit, _)| event.keywords & bit != 0)
            .map(|(bit, name)| format!("{name} ({bit:#x})"))
            .collect();
        let keywords = match keywords.is_empty() {
            true => String::new(),
            false => format!(" with keyword {}", keywords.join(" or ")),
        };
        Some(format!("{} sends it at level {}{keywords}", event.provider, event.level))
    }
}
