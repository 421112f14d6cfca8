//! The model: the processes, threads, code and stacks that a trace reports.
//!
//! [`Model::learn`] takes events in time order. [`Resolved`] finds names after the last event,
//! because most lists of methods are at the end of a trace. Memory is bounded by the number of
//! distinct methods, modules, threads and stacks, not by the number of events.

mod about;
pub(crate) mod activity_edge;
pub(crate) mod activity_id;
mod activity_pairs;
pub(crate) mod activity_path;
mod activity_spans;
mod added_files;
#[cfg(feature = "symbols")]
mod aot_names;
mod assemblies;
mod async_profiler;
mod async_stacks;
mod call_nodes;
mod code_file;
mod coverage;
mod cpu;
pub(crate) mod cut_stacks;
mod demangle;
mod endpoint_spans;
mod endpoints;
pub(crate) mod filter;
pub(crate) mod folding;
pub(crate) mod frame_names;
mod handle;
mod il_maps;
mod innermost;
mod inside;
pub(crate) mod intervals;
mod kept_frames;
mod kernel;
mod learning;
mod line_finder;
mod memory_map;
mod method_name;
mod methods;
mod modules;
mod moment;
mod mono_names;
pub(crate) mod names;
pub(crate) mod names_so_far;
mod native_images;
mod new_names;
mod overlaps;
mod path_forms;
pub(crate) mod pattern;
pub(crate) mod pdb_file;
pub(crate) mod perf_map;
mod presence;
pub(crate) mod profile;
#[cfg(feature = "symbols")]
mod program_database;
mod public_call;
mod ranges;
mod recent_texts;
mod recording;
pub(crate) mod resolved;
mod resolver;
mod reuses;
mod role;
pub(crate) mod sample;
mod sampler;
mod session_span;
mod shown;
pub(crate) mod source_line;
mod spans;
mod stack_of;
mod stacks;
#[cfg(feature = "symbols")]
pub(crate) mod symbol_file;
mod texts;
mod thread_spans;
pub(crate) mod thread_times;
mod threads;
mod timeline;
mod track;
mod type_name;
mod universal;
mod varints;
mod wait_for;
mod waits;
pub(crate) mod weights;
mod when;

use crate::hash::HashMap;
use about::About;
pub(crate) use about::LearnTopic;
pub use activity_spans::ActivitySpans;
pub(crate) use activity_spans::is_of_process;
pub(crate) use assemblies::{Assembly, Domain, is_core};
pub(crate) use async_profiler::AsyncPauses;
pub use async_profiler::AsyncRuns;
pub(crate) use async_profiler::{AsyncTurn, TurnStep};
use async_stacks::AsyncStacks;
pub(crate) use async_stacks::{AwaitFields, TaskStep};
pub(crate) use call_nodes::{Call, CallNode, CallNodes};
pub use code_file::CodeFile;
pub(crate) use coverage::FrameCounts;
pub use coverage::{Coverage, MissingNames, NamesAdvice, NamesRemedy};
pub(crate) use cpu::{CpuWeights, Weighed, is_sample_gap};
pub(crate) use cut_stacks::CutStacks;
use cut_stacks::Repairs;
pub use endpoint_spans::{EndpointSpans, ServedRequest};
pub(crate) use endpoint_spans::{RequestTimes, UNKNOWN_ENDPOINT};
pub use endpoints::ServedEndpoint;
pub(crate) use endpoints::mark_handler;
pub(crate) use filter::Filter;
pub(crate) use folding::Folding;
#[cfg(feature = "page")]
pub(crate) use folding::shows_async;
pub(crate) use folding::{is_framework, is_framework_module, is_framework_name};
pub use handle::{
    FrameHandle, ProcessHandle, RequestHandle, StackHandle, TextHandle, ThreadHandle,
};
pub(crate) use innermost::{Innermost, InnermostCall};
pub(crate) use inside::{MAX_METHOD_BYTES, is_inside};
pub use line_finder::{LineCoverage, ModuleWithoutPdb};
pub(crate) use memory_map::MemoryMap;
use methods::MethodCode;
pub(crate) use modules::{Module, short_name};
pub use moment::Moment;
pub(crate) use mono_names::name_of_mono;
pub(crate) use names::RUNTIME_FRAMES;
#[cfg(feature = "serde")]
pub(crate) use names::with_lines;
pub(crate) use names::{Frame, FrameCall, FrameKind, NameOptions, NameOrigin};
pub(crate) use names::{short, shorten};
pub(crate) use names_so_far::NamesSoFar;
use native_images::NativeImages;
pub(crate) use new_names::NewNames;
pub(crate) use pattern::Pattern;
pub(crate) use pdb_file::PdbFile;
pub(crate) use profile::DividedPart;
pub(crate) use profile::Profile;
pub use profile::{ProfileKey, Totals};
pub(crate) use public_call::{is_behind_public_call, public_call};
pub(crate) use recording::{is_for_recording, is_recording};
pub(crate) use resolved::Resolved;
pub(crate) use role::{Leaf, Role, WaitChain, is_calling, running_of, state_of};
pub(crate) use sample::{CountedStates, Kind, Mode, Sample, SampleClock, ThreadState};
pub(crate) use sample::{Running, STILL_WAITING, WeightUnit};
pub(crate) use sampler::{RunningCandidates, RuntimeVersion};
pub(crate) use session_span::SessionSpan;
pub use shown::TaskKind;
pub(crate) use shown::{handler_text, method_frame, task_method, task_text, type_text};
pub(crate) use source_line::SourceLine;
pub use spans::{
    Argument, Category, CounterMark, Ends, Flow, Instant, MarkText, Span, SpanScope, TimelineMark,
};
pub(crate) use spans::{Arguments, MarkChoice, Spans};
use stacks::Stacks;
#[cfg(feature = "symbols")]
pub(crate) use symbol_file::SymbolFile;
pub(crate) use texts::Texts;
pub use thread_spans::{ThreadSpan, ThreadSpans};
pub(crate) use thread_times::ThreadTimes;
pub(crate) use thread_times::{DividedInterval, SampleClass, Unsampled, class_of, scaled};
pub(crate) use thread_times::{GatheredSamples, RowPlace, counter_marks, measure};
pub use thread_times::{
    GroupLimits, MachineTotal, PartKind, ProcessTotal, RecordingEnd, SampleDivider, SampleTimes,
    ThreadInterval, ThreadReading, TimePart, TimedThread,
};
pub use threads::Thread;
use threads::ThreadTable;
pub(crate) use timeline::{Piece, Timeline, TimelineRun};
pub(crate) use track::{TimedSample, Track};
pub(crate) use type_name::split_outside;
pub use wait_for::WaitFor;
pub(crate) use weights::EventSelector;
pub(crate) use weights::{rounded, stands_for};
pub(crate) use when::{Cells, When};

