//! Perfetto's own format: protocol buffers, one packet after the other.
//!
//! | | |
//! |---|---|
//! | opened by | ui.perfetto.dev, `trace_processor` with SQL |
//! | CPU samples | `PerfSample`, table `perf_sample`: one per sample, with its stack; the viewer shows the samples of a thread as a flame graph |
//! | tracks of a process | pauses, collections, activities and awaits, on several tracks if they overlap; counters |
//! | states | with readings, a track for each thread: the state of the largest part of each sample's time. Annotations have how much of the span the thread ran, was ready and waited, in nanoseconds, which add up to the time of its samples; `note` says whether that is estimated. The samples themselves have no weight in this format: a flame graph counts them, whatever their threads ran |
//! | track of a thread | spans and instants of the thread: compilation, waits, exception handlers, tasks |
//! | arguments | `debug` annotations; `note` says what is unknown about a span |
//! | arrows | flows from a task's scheduling to its run |
//! | counters | one track each, with its unit: EventCounters, metrics, the heap's size, the thread pool |
//! | times | nanoseconds since the session's start |
//!
//! Instants and counters are written immediately; the reader sorts by time, and keeps the order of
//! entries with the same time. From that order it derives which of two spans encloses the other. So
//! spans of threads must be written in the order of their beginnings, outer spans first, and the
//! last few thousand are held back until their order is known. CPU samples are kept until the end,
//! when names are known: 6 to 12 bytes each.

use super::chromium::{pid_of, process_of};
use super::encode::Message;
use super::lanes::{Lanes, lane_name};
use super::roots::Roots;
use super::states::{self, StateRun};
use super::{Convert, ConvertError, ConvertOptions, Output};
use crate::hash::HashMap;
use crate::model::{
    Argument, Arguments, Category, Flow, FrameHandle, Kind, MarkText, Model, ProcessHandle,
    Profile, Resolved, Sample, Span, SpanScope, StackHandle, Texts, ThreadHandle, TimelineMark,
    Track,
};
use crate::numbering::Numbering;
use crate::sorted::SortFew;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

pub(super) const KINDS: &[Kind] = &[Kind::Cpu, Kind::AllocationSamples, Kind::AllocationTicks];

/// Field numbers of the message `TracePacket`.
mod packet {
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE_ID: u32 = 10;
    pub(super) const TRACK_EVENT: u32 = 11;
    pub(super) const INTERNED_DATA: u32 = 12;
    pub(super) const SEQUENCE_FLAGS: u32 = 13;
    pub(super) const TRACK_DESCRIPTOR: u32 = 60;
    pub(super) const PERF_SAMPLE: u32 = 66;
}

/// Field numbers of the message `TrackEvent`.
mod event {
    pub(super) const CATEGORY_IIDS: u32 = 3;
    pub(super) const DEBUG_ANNOTATIONS: u32 = 4;
    pub(super) const TYPE: u32 = 9;
    pub(super) const NAME_IID: u32 = 10;
    pub(super) const TRACK_UUID: u32 = 11;
    pub(super) const DOUBLE_COUNTER_VALUE: u32 = 44;
    pub(super) const FLOW_IDS: u32 = 47;
    pub(super) const TERMINATING_FLOW_IDS: u32 = 48;
}

const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// Numbers of the packet sequences. Events and samples have separate ones, with their own interned
/// names.
const EVENTS: u64 = 1;
const SAMPLES: u64 = 2;

/// Maximum number of spans that are held back until the spans around them have ended, too.
const MAX_HELD_SPANS: usize = 4096;

/// Maximum id that fits the format.
const MAX_ID: u64 = 0x3fff_ffff;

#[derive(Debug)]
pub(crate) struct Perfetto<'o> {
    out: Output<'o>,
    kinds: Vec<Kind>,
    samples: BTreeMap<ThreadHandle, Track>,
    /// Spans of threads that are held back, sorted by beginning, end and arrival. Of spans that
    /// began together, the one that ends last is outermost.
    held: BTreeMap<(i64, Reverse<i64>, Reverse<u64>), Span>,
    arrived: u64,
    lanes: Lanes,
    tracks: HashMap<TrackContent, u64>,
    names: Texts,
    categories: Numbering<&'static str>,
    /// Whether each of the two sequences has been started.
    begun: [bool; 2],
    /// Memory of the packet that is written.
    framed: Message,
    has_content: bool,
}

