//! Reads heap dumps from the events of a trace.

use super::build;
use super::dump::{HeapDump, is_of_all};
use super::gathered::DumpInProgress;
use super::module_types::ModuleTypes;
use super::mono::{self, MonoEvent, RootAreas};
use super::type_rows::TypeRows;
use crate::metadata::MetadataError;
use crate::model::{Model, ProcessHandle, SessionSpan};
use nettrace_parser::view::{self, GcEnd, GcStart, HeapRows, KnownProvider, Suspension, View};
use nettrace_parser::{Clock, Event, Outcome, Source, TimeOrdered};
use std::collections::BTreeMap;

/// Maximum number of dumps in a trace. Only crafted traces have more. Events of further dumps count
/// as faults of the last dump.
const MAX_DUMPS: usize = 256;

/// Reads the heap dumps of a trace.
///
/// ```
/// use nettrace_analysis::heap::HeapReader;
/// use nettrace_parser::Reader;
/// # let bytes = nettrace_testdata::synth::tiny_v4().bytes;
/// let mut heap = HeapReader::default();
/// let outcome = heap.read(&mut Reader::from_slice(&bytes).time_ordered())?;
/// assert!(outcome.is_complete, "a dump in a trace that was cut lacks objects");
/// assert!(heap.finish().is_empty());
/// # Ok::<(), nettrace_parser::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct HeapReader {
    model: Model,
    clock: Option<Clock>,
    types: TypeRows,
    going: BTreeMap<ProcessHandle, Going>,
    dumps: Vec<DumpInProgress>,
    objects: u64,
    is_mono: bool,
}

/// The collections and dumps of a process that have not ended yet.
#[derive(Debug, Default)]
struct Going {
    /// Number and start time of the last collection of all generations. A session induces such a
    /// collection for a dump.
    full: Option<(u32, i64)>,
    /// Number and start time of a collection of younger generations that has not ended yet.
    younger: Option<(u32, i64)>,
    /// Index of the dump to which events belong at the moment.
    open: Option<usize>,
    /// Index of the dump whose pause has not ended yet.
    pausing: Option<usize>,
    suspended_nanos: Option<i64>,
    /// Index of the last dump that came from Mono's profiler provider.
    mono: Option<usize>,
    areas: RootAreas,
    ranges: Vec<view::HeapRange>,
}

impl HeapReader {
    /// Reads all remaining events. Dumps of a truncated or damaged trace lack objects.
    ///
    /// # Errors
    /// If the trace cannot be read any further.
    pub fn read<S: Source>(
        &mut self,
        events: &mut TimeOrdered<S>,
    ) -> Result<Outcome, nettrace_parser::Error> {
        events.for_each(|event| self.event(&event))?;
        Ok(events.outcome())
    }

    /// Returns the number of objects reported so far, in all dumps.
    pub fn objects(&self) -> u64 {
        self.objects
    }

    /// Returns whether the runtime is Mono, whose dumps need the second element of
    /// [`RECORD`](super::RECORD).
    pub fn is_mono(&self) -> bool {
        self.is_mono
    }

    /// Returns whether the reader has a dump of a collection of all generations, and that
    /// collection has ended and its threads have been resumed. If the program collects younger
    /// generations when the session starts, the dump of that collection comes first
    /// ([`HeapDump::is_of_all_generations`]).
    pub fn has_dump(&self) -> bool {
        let is_whole = |dump: &DumpInProgress| {
            dump.has_ended && dump.pause_nanos.is_some() && is_of_all(dump.collected)
        };
        self.dumps.iter().any(is_whole)
    }

    /// Reads the next event. Events must come in time order.
    pub fn event(&mut self, event: &Event<'_>) {
        let provider = event.known_provider();
        let is_of_heap = provider == KnownProvider::Runtime
            && matches!(event.id(), 1..=3 | 7..=9 | 15..=19 | 23 | 36..=38);
        self.is_mono |= mono::is_of_mono(event);
        if let Some(what) = MonoEvent::for_event(event) {
            return self.mono(what, event);
        }
        if !is_of_heap {
            let is_told_of_code = provider == KnownProvider::Runtime && event.id() >= 140;
            if is_told_of_code
                || !matches!(provider, KnownProvider::Runtime | KnownProvider::SampleProfiler)
            {
                self.model.learn(event);
            }
            return;
        }
        let thread = self.model.learn(event);
        let Some(process) = self.model.thread(thread).map(|row| row.process) else { return };
        let clock = *self.clock.get_or_insert_with(|| event.session().clock());
        let nanos = clock.nanos_since_start(event.timestamp_ticks()).unwrap_or(0);
        if let Some(rows) = HeapRows::from_event(event) {
            self.rows(process, nanos, rows);
        } else if let Some(start) = GcStart::from_event(event) {
            self.collection_starts(process, nanos, &start);
        } else if let Some(end) = GcEnd::from_event(event) {
            self.collection_ends(process, &end);
        } else if let Some(change) = Suspension::from_event(event) {
            self.suspension(process, nanos, change);
        }
    }

