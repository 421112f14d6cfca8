//! A trace with names for all frames, which is the basis of reports and formats.

use super::Model;
use super::activity_spans::ActivitySpans;
use super::call_nodes::Call;
use super::coverage::{Coverage, FrameCounts};
use super::endpoint_spans::ServedRequest;
use super::filter::Filter;
use super::folding::{Folding, Path};
use super::handle::{FrameHandle, ProcessHandle, RequestHandle, StackHandle, ThreadHandle};
use super::kept_frames::{FramesPlace, KeptFrames};
use super::line_finder::{LineCoverage, LineFinder};
use super::names::{Frame, FrameCall, NameOptions};
use super::pattern::Pattern;
use super::profile::{Profile, ProfileKey};
use super::recording::is_recording;
use super::resolver::{ResolvedStack, Resolver};
use super::role::{Leaf, is_calling, running_of, state_of};
use super::sample::{CountedStates, Kind, Mode, Running, Sample, SampleClock, ThreadState};
use super::sampler::{RunningCandidates, RuntimeVersion};
use super::thread_times::{SampleDivider, SampleTimes, Unsampled};
use super::wait_for::WaitFor;
use crate::hash::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The model and samples of a trace that was read to its end, with a name for every frame.
#[derive(Debug)]
pub struct Resolved<'m> {
    model: &'m Model,
    profile: &'m Profile,
    frames: Vec<Arc<Frame>>,
    kept: KeptFrames,
    /// Frames that no report shows, by stack. They are where a poll caught the thread: see
    /// [`Resolver::caught`].
    caught: HashMap<StackHandle, FramesPlace>,
    stacks: Vec<ResolvedStack>,
    /// Frames of threads that ran in a method that waits, by stack. The first one says so.
    waking: HashMap<StackHandle, FramesPlace>,
    /// Filter of threads, processes and times; `None` if it accepts all.
    moments: Option<Filter>,
    /// Whether a sample whose stack is unknown meets the filter's conditions on frames.
    admits_unknown_stacks: bool,
    states: Vec<ThreadState>,
    names: NameOptions,
    coverage: Coverage,
    lines: Option<LineCoverage>,
    joins_recursion: bool,
    /// Pattern for the user's own code, if the user gave one.
    my_code: Option<Pattern>,
}

/// Marks the stacks of processes whose sampler does not tell managed from native code. The version
/// of the runtime decides that, or else the samples.
fn tell_states(model: &Model, rows: &mut [ResolvedStack]) {
    let stacks = model.stored_stacks();
    let process_of = |stack| stacks.process(stack).unwrap_or(ProcessHandle(0));
    let mut candidates: HashMap<ProcessHandle, RunningCandidates> = HashMap::default();
    for (stack, row) in stacks.handles().zip(rows.iter()) {
        if row.leaf.may_run_managed() {
            let [managed, external] = stacks.sampled(stack).map(u64::from);
            candidates.entry(process_of(stack)).or_default().add(managed, external);
        }
    }
    let is_untold = |process: ProcessHandle| {
        let runtime = model.process(process).and_then(|process| process.runtime);
        match runtime.and_then(RuntimeVersion::tells_managed) {
            Some(tells) => !tells,
            None => candidates.get(&process).is_some_and(|samples| samples.are_untold()),
        }
    };
    let untold: HashSet<ProcessHandle> =
        model.processes().map(|(process, _)| process).filter(|it| is_untold(*it)).collect();
    if untold.is_empty() {
        return;
    }
    for (stack, row) in stacks.handles().zip(rows) {
        row.leaf.is_untold = untold.contains(&process_of(stack));
    }
}

/// Keeps the frames of threads that ran in a method that waits, as their readings show. Above the
/// other frames stands one for going to sleep and waking.
fn waking(
    resolver: &mut Resolver<'_, '_>,
    profile: &Profile,
    rows: &[ResolvedStack],
    kept: &mut KeptFrames,
) -> HashMap<StackHandle, FramesPlace> {
    let mut waking = HashMap::default();
    let ran = profile.unsorted_rows().iter().filter(|(key, _)| key.mode == Mode::Ran);
    for stack in ran.map(|(key, _)| key.stack) {
        let is_shown = |row: &&ResolvedStack| row.leaf.is_known_wait() && !row.is_recording;
        let row = rows.get(stack.index()).filter(is_shown);
        let Some(row) = row.filter(|_| !waking.contains_key(&stack)) else { continue };
        let mut frames = kept.get(row.place).to_vec();
        if let Some(first) = frames.first() {
            frames.insert(0, resolver.intern_call(*first, FrameCall::Waking));
            waking.insert(stack, kept.keep(&frames));
        }
    }
    waking
}

