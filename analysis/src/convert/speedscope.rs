//! speedscope's own format: one JSON document.
//!
//! | | |
//! |---|---|
//! | opened by | speedscope.app, `npx speedscope`, VS Code extensions |
//! | profiles | first all threads that ran: CPU samples aggregated by stack, so not in time order, as the name says; then all that waited. Then each thread, its waits below one root `(waiting)`, and what it was ready by its readings below `(ready)`, heaviest first: its samples in time order, with equal consecutive ones merged. Then one for each other kind, aggregated |
//! | time | a thread's samples are at the time they were taken, relative to the session's start: samples without frames fill the gaps, including those of filtered samples |
//! | type | `sampled`: samples are lists of frames, root first, each with a weight |
//! | units | whole nanoseconds; bytes for allocations; none for counts |
//! | frames | text; `file` is the module or, with lines, the source file, and `line` the line. The allocated or thrown type is on top of its stack: `new System.String` |
//!
//! With readings, each run of equal samples is divided, between one reading and the next, into what
//! its thread ran, was ready, and waited, in this order; so the weights of a thread's profile add up
//! to the processor time of all its samples. Processor time that no sample has is only in the first
//! profile.
//!
//! Weights are wall time, or CPU time if an operating system took the samples; the first
//! profile's name says which. In the document, frames come after the profiles, because
//! only the frames in use are written.

use super::encode::Json;
use super::{Convert, ConvertError, ConvertOptions, Output};
use crate::hash::HashMap;
use crate::model::{
    Call, FrameHandle, Kind, Model, Piece, Profile, Resolved, Sample, StackHandle, TextHandle,
    ThreadHandle, Timeline, TimelineRun, WeightUnit,
};
use crate::sorted::SortFew;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

pub(super) const KINDS: &[Kind] = &[
    Kind::Cpu,
    Kind::AllocationSamples,
    Kind::AllocationTicks,
    Kind::Exceptions,
    Kind::Contention,
    Kind::Waits,
    Kind::OffCpu,
];

#[derive(Debug)]
pub(crate) struct Speedscope<'o> {
    out: Output<'o>,
    kinds: Vec<Kind>,
    title: String,
    /// Timeline of each thread, by the index of the thread; empty if CPU samples are not shown.
    threads: Vec<Timeline>,
    shows_cpu: bool,
}

impl<'o> Speedscope<'o> {
    pub(crate) fn new(out: Box<dyn Write + Send + 'o>, options: &ConvertOptions) -> Speedscope<'o> {
        let kinds = options.kinds_or(KINDS);
        Speedscope {
            out: Output::new(out, options.is_gzip),
            title: options.title.clone(),
            threads: Vec::new(),
            shows_cpu: kinds.contains(&Kind::Cpu),
            kinds,
        }
    }
}

impl Convert for Speedscope<'_> {
    /// Returns `true`: the format merges equal consecutive samples anyway.
    fn takes_runs(&self) -> bool {
        true
    }

    fn sample(&mut self, sample: &Sample, _model: &Model) -> Result<(), ConvertError> {
        if sample.kind == Kind::Cpu && self.shows_cpu {
            let place = sample.thread.index();
            if self.threads.len() <= place {
                // Threads are numbered without gaps.
                self.threads.resize_with(place.saturating_add(1), Timeline::default);
            }
            if let Some(timeline) = self.threads.get_mut(place) {
                timeline.add(sample);
            }
        }
        Ok(())
    }

