//! The analysis, which receives events and passes samples to the profile and the converters.

use super::AnalysisOptions;
use super::observer::{Nobody, Observer};
use super::outputs::Outputs;
use super::sample_source::SampleSource;
use crate::by_type::ByType;
use crate::convert::{Convert, ConvertError, ConvertOptions, Format};
use crate::model::activity_edge::EdgeType;
use crate::model::activity_path::PathForm;
use crate::model::intervals::{Interval, LockWaits, Matcher, reported_nanos};
use crate::model::{
    AwaitFields, Coverage, CpuWeights, GatheredSamples, Kind, LearnTopic, LineCoverage, MarkChoice,
    Mode, Model, Moment, Profile, Resolved, STILL_WAITING, Sample, SessionSpan, Spans, StackHandle,
    ThreadHandle, ThreadState, TimelineMark, counter_marks, is_of_process, measure, rounded,
    stands_for,
};
use nettrace_parser::view::{self, View};
use nettrace_parser::{Clock, Event, Outcome, Trace};
use std::io::Write;
use std::sync::Arc;

/// One pass over a trace.
///
/// ```
/// use nettrace_analysis::report::TopNOptions;
/// use nettrace_analysis::{Analysis, AnalysisOptions};
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut analysis = Analysis::new(AnalysisOptions::default());
/// let outcome = analysis.read(&mut Reader::from_slice(&bytes).time_ordered())?;
/// if !outcome.is_intact() {
///     eprintln!("counts are too low: {outcome}");
/// }
/// let finished = analysis.finish()?;
/// let top = finished.report(TopNOptions::default());
/// assert_eq!(top.counted.samples, 0);
/// # Ok::<(), nettrace_analysis::AnalysisError>(())
/// ```
#[expect(missing_debug_implementations, reason = "converters are whatever their writers are")]
#[must_use]
pub struct Analysis<'c> {
    pub(super) options: AnalysisOptions,
    pub(super) model: Model,
    /// What the events of each type are for.
    types: ByType<TypeUse>,
    pub(super) clock: Option<Clock>,
    pub(super) cpu: CpuWeights,
    /// Threads that currently wait for a lock, for the mode of CPU samples.
    pub(super) locks: LockWaits,
    /// Open waits for locks and handles, each with the stack of its start.
    pub(super) waits: Matcher<(ThreadHandle, Kind), (Kind, StackHandle)>,
    /// Spans, if a converter shows them.
    pub(super) spans: Option<Spans>,
    pub(super) outputs: Outputs<'c>,
    pub(super) outcome: Option<Outcome>,
    /// Rounding remainders of the objects and bytes that random samples represent.
    pub(super) carried: [f64; 2],
    /// Number and times of the events that pass the filter, if there is an observer.
    pub(super) selected: SessionSpan,
    /// What the converters' names show about the trace.
    named: Option<Named>,
    /// Whether the kinds of samples are chosen by the formats that are added, because the options
    /// name none.
    formats_choose: bool,
}

/// What the events of a type are for, beside what an observer makes of them.
#[derive(Debug, Clone)]
struct TypeUse {
    topic: LearnTopic,
    /// Type of starts and stops of activities.
    edge_type: Option<Arc<EdgeType>>,
    /// Samples that the events make.
    source: Option<SampleSource>,
    /// Whether spans of activities accept the events by their time alone.
    is_of_process: bool,
    /// Fields of events that tell the callers of async code, if those are wanted.
    tasks: Option<AwaitFields>,
}

impl TypeUse {
    const NONE: TypeUse = TypeUse {
        topic: LearnTopic::Nothing,
        edge_type: None,
        source: None,
        is_of_process: false,
        tasks: None,
    };

    fn of_type(event: &Event<'_>, options: &AnalysisOptions) -> TypeUse {
        TypeUse {
            topic: LearnTopic::of_type(event),
            edge_type: EdgeType::from_event(event).map(Arc::new),
            source: SampleSource::for_event(event, &options.kinds),
            is_of_process: is_of_process(event),
            tasks: AwaitFields::of_type(event).filter(|_| options.async_callers),
        }
    }
}

/// What the names of a whole trace show about it.
#[derive(Debug, Clone)]
struct Named {
    coverage: Coverage,
    lines: Option<LineCoverage>,
    has_untold_samples: bool,
}

