//! The events that a session requests: providers with keywords, level, arguments and event filters.
//!
//! If a name has several entries, a runtime uses only the first one. It sends no events if an event
//! id is listed twice, and crashes if there are too many providers. So [`Providers`] merges,
//! deduplicates and counts them before anything is sent.

use crate::arguments::Arguments;
use crate::error::RequestError;
use crate::keywords::Keywords;
use crate::message::Writer;
use crate::message::required;
use std::collections::BTreeSet;
use std::fmt;

/// The level up to which a session requests events from a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// Level 0: all events, whatever their level.
    LogAlways,
    /// Level 1: critical errors only.
    Critical,
    /// Level 2: errors and more severe events.
    Error,
    /// Level 3: warnings and more severe events.
    Warning,
    /// Level 4: information and more severe events.
    Informational,
    /// Level 5: details and more severe events.
    Verbose,
}

impl Level {
    /// Returns the level as the number that messages contain, 0 to 5.
    pub fn number(self) -> u32 {
        match self {
            Level::LogAlways => 0,
            Level::Critical => 1,
            Level::Error => 2,
            Level::Warning => 3,
            Level::Informational => 4,
            Level::Verbose => 5,
        }
    }

    /// Returns the level with a number. Runtimes refuse numbers above 5, for which this returns
    /// `None`.
    pub fn from_number(number: u32) -> Option<Self> {
        const ALL: [Level; 6] = [
            Level::LogAlways,
            Level::Critical,
            Level::Error,
            Level::Warning,
            Level::Informational,
            Level::Verbose,
        ];
        ALL.into_iter().find(|level| level.number() == number)
    }

    /// Returns the level of two that lets more events pass. Level 0 lets all pass.
    fn or(self, other: Level) -> Level {
        match (self, other) {
            (Level::LogAlways, _) | (_, Level::LogAlways) => Level::LogAlways,
            (left, right) if left.number() >= right.number() => left,
            (_, right) => right,
        }
    }
}

/// A filter by event id, which applies to the events that keywords and level let pass. It needs
/// CollectTracing5 (.NET 10).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventFilter {
    /// Only events with these ids pass.
    Only(BTreeSet<u32>),
    /// All events pass except those with these ids.
    Except(BTreeSet<u32>),
}

impl EventFilter {
    /// Makes a filter that lets only events with these ids pass. A repeated id counts once.
    pub fn only(ids: impl IntoIterator<Item = u32>) -> Self {
        EventFilter::Only(ids.into_iter().collect())
    }

    /// Makes a filter that lets all events pass except those with these ids.
    pub fn except(ids: impl IntoIterator<Item = u32>) -> Self {
        EventFilter::Except(ids.into_iter().collect())
    }

    /// Returns whether an event with this id passes.
    pub fn passes(&self, event_id: u32) -> bool {
        match self {
            EventFilter::Only(ids) => ids.contains(&event_id),
            EventFilter::Except(ids) => !ids.contains(&event_id),
        }
    }

    /// Returns a filter that lets an event pass if one of two filters does.
    fn or(self, other: EventFilter) -> EventFilter {
        use EventFilter::{Except, Only};
        match (self, other) {
            (Only(left), Only(right)) => Only(left.union(&right).copied().collect()),
            (Except(left), Except(right)) => Except(left.intersection(&right).copied().collect()),
            (Only(only), Except(except)) | (Except(except), Only(only)) => {
                Except(except.difference(&only).copied().collect())
            }
        }
    }

    /// Writes the filter: enable u8, count u32, ids u32. Enable 0 means all events but these ids, 1
    /// means only these.
    fn write(filter: Option<&EventFilter>, writer: &mut Writer) {
        let none = BTreeSet::new();
        let (enable, ids) = match filter {
            None => (0, &none),
            Some(EventFilter::Except(ids)) => (0, ids),
            Some(EventFilter::Only(ids)) => (1, ids),
        };
        writer.u8(enable).count(ids.len());
        for id in ids {
            writer.u32(*id);
        }
    }
}

/// A provider as requested by a session.
///
/// ```
/// use nettrace_ipc::{Keywords, Level, Provider};
/// let gc = Provider::new("Microsoft-Windows-DotNETRuntime")?.keywords(Keywords::GC).level(Level::Informational);
/// assert_eq!(gc.wire_keywords(), 0xF000_0000_0001);
/// # Ok::<(), nettrace_ipc::RequestError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    name: String,
    keywords: u64,
    exact: bool,
    level: Level,
    arguments: Arguments,
    filter: Option<EventFilter>,
}

