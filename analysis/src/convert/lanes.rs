//! Distributes spans that may overlap to several rows.

use crate::model::{Category, ProcessHandle, Span};
use std::collections::BTreeMap;

/// Distributes spans that overlap to several rows, called lanes, so that the spans of each row
/// follow one another. Viewers do not show a row correctly if its spans overlap without being
/// nested.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// End of the last span in each lane.
    ends: BTreeMap<(ProcessHandle, Category), Vec<i64>>,
}

/// Maximum number of lanes; nobody could read more. Spans of the last lane may overlap.
const MAX_LANES: usize = 200;

impl Lanes {
    /// Returns the lane of a span: 0, 1, 2 … Call it for spans in the order in which they end.
    pub(super) fn lane(&mut self, process: ProcessHandle, span: &Span) -> usize {
        let ends = self.ends.entry((process, span.category)).or_default();
        let free = ends.iter().position(|end| *end <= span.start_nanos);
        let lane = free.unwrap_or_else(|| ends.len().min(MAX_LANES.saturating_sub(1)));
        match ends.get_mut(lane) {
            Some(end) => *end = span.end_nanos(),
            None => ends.push(span.end_nanos()),
        }
        lane
    }
}

/// Returns the name of a lane.
pub(super) fn lane_name(category: Category, lane: usize) -> String {
    match lane {
        0 => category.name().to_owned(),
        _ => format!("{} {}", category.name(), lane.saturating_add(1)),
    }
}