use assemblies::Assemblies;
use endpoints::Endpoints;
use il_maps::IlMaps;
use methods::Methods;
use modules::ModuleTable;
use nettrace_parser::{Event, Guid, Trace, Utf16};
use ranges::Ranges;
pub(crate) use recent_texts::RecentTexts;
use std::fmt;
use universal::{Mapping, Mappings};

/// The processes, threads, code and stacks of a trace. See the [module](self).
#[derive(Clone, Default)]
pub struct Model {
    session: Option<Trace>,
    /// Start of the session, in nanoseconds since 1970, as [`start_unix_ns`] returns it.
    start_unix_ns: Option<i64>,
    processes: Vec<Process>,
    by_id: HashMap<Option<u64>, ProcessHandle>,
    // Process of the last event, because most traces have one process.
    last_process: Option<(Option<u64>, ProcessHandle)>,
    threads: ThreadTable,
    stacks: Stacks,
    /// Stack of the last event whose stack was asked for, which several reports may ask for. The
    /// event is known by the position of its payload, the id of its stack, and its thread.
    last_stack: Option<((u64, u32, ThreadHandle), StackHandle)>,
    repairs: Repairs,
    /// Callers of async code; `None` unless stacks are to have them.
    async_stacks: Option<Box<AsyncStacks>>,
    endpoints: Endpoints,
    texts: Texts,
    /// Display name of each type, by the name that the trace stores.
    shown_types: HashMap<TextHandle, TextHandle>,
    /// Symbol files that were added, by the path that the mappings have.
    #[cfg(feature = "symbols")]
    symbol_files: HashMap<String, SymbolFile>,
    /// Whether frames have source lines, for which maps of code are kept.
    has_lines: bool,
    /// PDBs that were added, by their ids.
    pdbs: HashMap<Guid, PdbFile>,
    period_nanos: Option<u64>,
    processors: Option<u32>,
    /// Number and times of those events that pass the filter, if the driver counts them.
    selected: SessionSpan,
}

/// Writes how many processes there are, and nothing of what they did.
impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("processes", &self.processes.len()).finish_non_exhaustive()
    }
}

