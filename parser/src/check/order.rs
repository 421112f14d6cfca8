//! Checks the rules about time on which readers may rely (`FORMAT.md` 11), and the times in
//! block headers.
//!
//! | kind | rule |
//! |---|---|
//! | `thread_time` | timestamps of a capture thread never fall |
//! | `sorted_time` | no event is older than a sorted event before it |
//! | `sequence_point_time` | sequence points rise; no event before a sequence point is newer than it, no event after it older |
//! | `block_time` | a block's events lie between the times in its header, unless these are 0 |

use super::Findings;
use crate::block::event::header as event_block_header;
use crate::block::sequence_point::timestamp_of;
use crate::event::Event;
use crate::{Block, BlockKind};
use std::collections::HashMap;

/// Maximum number of capture threads that are tracked at a time. Only hostile streams have
/// more. When it is reached, all threads are forgotten.
const MAX_THREADS: usize = 1 << 16;

/// Timestamp in ticks from which on the time is unknown (`FORMAT.md` 10).
const NO_TIME: u64 = i64::MAX as u64;

/// State of the checks of a stream's times. All times are in ticks.
#[derive(Debug)]
pub(super) struct TimeRules {
    /// Whether event blocks have headers: in all versions but 3.
    has_block_headers: bool,
    /// Time of the last event of each capture thread.
    by_thread: HashMap<u64, u64>,
    /// Time of the newest event that was marked sorted.
    sorted: u64,
    /// Time of the last sequence point.
    point: u64,
    /// Time of the newest event since the last sequence point.
    youngest: u64,
    /// Smallest and largest time in the current block's header; `None` if it states none.
    block: Option<(u64, u64)>,
}

impl TimeRules {
    pub(super) fn new(major: u32) -> TimeRules {
        TimeRules {
            has_block_headers: major > 3,
            by_thread: HashMap::new(),
            sorted: 0,
            point: 0,
            youngest: 0,
            block: None,
        }
    }

    pub(super) fn check_block(&mut self, block: &Block<'_>, findings: &mut Findings) {
        self.block = None;
        match block.kind {
            BlockKind::Event if self.has_block_headers => {
                let header = event_block_header(block.content).ok();
                let times = header.map(|(_, header)| {
                    (header.min_ticks.cast_unsigned(), header.max_ticks.cast_unsigned())
                });
                self.block = times.filter(|times| *times != (0, 0));
            }
            BlockKind::SequencePoint => {
                if let Some(ticks) = timestamp_of(block.content).filter(|ticks| *ticks < NO_TIME) {
                    self.check_sequence_point(ticks, block, findings);
                }
            }
            _ => {}
        }
    }

    fn check_sequence_point(&mut self, ticks: u64, block: &Block<'_>, findings: &mut Findings) {
        let (last, youngest) = (self.point, self.youngest);
        let mut add = |message: String| {
            let severity = super::Severity::Note;
            let kind = Some(BlockKind::SequencePoint);
            findings.add("sequence_point_time", severity, "11", block.offset, kind, || message);
        };
        if ticks < last {
            add(format!("the time falls from {last} to {ticks} ticks"));
        }
        if youngest > ticks {
            add(format!("an event of {youngest} ticks lies before it, its own time is {ticks}"));
        }
        (self.point, self.youngest) = (ticks, 0);
    }

    pub(super) fn check_event(&mut self, event: &Event<'_>, findings: &mut Findings) {
        let (ticks, offset) = (event.timestamp_ticks(), event.offset());
        if self.by_thread.len() >= MAX_THREADS {
            self.by_thread.clear();
        }
        let last_of_thread = self.by_thread.entry(event.capture_thread()).or_insert(ticks);
        if ticks < *last_of_thread {
            let (thread, last) = (event.capture_thread(), *last_of_thread);
            findings.note("thread_time", "11", offset, || {
                format!("capture thread {thread} falls from {last} to {ticks} ticks")
            });
        }
        *last_of_thread = ticks;
        if ticks < self.sorted {
            let sorted = self.sorted;
            findings.note("sorted_time", "11", offset, || {
                format!("{ticks} ticks, after a sorted event of {sorted}")
            });
        }
        if ticks < self.point {
            let point = self.point;
            findings.note("sequence_point_time", "11", offset, || {
                format!("{ticks} ticks, after a sequence point of {point}")
            });
        }
        if let Some((min, max)) = self.block.filter(|(min, max)| ticks < *min || ticks > *max) {
            findings.note("block_time", "6.1", offset, || {
                format!("{ticks} ticks, the block's header says {min} to {max}")
            });
        }
        if event.is_sorted() {
            self.sorted = self.sorted.max(ticks);
        }
        self.youngest = self.youngest.max(ticks);
    }
}