    fn finish(
        self: Box<Self>,
        resolved: &Resolved<'_>,
        profile: &Profile,
    ) -> Result<(), ConvertError> {
        let Speedscope { out, kinds, title, threads, .. } = *self;
        let kinds = super::shown_kinds(&kinds, profile)?;
        let mut document = Document {
            json: Json::new(out),
            resolved,
            lists: Lists {
                resolved,
                frames: Vec::new(),
                label_numbers: HashMap::default(),
                root_numbers: BTreeMap::new(),
                numbers: vec![u32::MAX; resolved.all_frames().len()],
                text: String::new(),
                stacks: vec![(0, 0); resolved.stack_count()],
            },
        };
        let threads = divided(threads, resolved);
        document.json.open('{')?.key("$schema")?.text(SCHEMA)?;
        document.json.key("exporter")?.text(concat!("nettrace ", env!("CARGO_PKG_VERSION")))?;
        document.json.key("name")?.text(if title.is_empty() { "trace" } else { &title })?;
        document.json.key("activeProfileIndex")?.number(0)?.key("profiles")?.open('[')?;
        if kinds.contains(&Kind::Cpu) {
            let clock = profile.clock().name();
            let name = format!("All threads, {clock} summed up by stack (not in time order)");
            let waits = format!("All threads that waited, {clock} summed up by stack");
            let has = |is_waiting: bool| {
                let mut keys = profile.rows().into_iter().map(|(key, _)| key);
                keys.any(|key| {
                    key.kind == Kind::Cpu
                        && resolved.selected(key.stack, key.mode).is_some()
                        && resolved.state_root(key.kind, key.stack, key.mode).is_some()
                            == is_waiting
                })
            };
            let (has_running, has_waiting) = (has(false), has(true));
            if has_running || !has_waiting {
                document.summed(&name, Kind::Cpu, false, profile)?;
            }
            if has_waiting {
                document.summed(&waits, Kind::Cpu, true, profile)?;
            }
            document.threads(&threads)?;
        }
        for kind in kinds.into_iter().filter(|kind| *kind != Kind::Cpu) {
            document.summed(kind.name(), kind, false, profile)?;
        }
        document.json.close(']')?;
        document.shared()?;
        document.json.close('}')?;
        let mut out = document.json.into_inner();
        out.write_all(b"\n")?;
        Ok(out.finish()?)
    }
}

/// Divides the samples of all threads by their readings, if there are readings.
fn divided(threads: Vec<Timeline>, resolved: &Resolved<'_>) -> Vec<Timeline> {
    let divide = |(thread, timeline): (ThreadHandle, Timeline)| match resolved.divider(thread) {
        Some(divider) => timeline.divided(divider),
        None => timeline,
    };
    ThreadHandle::all(threads.len()).zip(threads).map(divide).collect()
}

/// The document while it is written.
struct Document<'a, 'o> {
    json: Json<Output<'o>>,
    resolved: &'a Resolved<'a>,
    lists: Lists<'a>,
}

/// What distinguishes samples: the stack and other properties.
#[derive(Clone, Copy)]
struct SampleSite {
    stack: Option<StackHandle>,
    /// Allocated or thrown type of the sample.
    label: Option<Label>,
    /// Root of the samples of threads that did not run.
    root: Option<Call>,
}

type Label = (Kind, TextHandle);

impl SampleSite {
    /// The site of no sample, which fills gaps between samples.
    const NOWHERE: SampleSite = SampleSite { stack: None, label: None, root: None };
}

/// An entry in the table of frames that all profiles share.
#[derive(Clone, Copy)]
enum Shared {
    Frame(FrameHandle),
    Label(Label),
    Root(Call),
}

/// Lists of frames in JSON. Each list is composed once.
struct Lists<'a> {
    resolved: &'a Resolved<'a>,
    /// Frames in use, by the numbers with which samples refer to them.
    frames: Vec<Shared>,
    numbers: Vec<u32>,
    label_numbers: HashMap<Label, u32>,
    root_numbers: BTreeMap<Call, u32>,
    text: String,
    /// Range of each stack's list in `text`.
    stacks: Vec<(usize, usize)>,
}

