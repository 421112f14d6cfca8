//! Finds the first event that satisfies a predicate.

use super::Predicate;
use super::compiled::Compiled;
use super::counter::{Intervals, Sample};
use crate::event_types::EventTypes;
use crate::nearest::{nearest, suggestion};
use nettrace_parser::Event;

/// Maximum number of counters of the requested providers that are remembered, to list
/// them if a requested counter does not exist.
const MAX_COUNTERS: usize = 500;
/// When an EventCounter has had this number of values, every other counter of its provider has had
/// a value.
const ROUNDS: u32 = 2;
/// When an EventCounter has had this number of values, the instruments of the meter with the name
/// of its provider have had values, too. They come at other times, and counters that grow have no
/// value in their first interval.
const ROUNDS_OF_ALL: u32 = 5;

/// Watches for events that satisfy one of several predicates, and detects predicates that
/// cannot be satisfied.
///
/// ```
/// use nettrace_export::{Predicate, Trigger};
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut trigger = Trigger::new(vec![Predicate::parse_event("*/Hi where m > 1")?]);
/// let mut reader = nettrace_parser::Reader::from_slice(&bytes);
/// while let Some(event) = reader.next_event()? {
///     assert!(trigger.check(&event).is_none());
/// }
/// let why = trigger.take_trouble().unwrap();
/// assert!(why.contains("has no field m"), "{why}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Trigger {
    all: Vec<Compiled>,
    types: EventTypes,
    /// Whether each shape has been checked for problems with the predicates, by
    /// [`TypeIndex::shape`](crate::TypeIndex::shape).
    is_looked_at: Vec<bool>,
    trouble: Option<String>,
    has_taken: bool,
    /// Indices of the predicates that the last event satisfied.
    fired: Vec<usize>,
    has_counters: bool,
    /// Counters that the providers of the requested counters have published.
    counters: Vec<Seen>,
    intervals: Intervals,
    /// Number of values that the predicates' counters have had so far.
    value_count: u64,
}

/// A series of values of a counter that has been published.
#[derive(Debug)]
struct Seen {
    provider: String,
    name: String,
    tags: String,
    is_instrument: bool,
    /// Number of values that the series has had.
    rounds: u32,
}

impl Trigger {
    /// Makes a trigger that fires when an event satisfies one of the predicates.
    pub fn new(predicates: Vec<Predicate>) -> Trigger {
        Trigger {
            all: predicates.iter().map(Compiled::new).collect(),
            types: EventTypes::default(),
            is_looked_at: Vec::new(),
            trouble: None,
            has_taken: false,
            fired: Vec::new(),
            has_counters: predicates.iter().any(|predicate| !predicate.counters().is_empty()),
            counters: Vec::new(),
            intervals: Intervals::default(),
            value_count: 0,
        }
    }

    /// Checks an event. Returns the first predicate that the event satisfies.
    pub fn check(&mut self, event: &Event<'_>) -> Option<&Predicate> {
        let place = self.types.index_of(event);
        self.fired.clear();
        for (at, compiled) in self.all.iter_mut().enumerate() {
            if compiled.fires(event, place, &self.types) {
                self.fired.push(at);
            }
        }
        if self.has_counters {
            self.take_counter(event);
        }
        if place.shape >= self.is_looked_at.len() {
            self.is_looked_at.resize(place.shape.saturating_add(1), false);
        }
        if let Some(is_looked_at @ false) = self.is_looked_at.get_mut(place.shape) {
            *is_looked_at = true;
            let of_all =
                || self.all.iter().find_map(|compiled| compiled.trouble(place, &self.types));
            if self.trouble.is_none() {
                self.trouble = of_all();
            }
        }
        self.all.get(*self.fired.first()?).map(Compiled::predicate)
    }

    /// Returns all predicates that the last event satisfied, as indices into the list given to
    /// [`Trigger::new`].
    pub fn all_fired(&self) -> &[usize] {
        &self.fired
    }

    /// Returns the counters of the predicate with this index and their last values; for counters
    /// that grow, the growth per second.
    pub fn values(&self, place: usize) -> Vec<(String, f64)> {
        self.all.get(place).map(Compiled::values).unwrap_or_default()
    }

    /// Returns how many values the predicates' counters have had so far. If this count stands
    /// still, the counters are not published, and no predicate about them can become true.
    pub fn value_count(&self) -> u64 {
        self.value_count
    }

