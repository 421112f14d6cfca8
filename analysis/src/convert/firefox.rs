//! Firefox Profiler's processed format: one JSON document. Needs the feature `firefox`.
//!
//! | | |
//! |---|---|
//! | opened by | profiler.firefox.com, `samply load`, Mozilla's `profiler-cli` |
//! | samples | CPU samples of each thread with their times. The weight is 1: the viewer computes a duration from the time of the next sample |
//! | activity graph | samples in managed code, and samples of an operating system's sampler, count as activity; in others the thread may have waited. With readings, `threadCPUDelta` is the time that the thread ran since its sample before, and a sample without a stack and without a weight ends the last one, so that the column adds up to what all samples of the thread ran |
//! | categories of frames | .NET, native, kernel, unknown; the innermost frame of a waiting thread is idle |
//! | source lines | with `--lines`: the line of each frame, and the file of each function, which is one for each line |
//! | libraries | modules; the names of methods do not repeat them. The format requires addresses, so methods get made-up ones within their module |
//! | tracks | threads; one track each for GC pauses and for pauses of the sampler, which belong to no thread. A thread's known state is a marker of the category `Thread state`. With readings, it is the state of the largest part of each sample's time, and the details have the times of all parts |
//! | markers | spans and instants in categories, each with its name and details: pauses, collections, JIT, contention, waits, exceptions, thread pool, tasks, activities, loads; the details include what is unknown about a span |
//! | allocations | allocation samples with their stacks, which the viewer's allocation views show on the process's first thread, with the type as innermost frame; also as markers with the type on their own thread |
//! | counters | the heap's size as memory; EventCounters, metrics, thread pool. The viewer only draws counters of memory |
//! | times | milliseconds since the session's start |
//!
//! The format is column-oriented, and the crate that writes it keeps all columns in memory: a
//! marker takes about 60 bytes, plus each distinct text once. CPU and allocation samples are kept
//! until the end, when names are known. If there are more than two million CPU samples, each shown
//! sample stands for several neighbours of its thread, and a marker says so. Of more than a million
//! markers, the first million is kept.

use super::chromium::{pid_of, process_of};
use super::cpuprofile::Microseconds;
use super::firefox_frames::{FrameLines, without_module};
use super::roots::Roots;
use super::states::{SampleStates, StateRun, StateRuns};
use super::{Convert, ConvertError, ConvertOptions, Output};
use crate::hash::HashMap;
use crate::model::{
    Argument, Arguments, Call, CallNodes, Category, FrameHandle, FrameKind, Kind, Mode, Model,
    ProcessHandle, Profile, Resolved, Sample, Span, ThreadHandle, ThreadState, TimelineMark, Track,
};
use fxprof_processed_profile as fx;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

pub(super) const KINDS: &[Kind] = &[Kind::Cpu, Kind::AllocationSamples, Kind::AllocationTicks];

/// Sampling interval that is written if the trace has no samples from which to measure it. It is
/// the default of the viewer.
const INTERVAL_NANOS: u64 = 1_000_000;

/// Maximum number of CPU samples that are written. A sample takes a few bytes of a stream, but 40
/// bytes of the profile.
const MAX_SAMPLES: u64 = 1 << 21;
/// Maximum number of markers that are written.
const MAX_MARKERS: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Firefox<'o> {
    out: Output<'o>,
    kinds: Vec<Kind>,
    samples: BTreeMap<(Kind, ThreadHandle), Track>,
    building: Building,
}

/// A profile while it is being built.
#[derive(Debug)]
struct Building {
    profile: fx::Profile,
    processes: HashMap<ProcessHandle, (fx::ProcessHandle, fx::ThreadHandle)>,
    threads: HashMap<ThreadHandle, fx::ThreadHandle>,
    /// Tracks that show pauses, and do not belong to threads.
    tracks: HashMap<(ProcessHandle, &'static str), fx::ThreadHandle>,
    counters: HashMap<(ProcessHandle, String), (fx::CounterHandle, f64)>,
    /// Marker types by their names: those of span categories, `Allocations`, `Notes` and `Thread
    /// state`.
    marker_types: HashMap<&'static str, (fx::MarkerTypeHandle, fx::CategoryHandle)>,
    has_content: bool,
    markers: usize,
}

/// A marker that has a name and details.
struct Marker {
    marker_type: fx::MarkerTypeHandle,
    category: fx::CategoryHandle,
    name: fx::StringHandle,
    details: fx::StringHandle,
}

impl fx::Marker for Marker {
    fn marker_type(&self, _: &mut fx::Profile) -> fx::MarkerTypeHandle {
        self.marker_type
    }

