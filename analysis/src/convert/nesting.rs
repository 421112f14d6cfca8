//! Converts consecutive samples of a thread to spans that are nested in each other: a frame stays
//! open as long as consecutive samples contain it.
//!
//! A sample lasts as long as its weight says, but at most until the thread's next sample. Samples
//! of an operating system weigh one period each, and are often closer to each other. So no span
//! ends after the beginning of a span that follows it.
//!
//! A few deep stacks that take turns make very many spans, so the number of spans has a budget. If
//! the budget does not suffice, stacks are cut at a depth, and one frame, `(deeper)`, replaces the
//! frames beyond.

use crate::model::{Call, FrameHandle, TimedSample, Track, is_sample_gap};

/// Maximum number of spans before stacks are cut. Viewers can hardly open files with more spans.
const MAX_WHOLE_SPANS: u64 = 1 << 21;
/// Minimum number of outermost frames that each stack keeps when stacks are cut. Spans may then
/// exceed their maximum, but are at most this number times the number of samples.
const MIN_DEPTH: usize = 32;

/// The change from one sample of a thread to the next one.
#[derive(Debug, Clone, Copy)]
pub(super) struct SampleStep<'f> {
    before: &'f [FrameHandle],
    after: &'f [FrameHandle],
    /// Number of outermost frames that stay open.
    kept: usize,
    /// Time at which those frames end that the new sample does not contain.
    pub(super) end_nanos: i64,
    /// Time at which new frames begin; this is not before `end_nanos`.
    pub(super) begin_nanos: i64,
}

/// Passes the change from each sample of a thread to the next to `out`, in time order. The last
/// change ends all frames. `frames_of` returns the frames of a sample, innermost first, or `None`
/// if the sample is not shown.
pub(super) fn steps<'f, E>(
    track: &Track,
    frames_of: impl Fn(&TimedSample) -> Option<&'f [FrameHandle]>,
    mut out: impl FnMut(SampleStep<'f>) -> Result<(), E>,
) -> Result<(), E> {
    let mut before: &[FrameHandle] = &[];
    let mut last: Option<TimedSample> = None;
    let (mut last_nanos, mut end_nanos) = (i64::MIN, i64::MIN);
    for sample in track.samples() {
        // A clock may go backwards.
        let nanos = sample.nanos.max(last_nanos);
        let is_next = last.is_some_and(|last| {
            let gap = u64::try_from(nanos.saturating_sub(last_nanos)).unwrap_or(0);
            !is_sample_gap(last.mode, gap, last.weight)
        });
        let frames = frames_of(&sample);
        let after = frames.unwrap_or_default();
        let kept = if is_next { common(before, after) } else { 0 };
        out(SampleStep {
            before,
            after,
            kept,
            end_nanos: end_nanos.min(nanos),
            begin_nanos: nanos,
        })?;
        before = after;
        // A sample that is not shown ends all frames.
        last = frames.map(|_| sample);
        last_nanos = nanos;
        end_nanos = nanos.saturating_add_unsigned(sample.weight);
    }
    out(SampleStep { before, after: &[], kept: 0, end_nanos, begin_nanos: end_nanos })
}

/// Returns the number of outermost frames that two stacks have in common.
fn common(one: &[FrameHandle], other: &[FrameHandle]) -> usize {
    if std::ptr::eq(one, other) {
        return one.len();
    }
    one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
}

impl SampleStep<'_> {
    /// Returns the calls that end, innermost first. Stacks are cut at `depth`.
    pub(super) fn ended(&self, depth: usize) -> impl Iterator<Item = Call> + '_ {
        let places = self.kept_within(depth)..shown(self.before, depth);
        places.rev().filter_map(move |place| call(self.before, place, depth))
    }

    /// Returns the calls that begin, outermost first. Stacks are cut at `depth`.
    pub(super) fn begun(&self, depth: usize) -> impl Iterator<Item = Call> + '_ {
        let places = self.kept_within(depth)..shown(self.after, depth);
        places.filter_map(move |place| call(self.after, place, depth))
    }

    fn kept_within(&self, depth: usize) -> usize {
        if self.kept < depth {
            return self.kept;
        }
        let both_are_cut = self.before.len() > depth && self.after.len() > depth;
        depth.saturating_add(usize::from(both_are_cut))
    }
}