/// What a track shows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum TrackContent {
    Process(ProcessHandle),
    Thread(ThreadHandle),
    Lane(ProcessHandle, Category, usize),
    State(ThreadHandle),
    Counter(ProcessHandle, MarkText),
}

impl<'o> Perfetto<'o> {
    pub(crate) fn new(out: Box<dyn Write + Send + 'o>, options: &ConvertOptions) -> Perfetto<'o> {
        Perfetto {
            out: Output::new(out, options.is_gzip),
            kinds: options.kinds_or(KINDS),
            samples: BTreeMap::new(),
            held: BTreeMap::new(),
            arrived: 0,
            lanes: Lanes::default(),
            tracks: HashMap::default(),
            names: Texts::default(),
            categories: Numbering::default(),
            begun: [false; 2],
            framed: Message::default(),
            has_content: false,
        }
    }

    /// Writes a packet of a sequence, with the fields that `fill` writes.
    fn packet(&mut self, sequence: u64, fill: impl FnOnce(&mut Message)) -> io::Result<()> {
        self.has_content = true;
        let begun = if sequence == EVENTS { &mut self.begun[0] } else { &mut self.begun[1] };
        // Flag 2 needs interned data; flag 1 starts a sequence without any.
        let flags = if std::mem::replace(begun, true) { 2 } else { 3 };
        self.framed.clear();
        self.framed.nested(1, |packet| {
            fill(packet);
            packet.uint(packet::SEQUENCE_ID, sequence);
            packet.uint(packet::SEQUENCE_FLAGS, flags);
        });
        self.out.write_all(self.framed.bytes())
    }

    /// Returns the id of a track. A new track is described first.
    fn track(&mut self, place: TrackContent, unit: &str, model: &Model) -> io::Result<u64> {
        if let Some(known) = self.tracks.get(&place) {
            return Ok(*known);
        }
        let uuid = (self.tracks.len() as u64).saturating_add(1);
        self.tracks.insert(place.clone(), uuid);
        let mut track = Message::default();
        match &place {
            TrackContent::Process(_) | TrackContent::Thread(_) => {
                track = self.describe(&place, uuid, model)?;
            }
            TrackContent::Lane(process, category, lane) => {
                let parent = self.track(TrackContent::Process(*process), "", model)?;
                track.uint(1, uuid).text(2, &lane_name(*category, *lane)).uint(5, parent);
            }
            TrackContent::State(thread) => {
                let parent = self.track(TrackContent::Thread(*thread), "", model)?;
                let name = format!("{} state", model.thread_label(*thread));
                track.uint(1, uuid).text(2, &name).uint(5, parent);
            }
            TrackContent::Counter(process, name) => {
                let parent = self.track(TrackContent::Process(*process), "", model)?;
                let mut counter = Message::default();
                if !unit.is_empty() {
                    counter.text(6, unit);
                }
                track.uint(1, uuid).text(2, name).uint(5, parent).message(8, &counter);
            }
        }
        self.describe_track(&track)?;
        Ok(uuid)
    }

    fn describe_track(&mut self, track: &Message) -> io::Result<()> {
        self.packet(EVENTS, |packet| {
            packet.message(packet::TRACK_DESCRIPTOR, track);
        })
    }

    /// Makes the description of a process or a thread, with the name that is known so far.
    fn describe(&mut self, place: &TrackContent, uuid: u64, model: &Model) -> io::Result<Message> {
        let mut track = Message::default();
        track.uint(1, uuid);
        match place {
            TrackContent::Process(process) => {
                let mut inner = Message::default();
                inner.uint(1, pid_of(*process, model).min(MAX_ID));
                if let Some(row) = model.process(*process).filter(|row| !row.name.is_empty()) {
                    inner.text(6, &row.name);
                }
                track.message(3, &inner);
            }
            TrackContent::Thread(thread) => {
                let process = process_of(*thread, model);
                self.track(TrackContent::Process(process), "", model)?;
                let mut inner = Message::default();
                inner.uint(1, pid_of(process, model).min(MAX_ID)).uint(2, tid_of(*thread, model));
                inner.text(5, &model.thread_label(*thread));
                track.message(4, &inner);
            }
            _ => {}
        }
        Ok(track)
    }

    /// Writes an event on a track. A name that is used for the first time is interned in the same
    /// packet.
    fn event(&mut self, at: At<'_>, kind: u64, fill: impl FnOnce(&mut Message)) -> io::Result<()> {
        let mut interned = Message::default();
        let ids = at.named.map(|(category, name)| {
            let (category_id, is_new) = self.categories.id(category);
            if is_new {
                interned.message(1, Message::default().uint(1, category_id).text(2, category));
            }
            let known = self.names.len();
            let name_id = u64::from(self.names.intern(name).0).saturating_add(1);
            if self.names.len() > known {
                interned.message(2, Message::default().uint(1, name_id).text(2, name));
            }
            (category_id, name_id)
        });
        self.packet(EVENTS, |packet| {
            packet.uint(packet::TIMESTAMP, timestamp(at.nanos));
            if !interned.is_empty() {
                packet.message(packet::INTERNED_DATA, &interned);
            }
            packet.nested(packet::TRACK_EVENT, |event| {
                event.uint(event::TYPE, kind).uint(event::TRACK_UUID, at.track);
                if let Some((category_id, name_id)) = ids {
                    event.uint(event::CATEGORY_IIDS, category_id).uint(event::NAME_IID, name_id);
                }
                fill(event);
            });
        })
    }

    /// Holds a span of a thread back until the spans around it have ended.
    fn hold(&mut self, span: &Span, model: &Model) -> io::Result<()> {
        self.arrived = self.arrived.saturating_add(1);
        let place = (span.start_nanos, Reverse(span.end_nanos()), Reverse(self.arrived));
        self.held.insert(place, span.clone());
        self.release(MAX_HELD_SPANS, model)
    }

    /// Writes spans that are held back, the earliest first, until at most `most` are left.
    fn release(&mut self, most: usize, model: &Model) -> io::Result<()> {
        while self.held.len() > most
            && let Some((_, span)) = self.held.pop_first()
        {
            self.span(&span, model)?;
        }
        Ok(())
    }

    fn span(&mut self, span: &Span, model: &Model) -> io::Result<()> {
        let process = process_of(span.thread, model);
        let place = match span.place {
            SpanScope::Thread => TrackContent::Thread(span.thread),
            SpanScope::Process | SpanScope::Free => {
                TrackContent::Lane(process, span.category, self.lanes.lane(process, span))
            }
        };
        let track = self.track(place, "", model)?;
        let named = Some((span.category.name(), &*span.name));
        self.event(At { track, nanos: span.start_nanos, named }, BEGIN, |event| {
            annotate(event, &span.arguments, span.ends.note(), span.flow);
        })?;
        self.event(At { track, nanos: span.end_nanos(), named: None }, END, |_| {})
    }

    /// Writes consecutive samples of a thread that have the same state.
    fn state(
        &mut self,
        thread: ThreadHandle,
        run: &StateRun,
        model: &Model,
    ) -> Result<(), ConvertError> {
        let track = self.track(TrackContent::State(thread), "", model)?;
        let named = Some(("Thread state", run.state.name()));
        self.event(At { track, nanos: run.start_nanos, named }, BEGIN, |event| {
            annotate(event, &run.arguments(), run.note(), None);
        })?;
        Ok(self.event(At { track, nanos: run.end_nanos, named: None }, END, |_| {})?)
    }

    /// Writes all samples of all threads, after the names of their frames.
    fn write_samples(&mut self, resolved: &Resolved<'_>) -> Result<(), ConvertError> {
        let model = resolved.model();
        let mut frames = Frames::default();
        for (thread, track) in std::mem::take(&mut self.samples) {
            let write = |run: &StateRun| self.state(thread, run, model);
            let track = states::by_readings(thread, track, resolved, write)?;
            let pid = pid_of(process_of(thread, model), model).min(MAX_ID);
            let tid = tid_of(thread, model);
            let roots = Roots::new(&track, resolved);
            for sample in track.samples() {
                let Some(stack) = roots.frames(&sample) else { continue };
                let mut interned = Message::default();
                let handle = resolved.sample_stack(sample.stack, sample.mode);
                // A stack that has lost its callers has other frames in each thread and run.
                let run = roots.run(&sample).map(|run| (thread, run));
                let iid = frames.stack((run, handle), stack, resolved, &mut interned);
                self.packet(SAMPLES, |packet| {
                    packet.uint(packet::TIMESTAMP, timestamp(sample.nanos));
                    if !interned.is_empty() {
                        packet.message(packet::INTERNED_DATA, &interned);
                    }
                    packet.nested(packet::PERF_SAMPLE, |inner| {
                        inner.uint(2, pid).uint(3, tid).uint(4, iid);
                    });
                })?;
            }
        }
        Ok(())
    }
}

/// Track and time of an event; also its category and name, unless it is the end of a span.
#[derive(Debug, Clone, Copy)]
struct At<'n> {
    track: u64,
    nanos: i64,
    named: Option<(&'static str, &'n str)>,
}

