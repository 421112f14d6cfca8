//! Chrome's trace event format: one JSON document.
//!
//! | | |
//! |---|---|
//! | opened by | ui.perfetto.dev, `chrome://tracing`, Edge, speedscope |
//! | rows of a process | pauses, collections, activities and awaits, on several rows if they overlap; counters |
//! | rows of a thread | spans and instants of the thread; its CPU samples in a separate row; with readings, its states in one more |
//! | spans | `X`: compilation, waits for locks and handles, exception handlers, tasks; arguments in `args`; what is unknown about a span in `args.note` |
//! | instants | `i`: exceptions, method loads, allocations, adjustments of the thread pool |
//! | arrows | `bind_id` connects the scheduling of a task to its run. An arrow needs a span, so scheduling is a span of 1 ns |
//! | counters | `C`: EventCounters, metrics, the heap's size, the thread pool |
//! | samples | `B` and `E` of category `sample`: consecutive samples with the same outer frames share a span |
//! | states | with readings, `X` of category `Thread state`: the state of the largest part of each sample's time. `args` have how much of the span the thread ran, was ready and waited, in nanoseconds, which add up to the time of its samples; `note` says whether that is estimated |
//! | times | microseconds since the session's start, with three decimals |
//!
//! The format's own notation for samples (`stackFrames`) is ignored by Perfetto. A sample's span
//! lasts until the thread's next sample: it shows what was observed, not when methods started and
//! ended. Beyond two million spans of samples, stacks are cut at the depth for which there is room,
//! but not before the 32nd frame. One frame, `(deeper)`, replaces the frames beyond.
//!
//! Spans, instants and counters are written immediately. CPU samples are kept until the
//! end, when names are known: 6 to 12 bytes each.

use super::encode::Json;
use super::lanes::{Lanes, lane_name};
use super::roots::Roots;
use super::states::{self, StateRun};
use super::{Convert, ConvertError, ConvertOptions, Output, nesting};
use crate::model::{
    Argument, Arguments, Call, Category, Flow, Kind, Model, ProcessHandle, Profile, Resolved,
    Sample, SpanScope, ThreadHandle, TimedSample, TimelineMark, Track,
};
use std::collections::BTreeMap;
use std::io::{self, Write};

pub(super) const KINDS: &[Kind] = &[Kind::Cpu, Kind::AllocationSamples, Kind::AllocationTicks];

/// Number of the first row that is not a thread. No operating system uses it for threads.
const FIRST_ROW: u64 = 0x4000_0000;

#[derive(Debug)]
pub(crate) struct Chromium<'o> {
    json: Json<Output<'o>>,
    kinds: Vec<Kind>,
    title: String,
    is_begun: bool,
    samples: BTreeMap<ThreadHandle, Track>,
    lanes: Lanes,
    rows: BTreeMap<(ProcessHandle, ExtraRow), u64>,
}

/// A row that does not represent a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ExtraRow {
    Lane(Category, usize),
    Samples(ThreadHandle),
    States(ThreadHandle),
    /// A thread whose id is unknown, or too large for viewers.
    Thread(ThreadHandle),
}

/// Numbers by which viewers identify a process and a row of it.
#[derive(Debug, Clone, Copy)]
struct At {
    pid: u64,
    tid: u64,
}

impl<'o> Chromium<'o> {
    pub(crate) fn new(out: Box<dyn Write + Send + 'o>, options: &ConvertOptions) -> Chromium<'o> {
        Chromium {
            json: Json::new(Output::new(out, options.is_gzip)),
            kinds: options.kinds_or(KINDS),
            title: options.title.clone(),
            is_begun: false,
            samples: BTreeMap::new(),
            lanes: Lanes::default(),
            rows: BTreeMap::new(),
        }
    }

    /// Begins an event, whose object the caller closes.
    fn event(
        &mut self,
        phase: &str,
        name: &str,
        at: At,
        nanos: i64,
    ) -> io::Result<&mut Json<Output<'o>>> {
        let Chromium { json, title, is_begun, .. } = self;
        if !std::mem::replace(is_begun, true) {
            json.open('{')?.key("displayTimeUnit")?.text("ns")?.key("otherData")?.open('{')?;
            json.key("exporter")?.text(concat!("nettrace ", env!("CARGO_PKG_VERSION")))?;
            json.key("trace")?.text(title)?.close('}')?.key("traceEvents")?.open('[')?;
        }
        json.open('{')?
            .key("ph")?
            .text(phase)?
            .key("name")?
            .text(name)?
            .key("pid")?
            .number(at.pid)?;
        json.key("tid")?.number(at.tid)?.key("ts")?.raw(&micros(nanos))?;
        Ok(json)
    }

