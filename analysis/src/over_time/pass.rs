//! A pass that gathers samples and spans beside its reports.

use crate::convert::{Convert, ConvertError};
use crate::driver::AnalysisOptions;
use crate::model::{Kind, MarkChoice, Model, Profile, Resolved, Sample, Span, TimelineMark};
use crate::report::{ReportPass, Reports};
use std::sync::{Arc, Mutex, PoisonError};

/// A collection of the samples and spans of a trace.
pub(crate) trait Gathers: Default + Send + 'static {
    /// Marks among which are all spans that are gathered.
    const MARKS: MarkChoice;

    fn sample(&mut self, sample: &Sample);
    fn span(&mut self, span: &Span);
}

/// Samples and spans for reports that finish after the converter that gathers them.
pub(crate) type Shared<T> = Arc<Mutex<T>>;

/// A converter that gathers samples and spans, and shares them when they are complete.
struct Gather<T> {
    gathered: T,
    done: Shared<T>,
}

/// Makes a pass of reports that receive the samples and spans, complete when the reports finish.
pub(crate) fn gathering_pass<T: Gathers, R: Reports>(
    options: AnalysisOptions,
    kinds: &[Kind],
    reports: impl FnOnce(Shared<T>) -> R,
) -> ReportPass<'static, R> {
    let gathered = Shared::<T>::default();
    let gather = Gather { gathered: T::default(), done: Arc::clone(&gathered) };
    let options = AnalysisOptions { kinds: kinds.to_vec(), ..options };
    let mut pass = ReportPass::with_options(reports(gathered), options);
    pass.add(Box::new(gather));
    pass.choose_marks(T::MARKS);
    pass
}

/// Takes the gathered samples and spans.
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
        // Reports have the other marks: counters, exceptions and adjustments.
        if let TimelineMark::Span(span) = mark {
            self.gathered.span(span);
        }
        Ok(())
    }

    fn is_done(&mut self) -> bool {
        let gathered = std::mem::take(&mut self.gathered);
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = gathered;
        true
    }

    fn finish(self: Box<Self>, _: &Resolved<'_>, _: &Profile) -> Result<(), ConvertError> {
        Ok(())
    }
}
