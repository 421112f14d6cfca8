//! A pass of reports that gathers samples and spans as well.

use crate::convert::{Convert, ConvertError};
use crate::driver::AnalysisOptions;
use crate::model::{Kind, Model, Profile, Resolved, Sample, Span, TimelineMark};
use crate::report::{ReportPass, Reports};
use std::sync::{Arc, Mutex, PoisonError};

/// What is kept of the samples and spans of a trace.
pub(crate) trait Gathers: Default + Send + 'static {
    fn sample(&mut self, sample: &Sample);
    fn span(&mut self, span: &Span);
}

/// Where samples and spans are stored for use after the analysis, when the converter is
/// gone.
pub(crate) type Shared<T> = Arc<Mutex<T>>;

/// Passes on samples and spans, and shares what was gathered once they are complete.
struct Gather<T> {
    gathered: T,
    done: Shared<T>,
}

impl<T: Gathers> Gather<T> {
    fn new(done: &Shared<T>) -> Gather<T> {
        Gather { gathered: T::default(), done: Arc::clone(done) }
    }
}

/// Makes a pass of reports that receives the samples and spans, which are complete when it
/// ends.
pub(crate) fn gathering_pass<T: Gathers, R: Reports>(
    options: AnalysisOptions,
    kinds: &[Kind],
    reports: impl FnOnce(Shared<T>) -> R,
) -> ReportPass<R> {
    let gathered = Shared::<T>::default();
    let gather = Gather::new(&gathered);
    let options = AnalysisOptions { kinds: kinds.to_vec(), ..options };
    let mut pass = ReportPass::with_options(reports(gathered), options);
    pass.add(Box::new(gather));
    pass
}

/// Takes what was gathered.
pub(crate) fn take<T: Gathers>(done: &Shared<T>) -> T {
    std::mem::take(&mut *done.lock().unwrap_or_else(PoisonError::into_inner))
}

impl<T: Gathers> Convert for Gather<T> {
    fn sample(&mut self, sample: &Sample, _: &Model) -> Result<(), ConvertError> {
        self.gathered.sample(sample);
        Ok(())
    }

    fn wants_marks(&self) -> bool {
        true
    }

    fn mark(&mut self, mark: &TimelineMark, _: &Model) -> Result<(), ConvertError> {
        // Counters, exceptions and adjustments are taken from their reports.
        if let TimelineMark::Span(span) = mark {
            self.gathered.span(span);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &Resolved<'_>, _: &Profile) -> Result<(), ConvertError> {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = self.gathered;
        Ok(())
    }
}