    fn name(&self, _: &mut fx::Profile) -> fx::StringHandle {
        self.name
    }

    fn category(&self, _: &mut fx::Profile) -> fx::CategoryHandle {
        self.category
    }

    fn string_field_value(&self, _: u32) -> fx::StringHandle {
        self.details
    }

    fn number_field_value(&self, _: u32) -> f64 {
        0.0
    }
}

impl<'o> Firefox<'o> {
    pub(crate) fn new(out: Box<dyn Write + Send + 'o>, options: &ConvertOptions) -> Firefox<'o> {
        let title = if options.title.is_empty() { "trace" } else { &options.title };
        let profile = fx::Profile::new(
            title,
            fx::ReferenceTimestamp::from_millis_since_unix_epoch(0.0),
            fx::SamplingInterval::from_nanos(INTERVAL_NANOS),
        );
        Firefox {
            out: Output::new(out, options.is_gzip),
            kinds: options.kinds_or(KINDS),
            samples: BTreeMap::new(),
            building: Building {
                profile,
                processes: HashMap::default(),
                threads: HashMap::default(),
                tracks: HashMap::default(),
                counters: HashMap::default(),
                marker_types: HashMap::default(),
                has_content: false,
                markers: 0,
            },
        }
    }
}

impl Building {
    fn thread(&mut self, thread: ThreadHandle, model: &Model) -> fx::ThreadHandle {
        if let Some(known) = self.threads.get(&thread) {
            return *known;
        }
        let process = process_of(thread, model);
        let start = time(0);
        let fx_process = match self.processes.get(&process) {
            Some((known, _)) => *known,
            None => self.profile.add_process("process", narrow(pid_of(process, model)), start),
        };
        let tid = model.thread(thread).and_then(|row| row.os_thread_id).unwrap_or(0);
        let handle = self.profile.add_thread(fx_process, narrow(tid), start, false);
        self.profile.set_thread_show_markers_in_timeline(handle, true);
        self.processes.entry(process).or_insert((fx_process, handle));
        self.threads.insert(thread, handle);
        handle
    }

    /// Returns the track that shows a pause. It is not that of the thread that suspended the
    /// others.
    fn track(
        &mut self,
        thread: ThreadHandle,
        name: &'static str,
        model: &Model,
    ) -> fx::ThreadHandle {
        // The process needs a first thread, because allocations are shown on it.
        let fallback = self.thread(thread, model);
        let process = process_of(thread, model);
        if let Some(known) = self.tracks.get(&(process, name)) {
            return *known;
        }
        let Some((fx_process, _)) = self.processes.get(&process) else { return fallback };
        // Numbers go down from the largest, which no thread has as its id.
        let number = u32::MAX.saturating_sub(u32::try_from(self.tracks.len()).unwrap_or(u32::MAX));
        // Viewers sort tracks by start time: a track that is no thread should come last.
        let handle = self.profile.add_thread(*fx_process, number, time(1), false);
        self.profile.set_thread_show_markers_in_timeline(handle, true);
        self.profile.set_thread_name(handle, name);
        self.tracks.insert((process, name), handle);
        handle
    }

    fn add_marker(
        &mut self,
        thread: fx::ThreadHandle,
        category: &'static str,
        name: &str,
        details: &str,
        timing: fx::MarkerTiming,
    ) {
        self.has_content = true;
        let timing = match self.markers.cmp(&MAX_MARKERS) {
            Ordering::Less => timing,
            Ordering::Equal => {
                let text = "there are more markers than are shown";
                self.markers = self.markers.saturating_add(1);
                return self.marker_of("Notes", thread, text, "", timing);
            }
            Ordering::Greater => return,
        };
        self.markers = self.markers.saturating_add(1);
        self.marker_of(category, thread, name, details, timing);
    }

