//! Samples and spans of a page.

use super::spans::PageSpans;
use crate::model::{Sample, Span};
use crate::over_time::{Gathers, SamplesByKind, Shared};

/// Samples and spans of a page.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    pub(super) samples: SamplesByKind,
    pub(super) spans: PageSpans,
}

pub(super) type SharedTracks = Shared<Tracks>;

impl Gathers for Tracks {
    fn sample(&mut self, sample: &Sample) {
        // The page has a table of its own for open waits.
        if !sample.is_open_wait() {
            self.samples.add(sample);
        }
    }

    fn span(&mut self, span: &Span) {
        self.spans.add(span);
    }
}
