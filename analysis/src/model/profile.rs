//! Samples aggregated by their stacks, which are the basis of most reports and formats.

use super::Model;
use super::endpoint_spans::{EndpointSpans, ServedRequest, UNKNOWN_ENDPOINT};
use super::handle::{RequestHandle, StackHandle, TextHandle, ThreadHandle};
use super::presence::Presence;
use super::sample::{Kind, Mode, Sample, SampleClock};
use super::thread_times::{DividedInterval, HeldBack, SampleTimes};
use super::when::When;
use crate::hash::HashMap;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::Arc;

/// What the samples in one row of a profile have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct ProfileKey {
    /// Kind of the samples.
    pub kind: Kind,
    /// Thread that the samples are about.
    pub thread: ThreadHandle,
    /// Stack of that thread.
    pub stack: StackHandle,
    /// State of that thread, as the trace reports it.
    pub mode: Mode,
    /// Name of the type that was allocated or thrown; `(still waiting)` for waits that are
    /// not over.
    pub label: Option<TextHandle>,
    /// Endpoint of the request that the thread worked for, as an index of
    /// [`Profile::endpoints`], or a larger number if the thread may have worked for a request whose
    /// times are left out; `None` for other work, and if the analysis does not tell endpoints
    /// apart ([`AnalysisOptions::endpoints`](crate::AnalysisOptions::endpoints)).
    pub endpoint: Option<u32>,
}

impl ProfileKey {
    /// Returns the key of a sample.
    #[inline]
    pub(crate) fn from_sample(sample: &Sample) -> ProfileKey {
        let Sample { kind, thread, stack, mode, label, .. } = *sample;
        ProfileKey { kind, thread, stack, mode, label, endpoint: None }
    }
}

/// Totals of the samples in a row of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Totals {
    /// Number of samples.
    pub samples: u64,
    /// Number of things that the samples represent, such as objects; see [`Sample::count`].
    pub count: u64,
    /// Sum of the weights, in the unit of the samples' kind.
    pub weight: u64,
    /// Part of `weight` that the readings of the threads do not show for certain. 0 without
    /// readings.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::document::is_zero"))]
    pub estimated: u64,
    /// Time of the earliest sample, in nanoseconds since the session's start.
    pub first_nanos: i64,
    /// Time of the latest sample, in nanoseconds since the session's start.
    pub last_nanos: i64,
}

impl Totals {
    /// Creates the totals of `count` samples at one time, with the sum of their weights.
    pub(crate) fn at(nanos: i64, count: u64, weight: u64) -> Totals {
        let estimated = 0;
        Totals { samples: count, count, weight, estimated, first_nanos: nanos, last_nanos: nanos }
    }

    #[inline]
    pub(crate) fn from_sample(sample: &Sample) -> Totals {
        Totals {
            samples: 1,
            count: sample.count,
            weight: sample.weight,
            estimated: 0,
            first_nanos: sample.nanos,
            last_nanos: sample.nanos,
        }
    }

    /// Adds the totals of other samples.
    pub(crate) fn add(&mut self, other: &Totals) {
        if self.is_empty() {
            *self = *other;
            return;
        }
        if !other.is_empty() {
            self.grow(other);
        }
    }

    /// Returns whether there are neither samples nor processor time without samples.
    fn is_empty(&self) -> bool {
        self.samples == 0 && self.weight == 0
    }

    /// Adds the totals of other samples. Neither may be empty.
    #[inline]
    fn grow(&mut self, other: &Totals) {
        self.samples = self.samples.saturating_add(other.samples);
        self.count = self.count.saturating_add(other.count);
        self.weight = self.weight.saturating_add(other.weight);
        self.estimated = self.estimated.saturating_add(other.estimated);
        self.first_nanos = self.first_nanos.min(other.first_nanos);
        self.last_nanos = self.last_nanos.max(other.last_nanos);
    }
}