    fn marker_of(
        &mut self,
        category: &'static str,
        thread: fx::ThreadHandle,
        name: &str,
        details: &str,
        timing: fx::MarkerTiming,
    ) {
        let profile = &mut self.profile;
        let (marker_type, category) =
            *self.marker_types.entry(category).or_insert_with(|| marker_type(profile, category));
        let (name, details) = (profile.intern_string(name), profile.intern_string(details));
        profile.add_marker(thread, timing, Marker { marker_type, category, name, details });
    }

    /// Adds a counter's value, written as the difference from the last value, because the viewer
    /// adds values up.
    fn add_counter(
        &mut self,
        thread: ThreadHandle,
        name: &str,
        unit: &str,
        nanos: i64,
        value: f64,
        model: &Model,
    ) {
        self.has_content = true;
        self.thread(thread, model);
        let process = process_of(thread, model);
        let Some((fx_process, _)) = self.processes.get(&process) else { return };
        let profile = &mut self.profile;
        let (counter, last) =
            self.counters.entry((process, name.to_owned())).or_insert_with(|| {
                let category = if unit == "bytes" { "Memory" } else { "Counter" };
                (profile.add_counter(*fx_process, name, category, unit), 0.0)
            });
        profile.add_counter_sample(*counter, time(nanos), value - *last, 0);
        *last = value;
    }
}

/// Returns the name of the track on which a span is shown, if it is a pause.
fn pause_track(span: &Span) -> Option<&'static str> {
    let is_pause =
        matches!(span.category, Category::Pause | Category::SamplerPause | Category::OtherPause);
    is_pause.then(|| span.category.name())
}

fn marker_type(
    profile: &mut fx::Profile,
    name: &'static str,
) -> (fx::MarkerTypeHandle, fx::CategoryHandle) {
    let color = match name {
        "GC" | "GC pauses" => fx::CategoryColor::Orange,
        "JIT" | "JIT batches" => fx::CategoryColor::Blue,
        "Contention" | "Waits" => fx::CategoryColor::Yellow,
        "Exceptions" => fx::CategoryColor::Red,
        "Allocations" => fx::CategoryColor::Brown,
        "Tasks" | "Thread pool" => fx::CategoryColor::Green,
        "Activities" => fx::CategoryColor::Purple,
        "Thread state" => fx::CategoryColor::LightBlue,
        _ => fx::CategoryColor::Gray,
    };
    let category = profile.add_category(name, color);
    let schema = fx::RuntimeSchemaMarkerSchema {
        type_name: name.to_owned(),
        description: None,
        locations: fx::MarkerLocations::MARKER_CHART
            | fx::MarkerLocations::MARKER_TABLE
            | fx::MarkerLocations::TIMELINE_OVERVIEW,
        chart_label: Some("{marker.name}".to_owned()),
        tooltip_label: Some("{marker.name}".to_owned()),
        table_label: Some("{marker.data.details}".to_owned()),
        fields: vec![fx::RuntimeSchemaMarkerField {
            key: "details".to_owned(),
            label: "Details".to_owned(),
            format: fx::MarkerFieldFormat::String,
            flags: fx::MarkerFieldFlags::SEARCHABLE,
        }],
        graphs: Vec::new(),
    };
    (profile.register_marker_type(schema), category)
}

/// Writes the samples of all threads.
struct SampleWriter<'b, 'r, 'm> {
    building: &'b mut Building,
    resolved: &'r Resolved<'m>,
    categories: HashMap<&'static str, fx::CategoryHandle>,
    /// Frames of the viewer, by the index of the frame in the model.
    frames: Vec<fx::Frame>,
    /// Limits the total number of nodes in the trees of calls. Each thread has its own tree.
    calls: CallNodes,
    /// Number of neighbouring CPU samples for which one row stands.
    samples_per_row: u64,
}

