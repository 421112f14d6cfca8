//! V8's CPU profile: one JSON document.
//!
//! | | |
//! |---|---|
//! | opened by | Chrome and Edge DevTools (Performance), Visual Studio Code, speedscope |
//! | tree | one node per thread below `(root)`, with the thread's calls below it; threads that waited, with their calls, are below `(waiting)`, which comes last |
//! | time | the format represents a single thread. So threads follow one another, the heaviest first, each with its samples in time order. If there is only one (`--thread`), the profile is that thread's time line, and `(idle)` fills the time without samples |
//! | samples | equal consecutive samples are merged; `timeDeltas` are wall time, or CPU time if an operating system took the samples, in microseconds, rounded so that sums stay correct. A last sample of `(idle)` ends the sample before it |
//! | readings | each run of equal samples is divided, between one reading and the next, into what its thread ran, was ready, and waited, in this order; what it waited is below `(waiting)`, and what it was ready below `(ready)`. Processor time that no sample has is left out |
//! | `hitCount` | microseconds. DevTools computes a node's self time as hits × (`endTime` − `startTime`) ÷ all hits, which is only right if all samples have the same weight, or if a hit is a unit of time. Other viewers add up `timeDeltas`; both give the same result |
//! | `url` | the module or, with lines, the source file; the column is unknown (-1), and so is the line without lines |
//! | kinds | CPU samples |

use super::encode::Json;
use super::{Convert, ConvertError, ConvertOptions, Output};
use crate::hash::HashMap;
use crate::model::{
    Call, CallNode, CallNodes, FrameHandle, Kind, Model, Piece, Profile, Resolved, Sample,
    ThreadHandle, Timeline,
};
use crate::sorted::SortFew;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

pub(super) const KINDS: &[Kind] = &[Kind::Cpu];

/// Number of the root node, as in V8. The numbers of calls follow those of the fixed nodes.
const ROOT: u64 = 1;
const IDLE: u64 = 2;
const FIRST_CALL: u64 = 3;

#[derive(Debug)]
pub(crate) struct CpuProfile<'o> {
    out: Output<'o>,
    threads: BTreeMap<ThreadHandle, Timeline>,
}

impl<'o> CpuProfile<'o> {
    pub(crate) fn new(out: Box<dyn Write + Send + 'o>, options: &ConvertOptions) -> CpuProfile<'o> {
        let out = Output::new(out, options.is_gzip);
        CpuProfile { out, threads: BTreeMap::new() }
    }
}

impl Convert for CpuProfile<'_> {
    /// Returns `true`: the format merges equal consecutive samples anyway.
    fn takes_runs(&self) -> bool {
        true
    }

    fn sample(&mut self, sample: &Sample, _model: &Model) -> Result<(), ConvertError> {
        if sample.kind == Kind::Cpu {
            self.threads.entry(sample.thread).or_default().add(sample);
        }
        Ok(())
    }

    fn finish(
        self: Box<Self>,
        resolved: &Resolved<'_>,
        profile: &Profile,
    ) -> Result<(), ConvertError> {
        let CpuProfile { out, mut threads } = *self;
        super::first_kind(KINDS, profile)?;
        for (thread, timeline) in &mut threads {
            if let Some(divider) = resolved.divider(*thread) {
                *timeline = timeline.divided(divider);
            }
        }
        let mut rows = profile.rows();
        rows.retain(|(key, _)| !resolved.is_unsampled(key.stack));
        let path = |thread, stack, mode| {
            let frames = resolved.selected(stack, mode)?;
            Some(path(thread, frames, resolved.state_root(Kind::Cpu, stack, mode)))
        };
        let mut calls = CallNodes::for_paths(|| {
            rows.iter().filter_map(|(key, _)| path(key.thread, key.stack, key.mode))
        });
        let mut weights: BTreeMap<ThreadHandle, u64> = BTreeMap::new();
        for (key, totals) in &rows {
            let Some(path) = path(key.thread, key.stack, key.mode) else { continue };
            calls.add(path, totals);
            let weight = weights.entry(key.thread).or_default();
            *weight = weight.saturating_add(totals.weight);
        }
        let mut order: Vec<ThreadHandle> = weights.keys().copied().collect();
        order.sort_few_by_key(|thread| (Reverse(weights.get(thread)), *thread));
        let start =
            threads.values().filter_map(Timeline::first_nanos).min().unwrap_or(0).max(0) / 1000;
        let is_alone = order.len() == 1;
        // Node and duration of a piece. Filtered samples are omitted, unless the profile shows a
        // single thread: there they fill the time between other samples.
        let place = |thread: ThreadHandle, piece: Piece| match piece {
            Piece::Run(run) => match path(thread, run.stack, run.mode) {
                Some(path) => Some((calls.find(path).map_or(IDLE, number), run.weight)),
                None => is_alone.then_some((IDLE, run.weight)),
            },
            Piece::Gap(nanos) => is_alone.then_some((IDLE, nanos)),
        };
        let walk = || {
            let timelines = order.iter().filter_map(|thread| Some((*thread, threads.get(thread)?)));
            timelines.flat_map(|(thread, timeline)| {
                timeline.pieces().filter_map(move |piece| place(thread, piece))
            })
        };
        let mut hits: HashMap<u64, u64> = HashMap::default();
        let mut clock = Microseconds::default();
        for (node, nanos) in walk() {
            let sum = hits.entry(node).or_default();
            *sum = sum.saturating_add(clock.step(nanos));
        }
        let mut json = Json::new(out);
        json.open('{')?.key("nodes")?.open('[')?;
        nodes(&mut json, &calls, &hits, resolved)?;
        json.close(']')?.key("startTime")?.number(start)?.key("samples")?.open('[')?;
        // In the document times come after samples, so the samples are walked again.
        let mut is_empty = true;
        for (node, _) in walk() {
            json.number(node)?;
            is_empty = false;
        }
        if !is_empty {
            json.number(IDLE)?;
        }
        json.close(']')?.key("timeDeltas")?.open('[')?;
        if !is_empty {
            json.number(0)?;
        }
        let mut clock = Microseconds::default();
        for (_, nanos) in walk() {
            json.number(clock.step(nanos))?;
        }
        let end = start.saturating_add_unsigned(clock.micros);
        json.close(']')?.key("endTime")?.number(end)?.close('}')?;
        let mut out = json.into_inner();
        out.write_all(b"\n")?;
        Ok(out.finish()?)
    }
}

