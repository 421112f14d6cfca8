//! Selects events by provider, type, thread, time and conditions.

use crate::event_types::{EventType, EventTypes, TypeIndex};
use crate::pattern::{EventPattern, ProviderPattern};
use crate::predicate::{Answers, Conditions, Fact, Predicate};
use crate::time_range::TimeRange;
use crate::units;
use nettrace_parser::Event;

/// Returns whether a type matches a provider and an event pattern. An empty list matches all types.
pub fn accepts_type(
    providers: &[ProviderPattern],
    events: &[EventPattern],
    row: &EventType,
) -> bool {
    (providers.is_empty() || providers.iter().any(|pattern| pattern.is_match(row)))
        && (events.is_empty() || events.iter().any(|pattern| pattern.accepts(row)))
}

/// Lists the patterns that match no event type, each with suggestions of existing names.
pub fn unmatched_types(
    providers: &[ProviderPattern],
    events: &[EventPattern],
    rows: &[EventType],
) -> Vec<String> {
    let mut messages: Vec<String> =
        providers.iter().filter_map(|pattern| pattern.unmatched(rows)).collect();
    messages.extend(events.iter().filter_map(|pattern| pattern.unmatched(rows)));
    messages
}

/// All conditions that an event must satisfy.
#[derive(Debug)]
pub struct Filter {
    providers: Vec<ProviderPattern>,
    events: Vec<EventPattern>,
    threads: Vec<i64>,
    time: Option<TimeRange>,
    conditions: Conditions,
    /// Whether each event type matches the providers and events, by [`TypeIndex::number`].
    passes: Vec<bool>,
    /// Whether each of the accepted threads had an event.
    met_threads: Vec<bool>,
    /// Whether any event was in the accepted time range.
    met_time: bool,
    /// Times of the oldest and the newest event that were compared with the accepted time range.
    extent: Option<(i64, i64)>,
    /// Whether any event satisfied all conditions.
    passed: bool,
}

/// Conditions for events. An empty field accepts all events.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct FilterOptions {
    /// Accepted providers.
    pub providers: Vec<ProviderPattern>,
    /// Accepted event types.
    pub events: Vec<EventPattern>,
    /// OS ids of accepted threads; -1 accepts events without a thread.
    pub threads: Vec<i64>,
    /// Accepted times; `None` accepts all.
    pub time: Option<TimeRange>,
    /// Predicates that an event must all satisfy.
    pub conditions: Vec<Predicate>,
}

impl FilterOptions {
    /// Returns whether there are no conditions.
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
            && self.events.is_empty()
            && self.threads.is_empty()
            && self.time.is_none()
            && self.conditions.is_empty()
    }
}

impl Filter {
    /// Makes a filter that has not seen an event yet.
    pub fn new(options: FilterOptions) -> Filter {
        Filter {
            met_threads: vec![false; options.threads.len()],
            providers: options.providers,
            events: options.events,
            threads: options.threads,
            time: options.time,
            conditions: Conditions::new(&options.conditions),
            passed: false,
            passes: Vec::new(),
            met_time: false,
            extent: None,
        }
    }

    /// Returns whether the filter accepts an event of the type at `type_index`.
    #[inline]
    pub fn accepts(
        &mut self,
        event: &Event<'_>,
        type_index: TypeIndex,
        types: &EventTypes,
    ) -> bool {
        let passes = self.passes_type(type_index, types)
            && self.accepts_instance(event)
            && (self.conditions.is_empty() || self.fulfils_conditions(event, type_index, types));
        self.passed |= passes;
        passes
    }

    #[inline(always)]
    fn passes_type(&mut self, type_index: TypeIndex, types: &EventTypes) -> bool {
        for row in types.rows().iter().skip(self.passes.len()) {
            let is_wanted = accepts_type(&self.providers, &self.events, row);
            self.passes.push(is_wanted);
        }
        self.passes.get(type_index.number).copied().unwrap_or(false)
    }