/// Returns the viewer's thread for a sample, and the sample's calls, root first.
fn path<'f>(
    thread: ThreadHandle,
    frames: &'f [FrameHandle],
) -> impl Iterator<Item = Call> + use<'f> {
    std::iter::once(Call::Thread(thread))
        .chain(frames.iter().rev().map(|frame| Call::Frame(*frame)))
}

/// Distance between the made-up addresses of methods in a module.
const METHOD_BYTES: u32 = 16;

impl<'b, 'r, 'm> SampleWriter<'b, 'r, 'm> {
    fn new(building: &'b mut Building, resolved: &'r Resolved<'m>, profile: &Profile) -> Self {
        let rows = profile.rows();
        let calls = CallNodes::for_paths(|| {
            rows.iter().filter_map(|(key, _)| {
                let frames = resolved.selected(key.stack, key.mode)?;
                Some(path(key.thread, frames))
            })
        });
        let mut symbols: BTreeMap<&str, Vec<fx::Symbol>> = BTreeMap::new();
        let mut places = Vec::new();
        for frame in resolved.all_frames() {
            let (module, name) = without_module(frame);
            let of_module = symbols.entry(module).or_default();
            let number = u32::try_from(of_module.len()).ok().filter(|_| !module.is_empty());
            let address = number.and_then(|number| number.checked_mul(METHOD_BYTES));
            let name = name.into_owned();
            if let Some(address) = address {
                of_module.push(fx::Symbol {
                    address,
                    size: Some(METHOD_BYTES),
                    name: name.clone(),
                });
            }
            places.push((module, address, name));
        }
        let model = resolved.model();
        let paths: HashMap<&str, &str> = model
            .processes()
            .flat_map(|(_, process)| process.modules())
            .map(|module| (&*module.name, &*module.il_path))
            .collect();
        let profile = &mut building.profile;
        let libraries: HashMap<&str, fx::LibraryHandle> = symbols
            .into_iter()
            .filter(|(module, _)| !module.is_empty())
            .map(|(module, symbols)| {
                let path = paths.get(module).map_or(module, |path| path);
                let handle = profile.add_lib(fx::LibraryInfo {
                    name: module.to_owned(),
                    debug_name: module.to_owned(),
                    path: path.to_owned(),
                    debug_path: path.to_owned(),
                    debug_id: fx::debugid::DebugId::nil(),
                    code_id: None,
                    arch: None,
                    symbol_table: Some(Arc::new(fx::SymbolTable::new(symbols))),
                });
                (module, handle)
            })
            .collect();
        let frames = places.into_iter().map(|(module, address, name)| {
            match (libraries.get(module), address) {
                (Some(library), Some(address)) => {
                    fx::Frame::RelativeAddressFromInstructionPointer(*library, address)
                }
                _ => fx::Frame::Label(profile.intern_string(&name)),
            }
        });
        let frames = frames.collect();
        let cpu = rows.iter().filter(|(key, _)| key.kind == Kind::Cpu);
        let cpu = cpu.fold(0u64, |sum, (_, totals)| sum.saturating_add(totals.samples));
        let samples_per_row = cpu.div_ceil(MAX_SAMPLES).max(1);
        SampleWriter {
            building,
            resolved,
            categories: HashMap::default(),
            frames,
            calls,
            samples_per_row,
        }
    }

    fn category(&mut self, name: &'static str, color: fx::CategoryColor) -> fx::CategoryHandle {
        let profile = &mut self.building.profile;
        *self.categories.entry(name).or_insert_with(|| profile.add_category(name, color))
    }