impl<'m> Resolved<'m> {
    /// Resolves all frames of all stacks.
    ///
    /// Frames are folded after filtering, because the filter applies to the frames that were
    /// recorded.
    pub(crate) fn new(
        model: &'m Model,
        profile: &'m Profile,
        options: NameOptions,
        folding: &Folding,
        filter: &Filter,
    ) -> Resolved<'m> {
        let mut resolver = Resolver::new(model, options, folding, filter);
        let stacks = model.stored_stacks();
        let mut rows = Vec::with_capacity(stacks.len());
        let (mut kept, mut frames) = (KeptFrames::default(), Vec::new());
        let has_readings = profile.processor().is_some();
        let mut caught = HashMap::default();
        // Stacks that share addresses usually have the same frames.
        let mut shared: HashMap<usize, FramesPlace> = HashMap::default();
        let limits_threads = filter.spans.as_ref().is_some_and(ActivitySpans::limits_threads);
        for stack in stacks.handles() {
            if stacks.is_of_task(stack) {
                rows.push(ResolvedStack::UNKNOWN);
                continue;
            }
            let mut row = resolver.resolve_stack(stack, &mut frames);
            let innermost = frames.first().and_then(|frame| resolver.frames.get(frame.index()));
            row.is_recording = has_readings && innermost.is_some_and(is_recording);
            if row.is_recording {
                // Its callers are the program, which did not ask for the work.
                frames.truncate(1);
                row.has_call = false;
            }
            // The last activity of an idle thread stays in the spans until the thread has another.
            row.passes &= !limits_threads || !row.is_idle();
            let at = stacks.shared_place(stack);
            let before = at.and_then(|at| shared.get(&at)).copied();
            let before = before.filter(|before| kept.get(*before) == frames);
            row.place = before.unwrap_or_else(|| kept.keep(&frames));
            if let Some(at) = at {
                shared.insert(at, row.place);
            }
            if !resolver.caught.is_empty() {
                caught.insert(stack, kept.keep(&resolver.caught));
            }
            rows.push(row);
        }
        tell_states(model, &mut rows);
        let waking = waking(&mut resolver, profile, &rows, &mut kept);
        if !options.is_raw {
            resolver.name_endpoints();
        }
        let coverage = Coverage {
            has_rundown: model.processes().any(|(_, process)| process.methods.has_rundown()),
            has_methods: model.processes().any(|(_, process)| !process.methods.codes().is_empty()),
            is_compiled_ahead: model.processes().any(|(_, process)| !process.images.is_empty()),
            has_mappings: model.processes().any(|(_, process)| !process.mappings().is_empty()),
            ..Coverage::default()
        };
        let coverage = coverage.with_frames(resolver.counted);
        let mut resolved = Resolved {
            model,
            profile,
            frames: resolver.frames.into_iter().map(Arc::new).collect(),
            kept,
            caught,
            stacks: rows,
            waking,
            moments: (!filter.admits_all_moments()).then(|| filter.clone()),
            admits_unknown_stacks: filter.frame.is_none() && filter.exclude.is_none(),
            states: filter.states.clone(),
            names: options,
            coverage,
            lines: resolver.lines.map(LineFinder::into_coverage),
            joins_recursion: folding.merges_recursion,
            my_code: folding.my_code.clone(),
        };
        resolved.fold_small(profile, folding.least_percent);
        resolved
    }

    /// Creates names and stacks for a profile of something other than code, such as objects.
    /// `stacks` contain indices into `frames`, innermost first.
    pub(crate) fn of_things(
        model: &'m Model,
        profile: &'m Profile,
        frames: Vec<Frame>,
        stacks: &[Vec<FrameHandle>],
    ) -> Resolved<'m> {
        let (mut kept, mut rows) = (KeptFrames::default(), Vec::with_capacity(stacks.len()));
        for stack in stacks {
            rows.push(ResolvedStack {
                place: kept.keep(stack),
                passes: true,
                ..ResolvedStack::UNKNOWN
            });
        }
        Resolved {
            model,
            profile,
            frames: frames.into_iter().map(Arc::new).collect(),
            kept,
            caught: HashMap::default(),
            stacks: rows,
            waking: HashMap::default(),
            moments: None,
            admits_unknown_stacks: true,
            states: Vec::new(),
            names: NameOptions::default(),
            coverage: Coverage::default(),
            lines: None,
            joins_recursion: false,
            my_code: None,
        }
    }

    /// Removes each frame that has less than `least_percent` of the weight of the filtered samples.
    /// Its samples then count for the next frame outwards. If there are several kinds of samples, a
    /// frame is removed only if its weight is too small in each of them.
    fn fold_small(&mut self, profile: &Profile, least_percent: f64) {
        if least_percent <= 0.0 || profile.is_empty() {
            return;
        }
        let mut of_kinds: BTreeMap<Kind, (u64, Vec<u64>)> = BTreeMap::new();
        let mut distinct = Vec::new();
        for (key, totals) in profile.rows() {
            let Some(frames) = self.selected(key.stack, key.mode) else { continue };
            let (whole, weights) =
                of_kinds.entry(key.kind).or_insert_with(|| (0, vec![0; self.frames.len()]));
            *whole = whole.saturating_add(totals.weight);
            // A recursive frame counts once.
            distinct.clear();
            distinct.extend_from_slice(frames);
            distinct.sort_unstable();
            distinct.dedup();
            for frame in &distinct {
                if let Some(weight) = weights.get_mut(frame.index()) {
                    *weight = weight.saturating_add(totals.weight);
                }
            }
        }
        let is_large = |frame: &FrameHandle| {
            of_kinds.values().any(|(whole, weights)| {
                let weight = weights.get(frame.index()).copied().unwrap_or(0);
                weight > 0 && weight as f64 * 100.0 >= least_percent * *whole as f64
            })
        };
        let mut known: HashMap<FramesPlace, FramesPlace> = HashMap::default();
        let mut path = Path::new(self.joins_recursion);
        for row in &mut self.stacks {
            let call = self.kept.get(row.place).first().copied().filter(|_| row.has_call);
            row.place = *known.entry(row.place).or_insert_with(|| {
                let frames = self.kept.get(row.place);
                path.frames.clear();
                frames
                    .iter()
                    .rev()
                    .filter(|frame| is_large(frame))
                    .for_each(|frame| path.push(*frame));
                if path.frames.is_empty() {
                    path.frames.extend(frames.last());
                }
                self.kept.replace(row.place, path.frames.iter().rev())
            });
            let frames = self.kept.get(row.place);
            row.has_call = call.is_some() && frames.first().copied() == call && frames.len() > 1;
        }
    }

    /// Replaces the samples. Frames that were removed because of the previous samples are not
    /// restored.
    pub(crate) fn use_samples(&mut self, profile: &'m Profile, states: &[ThreadState]) {
        self.profile = profile;
        states.clone_into(&mut self.states);
    }

    /// Returns whether `profile` and `states` are the samples in use.
    pub(crate) fn uses_samples(&self, profile: &Profile, states: &[ThreadState]) -> bool {
        std::ptr::eq(self.profile, profile) && self.states == states
    }

    /// Returns what the trace says about processes, threads and code.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// Returns the options of the frames' names.
    pub(crate) fn names(&self) -> NameOptions {
        self.names
    }

    /// Returns the pattern for the user's own code, if the user gave one.
    pub(crate) fn my_code(&self) -> Option<&Pattern> {
        self.my_code.as_ref()
    }

    /// Returns which clock the weights of the CPU samples of a profile measure that the filter
    /// accepts. With readings, samples of threads that ran weigh processor time.
    pub(crate) fn clock(&self, profile: &Profile) -> SampleClock {
        let is_running = |state| ThreadState::RUNNING.contains(state);
        let counts_running = !self.states.is_empty() && self.states.iter().all(is_running);
        match profile.processor() {
            Some(_) if counts_running => SampleClock::Cpu,
            _ => profile.clock(),
        }
    }

    /// Returns whether a stack stands for processor time without samples.
    pub(crate) fn is_unsampled(&self, stack: StackHandle) -> bool {
        self.model.stored_stacks().process(stack) == Some(Unsampled::PROCESS)
    }

    /// Returns whether a stack is work of the recording in a trace with readings. Its time is a row,
    /// `(recording)`, but no part of the time to which percentages are relative.
    pub(crate) fn is_recording(&self, stack: StackHandle) -> bool {
        self.stacks.get(stack.index()).is_some_and(|row| row.is_recording)
    }

    /// Returns how readings divide the time of single samples; `None` without readings, or if no
    /// converter takes samples.
    pub fn sample_times(&self) -> Option<Arc<SampleTimes>> {
        self.profile.sample_times().cloned()
    }

    /// Returns what divides the time of a thread's samples by its readings; `None` without readings.
    pub(crate) fn divider(&self, thread: ThreadHandle) -> Option<SampleDivider<'m>> {
        let id = self.model.thread(thread).and_then(|thread| thread.os_thread_id);
        self.profile.sample_times().map(|times| times.divider(id))
    }

    /// Returns the aggregated samples.
    pub(crate) fn profile(&self) -> &'m Profile {
        self.profile
    }

    /// Returns all distinct frames, in the order of their handles.
    pub fn all_frames(&self) -> &[Arc<Frame>] {
        &self.frames
    }

    /// Returns the frame that a handle refers to.
    pub fn frame(&self, frame: FrameHandle) -> Option<&Arc<Frame>> {
        self.frames.get(frame.index())
    }

    /// Returns a frame's text.
    pub fn text(&self, frame: FrameHandle) -> &str {
        self.frame(frame).map_or("?", |frame| &frame.text)
    }

    /// Returns the frames of a stack, innermost first, whether or not the filter accepts the stack.
    /// There is one frame for each address, unless frames are folded. The runtime's own innermost
    /// frames are left out, unless names are raw.
    pub fn frames(&self, stack: StackHandle) -> &[FrameHandle] {
        let index = stack.index();
        let (row, is_of_sample) = match self.stacks.get(index) {
            Some(row) => (Some(row), false),
            None => (self.stacks.get(index.wrapping_sub(self.stacks.len())), true),
        };
        let Some(row) = row else { return self.waking_frames(stack) };
        let hidden = usize::from(row.has_call && !is_of_sample);
        self.kept.get(row.place).get(hidden..).unwrap_or_default()
    }

    /// Returns the stack of a sample, for [`Resolved::frames`]. If the thread was in a native call
    /// or taking a lock, the handle is `stack` plus the number of all stacks, and its frames begin
    /// with one for that call; plus twice the number if the thread ran in a method that waits. So
    /// callers need not treat such samples specially.
    pub(crate) fn sample_stack(&self, stack: StackHandle, mode: Mode) -> StackHandle {
        let row = self.stacks.get(stack.index());
        let is_calling = row.is_some_and(|row| row.has_call && is_calling(mode, row.leaf));
        let times = if self.is_waking(stack, mode) { 2 } else { usize::from(is_calling) };
        let added = self.stacks.len().saturating_mul(times);
        u32::try_from(stack.index().saturating_add(added)).map_or(stack, StackHandle)
    }

    /// Returns whether a thread ran in a method that waits: it went to sleep or woke.
    pub(crate) fn is_waking(&self, stack: StackHandle, mode: Mode) -> bool {
        mode == Mode::Ran && self.waking.contains_key(&stack)
    }

    /// Returns the frames of a thread that ran in a method that waits, by the handle of
    /// [`Resolved::sample_stack`].
    fn waking_frames(&self, stack: StackHandle) -> &[FrameHandle] {
        let index = stack.index().checked_sub(self.stacks.len().saturating_mul(2));
        let stack = index.and_then(|index| u32::try_from(index).ok()).map(StackHandle);
        let place = stack.and_then(|stack| self.waking.get(&stack));
        place.map_or(&[], |place| self.kept.get(*place))
    }

    /// Returns the numbers of frames that a stack has in the trace.
    pub(crate) fn counted(&self, stack: StackHandle) -> FrameCounts {
        self.stacks.get(stack.index()).map_or(FrameCounts::NONE, |row| row.counted)
    }

    /// Returns whether a stack has lost its callers, because the runtime keeps 100 frames. The
    /// outermost frame says so.
    pub(crate) fn is_cut_off(&self, stack: StackHandle) -> bool {
        self.stacks.get(stack.index()).is_some_and(|row| row.is_cut_off)
    }

    /// Returns whether a stack is one of async code whose callers are not in the trace. The outermost
    /// frame says so.
    pub(crate) fn lacks_async_callers(&self, stack: StackHandle) -> bool {
        self.stacks.get(stack.index()).is_some_and(|row| row.lacks_async_callers)
    }

    /// Returns whether callers that a stack had lost were taken from the thread's previous stack.
    pub(crate) fn is_repaired(&self, stack: StackHandle) -> bool {
        self.stacks.get(stack.index()).is_some_and(|row| row.is_repaired)
    }

    /// Returns the number of stacks, including the handles of [`Resolved::sample_stack`].
    pub(crate) fn stack_count(&self) -> usize {
        self.stacks.len().saturating_mul(if self.waking.is_empty() { 2 } else { 3 })
    }

    /// Returns the frames of a sample's stack, innermost first; `None` if the sample does not pass
    /// the filter. If the thread was in a native call or taking a lock, the first frame says that:
    /// `Sockets.SocketPal.Send → native call`.
    pub fn selected(&self, stack: StackHandle, mode: Mode) -> Option<&[FrameHandle]> {
        self.admits(stack, mode).then(|| self.frames(self.sample_stack(stack, mode)))
    }

    /// Returns whether the filter accepts an await that a thread began at a time. What goes on for other
    /// activities than the filter's is no await of these. `begun`, `ended`: thread and time.
    pub(crate) fn admits_await(
        &self,
        process_id: Option<u64>,
        begun: (u64, i64),
        ended: (u64, i64),
    ) -> bool {
        let Some(filter) = &self.moments else { return true };
        filter.admits_ids(process_id, Some(begun.0), begun.1, false)
            && (filter.spans.as_ref()).is_none_or(|spans| spans.has_work(Some(ended.0), ended.1))
    }

    /// Returns whether a sample with this stack and mode passes the filter.
    #[inline]
    pub(crate) fn admits(&self, stack: StackHandle, mode: Mode) -> bool {
        self.stacks.get(stack.index()).map_or(self.admits_unknown_stacks, |row| row.passes)
            && (self.states.is_empty() || self.states.contains(&self.state(stack, mode)))
    }

    /// Returns whether all samples pass the filter.
    pub(crate) fn admits_all(&self) -> bool {
        self.states.is_empty() && self.stacks.iter().all(|row| row.passes)
    }

    /// Returns whether a sample's thread was waiting and the stack meets the filter's conditions on
    /// frames. The filter's states are ignored.
    pub(crate) fn is_waiting(&self, stack: StackHandle, mode: Mode) -> bool {
        self.stacks.get(stack.index()).is_some_and(|row| row.passes)
            && self.state(stack, mode) == ThreadState::Waiting
    }

    /// Returns the root below which formats show CPU samples of threads that did not run.
    pub(crate) fn state_root(&self, kind: Kind, stack: StackHandle, mode: Mode) -> Option<Call> {
        match self.state(stack, mode) {
            _ if kind != Kind::Cpu => None,
            ThreadState::Waiting => Some(Call::Waiting),
            ThreadState::Ready => Some(Call::Ready),
            _ => None,
        }
    }

    /// Returns the states that the filter accepts.
    pub(crate) fn counted_states(&self) -> CountedStates {
        CountedStates::new(&self.states)
    }

    /// Returns the state of a thread with this stack.
    pub fn state(&self, stack: StackHandle, mode: Mode) -> ThreadState {
        state_of(mode, self.leaf(stack))
    }

    /// Returns how certain it is that a thread with this stack ran; `None` if the thread waited.
    pub(crate) fn running(&self, stack: StackHandle, mode: Mode) -> Option<Running> {
        running_of(mode, self.leaf(stack))
    }

    /// Returns those frames in which a poll may have caught the thread, innermost first. They lie
    /// between the method that polled and the nearest method of the user, which is the first of
    /// [`Resolved::frames`].
    pub(crate) fn caught_frames(&self, stack: StackHandle) -> &[FrameHandle] {
        self.caught.get(&stack).map_or(&[], |place| self.kept.get(*place))
    }

    /// Returns whether a sample is of a pool worker that has no work and spins before it sleeps.
    pub(crate) fn spins_idly(&self, stack: StackHandle, mode: Mode) -> bool {
        mode == Mode::Managed && self.leaf(stack).is_idle_worker
    }

    /// Returns the request that the thread of a sample worked for; `None` for other work, and for
    /// requests that lack spans ([`EndpointSpans::left_out`](super::EndpointSpans::left_out)). A
    /// thread that waits for work has none, though its last activity was that of a request.
    pub fn request_of(&self, sample: &Sample) -> Option<ServedRequest<'_>> {
        self.request(sample.request.filter(|_| !self.is_idle(sample.stack))?)
    }

    /// Returns a request, such as the [parent](ServedRequest::parent) of another one.
    pub fn request(&self, request: RequestHandle) -> Option<ServedRequest<'_>> {
        self.profile.request(request)
    }

    /// Returns the endpoint of the requests for which the samples of a row were taken, as
    /// [`Resolved::request_of`] does for one sample.
    pub fn endpoint_of(&self, row: &ProfileKey) -> Option<&str> {
        let endpoint = self.served_by(row.stack, row.endpoint)?;
        self.profile.endpoints().get(endpoint as usize).map(String::as_str)
    }

    /// Returns the endpoint of the request that a thread with this stack works for. A thread that
    /// waits for work has none, though its last activity was that of a request.
    pub(crate) fn served_by(&self, stack: StackHandle, endpoint: Option<u32>) -> Option<u32> {
        endpoint.filter(|_| !self.is_idle(stack))
    }

    fn is_idle(&self, stack: StackHandle) -> bool {
        self.stacks.get(stack.index()).is_some_and(ResolvedStack::is_idle)
    }

    /// Returns whether the sampler of a sample's process does not tell managed from native code, and
    /// no readings tell whether the thread ran.
    pub(crate) fn is_untold(&self, stack: StackHandle, mode: Mode) -> bool {
        !matches!(mode, Mode::Ran | Mode::Ready | Mode::Waited) && self.leaf(stack).is_untold
    }

    /// Returns whether the trace has samples of a process whose sampler does not tell managed from
    /// native code, and no readings of its threads.
    pub fn has_untold_samples(&self) -> bool {
        self.profile.processor().is_none() && self.has_untold_states()
    }

    /// Returns whether the trace has samples of a process whose sampler does not tell managed from
    /// native code, whether or not readings tell which of them ran.
    pub fn has_untold_states(&self) -> bool {
        let stacks = self.model.stored_stacks();
        let mut rows = stacks.handles().zip(&self.stacks);
        rows.any(|(stack, row)| row.leaf.is_untold && stacks.sampled(stack) != [0, 0])
    }

    fn leaf(&self, stack: StackHandle) -> Leaf {
        self.stacks.get(stack.index()).map_or(Leaf::UNKNOWN, |row| row.leaf)
    }

    /// Returns what a thread with this stack waits for; `None` if the thread does not wait.
    pub(crate) fn waits_for(&self, stack: StackHandle, mode: Mode) -> Option<WaitFor> {
        if self.state(stack, mode) != ThreadState::Waiting {
            return None;
        }
        let by_stack = self.stacks.get(stack.index()).and_then(|row| row.wait_for);
        // The runtime's events say that the wait is for a lock.
        if mode == Mode::Blocked {
            return Some(WaitFor::Lock);
        }
        Some(by_stack.unwrap_or(WaitFor::Other))
    }

    /// Returns how many methods have source lines; `None` unless lines were asked for.
    pub fn lines(&self) -> Option<&LineCoverage> {
        self.lines.as_ref()
    }

    /// Returns how many frames have names, and how many have not.
    pub fn coverage(&self) -> Coverage {
        self.coverage
    }
}