impl Named {
    fn from_resolved(resolved: &Resolved<'_>) -> Named {
        let has_untold_samples = resolved.has_untold_samples();
        let (coverage, lines) = (resolved.coverage(), resolved.lines().cloned());
        Named { coverage, lines, has_untold_samples }
    }
}

/// Rounds one of many values and carries the remainder to the next one, so that the sum is right.
fn whole(value: f64, carried: &mut f64) -> u64 {
    let exact = value + *carried;
    let whole = rounded(exact);
    *carried = exact - whole as f64;
    whole
}

impl<'c> Analysis<'c> {
    /// Creates an analysis with these options.
    pub fn new(options: AnalysisOptions) -> Analysis<'c> {
        let mut options = options;
        if options.kinds.is_empty() && !options.events.is_empty() {
            options.kinds.push(Kind::Event);
        }
        let formats_choose = options.kinds.is_empty();
        Analysis { formats_choose, ..Analysis::of_kinds(options) }
    }

    /// Creates an analysis that collects no samples.
    pub(crate) fn without_samples(options: AnalysisOptions) -> Analysis<'c> {
        Analysis::of_kinds(AnalysisOptions { kinds: Vec::new(), events: Vec::new(), ..options })
    }

    fn of_kinds(options: AnalysisOptions) -> Analysis<'c> {
        let mut options = options;
        options.folding.is_async |= options.async_callers;
        let mut outputs = Outputs {
            admits_all: options.filter.admits_all_moments(),
            filter: options.filter.clone(),
            profile: Profile::new(!options.filter.admits_all_moments()),
            gathered: options.thread_times.as_deref().map(GatheredSamples::new),
            skips_profile: options.skips_profile,
            has_sampler_pauses: options.has_sampler_pauses,
            has_cpu: false,
            takes_samples: Vec::new(),
            wants_events: false,
            converters: Vec::new(),
        };
        outputs.profile.tell_endpoints(options.endpoints.clone());
        if options.keeps_when {
            outputs.profile.keep_when(options.filter.from_nanos.unwrap_or(0));
        }
        let mut model = Model::default();
        model.set_cut_stacks(options.cut_stacks);
        if options.lines {
            model.keep_lines();
        }
        if options.async_callers {
            model.join_async_callers(options.async_runs.clone());
        }
        Analysis {
            options,
            model,
            types: ByType::new(TypeUse::NONE),
            clock: None,
            cpu: CpuWeights::new(),
            locks: LockWaits::default(),
            waits: Matcher::default(),
            spans: None,
            outputs,
            carried: [0.0; 2],
            selected: SessionSpan::default(),
            outcome: None,
            named: None,
            formats_choose: false,
        }
    }

    /// Adds a converter to a format, which writes to `out`. Must be called before the first event.
    /// Several formats share a single pass. If [`AnalysisOptions::kinds`] is empty, the kinds that
    /// the formats show are collected.
    ///
    /// ```
    /// use nettrace_analysis::convert::{ConvertOptions, Format};
    /// use nettrace_analysis::{Analysis, AnalysisOptions};
    /// use nettrace_parser::Reader;
    /// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
    /// let mut written = Vec::new();
    /// let mut analysis = Analysis::new(AnalysisOptions::default());
    /// let ndjson = Format::by_name("ndjson").unwrap();
    /// analysis.add_format(ndjson, &mut written, &ConvertOptions::default());
    /// let _outcome = analysis.read(&mut Reader::from_slice(&bytes).time_ordered())?;
    /// analysis.finish()?;
    /// assert!(written.starts_with(b"{"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_format(
        &mut self,
        format: &Format,
        out: impl Write + Send + 'c,
        options: &ConvertOptions,
    ) {
        if self.formats_choose {
            self.collect(&options.kinds_or(format.kinds));
        }
        self.add_converter((format.make)(Box::new(out), options));
    }

    /// Adds a converter of one's own. Must be called before the first event. If
    /// [`AnalysisOptions::kinds`] is empty, CPU samples are collected.
    pub fn add(&mut self, converter: Box<dyn Convert + 'c>) {
        if self.formats_choose {
            self.collect(&[Kind::Cpu]);
        }
        self.add_converter(converter);
    }

    /// Collects samples of these kinds, too.
    fn collect(&mut self, kinds: &[Kind]) {
        let known = &mut self.options.kinds;
        let new: Vec<Kind> = kinds.iter().copied().filter(|kind| !known.contains(kind)).collect();
        known.extend(new);
    }

    /// Collects CPU samples if neither the options nor a format has chosen what to collect. Called
    /// before the first event.
    pub(super) fn settle_kinds(&mut self) {
        if std::mem::take(&mut self.formats_choose) && self.options.kinds.is_empty() {
            self.options.kinds.push(Kind::Cpu);
        }
    }

    fn add_converter(&mut self, converter: Box<dyn Convert + 'c>) {
        if converter.wants_marks() {
            self.spans.get_or_insert_with(|| Spans::new(MarkChoice::All));
        }
        if converter.wants_samples() {
            self.outputs.takes_samples.push(self.outputs.converters.len());
        }
        self.outputs.wants_events |= converter.wants_events();
        self.outputs.converters.push(converter);
    }

    /// Makes only some marks. Must be called before the first event, and after the converters are added.
    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only pages want some marks"))]
    pub(crate) fn choose_marks(&mut self, choice: MarkChoice) {
        if self.spans.is_some() {
            self.spans = Some(Spans::new(choice));
        }
    }

    /// Returns the model of the events so far.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the model, for adding information that the trace does not contain, such as perf
    /// maps.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    /// Sets [`Finished::outcome`], for callers of [`Analysis::event_for`]. The `read` functions set
    /// the outcome themselves.
    pub(crate) fn set_outcome(&mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
    }

    /// Takes the next event. Events must come in time order.
    ///
    /// # Errors
    /// If a converter fails.
    pub fn event(&mut self, event: &Event<'_>) -> Result<(), ConvertError> {
        self.event_for(event, &mut Nobody)
    }

    /// Takes the next event, and then passes it to `observer`.
    pub(crate) fn event_for(
        &mut self,
        event: &Event<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), ConvertError> {
        if self.formats_choose {
            self.settle_kinds();
        }
        let options = &self.options;
        let usage = self.types.look_up(event, |event| TypeUse::of_type(event, options));
        let thread = self.model.learn_about(event, usage.topic);
        if let Some(fields) = &usage.tasks {
            self.model.follow_task(event, thread, fields);
        }
        let (source, is_of_process) = (usage.source, usage.is_of_process);
        let edge_type = usage.edge_type.clone();
        let known_nanos = match &self.clock {
            Some(clock) => clock.nanos_since_start(event.timestamp_ticks()),
            None => self.begin(event.session()).nanos_since_start(event.timestamp_ticks()),
        };
        // Without a usable clock, all events have the time 0.
        let nanos = known_nanos.unwrap_or(0);
        let is_selected = self.outputs.admits_moment(thread, nanos, is_of_process, &self.model);
        let path_form = match &edge_type {
            Some(_) => self.model.path_form(thread),
            // Only starts and stops of activities have paths.
            None => PathForm::default(),
        };
        let moment = Moment::new(thread, known_nanos, is_selected, path_form, edge_type);
        let passed_on = self.pass_on(event, source, &moment);
        if is_selected {
            self.selected.add(nanos);
            // Without a filter, the number of all events is taken at the end.
            if !self.outputs.admits_all {
                self.model.select(thread);
            }
        }
        observer.event(event, &moment, &mut self.model);
        if moment.edge_type().is_none() {
            // Most moments have nothing to drop, which need not be found out by a call.
            std::mem::forget(moment);
        }
        passed_on
    }

    /// Passes on the samples and marks that an event makes, and the event itself.
    #[inline]
    fn pass_on(
        &mut self,
        event: &Event<'_>,
        source: Option<SampleSource>,
        moment: &Moment,
    ) -> Result<(), ConvertError> {
        match source {
            Some(SampleSource::Sampler) => {
                self.outputs.add_sampler(|| event.capture_thread_id());
                if let Some(sample) = view::Sample::from_event(event) {
                    self.add_cpu(event, moment, Mode::from_state(sample.state))?;
                }
            }
            Some(SampleSource::Processor) => self.add_cpu(event, moment, Mode::OnCpu)?,
            Some(SampleSource::SwitchedOut) => self.switched_out(event, moment)?,
            Some(SampleSource::Runtime(kind)) => self.runtime(event, kind, moment)?,
            None => {}
        }
        if !self.options.events.is_empty() {
            self.selected(event, moment)?;
        }
        if let Some(spans) = &mut self.spans {
            spans.event(event, moment, &self.model);
            self.outputs.marks(spans, &self.model)?;
        }
        if self.outputs.wants_events {
            self.outputs.event(event, moment, &self.model)
        } else {
            Ok(())
        }
    }

    /// Takes over the session's properties at the first call, and returns the clock.
    #[inline(never)]
    pub(super) fn begin(&mut self, session: &Trace) -> Clock {
        *self.clock.get_or_insert_with(|| {
            self.cpu.expect(session.sampling_period_nanos.map_or(0, u64::from));
            // All converters have been added by now.
            self.cpu.gather(self.outputs.takes_runs());
            self.model.set_processors(session.processors);
            session.clock()
        })
    }

    fn add_cpu(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        mode: Mode,
    ) -> Result<(), ConvertError> {
        let stack = self.model.sample_stack_of(event, moment.thread);
        self.cpu_sample(event.timestamp_ticks(), moment.thread, stack, mode)
    }

    /// Adds a CPU sample. [`Analysis::begin`] must have been called.
    #[inline(always)]
    pub(super) fn cpu_sample(
        &mut self,
        ticks: u64,
        thread: ThreadHandle,
        stack: StackHandle,
        mode: Mode,
    ) -> Result<(), ConvertError> {
        let nanos =
            self.clock.as_ref().and_then(|clock| clock.nanos_since_start(ticks)).unwrap_or(0);
        let mode = match mode {
            Mode::OnCpu => mode,
            // The usual case needs no addresses of the stack.
            _ if self.locks.is_empty() => mode,
            _ => self.mode_of(thread, stack, mode),
        };
        let stack = self.model.with_async_callers(thread, stack, ticks);
        self.model.saw(thread, stack);
        self.model.count_sample(stack, mode);
        let (model, outputs) = (&self.model, &mut self.outputs);
        self.cpu.add(thread, stack, mode, nanos, |weighed| outputs.cpu_sample(&weighed, model))
    }

    /// Returns the mode of a sample while at least one thread waits for a lock.
    #[inline(never)]
    fn mode_of(&mut self, thread: ThreadHandle, stack: StackHandle, mode: Mode) -> Mode {
        let addresses = self.model.addresses(stack).iter().copied();
        if self.locks.is_waiting(thread, addresses) { Mode::Blocked } else { mode }
    }

    fn runtime(
        &mut self,
        event: &Event<'_>,
        kind: Option<Kind>,
        moment: &Moment,
    ) -> Result<(), ConvertError> {
        let Moment { thread, nanos, .. } = *moment;
        if LockWaits::is_edge(event.id()) && self.options.kinds.contains(&Kind::Cpu) {
            self.locks.event(event, thread, nanos);
        }
        let Some(kind) = kind else { return Ok(()) };
        let stack = self.model.stack_of(event, thread);
        let sample = Sample::new(kind, thread, stack, nanos);
        let sample = match (kind, event.id()) {
            (Kind::AllocationTicks | Kind::AllocationSamples, _) => self.allocation(event, sample),
            (Kind::Exceptions, _) => {
                let label = view::Exception::from_event(event)
                    .map(|e| self.model.intern_type(e.type_name, self.options.names));
                Some(Sample { label, ..sample })
            }
            (_, 81 | 301) => {
                let what = (kind, stack);
                self.waits.start_inside((thread, kind), moment.edge(event), what, |_| {});
                None
            }
            (_, 91 | 302) => {
                let (reported, at) = (reported_nanos(event), moment.edge(event));
                let wait = self.waits.stop((thread, kind), at, reported, |_| {});
                let what = (kind, stack);
                let wait = wait.unwrap_or_else(|| Interval::without_start(at, reported, what));
                wait.measured_nanos().map(|weight| {
                    let (stack, nanos) = (wait.what.1, wait.start.nanos);
                    Sample { weight, ..Sample::new(kind, thread, stack, nanos) }
                })
            }
            _ => Some(sample),
        };
        sample.map_or(Ok(()), |sample| self.outputs.sample(sample, &self.model))
    }

    fn allocation(&mut self, event: &Event<'_>, sample: Sample) -> Option<Sample> {
        let Some(allocation) = view::Allocation::from_event(event) else {
            // The first version of the event has no type, and a 32-bit number of bytes.
            let weight = event.field("AllocationAmount")?.as_u64()?;
            return Some(Sample { weight, ..sample });
        };
        let label = Some(self.model.intern_type(allocation.type_name, self.options.names));
        let (count, weight) = if allocation.is_random_sample {
            let (objects, bytes) = stands_for(allocation.object_bytes?);
            let [carried_objects, carried_bytes] = &mut self.carried;
            (whole(objects, carried_objects), whole(bytes, carried_bytes))
        } else {
            (1, allocation.bytes_since_last?)
        };
        Some(Sample { label, count, weight, ..sample })
    }

    fn switched_out(&mut self, event: &Event<'_>, moment: &Moment) -> Result<(), ConvertError> {
        let Some(ticks) = event.field("Value").and_then(|value| value.as_u64()) else {
            return Ok(());
        };
        let frequency = u64::try_from(event.session().tick_frequency).unwrap_or(0);
        let weight =
            u128::from(ticks).saturating_mul(1_000_000_000).checked_div(u128::from(frequency));
        let weight = weight.and_then(|weight| u64::try_from(weight).ok()).unwrap_or(ticks);
        let stack = self.model.stack_of(event, moment.thread);
        let (thread, nanos) = (moment.thread, moment.nanos);
        let sample = Sample { weight, ..Sample::new(Kind::OffCpu, thread, stack, nanos) };
        self.outputs.sample(sample, &self.model)
    }

    fn selected(&mut self, event: &Event<'_>, moment: &Moment) -> Result<(), ConvertError> {
        let weight = self.options.events.iter().find(|selector| selector.is_match(event));
        let Some(weight) = weight.and_then(|selector| selector.weight_of(event)) else {
            return Ok(());
        };
        let (thread, nanos) = (moment.thread, moment.nanos);
        let stack = self.model.stack_of(event, thread);
        let sample = Sample { weight, ..Sample::new(Kind::Event, thread, stack, nanos) };
        self.outputs.sample(sample, &self.model)
    }

    /// Ends the pass: resolves names and lets converters write their remaining output.
    ///
    /// # Errors
    /// If a converter fails.
    pub fn finish(mut self) -> Result<Finished, ConvertError> {
        self.complete()?;
        Ok(self.into_finished())
    }

    /// Ends a pass without converters, or whose converters' errors do not matter.
    pub(crate) fn finish_alone(mut self) -> Finished {
        let _ = self.complete();
        self.into_finished()
    }

    fn complete(&mut self) -> Result<(), ConvertError> {
        let (model, outputs) = (&self.model, &mut self.outputs);
        self.cpu.finish(|weighed| outputs.cpu_sample(&weighed, model))?;
        self.open_waits()?;
        let (model, outputs) = (&self.model, &mut self.outputs);
        if let Some(spans) = &mut self.spans {
            spans.finish();
            outputs.marks(spans, model)?;
        }
        let (has_samples, are_all) = (self.outputs.has_cpu, self.outputs.admits_all);
        let period = self.cpu.period_nanos().filter(|_| has_samples);
        self.model.complete(period, self.selected, are_all);
        self.measure();
        self.counters()?;
        let mut converters = std::mem::take(&mut self.outputs.converters);
        converters.retain_mut(|converter| !converter.is_done());
        if converters.is_empty() {
            return Ok(());
        }
        let profile = &self.outputs.profile;
        let resolved = resolved(&self.model, profile, &self.options);
        self.named = Some(Named::from_resolved(&resolved));
        converters.into_iter().try_for_each(|converter| converter.finish(&resolved, profile))
    }

    /// Passes on how much of a processor the threads had over time, if there are readings.
    fn counters(&mut self) -> Result<(), ConvertError> {
        let times = self.options.thread_times.as_ref().filter(|_| self.spans.is_some());
        let Some(times) = times else { return Ok(()) };
        let marks = counter_marks(times, &mut self.model).into_iter().map(TimelineMark::Counter);
        let (model, outputs) = (&self.model, &mut self.outputs);
        marks.into_iter().try_for_each(|mark| outputs.mark(&mark, model))
    }

    /// Divides the times of CPU samples by the readings of their threads, if there are readings.
    fn measure(&mut self) {
        let (gathered, times) = (self.outputs.gathered.take(), &self.options.thread_times);
        if let (Some(gathered), Some(times)) = (gathered, times) {
            let profile = &mut self.outputs.profile;
            let keeps_times = !self.outputs.takes_samples.is_empty();
            let options = (&self.options.filter, keeps_times);
            measure(profile, gathered, times, &mut self.model, options);
        }
    }

    /// Adds samples for waits that are not over at the end of the trace. They count up to there.
    fn open_waits(&mut self) -> Result<(), ConvertError> {
        if self.waits.is_empty() {
            return Ok(());
        }
        let label = Some(self.model.texts_mut().intern(STILL_WAITING));
        let (model, outputs) = (&self.model, &mut self.outputs);
        let end_nanos = self.selected.last_nanos().unwrap_or(i64::MIN);
        self.waits.finish(end_nanos).try_for_each(|wait| {
            let ((kind, stack), start) = (wait.what, wait.start);
            let sample = Sample::new(kind, start.thread, stack, start.nanos);
            let sample = Sample { weight: wait.nanos, label, ..sample };
            outputs.sample(sample, model)
        })
    }

    fn into_finished(self) -> Finished {
        let (outcome, options, named) = (self.outcome, self.options, self.named);
        Finished { model: self.model, profile: self.outputs.profile, outcome, options, named }
    }
}