/// Samples aggregated by kind, thread, stack, mode and label. Memory is bounded by the number of
/// distinct keys.
#[derive(Debug, Clone, Default)]
pub struct Profile {
    rows: Vec<(ProfileKey, Totals)>,
    /// Index of each key's row.
    places: HashMap<ProfileKey, u32>,
    /// Recently used rows, by thread and stack, because consecutive samples of a thread often have
    /// the same key.
    recent: Vec<u32>,
    /// Times of the CPU samples, if they are kept.
    when: Option<When>,
    /// Times in which any thread was at a stack, of CPU samples outside of managed code.
    presence: Presence,
    /// Whether a filter leaves out samples of some threads, processes or times.
    is_filtered: bool,
    refused: u64,
    /// Times of the requests to each endpoint, if rows are told apart by endpoint.
    endpoints: Option<EndpointSpans>,
    /// Sums of the readings of the process, if there are readings.
    processor: Option<ProcessorSums>,
    /// How the time of single samples is divided, if there are readings and a converter takes
    /// samples.
    sample_times: Option<Arc<SampleTimes>>,
    /// How the time of samples is divided, if there are readings.
    divided: DividedTimes<(ThreadHandle, StackHandle, Mode)>,
}

/// Parts among which the time of samples is divided, by what the samples have in common.
#[derive(Debug, Clone)]
pub(crate) struct DividedTimes<K>(HashMap<K, Vec<DividedPart>>);

/// Part of the time of samples, in one mode.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DividedPart {
    pub(crate) mode: Mode,
    pub(crate) nanos: u64,
    pub(crate) samples: u64,
}

impl<K> Default for DividedTimes<K> {
    fn default() -> Self {
        DividedTimes(HashMap::default())
    }
}

impl<K: Copy + Eq + Hash> DividedTimes<K> {
    fn add(&mut self, key: K, mode: Mode, totals: &Totals) {
        let parts = self.0.entry(key).or_default();
        let Totals { weight: nanos, samples, .. } = *totals;
        match parts.iter_mut().find(|known| known.mode == mode) {
            Some(sum) => {
                sum.nanos = sum.nanos.saturating_add(nanos);
                sum.samples = sum.samples.saturating_add(samples);
            }
            None => parts.push(DividedPart { mode, nanos, samples }),
        }
    }

    /// Returns the parts of the samples with a key; none if they are not divided.
    pub(crate) fn parts(&self, key: &K) -> &[DividedPart] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }
}

/// Sums of the readings of a process and its threads.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProcessorSums {
    /// Processor time of the process in the session, in nanoseconds; `None` if it is not known.
    pub(crate) total_ns: Option<u64>,
    /// What took processors away from the process.
    pub(crate) held_back: HeldBack,
    /// Times of all threads with readings.
    pub(crate) threads: BTreeMap<ThreadHandle, RanReady>,
    /// How the times between the readings of each thread are divided, in time order.
    pub(crate) intervals: BTreeMap<ThreadHandle, Vec<DividedInterval>>,
}

/// Times of a thread in which it ran, and in which it was ready and had no processor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RanReady {
    pub(crate) ran_ns: u64,
    pub(crate) ready_ns: u64,
    /// Part of `ready_ns` in which a control group of the process used up its limit.
    pub(crate) throttled_ns: u64,
    /// Whether the thread is one of the recording.
    pub(crate) is_recording: bool,
}

/// Compares totals, in whatever order they are. Handles belong to a model, so equal profiles of two
/// models may have different stacks.
impl PartialEq for Profile {
    fn eq(&self, other: &Profile) -> bool {
        let row = |profile: &Profile, key| {
            profile
                .places
                .get(key)
                .and_then(|at| profile.rows.get(*at as usize))
                .map(|(_, totals)| *totals)
        };
        self.rows.len() == other.rows.len()
            && self.rows.iter().all(|(key, totals)| row(other, key) == Some(*totals))
    }
}

impl Eq for Profile {}

const RECENT: usize = 1024;

impl Profile {
    /// Creates an empty profile. `is_filtered` says that a filter leaves out samples of some
    /// threads, processes or times.
    pub(crate) fn new(is_filtered: bool) -> Profile {
        Profile { is_filtered, ..Profile::default() }
    }

    /// Counts CPU samples that a filter of threads, processes or times leaves out.
    pub(crate) fn refuse(&mut self, samples: u64) {
        self.refused = self.refused.saturating_add(samples);
    }

