//! Finds the methods that cause collections, threads and dynamic methods, by the stacks of events
//! that the runtime writes on the thread that asks for them.

use super::own::OwnModules;
use crate::hash::HashMap;
use crate::model::{Frame, FrameHandle, Kind, Model, Moment, Resolved, StackHandle, ThreadHandle};
use nettrace_parser::Event;
use nettrace_parser::view::{KnownProvider, MethodJitting, View};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Minimum number of samples from which the life of threads is estimated.
const MIN_SAMPLES: u64 = 50;
/// Unit to which the life of a thread is rounded, in nanoseconds.
const LIFE_UNIT_NANOS: u64 = 100_000;

/// Counts collections, started threads and dynamic methods by the stack that asked for them.
///
/// | event | meaning |
/// |---|---|
/// | runtime 35 | a thread asks for a collection, or makes one necessary by allocating |
/// | runtime 70 | a thread starts another one |
/// | runtime 145 | a thread needs a method to be compiled; only dynamic methods count |
/// | runtime 71 | a started thread begins to run |
#[derive(Debug, Default)]
pub(crate) struct Askers {
    collections: HashMap<StackHandle, u64>,
    threads: HashMap<StackHandle, u64>,
    dynamic_methods: HashMap<StackHandle, u64>,
    started: u64,
    /// Threads that began to run after the session began.
    began: BTreeSet<ThreadHandle>,
}

impl Askers {
    pub(super) fn wants(event: &Event<'_>) -> bool {
        event.known_provider() == KnownProvider::Runtime && matches!(event.id(), 35 | 70 | 71 | 145)
    }

    pub(super) fn add(&mut self, event: &Event<'_>, moment: &Moment, model: &mut Model) {
        let stacks = match event.id() {
            35 => &mut self.collections,
            70 => {
                self.started = self.started.saturating_add(1);
                &mut self.threads
            }
            145 => {
                let is_dynamic = MethodJitting::from_event(event)
                    .is_some_and(|method| method.namespace == "dynamicClass");
                if !is_dynamic {
                    return;
                }
                &mut self.dynamic_methods
            }
            _ => {
                self.began.insert(moment.thread);
                return;
            }
        };
        let count = stacks.entry(model.stack_of(event, moment.thread)).or_default();
        *count = count.saturating_add(1);
    }

    /// Returns the number of starts of threads.
    pub(super) fn started(&self) -> u64 {
        self.started
    }

    /// Returns the own method that causes most collections.
    pub(super) fn collector<'r>(
        &self,
        own: &OwnModules,
        resolved: &'r Resolved<'_>,
    ) -> Option<&'r Arc<Frame>> {
        most_common_method(&self.collections, own, resolved)
    }

    /// Returns the own method that starts most threads.
    pub(super) fn starter<'r>(
        &self,
        own: &OwnModules,
        resolved: &'r Resolved<'_>,
    ) -> Option<&'r Arc<Frame>> {
        most_common_method(&self.threads, own, resolved)
    }

    /// Returns the own method that most dynamic methods are compiled for.
    pub(super) fn compiler<'r>(
        &self,
        own: &OwnModules,
        resolved: &'r Resolved<'_>,
    ) -> Option<&'r Arc<Frame>> {
        most_common_method(&self.dynamic_methods, own, resolved)
    }

    /// Returns the mean life of the started threads in nanoseconds: their mean number of samples,
    /// times the interval between samples. It is rounded because it is an estimate.
    pub(super) fn life_nanos(&self, resolved: &Resolved<'_>) -> Option<u64> {
        let rows = resolved.profile().rows();
        let of_started = rows
            .iter()
            .filter(|(key, _)| key.kind == Kind::Cpu && self.began.contains(&key.thread));
        let samples = of_started.fold(0_u64, |sum, (_, totals)| sum.saturating_add(totals.samples));
        let threads = u64::try_from(self.began.len()).unwrap_or(u64::MAX);
        if samples < MIN_SAMPLES {
            return None;
        }
        let period = resolved.model().period_nanos()?;
        let nanos = samples.saturating_mul(period).checked_div(threads)?;
        Some((nanos / LIFE_UNIT_NANOS).max(1).saturating_mul(LIFE_UNIT_NANOS))
    }
}

/// Returns the innermost own method of most stacks, if it is the method of at least half of them.
fn most_common_method<'r>(
    stacks: &HashMap<StackHandle, u64>,
    own: &OwnModules,
    resolved: &'r Resolved<'_>,
) -> Option<&'r Arc<Frame>> {
    let mut methods: BTreeMap<FrameHandle, u64> = BTreeMap::new();
    let mut all = 0_u64;
    for (stack, count) in stacks {
        all = all.saturating_add(*count);
        let frames = resolved.frames(*stack);
        if let Some(method) = frames.iter().find(|frame| own.has(resolved, **frame)) {
            let sum = methods.entry(*method).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
    let (method, count) = methods.into_iter().max_by_key(|(it, count)| (*count, Reverse(*it)))?;
    (count.saturating_mul(2) >= all).then(|| resolved.frame(method)).flatten()
}