/// A process that the trace reports.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Process {
    /// OS id of the process; `None` if the stream does not contain it.
    pub id: Option<u64>,
    /// Name or command line of the process; empty if unknown.
    pub name: String,
    pub(crate) methods: Methods,
    pub(crate) il_maps: IlMaps,
    pub(crate) modules: ModuleTable,
    pub(crate) assemblies: Assemblies,
    pub(crate) mappings: Mappings,
    pub(crate) perf_map: Ranges<TextHandle>,
    /// Memory map, which tells the module of code without a name.
    pub(crate) memory: MemoryMap,
    /// Version of the runtime, once an event has named it.
    pub(crate) runtime: Option<RuntimeVersion>,
    /// OS id of each thread, by managed id. The runtime reuses managed ids.
    managed_threads: HashMap<u64, u64>,
    images: NativeImages,
    /// Whether an activity id showed that the runtime loses numbers of paths.
    loses_numbers: bool,
}

/// First major version of .NET in which events name the owners of locks by managed ids.
const MANAGED_OWNERS_SINCE: u32 = 11;

/// Number of processors that NativeAOT writes because it does not know the real one.
const UNKNOWN_PROCESSORS: u32 = 0xffff;

impl Process {
    /// Returns whether events about waits for locks name owners by managed ids instead of OS ids.
    pub(crate) fn has_managed_owners(&self) -> bool {
        self.runtime.is_some_and(|runtime| runtime.version[0] >= MANAGED_OWNERS_SINCE)
    }

    /// Returns the managed id and the OS id of threads that were created in the trace.
    #[cfg_attr(not(feature = "page"), allow(dead_code, reason = "only the page shows them"))]
    pub(crate) fn managed_threads(&self) -> impl Iterator<Item = (u64, u64)> {
        self.managed_threads.iter().map(|(managed, os)| (*managed, *os))
    }

    /// Returns the OS id of the thread with a managed id; `None` if the trace does not report the
    /// thread.
    pub(crate) fn os_thread_of(&self, managed_id: u64) -> Option<u64> {
        self.managed_threads.get(&managed_id).copied()
    }

    /// Returns the files with native code in the process: mapped files (version 6), and programs
    /// and libraries that were compiled ahead of time.
    pub fn code_files(&self) -> impl Iterator<Item = CodeFile<'_>> {
        let mapped = self.mappings.rows().iter().map(|mapping| CodeFile {
            path: &mapping.path,
            build_id: self.mappings.build_id(mapping),
            is_compiled_ahead: false,
        });
        mapped.chain(self.images.rows().map(|image| CodeFile {
            path: &image.path,
            build_id: image.build_id.as_deref(),
            is_compiled_ahead: true,
        }))
    }

    /// Returns the assembly of a module.
    pub(crate) fn assembly_of(&self, module: &Module) -> Option<&Assembly> {
        self.assemblies.find(module.assembly_id)
    }

    /// Returns the application domain of an assembly.
    pub(crate) fn domain_of(&self, assembly: &Assembly) -> Option<&Domain> {
        self.assemblies.find_domain(assembly.domain_id)
    }

    /// Returns the modules, in the order in which they were first reported.
    pub(crate) fn modules(&self) -> &[Module] {
        self.modules.rows()
    }

    /// Returns all code of methods, in the order in which it was first reported.
    pub(crate) fn methods(&self) -> &[MethodCode] {
        self.methods.codes()
    }

    /// Returns the files and kernel code in the memory of the process (version 6).
    pub(crate) fn mappings(&self) -> &[Mapping] {
        self.mappings.rows()
    }
}

impl Model {
    /// Returns the handle of a type's display name. `stored` is its name in the runtime's notation.
    pub fn intern_type(&mut self, stored: Utf16<'_>, options: NameOptions) -> TextHandle {
        let stored = self.texts.intern_repeated(stored);
        if let Some(shown) = self.shown_types.get(&stored) {
            return *shown;
        }
        let text = type_text(self.texts.get(stored), options);
        let shown = self.texts.intern(&text);
        self.shown_types.insert(stored, shown);
        shown
    }

    /// Takes an event, which must not be older than the previous one, and learns from it. Returns
    /// the thread that the event is about.
    pub fn learn(&mut self, event: &Event<'_>) -> ThreadHandle {
        self.learn_about(event, LearnTopic::of_type(event))
    }

    /// Takes an event as [`Model::learn`] does. `topic`: what its type tells. Most types tell nothing,
    /// so only their part is inlined.
    #[inline(always)]
    pub(crate) fn learn_about(&mut self, event: &Event<'_>, topic: LearnTopic) -> ThreadHandle {
        if self.session.is_none() {
            self.begin(event);
        }
        let process = self.process_of(event);
        let thread = self.threads.of_event(process, event);
        match topic {
            LearnTopic::Nothing => {}
            LearnTopic::PathForm
                if event.activity_id().is_none() || self.loses_numbers(process) => {}
            _ => self.learn_from(event, process, topic),
        }
        thread
    }