    fn mono(&mut self, what: MonoEvent, event: &Event<'_>) {
        let thread = self.model.learn(event);
        let Some(process) = self.model.thread(thread).map(|row| row.process) else { return };
        let clock = *self.clock.get_or_insert_with(|| event.session().clock());
        let nanos = clock.nanos_since_start(event.timestamp_ticks()).unwrap_or(0);
        let going = self.going.entry(process).or_default();
        match what {
            MonoEvent::Class => {
                if let Some(class) = mono::class(event) {
                    self.types.name(process, class);
                }
            }
            MonoEvent::RootArea => going.areas.learn(event),
            MonoEvent::Start => {
                going.mono = None;
                self.mono_dump(process, nanos);
            }
            MonoEvent::Object => {
                self.objects = self.objects.saturating_add(1);
                if let Some(dump) = self.mono_dump(process, nanos) {
                    mono::add_object(dump, event);
                }
            }
            MonoEvent::Roots => {
                let dump = going.mono.and_then(|dump| self.dumps.get_mut(dump));
                if let Some(dump) = dump.filter(|dump| !dump.has_ended) {
                    mono::add_roots(dump, &going.areas, event);
                }
            }
            MonoEvent::Stop => {
                if let Some(dump) = going.mono.and_then(|dump| self.dumps.get_mut(dump)) {
                    dump.has_ended = true;
                }
            }
            MonoEvent::Collection => match mono::pauses(event) {
                Some(true) => going.suspended_nanos = Some(nanos),
                Some(false) => {
                    let since = going.suspended_nanos.take();
                    let dump = going.mono.and_then(|dump| self.dumps.get_mut(dump));
                    let dump = dump.filter(|dump| dump.has_ended && dump.pause_nanos.is_none());
                    if let (Some(dump), Some(since)) = (dump, since) {
                        dump.pause_nanos = Some(nanos.saturating_sub(since));
                    }
                }
                None => {}
            },
        }
    }

    /// Returns Mono's dump to which objects of a process belong; begins a dump if there is none.
    fn mono_dump(&mut self, process: ProcessHandle, nanos: i64) -> Option<&mut DumpInProgress> {
        let going = self.going.entry(process).or_default();
        let is_open = |place: &usize| self.dumps.get(*place).is_some_and(|dump| !dump.has_ended);
        let open = going.mono.filter(is_open);
        let place = open.unwrap_or(self.dumps.len());
        if place >= MAX_DUMPS {
            let last = self.dumps.last_mut()?;
            last.unused.beyond = last.unused.beyond.saturating_add(1);
            return None;
        }
        if open.is_none() {
            self.dumps.push(DumpInProgress::new(process, None, nanos));
            going.mono = Some(place);
        }
        self.dumps.get_mut(place)
    }

    fn collection_starts(&mut self, process: ProcessHandle, nanos: i64, start: &GcStart) {
        let going = self.going.entry(process).or_default();
        // A dump that is still open has no end.
        going.open = None;
        going.ranges.clear();
        match is_of_all(start.generation) {
            true => (going.full, going.younger) = (Some((start.number, nanos)), None),
            false => going.younger = Some((start.number, nanos)),
        }
    }

    fn collection_ends(&mut self, process: ProcessHandle, end: &GcEnd) {
        let going = self.going.entry(process).or_default();
        let is_younger = !is_of_all(Some(end.generation));
        if is_younger {
            going.younger = None;
        }
        let Some(dump) = going.open.and_then(|open| self.dumps.get_mut(open)) else { return };
        if dump.collection.is_some_and(|number| number != end.number) {
            return;
        }
        dump.has_ended = true;
        dump.collected = Some(end.generation);
        going.pausing = going.open.take();
        if !is_younger {
            going.full = None;
        }
    }

