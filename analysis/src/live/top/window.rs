//! Sums of the seconds that a snapshot shows.

use super::methods::MethodSums;
use super::named_stack::NamedStack;
use super::processor_time::{ClassCounts, RanTimes, SampleWeights, Seen, UsedTimes};
use super::slice::{CountedEvent, EventSum, Slice};
use crate::model::thread_times::SampleClass;
use crate::model::{Frame, Mode, NameOptions, ThreadState, WaitFor, type_text};
use crate::report::increase;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Sums of the window.
#[derive(Default)]
pub(super) struct Window {
    pub(super) samples: u64,
    pub(super) methods: MethodSums,
    pub(super) threads: BTreeMap<u64, ThreadMethods>,
    pub(super) waits: WindowWaits,
    /// Most frequent activity of each thread of the program in the latest whole second.
    pub(super) looks: BTreeMap<u64, ThreadLook>,
    pub(super) counted: BTreeMap<(CountedEvent, String), EventSum>,
    pub(super) pause_ns: u64,
    pub(super) collections: u64,
    pub(super) starvations: u64,
    /// Processor times, as far as they are known.
    pub(super) used: UsedTimes,
    pub(super) has_times: bool,
    /// Numbers of samples by class.
    pub(super) counts: ClassCounts,
    /// Time that threads ran in the seconds that have times.
    pub(super) ran: RanTimes,
    pub(super) left_out: u64,
    pub(super) nameless_methods: u64,
    /// Whether the sampler of the process does not tell managed from native code.
    pub(super) is_untold: bool,
}

/// Most frequent activity of a thread in a second.
pub(super) struct ThreadLook {
    pub(super) state: ThreadState,
    pub(super) waits_for: Option<WaitFor>,
    pub(super) frames: Vec<Arc<Frame>>,
}

/// Number of samples of waiting threads, and ids of the threads, by place and kind of wait.
pub(super) type WindowWaits = BTreeMap<(String, WaitFor), (u64, BTreeSet<u64>)>;

impl Window {
    /// Counts samples and waits of a second by the state of the thread.
    pub(super) fn count_states(&mut self, slice: &Slice, stacks: &[NamedStack]) {
        for ((thread, stack, mode), count) in &slice.samples {
            let Some(stack) = stacks.get(*stack as usize) else { continue };
            self.samples = self.samples.saturating_add(*count);
            let sums = self.threads.entry(*thread).or_default();
            let state = stack.state(*mode);
            let sum = match state {
                // A thread that takes a lock spins in managed code.
                ThreadState::Managed | ThreadState::TakingLock => &mut sums.seen.managed,
                ThreadState::Native => &mut sums.seen.native,
                ThreadState::Waiting | ThreadState::Ready => &mut sums.seen.waiting,
            };
            *sum = sum.saturating_add(*count);
            if state == ThreadState::Waiting {
                let place = (stack.waiting_place().to_owned(), stack.wait_for(*mode));
                let row = self.waits.entry(place).or_default();
                row.0 = row.0.saturating_add(*count);
                row.1.insert(*thread);
            }
        }
    }

    /// Finds the most frequent activity of each thread of the program in a second.
    pub(super) fn look_at_threads(&mut self, slice: &Slice, stacks: &[NamedStack]) {
        let mut most: BTreeMap<u64, (u64, u32, Mode)> = BTreeMap::new();
        let mut samples: BTreeMap<u64, u64> = BTreeMap::new();
        for ((thread, stack, mode), count) in &slice.samples {
            let seen = (*count, *stack, *mode);
            increase(samples.entry(*thread).or_default(), *count);
            let row = most.entry(*thread).or_insert(seen);
            if (seen.0, Reverse(seen.1)) > (row.0, Reverse(row.1)) {
                *row = seen;
            }
        }
        // Number of the sampler's rounds: a thread that exists all the time has a sample in each.
        let rounds = samples.values().copied().max().unwrap_or(0);
        let is_half = |count: u64| count.saturating_mul(2) >= rounds;
        for (thread, (count, stack, mode)) in most {
            let Some(stack) = stacks.get(stack as usize) else { continue };
            let is_short = !samples.get(&thread).is_some_and(|all| is_half(*all));
            if is_short || stack.is_ours {
                continue;
            }
            let state = stack.state(mode);
            // A short wait is not worth reporting.
            let is_long = state == ThreadState::Waiting && is_half(count);
            let waits_for = is_long.then(|| stack.wait_for(mode));
            let frames = stack.frames(mode).to_vec();
            self.looks.insert(thread, ThreadLook { state, waits_for, frames });
        }
    }