    #[cold]
    fn begin(&mut self, event: &Event<'_>) {
        self.session = Some(event.session().clone());
        self.start_unix_ns = start_unix_ns(event);
    }

    /// Returns whether [`Model::learn`] uses anything of an event besides the thread and the
    /// process.
    pub(crate) fn learns_from(event: &Event<'_>) -> bool {
        match LearnTopic::of_type(event) {
            LearnTopic::Nothing | LearnTopic::PathForm => false,
            // Lines are wanted rarely: see `reports_lines`.
            LearnTopic::Runtime(about) => !matches!(about, About::IlMap),
            LearnTopic::Recorded | LearnTopic::Process => true,
        }
    }

    /// Returns whether an event tells which IL a method's code comes from, which only lines need.
    pub(crate) fn reports_lines(event: &Event<'_>) -> bool {
        matches!(About::from_event(event), Some(About::IlMap))
    }

    /// Returns whether an event that lists a method reports nothing new.
    #[inline]
    pub(crate) fn knows_method(&mut self, event: &Event<'_>) -> bool {
        let process = self.last_process.filter(|(id, _)| *id == event.process_id());
        let row = process.and_then(|(_, process)| self.processes.get_mut(process.index()));
        row.is_some_and(|row| row.methods.knows(event, &self.texts))
    }

    #[inline]
    fn process_of(&mut self, event: &Event<'_>) -> ProcessHandle {
        let id = event.process_id();
        if let Some((last, handle)) = self.last_process
            && last == id
        {
            return handle;
        }
        let handle = self.process_handle(id);
        self.last_process = Some((id, handle));
        handle
    }

    /// Returns the process with an OS id, if an event reported it.
    pub(crate) fn handle_of(&self, id: Option<u64>) -> Option<ProcessHandle> {
        self.by_id.get(&id).copied()
    }

    fn process_handle(&mut self, id: Option<u64>) -> ProcessHandle {
        let next = ProcessHandle::next(self.processes.len());
        let handle = *self.by_id.entry(id).or_insert(next);
        if handle == next {
            self.processes.push(Process { id, ..Process::default() });
        }
        handle
    }

    /// Sets the memory map of all processes that the trace has reported so far: see
    /// [`NamesSoFar::set_mappings`].
    pub(crate) fn set_memory(&mut self, memory: &MemoryMap) {
        for row in &mut self.processes {
            // A session with a memory map has one process.
            row.memory.clone_from(memory);
        }
    }

    /// Completes the model. This must be called after the last event, before names are resolved.
    /// `are_all`: whether all events are selected, without calls of [`Model::select`].
    pub(crate) fn complete(&mut self, period: Option<u64>, selected: SessionSpan, are_all: bool) {
        (self.period_nanos, self.selected) = (period, selected);
        self.threads.complete(are_all);
        for row in &mut self.processes {
            row.methods.sort();
            row.mappings.sort();
            row.perf_map.sort();
        }
    }

    /// Returns the header of the stream; `None` before the first event.
    pub fn session(&self) -> Option<&Trace> {
        self.session.as_ref()
    }

    /// Returns the session's start in nanoseconds since 1970-01-01 UTC, if the stream has one.
    pub(crate) fn start_unix_ns(&self) -> Option<i64> {
        self.start_unix_ns
    }

    /// Returns the median time between consecutive CPU samples of a thread, in nanoseconds; `None`
    /// if there are no samples.
    pub(crate) fn period_nanos(&self) -> Option<u64> {
        self.period_nanos
    }

    /// Returns the number of processors that the stream reports; `None` if unknown.
    pub(crate) fn processors(&self) -> Option<u32> {
        self.processors
    }

    pub(crate) fn set_processors(&mut self, processors: Option<u32>) {
        let is_known = |processors: &u32| *processors > 0 && *processors != UNKNOWN_PROCESSORS;
        self.processors = processors.filter(is_known);
    }

    /// Returns the number and the times of those events whose thread, process and time pass the
    /// filter.
    pub(crate) fn selected(&self) -> &SessionSpan {
        &self.selected
    }

    /// Returns the duration that the selected events cover, in nanoseconds. It begins with the
    /// session, or with the first selected event if a filter leaves out events.
    pub(crate) fn selected_nanos(&self) -> u64 {
        match self.selected.events < self.event_count() {
            true => self.selected.nanos(),
            false => self.selected.nanos_since_start(),
        }
    }

