//! Waits for an event.

use super::Predicate;
use super::compiled::Compiled;
use crate::event_types::EventTypes;
use nettrace_parser::Event;

/// Looks for events that fulfil one of several predicates, and notices those that none can fulfil.
///
/// ```
/// use nettrace_export::{Predicate, Trigger};
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut trigger = Trigger::new(vec![Predicate::of_event("*/Hi where m > 1")?]);
/// let mut reader = nettrace_parser::Reader::from_slice(&bytes);
/// while let Some(event) = reader.next_event()? {
///     assert!(trigger.fired(&event).is_none());
/// }
/// let why = trigger.take_trouble().unwrap();
/// assert!(why.contains("has no field m"), "{why}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Trigger {
    all: Vec<Compiled>,
    types: EventTypes,
    /// Of each shape, whether it was looked at for what is wrong with the predicates.
    is_looked_at: Vec<bool>,
    trouble: Option<String>,
    has_taken: bool,
}

impl Trigger {
    /// Waits for any of them.
    pub fn new(predicates: Vec<Predicate>) -> Trigger {
        Trigger {
            all: predicates.iter().map(Compiled::new).collect(),
            types: EventTypes::default(),
            is_looked_at: Vec::new(),
            trouble: None,
            has_taken: false,
        }
    }

    /// The first predicate that the event fulfils.
    pub fn fired(&mut self, event: &Event<'_>) -> Option<&Predicate> {
        let place = self.types.index_of(event);
        let mut fired = None;
        for (at, compiled) in self.all.iter_mut().enumerate() {
            if compiled.holds(event, place, &self.types) {
                fired = fired.or(Some(at));
            }
        }
        if place.shape >= self.is_looked_at.len() {
            self.is_looked_at.resize(place.shape.saturating_add(1), false);
        }
        if let Some(is_looked_at @ false) = self.is_looked_at.get_mut(place.shape) {
            *is_looked_at = true;
            let of_all = || self.all.iter().find_map(|compiled| compiled.trouble(place, &self.types));
            if self.trouble.is_none() {
                self.trouble = of_all();
            }
        }
        self.all.get(fired?).map(Compiled::predicate)
    }

    /// Why an event that was asked for by its name cannot fulfil a predicate: a field that it does not have, a text to be
    /// compared with a number. Given once, as soon as an event shows it.
    pub fn take_trouble(&mut self) -> Option<String> {
        if self.has_taken || self.trouble.is_none() {
            return None;
        }
        self.has_taken = true;
        self.trouble.clone()
    }

    /// At the end: why nothing has fired, as far as that can be known and was not said by [`Trigger::take_trouble`] before: as
    /// there, or that no event had the name, with what may have been meant.
    pub fn why_not(&self) -> Option<String> {
        if self.has_taken || self.all.iter().any(Compiled::has_held) {
            return None;
        }
        let unseen = || self.all.iter().find_map(|compiled| compiled.unseen(&self.types));
        self.trouble.clone().or_else(unseen)
    }
}