    fn row(&mut self, process: ProcessHandle, row: ExtraRow) -> u64 {
        let next = FIRST_ROW.saturating_add(self.rows.len() as u64);
        *self.rows.entry((process, row)).or_insert(next)
    }

    fn thread(&mut self, thread: ThreadHandle, model: &Model) -> (ProcessHandle, At) {
        let process = process_of(thread, model);
        let id = model.thread(thread).and_then(|row| row.os_thread_id);
        let tid = id
            .filter(|id| *id < FIRST_ROW)
            .unwrap_or_else(|| self.row(process, ExtraRow::Thread(thread)));
        (process, At { pid: pid_of(process, model), tid })
    }

    fn arguments(
        json: &mut Json<Output<'o>>,
        arguments: &Arguments,
        note: Option<&str>,
    ) -> io::Result<()> {
        if arguments.is_empty() && note.is_none() {
            return Ok(());
        }
        json.key("args")?.open('{')?;
        for (name, value) in arguments {
            json.key(name)?;
            match value {
                // Viewers parse numbers as doubles.
                Argument::Number(number) if *number < 1 << 53 => json.number(*number)?,
                Argument::Number(number) => json.text(&number.to_string())?,
                Argument::Real(real) if real.is_finite() => json.raw(&real.to_string())?,
                Argument::Real(real) => json.text(&real.to_string())?,
                Argument::Address(address) => json.text(&format!("{address:#x}"))?,
                Argument::Text(text) => json.text(text)?,
            };
        }
        if let Some(note) = note {
            json.key("note")?.text(note)?;
        }
        json.close('}')?;
        Ok(())
    }

    /// Writes consecutive samples of a thread that have the same state.
    fn state(
        &mut self,
        thread: ThreadHandle,
        run: &StateRun,
        model: &Model,
    ) -> Result<(), ConvertError> {
        let (process, at) = self.thread(thread, model);
        let at = At { tid: self.row(process, ExtraRow::States(thread)), ..at };
        let json = self.event("X", run.state.name(), at, run.start_nanos)?;
        json.key("dur")?.raw(&micros(run.end_nanos.saturating_sub(run.start_nanos)))?;
        json.key("cat")?.text("Thread state")?;
        Self::arguments(json, &run.arguments(), run.note())?;
        json.close('}')?;
        Ok(())
    }

    /// Writes the samples of a thread: each frame is one span as long as consecutive samples
    /// contain it.
    fn thread_samples(
        &mut self,
        track: &Track,
        depth: usize,
        at: At,
        resolved: &Resolved<'_>,
    ) -> io::Result<()> {
        let roots = Roots::new(track, resolved);
        nesting::steps(
            track,
            |sample: &TimedSample| roots.frames(sample),
            |step| {
                for call in step.ended(depth) {
                    self.edge("E", call, at, step.end_nanos, resolved)?;
                }
                for call in step.begun(depth) {
                    self.edge("B", call, at, step.begin_nanos, resolved)?;
                }
                Ok(())
            },
        )
    }

    /// Writes the beginning or the end of a frame. A start and a duration cannot be written
    /// instead: viewers add the duration to the start in floating point, and then show frames that
    /// end after their callers.
    fn edge(
        &mut self,
        phase: &str,
        call: Call,
        at: At,
        nanos: i64,
        resolved: &Resolved<'_>,
    ) -> io::Result<()> {
        let name = match call {
            Call::Frame(frame) => resolved.text(frame),
            _ => Call::DEEPER,
        };
        let json = self.event(phase, name, at, nanos)?;
        json.key("cat")?.text("sample")?.close('}')?;
        Ok(())
    }