    fn suspension(&mut self, process: ProcessHandle, nanos: i64, change: Suspension) {
        let going = self.going.entry(process).or_default();
        match change {
            Suspension::SuspendStart(_) => going.suspended_nanos = Some(nanos),
            Suspension::RestartStop => {
                let since = going.suspended_nanos.take();
                let dump = going.pausing.take().and_then(|dump| self.dumps.get_mut(dump));
                if let Some(dump) = dump {
                    let since = since.unwrap_or(dump.start_nanos);
                    dump.pause_nanos = Some(nanos.saturating_sub(since));
                }
            }
            _ => {}
        }
    }

    fn rows(&mut self, process: ProcessHandle, nanos: i64, rows: HeapRows<'_>) {
        let dump = match &rows {
            HeapRows::Types(types) => return self.types.learn(process, *types),
            HeapRows::Range(range) => {
                // Ranges are reported before and after a collection, and only the later ones match
                // the objects.
                let going = self.going.entry(process).or_default();
                if let Some(dump) =
                    going.open.or(going.pausing).and_then(|dump| self.dumps.get_mut(dump))
                {
                    if !dump.has_last_ranges && !dump.addresses.is_empty() {
                        dump.ranges.clear();
                        dump.has_last_ranges = true;
                    }
                    dump.ranges.push(*range);
                } else {
                    going.ranges.push(*range);
                }
                return;
            }
            HeapRows::Objects(objects) => {
                self.objects = self.objects.saturating_add(objects.count.into());
                self.dump(process, nanos, |dump| {
                    DumpInProgress::begins_anew(&dump.object_blocks, objects.index)
                })
            }
            HeapRows::References(references) => self.dump(process, nanos, |dump| {
                DumpInProgress::begins_anew(&dump.reference_blocks, references.index)
            }),
            _ => self.dump(process, nanos, |_| false),
        };
        let Some(dump) = dump else { return };
        match rows {
            HeapRows::Objects(rows) => dump.objects(rows),
            HeapRows::References(rows) => dump.references(rows),
            HeapRows::Roots(rows) => dump.roots(rows),
            HeapRows::Statics(rows) => dump.statics(rows),
            HeapRows::Dependents(rows) => dump.dependents(rows),
            HeapRows::ComCallable(rows) => dump.com_callable(rows),
            HeapRows::ComWrappers(rows) => dump.com_wrappers(rows),
            _ => {}
        }
    }

    /// Returns the dump to which the events of a process belong; begins a dump if there is none.
    fn dump(
        &mut self,
        process: ProcessHandle,
        nanos: i64,
        begins_anew: impl FnOnce(&DumpInProgress) -> bool,
    ) -> Option<&mut DumpInProgress> {
        let going = self.going.entry(process).or_default();
        let open =
            going.open.filter(|open| self.dumps.get(*open).is_some_and(|dump| !begins_anew(dump)));
        let place = open.unwrap_or(self.dumps.len());
        if place >= MAX_DUMPS {
            let last = self.dumps.last_mut()?;
            last.unused.beyond = last.unused.beyond.saturating_add(1);
            return None;
        }
        if open.is_none() {
            // A collection of younger generations may run during a background collection of all;
            // the dump is then of the younger one.
            let collection = going.younger.take().or_else(|| going.full.take());
            let (number, start) = collection.unzip();
            let mut dump = DumpInProgress::new(process, number, start.unwrap_or(nanos));
            dump.ranges.append(&mut going.ranges);
            self.dumps.push(dump);
            going.open = Some(place);
        }
        self.dumps.get_mut(place)
    }

    /// Returns the paths of module files, as the trace stores them. These files contain the outer
    /// types of nested types, which dumps do not. Give them to [`HeapReader::add_module_file`].
    pub fn modules_with_types(&self) -> Vec<String> {
        self.types.modules(&self.model).into_iter().map(str::to_owned).collect()
    }

    /// Adds a module's file, which contains the full names of nested types. `path` is the path in
    /// the trace. If the file is of another build, only types with equal token and name are used.
    ///
    /// # Errors
    /// If `file` is not a `.dll` or `.exe` of .NET.
    pub fn add_module_file(&mut self, path: &str, file: &[u8]) -> Result<(), MetadataError> {
        self.types.add_file(path, ModuleTypes::parse(file)?);
        Ok(())
    }

    /// Returns the dumps, in the order in which they began.
    pub fn finish(self) -> Vec<HeapDump> {
        let HeapReader { mut model, types, dumps, .. } = self;
        model.complete(None, SessionSpan::default(), false);
        (1..).zip(dumps).map(|(index, dump)| build::dump(index, dump, &types, &model)).collect()
    }
}