fn resolved<'m>(model: &'m Model, profile: &'m Profile, options: &AnalysisOptions) -> Resolved<'m> {
    Resolved::new(model, profile, options.names, &options.folding, &options.filter)
}

/// A trace that was read to its end.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Finished {
    /// Processes, threads, modules, methods and stacks of the trace.
    pub model: Model,
    /// Aggregated samples, also of threads that wait: rankings such as [`TopN`](crate::report::TopN) count
    /// those that run, unless [`Filter::states`](crate::Filter::states) asks for others.
    pub profile: Profile,
    /// Outcome of reading, which says whether the trace is truncated or damaged, so that counts are
    /// too low. `None` if the events were passed one by one and
    /// [`ReportPass::set_outcome`](crate::report::ReportPass::set_outcome) was not called.
    pub outcome: Option<Outcome>,
    options: AnalysisOptions,
    named: Option<Named>,
}

impl Finished {
    /// Returns how many frames have names. It takes no time if there were converters, which needed
    /// all names.
    pub fn coverage(&self) -> Coverage {
        self.named().coverage
    }

    /// Returns how many methods have source lines; `None` unless lines were asked for. It takes no
    /// time if there were converters.
    pub fn lines(&self) -> Option<LineCoverage> {
        if self.model.has_lines() { self.named().lines } else { None }
    }

