//! Options: what an analysis collects, and how it is shown.

use crate::model::{EventSelector, Filter, Folding, Kind, NameOptions};

/// What an [`Analysis`](crate::Analysis) collects.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct AnalysisOptions {
    /// Kinds of samples to collect; CPU samples if empty.
    pub kinds: Vec<Kind>,
    /// Events that are weighed as [`Kind::Event`].
    pub events: Vec<EventSelector>,
    /// Which samples are counted.
    pub filter: Filter,
    /// How frames are named.
    pub names: NameOptions,
    /// Which frames are omitted or merged.
    pub folding: Folding,
    /// Whether to keep the times of CPU samples, for reports that show them. Costs 512
    /// bytes per stack.
    pub keeps_when: bool,
    /// Whether samples are not summed up, because converters take each of them:
    /// [`Finished::profile`](crate::Finished::profile) is empty then.
    pub skips_profile: bool,
}

impl AnalysisOptions {
    /// CPU samples, no filter, default names.
    pub fn new() -> AnalysisOptions {
        AnalysisOptions::default()
    }

    /// Sets [`AnalysisOptions::kinds`].
    ///
    /// ```
    /// use nettrace_analysis::{AnalysisOptions, Filter, Folding, Kind, NameOptions};
    ///
    /// let options = AnalysisOptions::new()
    ///     .kinds([Kind::Cpu, Kind::Exceptions])
    ///     .filter(Filter::new())
    ///     .names(NameOptions::default())
    ///     .folding(Folding::default())
    ///     .keep_when(true);
    /// assert!(options.keeps_when && options.kinds.len() == 2);
    /// ```
    #[must_use]
    pub fn kinds(mut self, kinds: impl IntoIterator<Item = Kind>) -> AnalysisOptions {
        self.kinds = kinds.into_iter().collect();
        self
    }

    /// Sets [`AnalysisOptions::events`].
    #[must_use]
    pub fn events(mut self, events: impl IntoIterator<Item = EventSelector>) -> AnalysisOptions {
        self.events = events.into_iter().collect();
        self
    }

    /// Sets [`AnalysisOptions::filter`].
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> AnalysisOptions {
        self.filter = filter;
        self
    }

    /// Sets [`AnalysisOptions::names`].
    #[must_use]
    pub fn names(mut self, names: NameOptions) -> AnalysisOptions {
        self.names = names;
        self
    }

    /// Sets [`AnalysisOptions::folding`].
    #[must_use]
    pub fn folding(mut self, folding: Folding) -> AnalysisOptions {
        self.folding = folding;
        self
    }

    /// Sets [`AnalysisOptions::skips_profile`].
    #[must_use]
    pub fn skip_profile(mut self, skips_profile: bool) -> AnalysisOptions {
        self.skips_profile = skips_profile;
        self
    }

    /// Sets [`AnalysisOptions::keeps_when`].
    #[must_use]
    pub fn keep_when(mut self, keeps_when: bool) -> AnalysisOptions {
        self.keeps_when = keeps_when;
        self
    }
}
