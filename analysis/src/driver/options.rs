//! Options: what an analysis collects, and how it is shown.

use crate::model::{CutStacks, EventSelector, Filter, Folding, Kind, NameOptions};

/// What an [`Analysis`](crate::Analysis) collects. By default CPU samples, unfiltered.
///
/// ```
/// use nettrace_analysis::{AnalysisOptions, Kind};
///
/// let mut options = AnalysisOptions::default();
/// options.kinds = vec![Kind::Cpu, Kind::Exceptions];
/// options.folding.is_recursion = true;
/// ```
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
    /// How stacks that lost their callers are treated: the runtime keeps 100 frames.
    pub cut_stacks: CutStacks,
    /// Whether to keep the times of CPU samples, for reports that show them. Costs 512
    /// bytes per stack.
    pub keeps_when: bool,
    /// Whether samples are not summed up, because converters take each of them:
    /// [`Finished::profile`](crate::Finished::profile) is empty then.
    pub skips_profile: bool,
    /// Whether timelines do without the pauses of the sampler, one for each round of it.
    pub skips_sampler_pauses: bool,
}
