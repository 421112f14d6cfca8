//! Sums of one second of a running process.

use super::processor_time::UsedTimes;
use crate::hash::HashMap;
use crate::model::Mode;
use crate::report::increase;
use std::sync::Arc;

/// Maximum number of distinct stacks of one second; samples with further ones are counted as left
/// out.
const MAX_STACKS: usize = 20_000;
/// Maximum number of distinct labels of one second; occurrences with further ones are counted as
/// left out.
const MAX_LABELS: usize = 5_000;

/// Kind of occurrence that is counted besides samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum CountedEvent {
    /// Allocation: the label is the type, the weight is in bytes.
    Allocation,
    /// Exception: the label is the type, the weight is 1.
    Exception,
    /// Wait for a lock: there is no label, the weight is in nanoseconds.
    Contention,
    /// Request: the label is the target, the weight is in nanoseconds.
    Request,
}

/// Sums of occurrences.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EventSum {
    pub(super) count: u64,
    pub(super) weight: u64,
    pub(super) max: u64,
    pub(super) errors: u64,
}

impl EventSum {
    pub(super) fn add(&mut self, other: &EventSum) {
        self.count = self.count.saturating_add(other.count);
        self.weight = self.weight.saturating_add(other.weight);
        self.max = self.max.max(other.max);
        self.errors = self.errors.saturating_add(other.errors);
    }
}

/// Distinct things, numbered from 0.
#[derive(Debug, Default)]
pub(super) struct Numbered<T: ?Sized + std::hash::Hash + Eq> {
    numbers: HashMap<Arc<T>, u32>,
    pub(super) things: Vec<Arc<T>>,
}

impl<T: ?Sized + std::hash::Hash + Eq> Numbered<T>
where
    for<'a> Arc<T>: From<&'a T>,
{
    /// Returns the number of a thing, which is added if unknown; `None` if there are `most`
    /// already.
    fn number(&mut self, thing: &T, most: usize) -> Option<u32> {
        if let Some(known) = self.numbers.get(thing) {
            return Some(*known);
        }
        let number = u32::try_from(self.things.len()).ok()?;
        if self.things.len() >= most {
            return None;
        }
        let shared: Arc<T> = Arc::from(thing);
        self.things.push(Arc::clone(&shared));
        self.numbers.insert(shared, number);
        Some(number)
    }
}

/// Sums of one second.
#[derive(Debug)]
pub(super) struct Slice {
    /// Number of the second since the session's start.
    pub(super) second: i64,
    pub(super) stacks: Numbered<[u64]>,
    pub(super) labels: Numbered<str>,
    /// Number of samples by thread, stack and mode.
    pub(super) samples: HashMap<(u64, u32, Mode), u64>,
    /// Occurrences by kind, label and stack.
    pub(super) counted: HashMap<(CountedEvent, u32, u32), EventSum>,
    pub(super) gc_pause_ns: u64,
    pub(super) collections: u64,
    /// Number of workers that the thread pool added because others were blocked.
    pub(super) starvations: u64,
    /// Processor times, as far as they are known.
    pub(super) used_times: UsedTimes,
    /// Number of samples and occurrences that found no room.
    pub(super) left_out: u64,
}

impl Slice {
    pub(super) fn new(second: i64) -> Slice {
        Slice {
            second,
            stacks: Numbered { numbers: HashMap::default(), things: Vec::new() },
            labels: Numbered { numbers: HashMap::default(), things: Vec::new() },
            samples: HashMap::default(),
            counted: HashMap::default(),
            gc_pause_ns: 0,
            collections: 0,
            starvations: 0,
            used_times: UsedTimes::default(),
            left_out: 0,
        }
    }

    pub(super) fn sample(&mut self, thread: u64, stack: &[u64], mode: Mode) {
        match self.stacks.number(stack, MAX_STACKS) {
            Some(stack) => {
                increase(self.samples.entry((thread, stack, mode)).or_default(), 1);
            }
            None => self.left_out = self.left_out.saturating_add(1),
        }
    }

    pub(super) fn count(&mut self, what: CountedEvent, label: &str, stack: &[u64], sum: EventSum) {
        let label = self.labels.number(label, MAX_LABELS);
        match (label, self.stacks.number(stack, MAX_STACKS)) {
            (Some(label), Some(stack)) => {
                self.counted.entry((what, label, stack)).or_default().add(&sum);
            }
            _ => self.left_out = self.left_out.saturating_add(1),
        }
    }
}