impl Document<'_, '_> {
    /// Writes a profile of a kind's samples, aggregated by stack: either those of threads that
    /// waited, or all others.
    fn summed(
        &mut self,
        name: &str,
        kind: Kind,
        is_waiting: bool,
        profile: &Profile,
    ) -> io::Result<()> {
        let resolved = self.resolved;
        type Key = (Option<Call>, StackHandle, Option<TextHandle>);
        let mut sums: BTreeMap<Key, u64> = BTreeMap::new();
        for (key, totals) in profile.rows() {
            let root = resolved.state_root(kind, key.stack, key.mode);
            if key.kind == kind
                && resolved.selected(key.stack, key.mode).is_some()
                && root.is_some() == is_waiting
            {
                let stack = resolved.sample_stack(key.stack, key.mode);
                let sum = sums.entry((root, stack, key.label)).or_default();
                *sum = sum.saturating_add(totals.weight);
            }
        }
        let place = |(root, stack, label): &Key| SampleSite {
            stack: Some(*stack),
            label: label.map(|label| (kind, label)),
            root: *root,
        };
        self.sampled(name, kind.unit(), || sums.iter().map(|(key, sum)| (place(key), *sum)))
    }

    /// Writes a profile for each thread, the heaviest first.
    fn threads(&mut self, threads: &[Timeline]) -> io::Result<()> {
        let resolved = self.resolved;
        let admits_all = resolved.admits_all();
        let weight_of = |timeline: &Timeline| {
            if admits_all {
                return timeline.weight();
            }
            let admits = |run: &TimelineRun| resolved.admits(run.stack, run.mode);
            timeline.runs().filter(admits).fold(0u64, |sum, run| sum.saturating_add(run.weight))
        };
        let mut order: Vec<(u64, ThreadHandle, &Timeline)> = ThreadHandle::all(threads.len())
            .zip(threads)
            .map(|(thread, timeline)| (weight_of(timeline), thread, timeline))
            .collect();
        order.sort_few_by_key(|(weight, thread, _)| (std::cmp::Reverse(*weight), *thread));
        for (_, thread, timeline) in order.into_iter().filter(|(weight, ..)| *weight > 0) {
            let name = resolved.model().thread_label(thread);
            // The viewer starts at 0 and ignores the document's start, so 0 is the session's start.
            let before = timeline.first_nanos().and_then(|nanos| u64::try_from(nanos).ok());
            let before = before.filter(|nanos| *nanos > 0).map(Piece::Gap);
            self.sampled(&name, WeightUnit::Nanoseconds, || {
                before.into_iter().chain(timeline.pieces()).map(|piece| match piece {
                    Piece::Run(run) if admits_all || resolved.admits(run.stack, run.mode) => {
                        let stack = resolved.sample_stack(run.stack, run.mode);
                        let root = resolved.state_root(Kind::Cpu, run.stack, run.mode);
                        (SampleSite { stack: Some(stack), label: None, root }, run.weight)
                    }
                    Piece::Run(run) => (SampleSite::NOWHERE, run.weight),
                    Piece::Gap(nanos) => (SampleSite::NOWHERE, nanos),
                })
            })?;
        }
        Ok(())
    }

    /// Writes a profile of samples with their weights. In the document all stacks come before all
    /// weights, so the samples are iterated twice.
    fn sampled<I: Iterator<Item = (SampleSite, u64)>>(
        &mut self,
        name: &str,
        unit: WeightUnit,
        rows: impl Fn() -> I,
    ) -> io::Result<()> {
        let unit = match unit {
            WeightUnit::Nanoseconds => "nanoseconds",
            WeightUnit::Bytes => "bytes",
            WeightUnit::Count => "none",
        };
        self.json
            .open('{')?
            .key("type")?
            .text("sampled")?
            .key("name")?
            .text(name)?
            .key("unit")?
            .text(unit)?;
        let lists = &mut self.lists;
        let samples = self.json.key("samples")?.open('[')?;
        samples.elements(rows(), |(place, _), text| lists.put(place, text))?;
        let mut total = 0u64;
        let weights = samples.close(']')?.key("weights")?.open('[')?;
        weights.elements(rows(), |(_, weight), text| {
            text.extend_from_slice(itoa::Buffer::new().format(weight).as_bytes());
            total = total.saturating_add(weight);
        })?;
        self.json.close(']')?.key("startValue")?.number(0)?;
        self.json.key("endValue")?.number(total)?.close('}')?;
        Ok(())
    }