    /// Returns the viewer's stack for these frames. `label` is the allocated type, which becomes a
    /// frame, too.
    fn intern_stack(
        &mut self,
        thread: fx::ThreadHandle,
        of: ThreadHandle,
        frames: &[FrameHandle],
        is_waiting: bool,
        label: Option<&str>,
    ) -> Option<fx::StackHandle> {
        let resolved = self.resolved;
        // The path begins with the thread, which is no frame.
        let fitting = self.calls.fitting(path(of, frames)).saturating_sub(1);
        let is_cut = fitting < frames.len();
        let mut infos = Vec::with_capacity(fitting.saturating_add(2));
        // Root first.
        for (place, handle) in frames.iter().enumerate().rev().take(fitting) {
            let kind = resolved.frame(*handle).map_or(FrameKind::Unknown, |frame| frame.kind);
            let (name, color) = match kind {
                _ if place == 0 && is_waiting => ("Idle", fx::CategoryColor::Transparent),
                FrameKind::Managed => (".NET", fx::CategoryColor::Green),
                FrameKind::Native => ("Native", fx::CategoryColor::Blue),
                FrameKind::Kernel => ("Kernel", fx::CategoryColor::Orange),
                FrameKind::Unknown => ("Unknown", fx::CategoryColor::Gray),
            };
            let category = self.category(name, color);
            let Some(frame) = self.frames.get(handle.index()).cloned() else { continue };
            infos.push(frame_info(frame, category));
        }
        if is_cut {
            let category = self.category("Unknown", fx::CategoryColor::Gray);
            let name = self.building.profile.intern_string(Call::DEEPER);
            infos.push(frame_info(fx::Frame::Label(name), category));
        }
        if let Some(label) = label {
            let category = self.category("Type", fx::CategoryColor::Brown);
            let name = self.building.profile.intern_string(label);
            infos.push(frame_info(fx::Frame::Label(name), category));
        }
        self.building.profile.intern_stack_frames(thread, infos.into_iter())
    }

    fn write_cpu_samples(&mut self, thread: ThreadHandle, track: &Track) {
        let handle = self.building.thread(thread, self.resolved.model());
        let mut stacks = HashMap::default();
        let resolved = self.resolved;
        let (mut states, mut runs) = (SampleStates::new(thread, resolved), StateRuns::default());
        // Time that the thread ran since its sample before, and the end of that sample.
        let (mut ran_nanos, mut end_nanos) = (None, 0);
        // The format has microseconds.
        let mut clock = Microseconds::default();
        let roots = Roots::new(track, resolved);
        if self.samples_per_row > 1 {
            let text = format!("each sample stands for {} of its thread", self.samples_per_row);
            let timing = fx::MarkerTiming::Instant(time(0));
            self.building.add_marker(handle, "Notes", &text, "", timing);
        }
        let mut thinned = Thinned { samples_per_row: self.samples_per_row, ..Thinned::default() };
        for mut sample in track.samples() {
            let times = states.take(&mut sample);
            let Some(frames) = roots.frames(&sample) else { continue };
            let state = self.resolved.state(sample.stack, sample.mode);
            let is_waiting = state == ThreadState::Waiting;
            let stack = *stacks
                .entry((
                    roots.run(&sample),
                    resolved.sample_stack(sample.stack, sample.mode),
                    is_waiting,
                ))
                .or_insert_with(|| self.intern_stack(handle, thread, frames, is_waiting, None));
            let is_active = state == ThreadState::Managed || sample.mode == Mode::OnCpu;
            let active_nanos = match times {
                Some(times) => {
                    end_nanos = sample.nanos.saturating_add_unsigned(sample.weight);
                    ran_nanos.replace(clock.step(times.ran).saturating_mul(1000)).unwrap_or(0)
                }
                None if is_active => sample.weight,
                None => 0,
            };
            thinned.add(sample.nanos, stack, active_nanos);
            if thinned.count == self.samples_per_row {
                thinned.write(handle, &mut self.building.profile);
            }
            self.building.has_content = true;
            if let Some(done) = runs.add(state, &sample, times) {
                self.write_state(handle, &done);
            }
        }
        thinned.write(handle, &mut self.building.profile);
        if let Some(ran) = ran_nanos {
            let profile = &mut self.building.profile;
            profile.add_sample(handle, time(end_nanos), None, cpu_delta(ran), 0);
        }
        if let Some(done) = runs.finish() {
            self.write_state(handle, &done);
        }
    }

