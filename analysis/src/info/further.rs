//! Totals of the events whose types are beyond the limit for separate counts. Their memory is
//! bounded.

use super::distinct::{Count, Distinct};
use super::type_count::{EventTypeCount, MAX_TYPES};
use crate::hash::HashMap;
use nettrace_parser::Event;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Totals of the events whose types are beyond the limit.
#[derive(Debug)]
pub(super) struct Further {
    count: EventTypeCount,
    /// Hashes of the further types, to count them.
    types: Distinct,
    /// Number of further events of each listed provider.
    providers: HashMap<Box<str>, u64>,
    /// Hashes of the names of providers that are not listed, to count them.
    others: Distinct,
    /// Number of events of providers that are not listed.
    other_events: u64,
}

/// Returns the name by which a provider is listed.
pub(super) fn name(is_defined: bool, provider: &str) -> &str {
    if is_defined { provider } else { "(undefined)" }
}

impl Further {
    /// Makes totals of no events. The providers in `known` are always listed.
    pub(super) fn new<'p>(known: impl Iterator<Item = &'p str>) -> Further {
        Further {
            count: EventTypeCount::default(),
            types: Distinct::default(),
            providers: known.map(|provider| (provider.into(), 0)).collect(),
            others: Distinct::default(),
            other_events: 0,
        }
    }

    /// Counts an event. Returns whether the event has a stack.
    pub(super) fn take(&mut self, event: &Event<'_>) -> bool {
        let has_stack = self.count.take(event);
        let is_defined = event.metadata().is_some();
        let provider = name(is_defined, event.provider());
        self.types.insert(hash((provider, event.id(), event.version(), event.name(), is_defined)));
        if let Some(events) = self.providers.get_mut(provider) {
            *events = events.saturating_add(1);
        } else if self.providers.len() < MAX_TYPES {
            self.providers.insert(provider.into(), 1);
        } else {
            self.others.insert(hash(provider));
            self.other_events = self.other_events.saturating_add(1);
        }
        has_stack
    }

    pub(super) fn count(&self) -> &EventTypeCount {
        &self.count
    }

    pub(super) fn type_count(&self) -> Count {
        self.types.count()
    }

    pub(super) fn providers(&self) -> impl Iterator<Item = (&str, u64)> {
        let met = self.providers.iter().filter(|(_, events)| **events > 0);
        met.map(|(name, events)| (&**name, *events))
    }

    /// Returns the number of providers that are not listed, and the number of their events.
    pub(super) fn other_providers(&self) -> Option<(Count, u64)> {
        (self.other_events > 0).then(|| (self.others.count(), self.other_events))
    }
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