    /// Returns the process that a handle refers to.
    pub fn process(&self, process: ProcessHandle) -> Option<&Process> {
        self.processes.get(process.index())
    }

    /// Returns all processes, in the order of first appearance.
    pub fn processes(&self) -> impl ExactSizeIterator<Item = (ProcessHandle, &Process)> {
        self.processes.iter().enumerate().map(|(index, row)| (ProcessHandle::next(index), row))
    }

    /// Returns the thread that a handle refers to.
    pub fn thread(&self, thread: ThreadHandle) -> Option<&Thread> {
        self.threads.get(thread)
    }

    /// Returns all threads, in the order of first appearance.
    pub fn threads(&self) -> impl ExactSizeIterator<Item = (ThreadHandle, &Thread)> {
        self.threads.iter()
    }

    /// Returns the number of events of all threads.
    pub(crate) fn event_count(&self) -> u64 {
        self.threads.iter().fold(0, |sum, (_, thread)| sum.saturating_add(thread.events))
    }

    /// Returns all distinct stacks, in the order of first use.
    pub fn stacks(&self) -> impl ExactSizeIterator<Item = StackHandle> + use<> {
        self.stacks.handles()
    }

    /// Returns the addresses of a stack, innermost first. The first one is the thread's current
    /// instruction; all further ones are return addresses.
    pub fn addresses(&self, stack: StackHandle) -> &[u64] {
        self.stacks.addresses(stack)
    }

    /// Returns whether a stack of 100 frames or more is known to have all its callers. Either the
    /// missing ones were taken from another stack, or none are missing.
    pub fn is_repaired(&self, stack: StackHandle) -> bool {
        self.stacks.is_repaired(stack)
    }

    pub(crate) fn stored_stacks(&self) -> &Stacks {
        &self.stacks
    }

    /// Returns the text that a handle refers to.
    pub fn text(&self, text: TextHandle) -> &str {
        self.texts.get(text)
    }

    pub(crate) fn texts(&self) -> &Texts {
        &self.texts
    }

    pub(crate) fn texts_mut(&mut self) -> &mut Texts {
        &mut self.texts
    }

    /// Counts an event of this thread as accepted by the filter.
    #[inline]
    pub(crate) fn select(&mut self, thread: ThreadHandle) {
        self.threads.select(thread);
    }

    /// Counts events that were not passed to [`Model::learn`]. Returns the thread that they are
    /// about.
    pub(crate) fn count_events(
        &mut self,
        process_id: Option<u64>,
        thread_id: Option<u64>,
        count: u64,
    ) -> ThreadHandle {
        let process = self.process_handle(process_id);
        let thread = self.threads.intern(process, thread_id);
        self.threads.count(thread, count);
        thread
    }

    /// Returns the thread with these ids, which may not have written an event yet.
    pub(crate) fn thread_of(&mut self, process_id: Option<u64>, thread_id: u64) -> ThreadHandle {
        let process = self.process_handle(process_id);
        self.threads.intern(process, Some(thread_id))
    }

    /// Returns the number of times so far that memory with code was reused for other code.
    pub(crate) fn reuses(&self) -> usize {
        self.stacks.reuses()
    }

    /// Returns a thread's display name: `thread 17401`, `thread 17401 (Finalizer)`. If there are
    /// several processes, the process comes first: `process 17, thread 17401`.
    pub fn thread_label(&self, thread: ThreadHandle) -> String {
        let Some(row) = self.threads.get(thread) else { return "thread ?".to_owned() };
        let mut label = match (row.os_thread_id, &row.name) {
            (Some(id), Some(name)) => format!("thread {id} ({name})"),
            (Some(id), None) => format!("thread {id}"),
            // A row of times that belong to no thread by its name, such as `(threads that ended …)`.
            (None, Some(name)) if name.starts_with('(') => name.to_string(),
            (None, Some(name)) => format!("thread ? ({name})"),
            (None, None) => "thread ?".to_owned(),
        };
        if self.processes.len() > 1
            && let Some(process) = self.process(row.process)
        {
            let id = process.id.map_or("?".to_owned(), |id| id.to_string());
            label = format!("process {id}, {label}");
        }
        label
    }
}

/// Returns the session's start in nanoseconds since 1970-01-01 UTC, computed from the times of an
/// event.
pub(crate) fn start_unix_ns(event: &Event<'_>) -> Option<i64> {
    let since_start = i128::from(event.nanos().unwrap_or(0));
    let start = event.unix_nanos().map(|unix| unix.saturating_sub(since_start));
    start.and_then(|start| i64::try_from(start).ok())
}