    /// Returns the number of CPU samples that a filter of threads, processes or times left out.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    pub(crate) fn is_filtered(&self) -> bool {
        self.is_filtered
    }

    /// Tells samples apart by the endpoint of the request that their thread works for.
    pub(crate) fn tell_endpoints(&mut self, endpoints: Option<EndpointSpans>) {
        self.endpoints = endpoints;
    }

    /// Returns whether samples are told apart by endpoint.
    pub(crate) fn tells_endpoints(&self) -> bool {
        self.endpoints.is_some()
    }

    /// Returns the endpoints of [`ProfileKey::endpoint`]; none if samples are not told apart by
    /// endpoint.
    pub fn endpoints(&self) -> &[String] {
        self.endpoints.as_ref().map_or(&[], EndpointSpans::endpoints)
    }

    /// Returns the number of requests that lack the times of their threads: to the endpoint of
    /// [`ProfileKey::endpoint`], or to all.
    pub(crate) fn requests_left_out(&self, endpoint: Option<u32>) -> u64 {
        let Some(spans) = &self.endpoints else { return 0 };
        match endpoint {
            Some(UNKNOWN_ENDPOINT) => spans.left_out(),
            Some(endpoint) => spans.left_out_of(self.endpoint_name(endpoint)),
            None => 0,
        }
    }

    /// Returns the name of an endpoint of [`ProfileKey::endpoint`].
    pub(crate) fn endpoint_name(&self, endpoint: u32) -> &str {
        self.endpoints().get(endpoint as usize).map_or("", String::as_str)
    }

    /// Returns a request, if endpoints are told apart.
    pub(super) fn request(&self, request: RequestHandle) -> Option<ServedRequest<'_>> {
        self.endpoints.as_ref()?.request(request)
    }

    /// Returns the request that a thread works for at a time, if endpoints are told apart.
    #[inline]
    pub(crate) fn request_at(
        &self,
        thread: ThreadHandle,
        nanos: i64,
        model: &Model,
    ) -> Option<RequestHandle> {
        let endpoints = self.endpoints.as_ref()?;
        endpoints.request_at(model.thread(thread)?.os_thread_id?, nanos)
    }

    #[inline]
    fn endpoint_of(&self, request: Option<RequestHandle>) -> Option<u32> {
        Some(self.endpoints.as_ref()?.endpoint_of(request?))
    }

    /// Keeps the times of CPU samples from now on.
    pub(crate) fn keep_when(&mut self, from_nanos: i64) {
        self.when = Some(When::new(from_nanos));
    }

    /// Returns the times of CPU samples, if they are kept.
    pub(crate) fn when(&self) -> Option<&When> {
        self.when.as_ref()
    }

    pub(crate) fn when_mut(&mut self) -> Option<&mut When> {
        self.when.as_mut()
    }

    /// Returns the times in which any thread was at a stack, of CPU samples outside of managed code.
    pub(crate) fn presence(&self) -> &Presence {
        &self.presence
    }

    /// Adds the totals of one CPU sample, or of several directly after each other. Returns the index
    /// of their row. `request`: request that the thread worked for.
    #[inline]
    pub(crate) fn add_run(
        &mut self,
        key: ProfileKey,
        totals: &Totals,
        request: Option<RequestHandle>,
    ) -> u32 {
        if !matches!(key.mode, Mode::Managed | Mode::OnCpu) {
            self.presence.add(key.stack, key.mode, totals.first_nanos, totals.weight);
        }
        let endpoint = self.endpoint_of(request);
        self.add_totals(ProfileKey { endpoint, ..key }, totals)
    }

    /// Adds a sample.
    #[inline]
    pub(crate) fn add(&mut self, sample: &Sample) {
        let endpoint = self.endpoint_of(sample.request);
        let key = ProfileKey { endpoint, ..ProfileKey::from_sample(sample) };
        self.add_totals(key, &Totals::from_sample(sample));
    }

    /// Adds the totals of one or more samples that have the same key. Returns the index of their row.
    #[inline]
    pub(crate) fn add_totals(&mut self, key: ProfileKey, sums: &Totals) -> u32 {
        // The thread is part of the place, because idle threads share a stack and would push each
        // other out.
        let place = (key.stack.0.wrapping_mul(31).wrapping_add(key.thread.0)) as usize % RECENT;
        if let Some(row) = self.recent.get(place)
            && let Some((known, totals)) = self.rows.get_mut(*row as usize)
            && *known == key
        {
            totals.grow(sums);
            return *row;
        }
        self.add_elsewhere(key, place, sums)
    }

    #[inline(never)]
    fn add_elsewhere(&mut self, key: ProfileKey, place: usize, totals: &Totals) -> u32 {
        let next = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let row = *self.places.entry(key).or_insert(next);
        if row == next {
            self.rows.push((key, Totals::default()));
        }
        if let Some((_, sums)) = self.rows.get_mut(row as usize) {
            sums.add(totals);
        }
        if self.recent.is_empty() {
            self.recent = vec![u32::MAX; RECENT];
        }
        if let Some(recent) = self.recent.get_mut(place) {
            *recent = row;
        }
        row
    }

    /// Returns all rows, in the order of their indices.
    pub(super) fn unsorted_rows(&self) -> &[(ProfileKey, Totals)] {
        &self.rows
    }

    /// Replaces each row by those that `replace` adds, given the row's index, key and totals.
    pub(super) fn replace_rows(
        &mut self,
        replace: impl Fn(usize, &ProfileKey, &Totals, &mut dyn FnMut(ProfileKey, Totals)),
    ) {
        let before = std::mem::take(&mut self.rows);
        self.places.clear();
        self.recent.clear();
        let mut of_threads = DividedTimes::default();
        let mut of_stacks = DividedTimes::default();
        for (at, (key, totals)) in before.iter().enumerate() {
            replace(at, key, totals, &mut |new, totals| {
                self.add_totals(new, &totals);
                if key.kind == Kind::Cpu {
                    of_threads.add((key.thread, key.stack, key.mode), new.mode, &totals);
                    of_stacks.add((key.stack, key.mode), new.mode, &totals);
                }
            });
        }
        if let Some(when) = &mut self.when {
            when.divide(&of_stacks);
        }
        self.presence.divide(&of_stacks);
        self.divided = of_threads;
    }

    /// Returns how the time of CPU samples is divided, by thread, stack and mode of the samples as
    /// they were recorded. Empty without readings.
    pub(crate) fn divided(&self) -> &DividedTimes<(ThreadHandle, StackHandle, Mode)> {
        &self.divided
    }

    /// Returns the sums of the readings of the process; `None` if there are no readings.
    pub(crate) fn processor(&self) -> Option<&ProcessorSums> {
        self.processor.as_ref()
    }

    /// Returns how the time of single samples is divided, if there are readings and a converter
    /// takes samples.
    pub(super) fn sample_times(&self) -> Option<&Arc<SampleTimes>> {
        self.sample_times.as_ref()
    }

    pub(super) fn set_sample_times(&mut self, times: SampleTimes) {
        self.sample_times = Some(Arc::new(times));
    }

    pub(super) fn set_processor(&mut self, sums: ProcessorSums) {
        self.processor = Some(sums);
    }

    /// Returns all rows, sorted by kind, thread and stack, those of waiting threads among them. Threads and
    /// stacks are in the order of first appearance.
    pub fn rows(&self) -> Vec<(ProfileKey, Totals)> {
        let mut rows = self.rows.clone();
        rows.sort_unstable_by_key(|(key, _)| *key);
        rows
    }

    /// Returns whether the profile has no samples.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns which clock the weights of CPU samples measure: [`SampleClock::Cpu`] if all samples
    /// were taken on processors.
    pub(crate) fn clock(&self) -> SampleClock {
        let mut cpu = self.rows.iter().filter(|(key, _)| key.kind == Kind::Cpu).peekable();
        match cpu.peek().is_some() && cpu.all(|(key, _)| key.mode == Mode::OnCpu) {
            true => SampleClock::Cpu,
            false => SampleClock::Wall,
        }
    }

    /// Returns the kinds of samples that occurred, and the number of samples of each.
    pub fn kinds(&self) -> Vec<(Kind, u64)> {
        let mut counts: BTreeMap<Kind, u64> = BTreeMap::new();
        for (key, totals) in &self.rows {
            let count = counts.entry(key.kind).or_default();
            *count = count.saturating_add(totals.samples);
        }
        counts.into_iter().collect()
    }

    /// Returns whether the profile has samples of a kind.
    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.rows.iter().any(|(key, _)| key.kind == kind)
    }
}
