//! What a page takes of the analysis while it reads: samples and spans.

use super::samples::SamplesByKind;
use super::spans::PageSpans;
use crate::convert::{Convert, ConvertError};
use crate::model::{Model, Profile, Resolved, Sample, TimelineMark};
use std::sync::{Arc, Mutex, PoisonError};

/// Samples and spans.
#[derive(Debug, Default)]
pub(crate) struct Tracks {
    pub(crate) samples: SamplesByKind,
    pub(crate) spans: PageSpans,
}

/// Where the tracks are found when the trace was read: a converter is gone then.
pub(crate) type SharedTracks = Arc<Mutex<Tracks>>;

/// Gathers tracks.
pub(crate) struct Gather {
    tracks: Tracks,
    done: SharedTracks,
}

impl Gather {
    pub(crate) fn new(done: &SharedTracks) -> Gather {
        Gather { tracks: Tracks::default(), done: Arc::clone(done) }
    }
}

/// Takes what was gathered.
pub(crate) fn take(done: &SharedTracks) -> Tracks {
    std::mem::take(&mut *done.lock().unwrap_or_else(PoisonError::into_inner))
}

impl Convert for Gather {
    fn sample(&mut self, sample: &Sample, _: &Model) -> Result<(), ConvertError> {
        self.tracks.samples.add(sample);
        Ok(())
    }

    fn wants_marks(&self) -> bool {
        true
    }

    fn mark(&mut self, mark: &TimelineMark, _: &Model) -> Result<(), ConvertError> {
        // Counters, exceptions and adjustments come from the reports about them.
        if let TimelineMark::Span(span) = mark {
            self.tracks.spans.add(span);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &Resolved<'_>, _: &Profile) -> Result<(), ConvertError> {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = self.tracks;
        Ok(())
    }
}