/// Returns how many frames of a stack are shown, including `(deeper)`.
fn shown(frames: &[FrameHandle], depth: usize) -> usize {
    frames.len().min(depth.saturating_add(1))
}

fn call(frames: &[FrameHandle], place: usize, depth: usize) -> Option<Call> {
    if place >= depth {
        return Some(Call::Deeper);
    }
    frames.iter().rev().nth(place).map(|frame| Call::Frame(*frame))
}

/// Returns the depth at which stacks have to be cut so that the spans of all tracks do not exceed
/// their maximum number.
pub(super) fn depth_for<'f, 't>(
    tracks: impl Iterator<Item = &'t Track> + Clone,
    frames_of: impl Fn(&TimedSample) -> Option<&'f [FrameHandle]>,
) -> usize {
    depth_within(MAX_WHOLE_SPANS, tracks, frames_of)
}

fn depth_within<'f, 't>(
    most: u64,
    tracks: impl Iterator<Item = &'t Track> + Clone,
    frames_of: impl Fn(&TimedSample) -> Option<&'f [FrameHandle]>,
) -> usize {
    let samples = tracks.clone().flat_map(Track::samples);
    let frames = samples.map(|sample| frames_of(&sample).map_or(0, <[_]>::len) as u64);
    if frames.fold(0, u64::saturating_add) <= most {
        return usize::MAX;
    }
    // Changes, from one depth to the next, of the number of spans that begin.
    let mut changes: Vec<i64> = Vec::new();
    for track in tracks {
        let Ok(()) = steps(track, &frames_of, |step| {
            let length = step.after.len();
            if changes.len() <= length {
                changes.resize(length.saturating_add(1), 0);
            }
            for (place, change) in [(step.kept, 1), (length, -1)] {
                if let Some(at) = changes.get_mut(place) {
                    *at = at.saturating_add(change);
                }
            }
            Ok::<_, std::convert::Infallible>(())
        });
    }
    let (mut here, mut sum) = (0i64, 0u64);
    for (depth, change) in changes.iter().enumerate() {
        here = here.saturating_add(*change);
        sum = sum.saturating_add(here.unsigned_abs());
        if sum > most {
            // `(deeper)` takes the last depth for which there is room.
            return depth.saturating_sub(1).max(MIN_DEPTH);
        }
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Mode, Sample, StackHandle, ThreadHandle};

    fn track(samples: &[(i64, u32, Mode, u64)]) -> Track {
        let mut track = Track::default();
        for (nanos, stack, mode, weight) in samples.iter().copied() {
            let (kind, thread, stack) = (Kind::Cpu, ThreadHandle(0), StackHandle(stack));
            track.add(&Sample { mode, weight, ..Sample::new(kind, thread, stack, nanos) });
        }
        track
    }

    /// Makes stacks from numbers of frames. They are written outermost first, and stored innermost
    /// first.
    fn stacks(rows: &[&[u32]]) -> Vec<Vec<FrameHandle>> {
        let row = |row: &&[u32]| row.iter().rev().map(|frame| FrameHandle(*frame)).collect();
        rows.iter().map(row).collect()
    }

    type Edge = (char, Call, i64);

    fn edges(track: &Track, stacks: &[Vec<FrameHandle>], depth: usize) -> Vec<Edge> {
        let mut edges = Vec::new();
        let frames_of = |sample: &TimedSample| stacks.get(sample.stack.index()).map(|row| &**row);
        let Ok(()) = steps(track, frames_of, |step| {
            edges.extend(step.ended(depth).map(|call| ('E', call, step.end_nanos)));
            edges.extend(step.begun(depth).map(|call| ('B', call, step.begin_nanos)));
            Ok::<_, std::convert::Infallible>(())
        });
        edges
    }

    fn frame(phase: char, frame: u32, nanos: i64) -> Edge {
        (phase, Call::Frame(FrameHandle(frame)), nanos)
    }

    /// Asserts that each end belongs to the frame that was opened last, and that times do not go
    /// backwards.
    fn assert_nested(edges: &[Edge]) {
        assert!(edges.is_sorted_by_key(|edge| edge.2), "{edges:?}");
        let mut open = Vec::new();
        for (phase, call, _) in edges {
            match phase {
                'B' => open.push(call),
                _ => assert_eq!(open.pop(), Some(call), "{edges:?}"),
            }
        }
        assert!(open.is_empty(), "{edges:?}");
    }

    #[test]
    fn a_sample_of_an_operating_system_ends_where_the_next_one_begins_if_that_is_sooner() {
        let stacks = stacks(&[&[1, 2], &[1, 3], &[4]]);
        let on_cpu = |nanos, stack| (nanos, stack, Mode::OnCpu, 10);
        // The second is early, the third late but within the jitter, the last after a
        // gap.
        let track = track(&[on_cpu(0, 0), on_cpu(6, 1), on_cpu(24, 0), on_cpu(60, 2)]);
        let edges = edges(&track, &stacks, usize::MAX);
        assert_nested(&edges);
        let expected = [
            frame('B', 1, 0),
            frame('B', 2, 0),
            frame('E', 2, 6),
            frame('B', 3, 6),
            frame('E', 3, 16),
            frame('B', 2, 24),
            frame('E', 2, 34),
            frame('E', 1, 34),
            frame('B', 4, 60),
            frame('E', 4, 70),
        ];
        assert_eq!(edges, expected);
    }

    #[test]
    fn a_sample_that_is_not_shown_ends_what_was_before_it() {
        let stacks = stacks(&[&[1], &[1]]);
        for mode in [Mode::OnCpu, Mode::Managed] {
            let samples = [(0, 0, mode, 10), (8, 9, mode, 10), (18, 1, mode, 10)];
            let edges = edges(&track(&samples), &stacks, usize::MAX);
            assert_nested(&edges);
            assert_eq!(edges.len(), 4, "{mode:?}");
            assert_eq!(edges[1], frame('E', 1, 8));
        }
    }

    #[test]
    fn times_are_in_order_also_where_a_clock_goes_backwards() {
        let stacks = stacks(&[&[1, 2], &[1, 3]]);
        let samples =
            [(100, 0, Mode::OnCpu, 10), (50, 1, Mode::OnCpu, 10), (i64::MAX, 0, Mode::OnCpu, 10)];
        assert_nested(&edges(&track(&samples), &stacks, usize::MAX));
    }

    #[test]
    fn stacks_are_cut_at_the_depth_for_which_there_is_room() {
        let deep: Vec<Vec<u32>> =
            (0..2).map(|stack| (0..1000).map(|depth| depth * 2 + stack).collect()).collect();
        let stacks = stacks(&[&deep[0], &deep[1], &deep[0][..1]]);
        let samples: Vec<_> =
            (0..99).map(|at| (at * 10, at as u32 % 3, Mode::Managed, 10)).collect();
        let track = track(&samples);
        let frames_of = |sample: &TimedSample| stacks.get(sample.stack.index()).map(|row| &**row);
        let depth = |most| depth_within(most, [&track].into_iter(), frames_of);
        assert_eq!(depth(99 * 1000), usize::MAX, "all have room");
        for most in [4_000, 30_000] {
            let cut = edges(&track, &stacks, depth(most));
            assert_nested(&cut);
            let begun = cut.iter().filter(|edge| edge.0 == 'B');
            let (deeper, count) =
                (begun.clone().filter(|edge| edge.1 == Call::Deeper).count(), begun.count() as u64);
            // A sample with the stack of the sample before it begins no span.
            assert!((most * 9 / 10..=most).contains(&count), "{count} of {most}");
            assert_eq!(deeper, 66, "of {most}");
        }
        assert_eq!(depth(5), MIN_DEPTH);
    }
}