/// Converts nanoseconds to microseconds so that rounding errors do not add up.
#[derive(Debug, Default)]
pub(super) struct Microseconds {
    nanos: u64,
    micros: u64,
}

impl Microseconds {
    /// Returns the microseconds that the next time adds to those of the times before.
    pub(super) fn step(&mut self, nanos: u64) -> u64 {
        self.nanos = self.nanos.saturating_add(nanos);
        let before = std::mem::replace(&mut self.micros, self.nanos / 1000);
        self.micros.saturating_sub(before)
    }
}

fn path<'f>(
    thread: ThreadHandle,
    frames: &'f [FrameHandle],
    root: Option<Call>,
) -> impl Iterator<Item = Call> + use<'f> {
    root.into_iter()
        .chain(std::iter::once(Call::Thread(thread)))
        .chain(frames.iter().rev().map(|frame| Call::Frame(*frame)))
}

fn number(node: usize) -> u64 {
    match node {
        0 => ROOT,
        node => (node as u64).saturating_sub(1).saturating_add(FIRST_CALL),
    }
}

fn nodes<W: Write>(
    json: &mut Json<W>,
    calls: &CallNodes,
    hits: &HashMap<u64, u64>,
    resolved: &Resolved<'_>,
) -> io::Result<()> {
    let hits = |node: u64| hits.get(&node).copied().unwrap_or(0);
    let below = calls.below(|a, b| (a.call).cmp(&b.call));
    for (at, children) in below.iter().enumerate() {
        let node = calls.node(at);
        json.open('{')?.key("id")?.number(number(at))?;
        call_frame(json, &node, resolved)?;
        json.key("hitCount")?.number(hits(number(at)))?;
        json.key("children")?.open('[')?;
        if at == 0 {
            json.number(IDLE)?;
        }
        for child in children {
            json.number(number(*child))?;
        }
        json.close(']')?.close('}')?;
        if at == 0 {
            json.open('{')?.key("id")?.number(IDLE)?;
            named(json, "(idle)", "")?;
            json.key("hitCount")?
                .number(hits(IDLE))?
                .key("children")?
                .open('[')?
                .close(']')?
                .close('}')?;
        }
    }
    Ok(())
}

/// Writes the function of a node, in the form that V8 uses.
pub(super) fn call_frame<W: Write>(
    json: &mut Json<W>,
    node: &CallNode,
    resolved: &Resolved<'_>,
) -> io::Result<()> {
    match node.call {
        None => named(json, "(root)", ""),
        Some(Call::Thread(thread)) => named(json, &resolved.model().thread_label(thread), ""),
        Some(Call::Frame(frame)) => {
            let Some(frame) = resolved.frame(frame) else { return named(json, "?", "") };
            match &frame.line {
                // Lines count from 0.
                Some(at) => {
                    let line = i64::from(at.line).saturating_sub(1);
                    placed(json, &frame.without_line(), &at.file, line)
                }
                None => named(json, &frame.text, &frame.module),
            }
        }
        Some(Call::Label(kind, label)) => {
            named(json, &super::label_text(kind, resolved.model().text(label)), "")
        }
        Some(call) => named(json, call.fixed_text().unwrap_or_default(), ""),
    }
}

fn named<W: Write>(json: &mut Json<W>, name: &str, url: &str) -> io::Result<()> {
    placed(json, name, url, -1)
}

fn placed<W: Write>(json: &mut Json<W>, name: &str, url: &str, line: i64) -> io::Result<()> {
    json.key("callFrame")?.open('{')?.key("functionName")?.text(name)?;
    json.key("scriptId")?.text("0")?.key("url")?.text(url)?;
    json.key("lineNumber")?.number(line)?.key("columnNumber")?.number(-1)?.close('}')?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_to_microseconds_does_not_drift() {
        let mut clock = Microseconds::default();
        let steps: Vec<u64> = [1_600, 1_600, 1_600, 200].map(|nanos| clock.step(nanos)).to_vec();
        assert_eq!((steps, clock.micros), (vec![1, 2, 1, 1], 5));
    }
}
