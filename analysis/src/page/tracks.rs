//! What a page keeps of samples and spans.

use super::spans::PageSpans;
use crate::model::{Sample, Span};
use crate::over_time::{Gathers, SamplesByKind, Shared};

/// Samples and spans.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    pub(super) samples: SamplesByKind,
    pub(super) spans: PageSpans,
}

pub(super) type SharedTracks = Shared<Tracks>;

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