impl Provider {
    /// Keywords that managed event sources reserve. Without them, a session lacks events that have
    /// no keyword. Up to .NET 6 that concerns all such events, later only those written by
    /// `WriteEvent(id, params object[])`.
    pub const SESSION_KEYWORDS: u64 = 0xF000_0000_0000;

    /// Makes a provider with all keywords at level Informational. Names are case-sensitive.
    ///
    /// # Errors
    /// The name is empty or contains a NUL.
    pub fn new(name: &str) -> Result<Self, RequestError> {
        Ok(Provider {
            name: required(name, "provider's name")?,
            keywords: u64::MAX,
            exact: false,
            level: Level::Informational,
            arguments: Arguments::none(),
            filter: None,
        })
    }

    /// Requests only events that have one of these keywords or no keyword at all.
    #[must_use]
    pub fn keywords(mut self, keywords: impl Into<Keywords>) -> Self {
        (self.keywords, self.exact) = (keywords.into().bits(), false);
        self
    }

    /// Requests exactly these keywords, without [`Provider::SESSION_KEYWORDS`], so that some events
    /// without a keyword are not sent.
    #[must_use]
    pub fn exact_keywords(mut self, keywords: impl Into<Keywords>) -> Self {
        (self.keywords, self.exact) = (keywords.into().bits(), true);
        self
    }

    /// Requests only events up to this level.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Sets arguments for the provider.
    #[must_use]
    pub fn arguments(mut self, arguments: Arguments) -> Self {
        self.arguments = arguments;
        self
    }

    /// Requests only events whose ids pass the filter.
    #[must_use]
    pub fn filter(mut self, filter: EventFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Returns the name of the provider.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the keywords that are sent. They contain [`Provider::SESSION_KEYWORDS`] unless exact
    /// keywords were requested.
    pub fn wire_keywords(&self) -> u64 {
        if self.exact { self.keywords } else { self.keywords | Self::SESSION_KEYWORDS }
    }

    /// Returns the level up to which events are requested.
    pub fn wanted_level(&self) -> Level {
        self.level
    }

    /// Returns the arguments as the string that is sent, or `None` for the null string.
    pub fn wire_arguments(&self) -> Option<String> {
        self.arguments.wire()
    }

    /// Returns whether the provider has an argument with this key; see [`Arguments::has`].
    pub fn has_argument(&self, key: &str) -> bool {
        self.arguments.has(key)
    }

    /// Returns the event filter.
    pub fn event_filter(&self) -> Option<&EventFilter> {
        self.filter.as_ref()
    }

    /// Returns a provider that requests the events of both. Keywords, filters and arguments are
    /// combined, and the more verbose level counts. If one has no filter, the result has none.
    fn merge(self, other: Provider) -> Result<Provider, RequestError> {
        let keywords = self.wire_keywords() | other.wire_keywords();
        Ok(Provider {
            arguments: self.arguments.merge(other.arguments, &self.name)?,
            keywords,
            exact: self.exact && other.exact,
            level: self.level.or(other.level),
            filter: match (self.filter, other.filter) {
                (Some(left), Some(right)) => Some(left.or(right)),
                _ => None,
            },
            name: self.name,
        })
    }

    /// Writes the provider: u64 keywords, u32 level, string name, string arguments.
    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.u64(self.wire_keywords()).u32(self.level.number()).string(&self.name);
        writer.nullable(self.arguments.wire().as_deref());
    }

    /// Writes the provider as [`Provider::write`] does, then its event filter.
    pub(crate) fn write_with_filter(&self, writer: &mut Writer) {
        self.write(writer);
        EventFilter::write(self.filter.as_ref(), writer);
    }
}

/// The providers of a session: one to 1,000 providers with different names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Providers(Vec<Provider>);

impl Providers {
    /// Maximum number of providers in a session. More providers crash .NET 8 and 9.
    pub const MAX_COUNT: usize = 1000;

    /// Merges providers of one name: keywords, arguments and event filters are combined, and the
    /// more verbose level counts. The providers stay in the order in which their names first
    /// appear.
    ///
    /// # Errors
    /// There is no provider, there are more than [`Providers::MAX_COUNT`] after merging, or
    /// arguments contradict each other.
    pub fn new(wanted: impl IntoIterator<Item = Provider>) -> Result<Self, RequestError> {
        let mut providers: Vec<Provider> = Vec::new();
        let mut places = std::collections::HashMap::new();
        for provider in wanted {
            let known =
                places.get(provider.name()).and_then(|place: &usize| providers.get_mut(*place));
            match known {
                Some(known) => *known = known.clone().merge(provider)?,
                None => {
                    places.insert(provider.name().to_owned(), providers.len());
                    providers.push(provider);
                }
            }
        }
        match providers.len() {
            0 => Err(RequestError::NoProviders),
            count if count > Self::MAX_COUNT => Err(RequestError::TooManyProviders(count)),
            _ => Ok(Providers(providers)),
        }
    }