    fn name(&mut self, what: &str, at: At, name: &str) -> io::Result<()> {
        let json = self.event("M", what, at, 0)?;
        json.key("args")?.open('{')?.key("name")?.text(name)?.close('}')?.close('}')?;
        Ok(())
    }

    /// Writes the position of a row among the rows of its process.
    fn sort(&mut self, at: At, index: usize) -> io::Result<()> {
        let json = self.event("M", "thread_sort_index", at, 0)?;
        json.key("args")?
            .open('{')?
            .key("sort_index")?
            .number(index as u64)?
            .close('}')?
            .close('}')?;
        Ok(())
    }
}

impl Convert for Chromium<'_> {
    fn sample(&mut self, sample: &Sample, model: &Model) -> Result<(), ConvertError> {
        if !self.kinds.contains(&sample.kind) {
            return Ok(());
        }
        match sample.kind {
            Kind::Cpu => self.samples.entry(sample.thread).or_default().add(sample),
            Kind::AllocationSamples | Kind::AllocationTicks => {
                let (_, at) = self.thread(sample.thread, model);
                let name = if sample.kind == Kind::AllocationTicks {
                    "allocation tick"
                } else {
                    "allocation"
                };
                let json = self.event("i", name, at, sample.nanos)?;
                json.key("s")?.text("t")?.key("cat")?.text("Allocations")?;
                let label = sample.label.map_or("", |label| model.text(label));
                json.key("args")?.open('{')?.key("type")?.text(label)?;
                json.key("bytes")?.number(sample.weight)?.close('}')?.close('}')?;
            }
            _ => {}
        }
        Ok(())
    }

    fn wants_marks(&self) -> bool {
        true
    }

    fn mark(&mut self, mark: &TimelineMark, model: &Model) -> Result<(), ConvertError> {
        let (process, at) = self.thread(mark.thread(), model);
        match mark {
            TimelineMark::Span(span) => {
                let at = match span.place {
                    SpanScope::Thread => at,
                    SpanScope::Process | SpanScope::Free => {
                        let lane = self.lanes.lane(process, span);
                        At { tid: self.row(process, ExtraRow::Lane(span.category, lane)), ..at }
                    }
                };
                let json = self.event("X", &span.name, at, span.start_nanos)?;
                json.key("dur")?.raw(&micros(i64::try_from(span.nanos).unwrap_or(i64::MAX)))?;
                json.key("cat")?.text(span.category.name())?;
                arrow(json, span.flow)?;
                Self::arguments(json, &span.arguments, span.ends.note())?;
                json.close('}')?;
            }
            TimelineMark::Instant(instant) => {
                let has_arrow = instant.flow.is_some();
                let json = self.event(
                    if has_arrow { "X" } else { "i" },
                    &instant.name,
                    at,
                    instant.nanos,
                )?;
                match has_arrow {
                    true => json.key("dur")?.raw(&micros(1))?,
                    false => json.key("s")?.text("t")?,
                };
                json.key("cat")?.text(instant.category.name())?;
                arrow(json, instant.flow)?;
                Self::arguments(json, &instant.arguments, None)?;
                json.close('}')?;
            }
            TimelineMark::Counter(point) => {
                let unit = if point.unit.is_empty() { "value" } else { &point.unit };
                let json = self.event("C", &point.name, At { tid: 0, ..at }, point.nanos)?;
                json.key("args")?.open('{')?.key(unit)?.raw(&point.value.to_string())?;
                json.close('}')?.close('}')?;
            }
        }
        Ok(())
    }

    fn finish(
        mut self: Box<Self>,
        resolved: &Resolved<'_>,
        _: &Profile,
    ) -> Result<(), ConvertError> {
        if !self.is_begun && self.samples.is_empty() {
            return Err(ConvertError::NothingToShow { wanted: "samples, spans or counters" });
        }
        let model = resolved.model();
        let mut samples = BTreeMap::new();
        for (thread, track) in std::mem::take(&mut self.samples) {
            let write = |run: &StateRun| self.state(thread, run, model);
            samples.insert(thread, states::by_readings(thread, track, resolved, write)?);
        }
        let depth = nesting::depth_for(samples.values(), |sample| {
            resolved.selected(sample.stack, sample.mode)
        });
        for (thread, track) in samples {
            let (process, at) = self.thread(thread, model);
            let at = At { tid: self.row(process, ExtraRow::Samples(thread)), ..at };
            self.thread_samples(&track, depth, at, resolved)?;
        }
        for (process, row) in model.processes() {
            let pid = pid_of(process, model);
            let name = if row.name.is_empty() { "process" } else { &row.name };
            self.name("process_name", At { pid, tid: 0 }, name)?;
        }
        let lanes = self.rows.len();
        for (index, ((process, row), tid)) in self.rows.clone().into_iter().enumerate() {
            let at = At { pid: pid_of(process, model), tid };
            let (name, index) = match row {
                ExtraRow::Lane(category, lane) => (lane_name(category, lane), index),
                ExtraRow::Samples(thread) => {
                    let index =
                        thread.index().saturating_mul(2).saturating_add(lanes).saturating_add(1);
                    (format!("{} samples", model.thread_label(thread)), index)
                }
                // Below the thread itself, and above its samples: viewers keep the order of rows
                // with the same place.
                ExtraRow::States(thread) => {
                    let index = thread.index().saturating_mul(2).saturating_add(lanes);
                    (format!("{} state", model.thread_label(thread)), index)
                }
                ExtraRow::Thread(thread) => {
                    (model.thread_label(thread), lanes.saturating_add(thread.index()))
                }
            };
            self.name("thread_name", at, &name)?;
            self.sort(at, index)?;
        }
        for (thread, row) in model.threads() {
            let Some(tid) = row.os_thread_id.filter(|id| *id < FIRST_ROW) else { continue };
            let at = At { pid: pid_of(row.process, model), tid };
            self.name("thread_name", at, &model.thread_label(thread))?;
            self.sort(at, thread.index().saturating_mul(2).saturating_add(lanes))?;
        }
        self.json.close(']')?.close('}')?;
        let mut out = self.json.into_inner();
        out.write_all(b"\n")?;
        Ok(out.finish()?)
    }
}