    fn shared(&mut self) -> io::Result<()> {
        self.json.key("shared")?.open('{')?.key("frames")?.open('[')?;
        for frame in &self.lists.frames {
            let frame = match frame {
                Shared::Frame(frame) => frame,
                Shared::Label((kind, label)) => {
                    let text = super::label_text(*kind, self.resolved.model().text(*label));
                    self.json.open('{')?.key("name")?.text(&text)?.close('}')?;
                    continue;
                }
                Shared::Root(root) => {
                    let text = root.fixed_text().unwrap_or_default();
                    self.json.open('{')?.key("name")?.text(text)?.close('}')?;
                    continue;
                }
            };
            self.json.open('{')?.key("name")?.text(self.resolved.text(*frame))?;
            if let Some(frame) = self.resolved.frame(*frame)
                && !frame.module.is_empty()
            {
                match &frame.line {
                    Some(at) => {
                        self.json.key("file")?.text(&at.file)?.key("line")?.number(at.line)?;
                    }
                    None => {
                        self.json.key("file")?.text(&frame.module)?;
                    }
                }
            }
            self.json.close('}')?;
        }
        self.json.close(']')?.close('}')?;
        Ok(())
    }
}

impl Lists<'_> {
    /// Writes the list of frames for a sample, root first.
    #[inline]
    fn put(&mut self, place: SampleSite, text: &mut Vec<u8>) {
        let root = place.root.map(|root| self.root_number(root));
        let list = place.stack.map_or("[]", |stack| self.list(stack));
        if let Some(root) = root {
            text.push(b'[');
            text.extend_from_slice(itoa::Buffer::new().format(root).as_bytes());
            let frames = list.strip_prefix('[').unwrap_or(list);
            if frames.len() > 1 {
                text.push(b',');
            }
            return text.extend_from_slice(frames.as_bytes());
        }
        let Some(label) = place.label else { return text.extend_from_slice(list.as_bytes()) };
        let frames = list.strip_suffix(']').unwrap_or(list);
        text.extend_from_slice(frames.as_bytes());
        if frames.len() > 1 {
            text.push(b',');
        }
        let number = self.label_number(label);
        text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        text.push(b']');
    }

    /// Returns the number with which samples refer to the root of threads that did not run.
    fn root_number(&mut self, root: Call) -> u32 {
        let next = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        let number = *self.root_numbers.entry(root).or_insert(next);
        if number == next {
            self.frames.push(Shared::Root(root));
        }
        number
    }

    /// Returns the number with which samples refer to a label.
    fn label_number(&mut self, label: Label) -> u32 {
        let next = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        let number = *self.label_numbers.entry(label).or_insert(next);
        if number == next {
            self.frames.push(Shared::Label(label));
        }
        number
    }

    /// Returns the JSON list of a stack's frames, root first.
    #[inline]
    fn list(&mut self, stack: StackHandle) -> &str {
        let (from, to) = match self.stacks.get(stack.index()) {
            Some(&(from, to)) if to != 0 => (from, to),
            _ => self.write(stack),
        };
        self.text.get(from..to).unwrap_or("[]")
    }

    #[cold]
    fn write(&mut self, stack: StackHandle) -> (usize, usize) {
        let from = self.text.len();
        self.text.push('[');
        let resolved = self.resolved;
        for frame in resolved.frames(stack).iter().rev() {
            if self.text.len() > from.saturating_add(1) {
                self.text.push(',');
            }
            let number = self.number(*frame);
            let _ = write!(self.text, "{number}");
        }
        self.text.push(']');
        let place = (from, self.text.len());
        if let Some(known) = self.stacks.get_mut(stack.index()) {
            *known = place;
        }
        place
    }

    /// Returns the number with which samples refer to a frame.
    fn number(&mut self, frame: FrameHandle) -> u32 {
        let next = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
        match self.numbers.get_mut(frame.index()) {
            Some(number) if *number != u32::MAX => *number,
            Some(number) => {
                *number = next;
                self.frames.push(Shared::Frame(frame));
                next
            }
            None => 0,
        }
    }
}