/// A run of samples whose stacks have lost their callers: the thread, and the index of the run in
/// it.
type Run = (ThreadHandle, usize);

/// Frames and stacks that are interned, with ids from 1 on.
#[derive(Debug, Default)]
struct Frames<'r> {
    stacks: Numbering<(Option<Run>, StackHandle)>,
    frames: Numbering<FrameHandle>,
    modules: Numbering<&'r str>,
}

impl<'r> Frames<'r> {
    fn stack(
        &mut self,
        stack: (Option<Run>, StackHandle),
        frames: &[FrameHandle],
        resolved: &'r Resolved<'_>,
        interned: &mut Message,
    ) -> u64 {
        let (iid, is_new) = self.stacks.id(stack);
        if is_new {
            let mut message = Message::default();
            message.uint(1, iid);
            // Root first.
            for frame in frames.iter().rev() {
                message.uint(2, self.frame(*frame, resolved, interned));
            }
            interned.message(7, &message);
        }
        iid
    }

    fn frame(
        &mut self,
        frame: FrameHandle,
        resolved: &'r Resolved<'_>,
        interned: &mut Message,
    ) -> u64 {
        let (iid, is_new) = self.frames.id(frame);
        if is_new {
            let module = resolved.frame(frame).map_or("", |frame| &*frame.module);
            let (mapping, is_new) = self.modules.id(module);
            if is_new {
                interned.message(17, Message::default().uint(1, mapping).text(2, module));
                interned.message(19, Message::default().uint(1, mapping).uint(7, mapping));
            }
            interned.message(5, Message::default().uint(1, iid).text(2, resolved.text(frame)));
            interned.message(6, Message::default().uint(1, iid).uint(2, iid).uint(3, mapping));
        }
        iid
    }
}

