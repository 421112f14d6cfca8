//! Samples with names instead of handles: a handle is only meaningful together with its
//! model.

use super::profile::{ProfileKey, Totals};
use super::resolved::Resolved;
use super::sample::{Kind, Sample, ThreadState, Unit};

/// A sample, or several aggregated ones, with names instead of handles. With the feature
/// `serde` it can be serialized, unlike [`Sample`] and [`ProfileKey`].
///
/// ```
/// use nettrace_analysis::{Analysis, AnalysisOptions, Kind};
/// # let bytes = nettrace_testdata::corpus::trace("net10-linux-x64/all.nettrace").unwrap().bytes();
/// let mut analysis = Analysis::new(AnalysisOptions::new().kinds([Kind::Cpu]));
/// let _outcome = analysis.read(&mut nettrace_parser::Reader::from_slice(&bytes).time_ordered())?;
/// let finished = analysis.finish()?;
/// let resolved = finished.resolved();
/// for (key, totals) in finished.profile.rows() {
///     let named = resolved.named(&key, totals);
///     println!("{} {:?}: {} ns in {}", named.thread, named.state, named.totals.weight, named.frames.join(" < "));
/// }
/// # Ok::<(), nettrace_analysis::AnalysisError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NamedSample<'r> {
    /// The kind of sample.
    pub kind: Kind,
    /// Unit of [`Totals::weight`].
    pub unit: Unit,
    /// OS id of the process; `None` if the stream does not contain it.
    pub process_id: Option<u64>,
    /// OS id of the thread; `None` if the stream does not contain it.
    pub thread_id: Option<u64>,
    /// The thread's display name: [`Model::thread_label`](crate::Model::thread_label).
    pub thread: String,
    /// The state of the thread.
    pub state: ThreadState,
    /// Name of the type that was allocated or thrown.
    pub label: Option<&'r str>,
    /// The stack, innermost frame first, like [`Resolved::frames`].
    pub frames: Vec<&'r str>,
    /// Number, weight and times.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub totals: Totals,
}

impl Resolved<'_> {
    /// A row of [`Profile::rows`](crate::Profile::rows) with its names, regardless of the
    /// filter.
    pub fn named(&self, key: &ProfileKey, totals: Totals) -> NamedSample<'_> {
        let model = self.model();
        let thread = model.threads().get(key.thread);
        let process = thread.and_then(|thread| model.process(thread.process));
        NamedSample {
            kind: key.kind,
            unit: key.kind.unit(),
            process_id: process.and_then(|process| process.id),
            thread_id: thread.and_then(|thread| thread.os_thread_id),
            thread: model.thread_label(key.thread),
            state: self.state(key.stack, key.mode),
            label: key.label.map(|label| model.texts().get(label)),
            frames: self.frames(key.stack).iter().map(|frame| self.text(*frame)).collect(),
            totals,
        }
    }

    /// A sample with its names, regardless of the filter.
    pub fn named_sample(&self, sample: &Sample) -> NamedSample<'_> {
        self.named(&ProfileKey::of(sample), Totals::of(sample))
    }
}