    /// Iterates over the merged providers.
    pub fn iter(&self) -> std::slice::Iter<'_, Provider> {
        self.0.iter()
    }

    /// Returns the number of providers, 1 to 1,000.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl<'p> IntoIterator for &'p Providers {
    type Item = &'p Provider;
    type IntoIter = std::slice::Iter<'p, Provider>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Provider {
    /// Writes `Name:keywords:level:arguments`, as tools write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:0x{:x}:{}", self.name, self.wire_keywords(), self.level.number())?;
        self.arguments.wire().map_or(Ok(()), |arguments| write!(f, ":{arguments}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider(name: &str) -> Provider {
        Provider::new(name).unwrap()
    }

    fn only(providers: &Providers) -> &Provider {
        assert_eq!(providers.count(), 1);
        providers.iter().next().unwrap()
    }

    #[test]
    fn a_name_given_twice_unites_keywords_and_takes_the_higher_level() {
        let left = provider("P").exact_keywords(1).level(Level::Informational);
        let right = provider("P").exact_keywords(2).level(Level::Error);
        let merged = Providers::new([left, provider("Q"), right]).unwrap();
        let merged: Vec<String> = merged.iter().map(Provider::to_string).collect();
        assert_eq!(merged, ["P:0x3:4", "Q:0xffffffffffffffff:4"]);
    }

    #[test]
    fn level_zero_is_the_most_verbose() {
        let merged = Providers::new([
            provider("P").level(Level::LogAlways),
            provider("P").level(Level::Verbose),
        ]);
        assert_eq!(only(&merged.unwrap()).wanted_level(), Level::LogAlways);
    }

    #[test]
    fn names_that_differ_in_case_are_two_providers() {
        assert_eq!(Providers::new([provider("P"), provider("p")]).unwrap().count(), 2);
    }

    #[test]
    fn keywords_get_the_session_bits_unless_they_are_exact() {
        assert_eq!(provider("P").keywords(0).wire_keywords(), 0xF000_0000_0000);
        assert_eq!(provider("P").exact_keywords(0).wire_keywords(), 0);
        let merged =
            Providers::new([provider("P").exact_keywords(1), provider("P").keywords(2)]).unwrap();
        assert_eq!(only(&merged).wire_keywords(), 0xF000_0000_0003);
    }

    #[test]
    fn united_filters_pass_what_either_passes() {
        let filters = [
            EventFilter::only([1, 2, 3, 1]),
            EventFilter::only([3, 4]),
            EventFilter::except([2, 3, 9]),
            EventFilter::except([3, 4]),
            EventFilter::only([]),
            EventFilter::except([]),
        ];
        for left in &filters {
            for right in &filters {
                let united = left.clone().or(right.clone());
                for id in 0..12 {
                    assert_eq!(
                        united.passes(id),
                        left.passes(id) || right.passes(id),
                        "{left:?} {right:?} {id}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_provider_without_filter_lets_all_through_beside_one_with() {
        let merged =
            Providers::new([provider("P").filter(EventFilter::only([1])), provider("P")]).unwrap();
        assert_eq!(only(&merged).event_filter(), None);
    }

    #[test]
    fn the_number_of_providers_is_1_to_1000() {
        assert_eq!(Providers::new([]), Err(RequestError::NoProviders));
        let many = |count: usize| (0..count).map(|index| provider(&format!("P{index}")));
        assert_eq!(Providers::new(many(1000)).map(|providers| providers.count()), Ok(1000));
        assert_eq!(Providers::new(many(1001)), Err(RequestError::TooManyProviders(1001)));
        assert_eq!(
            Providers::new((0..1001).map(|_| provider("P"))).map(|providers| providers.count()),
            Ok(1)
        );
    }

    #[test]
    fn a_name_may_not_be_empty_or_hold_a_nul() {
        assert_eq!(Provider::new(""), Err(RequestError::Empty("provider's name")));
        assert_eq!(Provider::new("a\0b"), Err(RequestError::Nul("provider's name")));
    }

    #[test]
    fn levels_are_0_to_5() {
        assert_eq!(
            (0..=6).filter_map(Level::from_number).map(Level::number).collect::<Vec<_>>(),
            [0, 1, 2, 3, 4, 5]
        );
    }
}