    /// Returns [`Resolved::has_untold_samples`]. It takes no time if there were converters.
    pub fn has_untold_samples(&self) -> bool {
        self.named().has_untold_samples
    }

    fn named(&self) -> Named {
        self.named.clone().unwrap_or_else(|| Named::from_resolved(&self.resolved()))
    }

    /// Resolves all names and applies the filter, according to the options.
    pub fn resolved(&self) -> Resolved<'_> {
        resolved(&self.model, &self.profile, &self.options)
    }

    /// Resolves all names for `profile`, which may be a part of the collected samples. `states`
    /// replace the states of the filter. `folds_recording`: whether the work of the recording is one
    /// frame.
    pub(crate) fn resolved_for<'m>(
        &'m self,
        profile: &'m Profile,
        states: &[ThreadState],
        folds_recording: bool,
    ) -> Resolved<'m> {
        let AnalysisOptions { names, folding, filter, .. } = &self.options;
        let (mut filter, mut folding) = (filter.clone(), folding.clone());
        states.clone_into(&mut filter.states);
        folding.is_recording = Some(folds_recording);
        Resolved::new(&self.model, profile, *names, &folding, &filter)
    }

    /// Returns the states that the filter accepts; empty for all.
    pub(crate) fn states(&self) -> &[ThreadState] {
        &self.options.filter.states
    }

    /// Returns whether the work of the recording is one frame; `None` if each report decides.
    pub(crate) fn folds_recording(&self) -> Option<bool> {
        self.options.folding.is_recording
    }

    /// Returns whether frames with little weight are omitted.
    pub(crate) fn folds_small(&self) -> bool {
        self.options.folding.least_percent > 0.0
    }
}