    fn take_counter(&mut self, event: &Event<'_>) {
        let Some(sample) = Sample::from_event(event, &mut self.intervals) else { return };
        let is_wanted = self
            .all
            .iter()
            .flat_map(Compiled::counters)
            .any(|test| sample.is_meant(&test.comparison.counter));
        if is_wanted {
            self.value_count = self.value_count.saturating_add(1);
        }
        for (at, compiled) in self.all.iter_mut().enumerate() {
            if compiled.fires_with(&sample) {
                self.fired.push(at);
            }
        }
        // Only the first trouble is reported, so nothing more needs to be remembered.
        if self.trouble.is_some() {
            return;
        }
        let is_same = |seen: &&mut Seen| {
            sample.is_of(&seen.provider) && seen.name == sample.name && seen.tags == sample.tags
        };
        let rounds = match self.counters.iter_mut().find(is_same) {
            Some(seen) => {
                seen.rounds = seen.rounds.saturating_add(1);
                seen.rounds
            }
            None => {
                let wanted = self.all.iter().flat_map(Compiled::counters);
                let mut providers = wanted.map(|test| test.comparison.counter.provider());
                if let Some(provider) = providers.find(|provider| sample.is_of(provider))
                    && self.counters.len() < MAX_COUNTERS
                {
                    self.counters.push(Seen {
                        provider: provider.to_owned(),
                        name: sample.name.clone(),
                        tags: sample.tags.clone(),
                        is_instrument: sample.is_instrument,
                        rounds: 1,
                    });
                }
                1
            }
        };
        let wrong =
            || self.all.iter().flat_map(Compiled::counters).find_map(|test| test.trouble.clone());
        // Counters come one event after the other. When a counter comes for the second time, all
        // counters of the provider have come.
        let is_time = rounds == ROUNDS || rounds == ROUNDS_OF_ALL;
        self.trouble = wrong().or_else(|| is_time.then(|| self.missing(false)).flatten());
    }

    /// Returns a message about a requested counter that its provider does not have. `is_end` says
    /// that no more values will come.
    fn missing(&self, is_end: bool) -> Option<String> {
        let wanted = self.all.iter().flat_map(Compiled::counters).filter(|test| !test.has_value);
        wanted.map(|test| &test.comparison.counter).find_map(|counter| {
            let its = self
                .counters
                .iter()
                .filter(|seen| seen.provider.eq_ignore_ascii_case(counter.provider()));
            let mut known: Vec<&str> = its.clone().map(|seen| seen.name.as_str()).collect();
            known.sort_unstable();
            known.dedup();
            if known.is_empty()
                || known.iter().any(|name| name.eq_ignore_ascii_case(counter.name()))
            {
                return None;
            }
            let names = nearest(counter.name(), known.iter().copied());
            let hint = match names.is_empty() {
                true => format!("; it has {}", known.join(", ")),
                false => suggestion(&names),
            };
            // Names of EventCounters have no dots, and a misspelt name resembles an existing one.
            let has = |is_instrument: bool, rounds: u32| {
                its.clone().any(|seen| seen.is_instrument == is_instrument && seen.rounds >= rounds)
            };
            let is_misspelt = !names.is_empty() && !counter.name().contains('.');
            let is_over = is_end
                || has(false, ROUNDS_OF_ALL)
                || has(true, ROUNDS_OF_ALL)
                || is_misspelt && has(false, ROUNDS);
            is_over
                .then(|| format!("{} has no counter {}{hint}", counter.provider(), counter.name()))
        })
    }

    /// Returns the reason why an event with a requested name cannot satisfy a predicate: a missing
    /// field, or a text compared with a number. A second call returns `None`.
    pub fn take_trouble(&mut self) -> Option<String> {
        if self.has_taken || self.trouble.is_none() {
            return None;
        }
        self.has_taken = true;
        self.trouble.clone()
    }

    /// Returns the reason why no predicate was satisfied, for use at the end of the trace. For
    /// example, no event had the name, with suggestions of existing names. Returns `None` if the
    /// reason is not known, or if [`Trigger::take_trouble`] has returned it already.
    pub fn why_not(&self) -> Option<String> {
        if self.has_taken || self.all.iter().any(Compiled::has_held) {
            return None;
        }
        let unseen = || self.all.iter().find_map(|compiled| compiled.unseen(&self.types));
        let silent = || {
            let mut counters = self.all.iter().flat_map(Compiled::counters);
            let counter = &counters.find(|test| !test.has_value)?.comparison.counter;
            Some(format!("no value of {counter} came"))
        };
        let missing = || self.missing(true);
        self.trouble.clone().or_else(unseen).or_else(missing).or_else(silent)
    }
}