    /// Adds the numbers of samples of a second, and the times that threads used in it.
    pub(super) fn add_times(&mut self, counts: &ClassCounts, used: &UsedTimes) {
        self.used.add(used);
        for (thread, counts) in counts {
            let sums = self.counts.entry(*thread).or_default();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| increase(sum, *count));
        }
        // Times without any sampled thread belong to another process.
        let is_sampled = |thread: &u64| self.used.of_threads.contains_key(thread);
        self.has_times = self.used.span > 0 && self.counts.keys().any(is_sampled);
    }

    /// Adds the samples of a second to the methods, with the weights of their threads.
    pub(super) fn weigh(
        &mut self,
        slice: &Slice,
        stacks: &[NamedStack],
        weights: Option<&SampleWeights>,
    ) {
        for ((thread, stack, mode), count) in &slice.samples {
            let (Some(stack), Some(sums)) =
                (stacks.get(*stack as usize), self.threads.get_mut(thread))
            else {
                continue;
            };
            let weights =
                weights.map_or(SampleWeights::UNKNOWN, |weights| weights.of_thread(*thread));
            let class = stack.class(*mode);
            let weight = weights.get(class as usize).copied().unwrap_or(0);
            let weight = count.saturating_mul(weight);
            if weight > 0 {
                let waking = (class == SampleClass::Waits).then(|| stack.waking_frames());
                let frames = waking.as_deref().unwrap_or_else(|| stack.frames(*mode));
                self.methods.add(frames, weight);
                sums.methods.add(frames, weight);
            }
        }
    }

    /// Counts the occurrences of a second.
    pub(super) fn count_labels(&mut self, slice: &Slice, stacks: &[NamedStack]) {
        for ((what, label, stack), sum) in &slice.counted {
            let label = slice.labels.things.get(*label as usize);
            let (Some(label), Some(stack)) = (label, stacks.get(*stack as usize)) else { continue };
            self.counted.entry((*what, label_text(*what, label, stack))).or_default().add(sum);
        }
    }

    /// Returns the sum of one member over all occurrences of a kind.
    pub(super) fn total(&self, what: CountedEvent, of: fn(&EventSum) -> u64) -> u64 {
        let rows = self.counted.iter().filter(|((kind, _), _)| *kind == what);
        rows.map(|(_, sum)| of(sum)).fold(0, u64::saturating_add)
    }
}

/// Samples of a thread, and its methods.
#[derive(Default)]
pub(super) struct ThreadMethods {
    pub(super) seen: Seen,
    pub(super) methods: MethodSums,
}

/// Returns the numbers of samples of a second by class.
pub(super) fn class_counts(slice: &Slice, stacks: &[NamedStack]) -> ClassCounts {
    let mut counts = ClassCounts::default();
    for ((thread, stack, mode), count) in &slice.samples {
        let Some(stack) = stacks.get(*stack as usize) else { continue };
        let of_thread = counts.entry(*thread).or_default();
        if let Some(sum) = of_thread.get_mut(stack.class(*mode) as usize) {
            increase(sum, *count);
        }
    }
    counts
}

/// Returns the shown text of a label. A wait for a lock is shown by the place that takes the lock.
pub(super) fn label_text(what: CountedEvent, label: &str, stack: &NamedStack) -> String {
    match what {
        CountedEvent::Allocation | CountedEvent::Exception => {
            type_text(label, NameOptions::default())
        }
        CountedEvent::Request => label.to_owned(),
        CountedEvent::Contention => stack.waiting_place().to_owned(),
    }
}