/// Writes one end of an arrow. An arrow of the viewer connects the spans that have the same number.
fn arrow<W: Write>(json: &mut Json<W>, flow: Option<Flow>) -> io::Result<()> {
    let (id, direction) = match flow {
        None => return Ok(()),
        Some(Flow::From(id)) => (id, "flow_out"),
        Some(Flow::To(id)) => (id, "flow_in"),
    };
    json.key("bind_id")?.text(&format!("{id:#x}"))?.key(direction)?.raw("true")?;
    Ok(())
}

pub(super) fn process_of(thread: ThreadHandle, model: &Model) -> ProcessHandle {
    model.thread(thread).map_or(ProcessHandle(0), |row| row.process)
}

/// Returns the id of a process. If the trace does not contain it, returns the number of the process
/// in the model.
pub(super) fn pid_of(process: ProcessHandle, model: &Model) -> u64 {
    let session = model.session().and_then(|session| session.process_id).map(u64::from);
    let id = model.process(process).and_then(|row| row.id);
    id.or(session).unwrap_or_else(|| process.index().saturating_add(1) as u64)
}

/// Returns microseconds as text, with three decimals unless all are 0.
fn micros(nanos: i64) -> String {
    let (whole, rest) = (nanos.unsigned_abs() / 1000, nanos.unsigned_abs() % 1000);
    let sign = if nanos < 0 { "-" } else { "" };
    if rest == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest:03}") }
}

#[cfg(test)]
mod tests {
    use super::micros;

    #[test]
    fn nanoseconds_become_microseconds_without_rounding() {
        let cases =
            [(0, "0"), (1, "0.001"), (-1_500, "-1.500"), (1_234_567, "1234.567"), (2_000, "2")];
        for (nanos, text) in cases {
            assert_eq!(micros(nanos), text);
        }
        assert_eq!(micros(i64::MIN), "-9223372036854775.808");
    }
}
