//! Names of the frames of single events, for tools that show events one by one.

use super::handle::ProcessHandle;
use super::names::NameOptions;
use super::resolver::Resolver;
use super::{Filter, Folding, Model};
use nettrace_parser::Event;
use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

static NO_FOLDING: LazyLock<Folding> = LazyLock::new(Folding::default);
static NO_FILTER: LazyLock<Filter> = LazyLock::new(Filter::default);

/// Names of frames from a [`Model`] of the whole trace, equal to the names in reports. A name is
/// computed once per address; memory is bounded by the number of distinct addresses.
///
/// ```
/// use nettrace_analysis::{Analysis, AnalysisOptions, FrameNames, NameOptions};
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut analysis = Analysis::new(AnalysisOptions::default());
/// let outcome = analysis.read(&mut Reader::from_slice(&bytes).time_ordered())?;
/// assert!(outcome.is_complete, "names that come at the end are missing: {outcome}");
/// let finished = analysis.finish()?;
/// let mut names = FrameNames::new(&finished.model, NameOptions::default());
/// let mut reader = Reader::from_slice(&bytes);
/// while let Some(event) = reader.next_event()? {
///     assert_eq!(names.stack_names(&event).len(), event.stack().len());
/// }
/// # Ok::<(), nettrace_analysis::AnalysisError>(())
/// ```
pub struct FrameNames<'m> {
    resolver: Resolver<'m, 'static>,
}

impl<'m> FrameNames<'m> {
    /// Creates a source of names for the events of a trace, given the model of the whole trace.
    pub fn new(model: &'m Model, options: NameOptions) -> FrameNames<'m> {
        FrameNames { resolver: Resolver::new(model, options, &NO_FOLDING, &NO_FILTER) }
    }

    /// Returns the names of an event's stack, innermost first, one for each address. An address
    /// about which nothing is known is its own name.
    pub fn stack_names(&mut self, event: &Event<'_>) -> Vec<Cow<'_, str>> {
        let process =
            self.resolver.model().handle_of(event.process_id()).unwrap_or(ProcessHandle(0));
        let ticks = event.timestamp_ticks();
        let frames: Vec<_> = event
            .stack()
            .addresses()
            .enumerate()
            .map(|(index, at)| self.resolver.resolve_address(process, at, ticks, index == 0))
            .collect();
        frames.into_iter().map(|frame| Cow::Borrowed(self.resolver.text(frame))).collect()
    }
}

impl fmt::Debug for FrameNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameNames").finish_non_exhaustive()
    }
}