    fn write_state(&mut self, thread: fx::ThreadHandle, run: &StateRun) {
        let timing = fx::MarkerTiming::Interval(time(run.start_nanos), time(run.end_nanos));
        let details = details(&run.arguments(), run.note());
        self.building.add_marker(thread, "Thread state", run.state.name(), &details, timing);
    }

    fn write_allocations(&mut self, thread: ThreadHandle, kind: Kind, track: &Track) {
        let model = self.resolved.model();
        let handle = self.building.thread(thread, model);
        let process = process_of(thread, model);
        let Some((_, first)) = self.building.processes.get(&process).copied() else { return };
        let mut stacks = HashMap::default();
        let name = if kind == Kind::AllocationTicks { "allocation tick" } else { "allocation" };
        for sample in track.samples() {
            let Some(frames) = self.resolved.selected(sample.stack, sample.mode) else { continue };
            let label = sample.label.map(|label| super::label_text(kind, model.text(label)));
            let stack = *stacks.entry((sample.stack, sample.label)).or_insert_with(|| {
                self.intern_stack(first, thread, frames, false, label.as_deref())
            });
            let bytes = i64::try_from(sample.weight).unwrap_or(i64::MAX);
            let profile = &mut self.building.profile;
            profile.add_allocation_sample(first, time(sample.nanos), stack, 0, bytes);
            let details = sample.label.map_or("", |label| model.text(label));
            let details = format!("{details}, {} bytes", sample.weight);
            let timing = fx::MarkerTiming::Instant(time(sample.nanos));
            self.building.add_marker(handle, "Allocations", name, &details, timing);
        }
    }
}

impl Convert for Firefox<'_> {
    fn sample(&mut self, sample: &Sample, _model: &Model) -> Result<(), ConvertError> {
        let is_shown =
            matches!(sample.kind, Kind::Cpu | Kind::AllocationSamples | Kind::AllocationTicks);
        if is_shown && self.kinds.contains(&sample.kind) {
            self.samples.entry((sample.kind, sample.thread)).or_default().add(sample);
        }
        Ok(())
    }

    fn wants_marks(&self) -> bool {
        true
    }

    fn mark(&mut self, mark: &TimelineMark, model: &Model) -> Result<(), ConvertError> {
        match mark {
            TimelineMark::Span(span) => {
                let details = details(&span.arguments, span.ends.note());
                let timing =
                    fx::MarkerTiming::Interval(time(span.start_nanos), time(span.end_nanos()));
                let category = span.category.name();
                let thread = match pause_track(span) {
                    Some(track) => self.building.track(span.thread, track, model),
                    None => self.building.thread(span.thread, model),
                };
                self.building.add_marker(thread, category, &span.name, &details, timing);
            }
            TimelineMark::Instant(instant) => {
                let details = details(&instant.arguments, None);
                let timing = fx::MarkerTiming::Instant(time(instant.nanos));
                let category = instant.category.name();
                let thread = self.building.thread(instant.thread, model);
                self.building.add_marker(thread, category, &instant.name, &details, timing);
            }
            TimelineMark::Counter(point) => {
                self.building.add_counter(
                    point.thread,
                    &point.name,
                    &point.unit,
                    point.nanos,
                    point.value,
                    model,
                );
            }
        }
        Ok(())
    }

    fn finish(
        self: Box<Self>,
        resolved: &Resolved<'_>,
        profile: &Profile,
    ) -> Result<(), ConvertError> {
        let Firefox { mut out, samples, mut building, .. } = *self;
        let model = resolved.model();
        let mut writer = SampleWriter::new(&mut building, resolved, profile);
        let has = |kind| samples.keys().any(|(known, _)| *known == kind);
        for ((kind, thread), track) in &samples {
            match kind {
                Kind::Cpu => writer.write_cpu_samples(*thread, track),
                kind if kind.is_represented(has) => {}
                _ => writer.write_allocations(*thread, *kind, track),
            }
        }
        if !building.has_content {
            return Err(ConvertError::NothingToShow { wanted: "samples, spans or counters" });
        }
        building.name_all(model);
        let lines = FrameLines::new(resolved);
        lines.write(&building.profile, &mut out).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
        Ok(out.finish()?)
    }
}

