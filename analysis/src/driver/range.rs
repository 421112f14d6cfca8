//! Reads the part of a trace that a filter of times accepts, with the names that the rest tells.

use super::sample_source::SampleSource;
use crate::model::{Filter, Kind, Model, NewNames};
use nettrace_parser::{Definition, Definitions, Error, Event, Index, Reader, Source};

/// Number of CPU samples at the beginning of a trace of which the sampler's period is measured, with
/// room for threads that have only one.
const PERIOD_SAMPLES: u32 = 4096;

/// Nanoseconds before and after the accepted times that are read, too: a sample weighs the time to
/// the next one of its thread.
const MARGIN_NANOS: i64 = 100_000_000;

/// Lists the blocks of a trace for [`Filter::narrow`]. The [index](nettrace_parser::Index) keeps the
/// events that names of methods, modules, threads and processes come from. Events that only say
/// again what is known, such as the second of two rundowns, are not kept.
///
/// Reads the whole trace once. With the feature `serde` of the parser, the index can be stored beside
/// the trace.
///
/// ```
/// use nettrace_analysis::{Analysis, AnalysisOptions, read_index};
/// use nettrace_parser::{Reader, Whole};
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let index = read_index(Whole::new(&bytes))?;
///
/// let mut options = AnalysisOptions::default();
/// (options.filter.from_nanos, options.filter.to_nanos) = (Some(0), Some(200_000_000));
/// let reader = options.filter.narrow(Reader::from_slice(&bytes), &index)?;
/// let mut analysis = Analysis::new(options);
/// let outcome = analysis.read(&mut reader.time_ordered())?;
/// println!("{outcome}");
/// # Ok::<(), nettrace_analysis::AnalysisError>(())
/// ```
///
/// # Errors
/// The errors of [`Index::read`].
pub fn read_index<S: Source>(source: S) -> Result<Index, Error> {
    Index::read(source, &mut Needed::default())
}

impl Filter {
    /// Makes a reader skip the parts of a trace that the filter's times leave out, with an index of
    /// [`read_index`]. Call this before anything is read. Without times it changes nothing.
    ///
    /// Samples, their stacks, and names of methods are those of a whole read with this filter.
    /// What began before the range is not known: waits, collections and requests that go on in it
    /// have no start, and handlers have the names of endpoints only if a request in the range tells
    /// them.
    ///
    /// # Errors
    /// The errors of [`Reader::in_range`].
    pub fn narrow<S: Source>(&self, reader: Reader<S>, index: &Index) -> Result<Reader<S>, Error> {
        if self.from_nanos.is_none() && self.to_nanos.is_none() {
            return Ok(reader);
        }
        let ticks = |nanos: i64| index.clock().first_ticks_at(nanos);
        let from = self.from_nanos.map(|from| from.saturating_sub(MARGIN_NANOS)).and_then(ticks);
        let to = self.to_nanos.map(|to| to.saturating_add(MARGIN_NANOS)).and_then(ticks);
        reader.in_range(index, from.unwrap_or(0)..=to.unwrap_or(u64::MAX))
    }
}

/// Tells which events a part of a trace needs, wherever they are.
#[derive(Debug, Default)]
struct Needed {
    names: NewNames,
    /// Number of CPU samples so far.
    samples: u32,
}

impl Needed {
    fn is_sample(event: &Event<'_>) -> bool {
        SampleSource::for_event(event, &[Kind::Cpu]) == Some(SampleSource::Sampler)
    }
}

impl Definitions for Needed {
    #[inline]
    fn may_define(&mut self, event: &Event<'_>) -> bool {
        Model::learns_from(event) || self.samples < PERIOD_SAMPLES && Needed::is_sample(event)
    }

    fn defines(&mut self, event: &Event<'_>) -> Definition {
        if Needed::is_sample(event) {
            self.samples = self.samples.saturating_add(1);
            return Definition::Other;
        }
        if self.names.is_new(event) { Definition::New } else { Definition::Known }
    }
}