impl Convert for Perfetto<'_> {
    fn sample(&mut self, sample: &Sample, model: &Model) -> Result<(), ConvertError> {
        if !self.kinds.contains(&sample.kind) {
            return Ok(());
        }
        match sample.kind {
            Kind::Cpu => self.samples.entry(sample.thread).or_default().add(sample),
            Kind::AllocationSamples | Kind::AllocationTicks => {
                let track = self.track(TrackContent::Thread(sample.thread), "", model)?;
                let name = if sample.kind == Kind::AllocationTicks {
                    "allocation tick"
                } else {
                    "allocation"
                };
                let label = sample.label.map_or("", |label| model.text(label));
                let at = At { track, nanos: sample.nanos, named: Some(("Allocations", name)) };
                self.event(at, INSTANT, |event| {
                    event.message(
                        event::DEBUG_ANNOTATIONS,
                        Message::default().text(10, "type").text(6, label),
                    );
                    let bytes = &mut Message::default();
                    event.message(
                        event::DEBUG_ANNOTATIONS,
                        bytes.text(10, "bytes").uint(3, sample.weight),
                    );
                })?;
            }
            _ => {}
        }
        Ok(())
    }

    fn wants_marks(&self) -> bool {
        true
    }

    fn mark(&mut self, mark: &TimelineMark, model: &Model) -> Result<(), ConvertError> {
        match mark {
            TimelineMark::Span(span) if span.place == SpanScope::Thread => {
                self.hold(span, model)?
            }
            TimelineMark::Span(span) => self.span(span, model)?,
            TimelineMark::Instant(instant) => {
                let track = self.track(TrackContent::Thread(instant.thread), "", model)?;
                let named = Some((instant.category.name(), &*instant.name));
                self.event(At { track, nanos: instant.nanos, named }, INSTANT, |event| {
                    annotate(event, &instant.arguments, None, instant.flow);
                })?;
            }
            TimelineMark::Counter(point) => {
                let place =
                    TrackContent::Counter(process_of(point.thread, model), point.name.clone());
                let track = self.track(place, &point.unit, model)?;
                self.event(At { track, nanos: point.nanos, named: None }, COUNTER, |event| {
                    event.double(event::DOUBLE_COUNTER_VALUE, point.value);
                })?;
            }
        }
        Ok(())
    }

    fn finish(
        mut self: Box<Self>,
        resolved: &Resolved<'_>,
        _: &Profile,
    ) -> Result<(), ConvertError> {
        let model = resolved.model();
        self.release(0, model)?;
        if !self.has_content && self.samples.is_empty() {
            return Err(ConvertError::NothingToShow { wanted: "samples, spans or counters" });
        }
        // Names may have been reported after the first event.
        for (process, _) in model.processes() {
            self.track(TrackContent::Process(process), "", model)?;
        }
        for (thread, _) in model.threads() {
            self.track(TrackContent::Thread(thread), "", model)?;
        }
        let mut named: Vec<(u64, TrackContent)> =
            self.tracks.iter().map(|(place, uuid)| (*uuid, place.clone())).collect();
        named.sort_few_by_key(|(uuid, _)| *uuid);
        for (uuid, place) in named {
            if matches!(place, TrackContent::Process(_) | TrackContent::Thread(_)) {
                let track = self.describe(&place, uuid, model)?;
                self.describe_track(&track)?;
            }
        }
        self.write_samples(resolved)?;
        Ok(self.out.finish()?)
    }
}