impl Building {
    /// Updates the names of processes and threads that the trace told only after their first event.
    fn name_all(&mut self, model: &Model) {
        for (process, (handle, _)) in &self.processes {
            if let Some(row) = model.process(*process).filter(|row| !row.name.is_empty()) {
                self.profile.set_process_name(*handle, &row.name);
            }
        }
        for (thread, handle) in &self.threads {
            self.profile.set_thread_name(*handle, &model.thread_label(*thread));
        }
        if let Some(period) = model.period_nanos() {
            self.profile.set_interval(fx::SamplingInterval::from_nanos(period));
        }
        if let Some(start) = model.session().and_then(|session| session.start.unix_nanos()) {
            let millis = start as f64 / 1e6;
            let reference = fx::ReferenceTimestamp::from_millis_since_unix_epoch(millis);
            self.profile.set_reference_timestamp(reference);
        }
        // Frames already have names, so nothing needs symbolication.
        self.profile.set_symbolicated(true);
    }
}

/// Consecutive samples of a thread, of which only one is shown.
#[derive(Default)]
struct Thinned {
    samples_per_row: u64,
    count: u64,
    /// Number of groups before this one. It decides which sample of the group is shown, so that
    /// stacks which alternate all appear.
    groups: u64,
    active_nanos: u64,
    shown: Option<(i64, Option<fx::StackHandle>)>,
}

impl Thinned {
    fn add(&mut self, nanos: i64, stack: Option<fx::StackHandle>, active_nanos: u64) {
        if self.count <= self.groups.checked_rem(self.samples_per_row).unwrap_or(0) {
            self.shown = Some((nanos, stack));
        }
        self.count = self.count.saturating_add(1);
        self.active_nanos = self.active_nanos.saturating_add(active_nanos);
    }

    fn write(&mut self, thread: fx::ThreadHandle, profile: &mut fx::Profile) {
        let Some((nanos, stack)) = self.shown.take() else { return };
        let activity = cpu_delta(self.active_nanos);
        let weight = i32::try_from(self.count).unwrap_or(i32::MAX);
        profile.add_sample(thread, time(nanos), stack, activity, weight);
        let groups = self.groups.saturating_add(1);
        *self = Thinned { samples_per_row: self.samples_per_row, groups, ..Thinned::default() };
    }
}

fn cpu_delta(nanos: u64) -> fx::CpuDelta {
    match nanos {
        0 => fx::CpuDelta::ZERO,
        nanos => fx::CpuDelta::from_nanos(nanos),
    }
}

fn frame_info(frame: fx::Frame, category: fx::CategoryHandle) -> fx::FrameInfo {
    fx::FrameInfo { frame, category_pair: category.into(), flags: fx::FrameFlags::empty() }
}

/// Returns a time in the form of the viewer. It is at least 0, because the format does not allow
/// negative times.
fn time(nanos: i64) -> fx::Timestamp {
    fx::Timestamp::from_nanos_since_reference(u64::try_from(nanos).unwrap_or(0))
}

fn narrow(id: u64) -> u32 {
    u32::try_from(id).unwrap_or(u32::MAX)
}

/// Returns the arguments of a span in one text, such as `number: 3, reason: AllocSmall`.
fn details(arguments: &Arguments, note: Option<&str>) -> String {
    let mut text = String::new();
    for (name, value) in arguments {
        let separator = if text.is_empty() { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = match value {
            Argument::Number(number) => write!(text, "{separator}{name}: {number}"),
            Argument::Real(real) => write!(text, "{separator}{name}: {real}"),
            Argument::Address(address) => write!(text, "{separator}{name}: {address:#x}"),
            Argument::Text(value) => write!(text, "{separator}{name}: {value}"),
        };
    }
    if let Some(note) = note {
        let separator = if text.is_empty() { "" } else { "; " };
        let _ = write!(text, "{separator}{note}");
    }
    text
}
