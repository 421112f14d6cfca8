//! V8's CPU profile: one JSON document.
//!
//! | | |
//! |---|---|
//! | opened by | Chrome and Edge DevTools (Performance), Visual Studio Code, speedscope |
//! | tree | below `(root)` a node for each thread, below it its calls |
//! | time | the format knows one thread. So threads stand one after the other, the heaviest first, each in the order of its samples; with one thread chosen (`--thread`) it is that thread's time line |
//! | samples | equal neighbours are one; `timeDeltas` are wall time in microseconds, rounded so that sums stay right. The last sample, of `(idle)`, only ends the one before |
//! | `hitCount` | samples |
//! | `url` | the module; V8's line and column are not known (-1) |
//! | kinds | CPU samples |

use super::encode::Json;
use super::{Convert, ConvertError, ConvertOptions, Output};
use crate::model::{
    Call, CallNode, CallNodes, FrameHandle, Kind, Model, Profile, Resolved, Run, Sample, ThreadHandle,
    Timeline, Totals,
};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What it shows.
pub(super) const KINDS: &[Kind] = &[Kind::Cpu];

/// Numbers of the nodes that V8 has; those of calls follow.
const ROOT: u64 = 1;
const IDLE: u64 = 2;
const FIRST_CALL: u64 = 3;

/// Writes V8's CPU profile.
#[derive(Debug)]
pub struct CpuProfile<'o> {
    out: Output<'o>,
    threads: BTreeMap<ThreadHandle, Timeline>,
}

impl<'o> CpuProfile<'o> {
    /// Writes to `out`.
    pub fn new(out: Box<dyn Write + 'o>, options: &ConvertOptions) -> CpuProfile<'o> {
        let out = Output::new(out, options.is_gzip);
        CpuProfile { out, threads: BTreeMap::new() }
    }
}

impl Convert for CpuProfile<'_> {
    /// Equal neighbours are written as one.
    fn takes_runs(&self) -> bool {
        true
    }

    fn sample(&mut self, sample: &Sample, _model: &Model) -> Result<(), ConvertError> {
        if sample.kind == Kind::Cpu {
            self.threads.entry(sample.thread).or_default().add(sample);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, resolved: &Resolved<'_>, profile: &Profile) -> Result<(), ConvertError> {
        let CpuProfile { out, threads } = *self;
        super::first_kind(KINDS, profile)?;
        let mut calls = CallNodes::new();
        let mut weights: BTreeMap<ThreadHandle, u64> = BTreeMap::new();
        for (key, totals) in profile.rows() {
            let Some(frames) = resolved.selected(key.stack, key.mode) else { continue };
            calls.add(path(key.thread, frames), &totals);
            let weight = weights.entry(key.thread).or_default();
            *weight = weight.saturating_add(totals.weight);
        }
        let mut order: Vec<ThreadHandle> = weights.keys().copied().collect();
        order.sort_by_key(|thread| (Reverse(weights.get(thread)), *thread));
        let start = threads.values().filter_map(Timeline::first_nanos).min().unwrap_or(0).max(0) / 1000;
        let mut json = Json::new(out);
        json.open('{')?.key("nodes")?.open('[')?;
        nodes(&mut json, &calls, resolved)?;
        json.close(']')?.key("startTime")?.number(start)?.key("samples")?.open('[')?;
        // Times come behind samples in the document, so the samples are walked twice.
        let mut run_count = 0u64;
        let runs = order.iter().filter_map(|thread| Some((*thread, threads.get(thread)?)));
        let selected = |run: &Run| resolved.selected(run.stack, run.mode);
        for (thread, timeline) in runs.clone() {
            for frames in timeline.runs().filter_map(|run| selected(&run)) {
                // The call is known already, so that nothing is added.
                let node = calls.add(path(thread, frames), &Totals::default());
                json.number(number(node))?;
                run_count = run_count.saturating_add(1);
            }
        }
        if run_count > 0 {
            json.number(IDLE)?;
        }
        json.close(']')?.key("timeDeltas")?.open('[')?;
        if run_count > 0 {
            json.number(0)?;
        }
        let mut clock = Microseconds::default();
        for (_, timeline) in runs {
            for run in timeline.runs().filter(|run| selected(run).is_some()) {
                json.number(clock.step(run.weight))?;
            }
        }
        let end = start.saturating_add_unsigned(clock.micros);
        json.close(']')?.key("endTime")?.number(end)?.close('}')?;
        let mut out = json.into_inner();
        out.write_all(b"\n")?;
        Ok(out.finish()?)
    }
}

/// Nanoseconds become microseconds without their sum drifting.
#[derive(Debug, Default)]
struct Microseconds {
    nanos: u64,
    micros: u64,
}

impl Microseconds {
    fn step(&mut self, nanos: u64) -> u64 {
        self.nanos = self.nanos.saturating_add(nanos);
        let before = std::mem::replace(&mut self.micros, self.nanos / 1000);
        self.micros.saturating_sub(before)
    }
}

fn path<'f>(thread: ThreadHandle, frames: &'f [FrameHandle]) -> impl Iterator<Item = Call> + use<'f> {
    std::iter::once(Call::Thread(thread)).chain(frames.iter().rev().map(|frame| Call::Frame(*frame)))
}

fn number(node: usize) -> u64 {
    match node {
        0 => ROOT,
        node => (node as u64).saturating_sub(1).saturating_add(FIRST_CALL),
    }
}

fn nodes<W: Write>(json: &mut Json<W>, calls: &CallNodes, resolved: &Resolved<'_>) -> io::Result<()> {
    let below = calls.below(|a, b| (a.call).cmp(&b.call));
    for (at, children) in below.iter().enumerate() {
        let node = calls.node(at);
        json.open('{')?.key("id")?.number(number(at))?;
        call_frame(json, &node, resolved)?;
        json.key("hitCount")?.number(if at == 0 { 0 } else { node.self_samples })?;
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
            json.key("hitCount")?.number(0)?.key("children")?.open('[')?.close(']')?.close('}')?;
        }
    }
    Ok(())
}

/// The function of a node, in V8's form.
pub(super) fn call_frame<W: Write>(
    json: &mut Json<W>,
    node: &CallNode,
    resolved: &Resolved<'_>,
) -> io::Result<()> {
    match node.call {
        None => named(json, "(root)", ""),
        Some(Call::Thread(thread)) => named(json, &resolved.model().thread_label(thread), ""),
        Some(Call::Frame(frame)) => {
            let module = resolved.frame(frame).map_or("", |frame| &frame.module);
            named(json, resolved.text(frame), module)
        }
        Some(Call::Label(kind, label)) => {
            named(json, &super::label_text(kind, resolved.model().texts().get(label)), "")
        }
    }
}

fn named<W: Write>(json: &mut Json<W>, name: &str, url: &str) -> io::Result<()> {
    json.key("callFrame")?.open('{')?.key("functionName")?.text(name)?;
    json.key("scriptId")?.text("0")?.key("url")?.text(url)?;
    json.key("lineNumber")?.number(-1)?.key("columnNumber")?.number(-1)?.close('}')?;
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
