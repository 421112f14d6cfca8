//! Samples and spans, collected for a page during the analysis.

use super::samples::SamplesByKind;
use super::spans::PageSpans;
use crate::convert::{Convert, ConvertError};
use crate::driver::AnalysisOptions;
use crate::model::{Kind, Model, Profile, Resolved, Sample, Span, TimelineMark};
use crate::report::{ReportPass, Reports};
use std::sync::{Arc, Mutex, PoisonError};

/// Samples and spans.
#[derive(Debug, Default)]
pub(crate) struct Tracks {
    pub(crate) samples: SamplesByKind,
    pub(crate) spans: PageSpans,
}

/// What is kept of the samples and spans of a trace.
pub(crate) trait Gathers: Default + Send + 'static {
    fn sample(&mut self, sample: &Sample);
    fn span(&mut self, span: &Span);
}

impl Gathers for Tracks {
    fn sample(&mut self, sample: &Sample) {
        // The page has a table of its own for these.
        if !sample.is_open_wait() {
            self.samples.add(sample);
        }
    }

    fn span(&mut self, span: &Span) {
        self.spans.add(span);
    }
}

/// Where samples and spans are stored for use after the analysis, when the converter is
/// gone.
pub(crate) type Shared<T> = Arc<Mutex<T>>;
pub(crate) type SharedTracks = Shared<Tracks>;

/// Passes on samples and spans.
struct Gather<T> {
    tracks: T,
    done: Shared<T>,
}

impl<T: Gathers> Gather<T> {
    fn new(done: &Shared<T>) -> Gather<T> {
        Gather { tracks: T::default(), done: Arc::clone(done) }
    }
}

/// A pass of reports that receives the samples and spans, which are complete when it
/// ends.
pub(crate) fn pass_with_tracks<T: Gathers, R: Reports>(
    options: AnalysisOptions,
    kinds: &[Kind],
    reports: impl FnOnce(Shared<T>) -> R,
) -> ReportPass<R> {
    let tracks = Shared::<T>::default();
    let gather = Gather::new(&tracks);
    let options = AnalysisOptions { kinds: kinds.to_vec(), ..options };
    let mut pass = ReportPass::with_options(reports(tracks), options);
    pass.add(Box::new(gather));
    pass
}

/// Takes what was collected.
pub(crate) fn take<T: Gathers>(done: &Shared<T>) -> T {
    std::mem::take(&mut *done.lock().unwrap_or_else(PoisonError::into_inner))
}

impl<T: Gathers> Convert for Gather<T> {
    fn sample(&mut self, sample: &Sample, _: &Model) -> Result<(), ConvertError> {
        self.tracks.sample(sample);
        Ok(())
    }

    fn wants_marks(&self) -> bool {
        true
    }

    fn mark(&mut self, mark: &TimelineMark, _: &Model) -> Result<(), ConvertError> {
        // Counters, exceptions and adjustments are taken from their reports.
        if let TimelineMark::Span(span) = mark {
            self.tracks.span(span);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &Resolved<'_>, _: &Profile) -> Result<(), ConvertError> {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = self.tracks;
        Ok(())
    }
}
