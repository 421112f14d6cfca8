//! One second of a running process, in sums.

use super::processor_time::UsedTimes;
use crate::model::Mode;
use std::collections::HashMap;
use std::sync::Arc;

/// Distinct stacks and labels of one second; what is beyond is counted, and shown as left
/// out.
const MOST_STACKS: usize = 20_000;
const MOST_LABELS: usize = 5_000;

/// What is counted beside samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Counted {
    /// Types; weight: bytes.
    Allocation,
    /// Types; weight: how many.
    Exception,
    /// Locks by place; weight: nanoseconds.
    Contention,
    /// Requests by target; weight: nanoseconds.
    Request,
}

/// A sum of occurrences.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) count: u64,
    pub(super) weight: u64,
    pub(super) max: u64,
    pub(super) errors: u64,
}

impl Sum {
    pub(super) fn add(&mut self, other: &Sum) {
        self.count = self.count.saturating_add(other.count);
        self.weight = self.weight.saturating_add(other.weight);
        self.max = self.max.max(other.max);
        self.errors = self.errors.saturating_add(other.errors);
    }
}

/// Things with numbers.
#[derive(Debug, Default)]
pub(super) struct Numbered<T: ?Sized + std::hash::Hash + Eq> {
    numbers: HashMap<Arc<T>, u32>,
    pub(super) things: Vec<Arc<T>>,
}

impl<T: ?Sized + std::hash::Hash + Eq> Numbered<T>
where
    for<'a> Arc<T>: From<&'a T>,
{
    /// The number of a thing; `None` if there are too many.
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

/// One second.
#[derive(Debug)]
pub(super) struct Slice {
    /// Seconds since the session's start.
    pub(super) second: i64,
    pub(super) stacks: Numbered<[u64]>,
    pub(super) labels: Numbered<str>,
    /// Samples by thread, stack and mode.
    pub(super) samples: HashMap<(u64, u32, Mode), u64>,
    /// Occurrences by label and stack.
    pub(super) counted: HashMap<(Counted, u32, u32), Sum>,
    /// Time in which all threads were suspended for a collection, and collections.
    pub(super) gc_pause_ns: u64,
    pub(super) collections: u64,
    /// Workers that the thread pool got because others were blocked.
    pub(super) starvations: u64,
    /// Processor time, if it is known.
    pub(super) used_times: UsedTimes,
    /// Samples and occurrences that found no room.
    pub(super) left_out: u64,
}

impl Slice {
    pub(super) fn new(second: i64) -> Slice {
        Slice {
            second,
            stacks: Numbered { numbers: HashMap::new(), things: Vec::new() },
            labels: Numbered { numbers: HashMap::new(), things: Vec::new() },
            samples: HashMap::new(),
            counted: HashMap::new(),
            gc_pause_ns: 0,
            collections: 0,
            starvations: 0,
            used_times: UsedTimes::default(),
            left_out: 0,
        }
    }

    pub(super) fn sample(&mut self, thread: u64, stack: &[u64], mode: Mode) {
        match self.stacks.number(stack, MOST_STACKS) {
            Some(stack) => {
                let count = self.samples.entry((thread, stack, mode)).or_default();
                *count = count.saturating_add(1);
            }
            None => self.left_out = self.left_out.saturating_add(1),
        }
    }

    pub(super) fn count(&mut self, what: Counted, label: &str, stack: &[u64], sum: Sum) {
        let label = self.labels.number(label, MOST_LABELS);
        match (label, self.stacks.number(stack, MOST_STACKS)) {
            (Some(label), Some(stack)) => {
                self.counted.entry((what, label, stack)).or_default().add(&sum);
            }
            _ => self.left_out = self.left_out.saturating_add(1),
        }
    }
}