/// Adds the arguments of a span and its arrow to an event.
fn annotate(event: &mut Message, arguments: &Arguments, note: Option<&str>, flow: Option<Flow>) {
    for (name, value) in arguments {
        event.nested(event::DEBUG_ANNOTATIONS, |annotation| {
            annotation.text(10, name);
            match value {
                Argument::Number(number) => annotation.uint(3, *number),
                Argument::Real(real) => annotation.double(5, *real),
                Argument::Address(address) => annotation.uint(7, *address),
                Argument::Text(text) => annotation.text(6, text),
            };
        });
    }
    if let Some(note) = note {
        event.message(event::DEBUG_ANNOTATIONS, Message::default().text(10, "note").text(6, note));
    }
    match flow {
        Some(Flow::From(id)) => event.fixed64(event::FLOW_IDS, id),
        Some(Flow::To(id)) => event.fixed64(event::TERMINATING_FLOW_IDS, id),
        None => event,
    };
}

/// Returns a time in the form of the format, which does not allow negative times. A time before the
/// session's start becomes that start.
fn timestamp(nanos: i64) -> u64 {
    u64::try_from(nanos).unwrap_or(0)
}

/// Returns the id of a thread. If that is unknown or does not fit the format, returns a number that
/// no operating system uses.
fn tid_of(thread: ThreadHandle, model: &Model) -> u64 {
    let id = model.thread(thread).and_then(|row| row.os_thread_id);
    id.filter(|id| *id <= MAX_ID).unwrap_or_else(|| (thread.index() as u64).saturating_add(MAX_ID))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Ends;

    #[test]
    fn of_spans_that_begin_together_the_outer_one_is_written_first() {
        let span = |name: &'static str, start_nanos, nanos| Span {
            category: Category::Wait,
            place: SpanScope::Thread,
            name: name.into(),
            thread: ThreadHandle(0),
            end_thread: ThreadHandle(0),
            start_nanos,
            nanos,
            ends: Ends::Known,
            flow: None,
            arguments: Arguments::new(),
            activity: None,
        };
        let model = Model::default();
        let mut bytes = Vec::new();
        {
            let mut perfetto = Perfetto::new(Box::new(&mut bytes), &ConvertOptions::default());
            // In the order in which they end.
            for (name, start, nanos) in [
                ("before", 2, 3),
                ("inmost", 5, 1),
                ("inner", 5, 4),
                ("middle", 5, 4),
                ("outer", 5, 9),
            ] {
                perfetto.mark(&TimelineMark::Span(span(name, start, nanos)), &model).unwrap();
            }
            perfetto.release(0, &model).unwrap();
            perfetto.out.finish().unwrap();
        }
        let place =
            |name: &str| bytes.windows(name.len()).position(|at| at == name.as_bytes()).unwrap();
        let places = ["before", "outer", "middle", "inner", "inmost"].map(place);
        assert!(places.is_sorted(), "{places:?}");
    }
}
