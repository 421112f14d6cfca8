//! Samples and spans of a page.

use super::spans::PageSpans;
use crate::model::{MarkChoice, Sample, Span};
use crate::over_time::{Gathers, SamplesByKind, Shared};

/// Maximum number of rows of samples. Each takes 32 bytes here, and up to ten in the file.
const MAX_SAMPLE_ROWS: usize = 1 << 18;

/// Samples and spans of a page.
#[derive(Debug)]
pub(super) struct Tracks {
    pub(super) samples: SamplesByKind,
    pub(super) spans: PageSpans,
}

impl Default for Tracks {
    fn default() -> Tracks {
        Tracks { samples: SamplesByKind::new(MAX_SAMPLE_ROWS), spans: PageSpans::default() }
    }
}

pub(super) type SharedTracks = Shared<Tracks>;

impl Gathers for Tracks {
    const MARKS: MarkChoice = MarkChoice::WaitsAndCompilations;

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