    /// Returns an event's contribution to the decision whether the filter accepts an operation
    /// of several events. The answers of all its events, joined by `|`, are
    /// for [`Filter::accepts_answers`].
    ///
    /// ```
    /// use nettrace_export::{EventTypes, Fact, Filter, FilterOptions};
    /// use nettrace_parser::Reader;
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let mut options = FilterOptions::default();
    /// options.conditions = vec!["duration > 10ms".parse()?];
    /// let (mut filter, mut types) = (Filter::new(options), EventTypes::default());
    /// let mut reader = Reader::from_slice(&bytes);
    /// while let Some(event) = reader.next_event()? {
    ///     let place = types.index_of(&event);
    ///     let answers = filter.answers(&event, place, &types);
    ///     // No event has this field, but the operation is known to have taken 20 ms.
    ///     assert!(!filter.accepts_answers(answers));
    ///     let known = filter.answers_of(&[("duration", Fact::Nanos(20_000_000))]);
    ///     assert!(filter.accepts_answers(answers | known));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answers(
        &mut self,
        event: &Event<'_>,
        type_index: TypeIndex,
        types: &EventTypes,
    ) -> Answers {
        let passes = self.passes_type(type_index, types) && self.accepts_instance(event);
        let answers = self.conditions.answers(event, type_index, types);
        if passes { answers | Answers::passing() } else { answers }
    }

    /// Evaluates the conditions for facts about an operation that are not fields of its events,
    /// such as its duration. Join the result with the answers of the events.
    pub fn answers_of(&mut self, facts: &[(&str, Fact<'_>)]) -> Answers {
        self.conditions.answers_of(facts)
    }

    /// Returns whether the filter accepts an operation with these answers: all conditions are true,
    /// and one of its events passes the providers, events, threads and times.
    pub fn accepts_answers(&mut self, answers: Answers) -> bool {
        let passes = answers.passes() && self.conditions.hold_with(answers);
        self.passed |= passes;
        passes
    }

    /// Returns whether the conditions have more than [`Answers::MAX_PARTS`] parts. Answers never
    /// say that a further part is true.
    pub fn has_too_many_parts(&mut self) -> bool {
        self.conditions.leaf_count() > Answers::MAX_PARTS
    }

    #[inline(never)]
    fn fulfils_conditions(
        &mut self,
        event: &Event<'_>,
        type_index: TypeIndex,
        types: &EventTypes,
    ) -> bool {
        self.conditions.hold(event, type_index, types)
    }

    /// Returns whether the event's thread and time pass. Both are always evaluated, because the
    /// filter reports which of them no event satisfied.
    fn accepts_instance(&mut self, event: &Event<'_>) -> bool {
        let is_of_thread = self.threads.is_empty() || self.is_of_thread(event);
        is_of_thread & self.is_in_time(event)
    }

    fn is_of_thread(&mut self, event: &Event<'_>) -> bool {
        let id = event.thread_id().map_or(Some(-1), |id| i64::try_from(id).ok());
        let mut is_met = false;
        for (thread, met) in self.threads.iter().zip(&mut self.met_threads) {
            if Some(*thread) == id {
                (*met, is_met) = (true, true);
            }
        }
        is_met
    }

    fn is_in_time(&mut self, event: &Event<'_>) -> bool {
        let Some(time) = self.time else { return true };
        let Some(nanos) = event.nanos() else { return false };
        let (first, last) = self.extent.unwrap_or((nanos, nanos));
        self.extent = Some((first.min(nanos), last.max(nanos)));
        let is_in_time = time.contains(nanos);
        self.met_time |= is_in_time;
        is_in_time
    }

    /// Lists the conditions that no event in the whole trace satisfied, each with suggestions of
    /// existing names.
    pub fn unmatched(&self, types: &EventTypes) -> Vec<String> {
        let mut messages = unmatched_types(&self.providers, &self.events, types.rows());
        for (thread, met) in self.threads.iter().zip(&self.met_threads) {
            if !met {
                messages.push(format!("no event is of thread {thread}{}", self.among()));
            }
        }
        if let (Some(_), false) = (self.time, self.met_time) {
            let extent = match self.extent {
                Some((first, last)) => {
                    format!(
                        ": they are from {} to {}",
                        units::signed_duration(first),
                        units::signed_duration(last)
                    )
                }
                None => String::new(),
            };
            messages.push(format!("no event lies in --time{}{extent}", self.among()));
        }
        // If no event got as far as the conditions, nothing is known about them.
        if messages.is_empty() {
            let among = if self.has_others_than_conditions() {
                " (of those that pass the other filters)"
            } else {
                ""
            };
            messages = self.conditions.unmatched(&self.known_fields(types), types, among);
        }
        if messages.is_empty()
            && !self.passed
            && (self.has_others_than_conditions() || !self.conditions.is_empty())
        {
            messages.push("no event passes all filters together".to_owned());
        }
        messages
    }

    /// Returns the names of the fields of events whose type matches.
    fn known_fields(&self, types: &EventTypes) -> Vec<String> {
        let passes = |number: usize| self.passes.get(number).copied().unwrap_or(false);
        let shapes = types.shapes().iter().filter(|shape| passes(shape.type_number));
        shapes.flat_map(|shape| shape.names.all()).collect()
    }

    fn has_others_than_conditions(&self) -> bool {
        !(self.providers.is_empty()
            && self.events.is_empty()
            && self.threads.is_empty()
            && self.time.is_none())
    }

    /// Returns the phrase for the events whose thread and time were checked, for messages about
    /// conditions that none of them satisfied.
    fn among(&self) -> &'static str {
        match self.providers.is_empty() && self.events.is_empty() {
            true => "",
            false => " (of those that fit --provider and --event)",
        }
    }
}
