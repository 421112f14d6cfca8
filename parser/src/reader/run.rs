//! The fast path through a block of events.

use super::state::State;
use crate::blob::{
    BlobEncoding, BlobHeader, Extent, Watch, at_end, compressed_v4, compressed_v6, quick_v4,
    quick_v6, says_number, says_what_lasts, size_of_header,
};
use crate::context::Context;
use crate::source::index;
use crate::tables::Covered;
use nettrace_guid::Guid;

/// Receives events. Its methods are inlined into the loop over a block, which would not
/// happen for closures passed through several layers.
pub(crate) trait Take {
    /// Receives an event: its header, the rest of the block from the payload on, and the
    /// stream position of that. `false` to stop for now.
    fn take(
        &mut self,
        context: &Context,
        header: &BlobHeader,
        payload: &[u8],
        payload_at: u64,
        form: BlobForm,
    ) -> bool;

    /// A run begins in a block that ends at `end`. All ids of its events are in
    /// `covered`, and all its events are from one capture thread.
    #[inline(always)]
    fn begin(&mut self, _end: u64, _covered: &Covered) {}
}

/// Facts about an event of a run, beside its header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlobForm {
    pub(crate) is_v6: bool,
    /// Whether the processor, the activities or the labels may differ from the event
    /// before. `None` if headers are complete and do not say what changed.
    pub(crate) changes_what_lasts: Option<bool>,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// The cursor is after the last event that was passed on.
    Between,
    /// The cursor is at a blob that was not passed on, because something about it is
    /// unusual.
    OnBlob,
}

/// What the next blob must be like to be passed on without further checks. It is notified
/// of every field that a header stores; inherited fields have been checked before.
struct Expected<const IS_V6: bool> {
    covered: Covered,
    /// Threads write many events in a row, so the thread and its next sequence number are
    /// computed once per run.
    thread: u64,
    /// The thread's next sequence number. With compressed headers that is one more than
    /// in the previous header, so headers do not need to track a number.
    number: u32,
    /// Sequence numbers that an unusual header skips.
    skipped: u32,
    /// A row is left to the careful path if its time is not below this: one tick after
    /// the latest time that its block states, or 0 once anything else about the row is
    /// unusual. A flag beside the time would be a second comparison for each event.
    careful_from: u64,
    /// Whether the row cannot be decoded at all.
    is_wrong: bool,
}

impl<const IS_V6: bool> Expected<IS_V6> {
    /// `None` if further checks are needed in any case.
    #[inline(always)]
    fn new(covered: Covered, run: Option<(u64, u32)>, most_ticks: u64) -> Option<Self> {
        let (thread, number) = run?;
        // In some versions, an event of type 0 has no sequence number. If a stream
        // defines that type, use the careful path.
        let is_countable = !covered.metadata.contains(0);
        let is_known = !IS_V6 || covered.threads.contains(thread);
        (is_countable && is_known).then_some(Expected {
            covered,
            thread,
            number,
            skipped: 0,
            // The careful path decides about the largest possible time.
            careful_from: most_ticks.saturating_add(1),
            is_wrong: false,
        })
    }

    /// Whether a blob can inherit from this header without further checks.
    #[inline(always)]
    fn may_inherit(&self, header: &BlobHeader) -> bool {
        let is_usual = self.covered.metadata.contains(u64::from(header.metadata_id))
            && self.covered.stacks.contains(u64::from(header.stack))
            && header.capture_thread == self.thread
            && header.sequence.wrapping_add(1) == self.number;
        let is_usual_v6 = || {
            !header.has_reserved_flag
                && self.covered.threads.contains(header.thread)
                && self.covered.labels.contains(u64::from(header.label_list))
        };
        is_usual && (!IS_V6 || is_usual_v6())
    }

    /// Leaves the decoded row to the careful path.
    #[inline(always)]
    fn leave_to_careful_path(&mut self) {
        self.careful_from = any_time();
    }

    /// Whether the decoded row is left to the careful path, because of its time or
    /// because a field said so.
    #[inline(always)]
    fn needs_careful_path(&self, ticks: u64) -> bool {
        ticks >= self.careful_from
    }
}

/// The time from which on every row is left to the careful path. A function of its own
/// only to be cold, so that the branches that call it count as unlikely; were
/// [`Expected::leave_to_careful_path`] cold, it would not be inlined, and what is
/// expected would have to lie in memory.
#[cold]
fn any_time() -> u64 {
    0
}

impl<const IS_V6: bool> Watch for Expected<IS_V6> {
    #[inline(always)]
    fn next(&mut self, _: &mut u32, _: u32) {}

    #[inline(always)]
    fn metadata(&mut self, id: u32) {
        if !self.covered.metadata.contains(u64::from(id)) {
            self.leave_to_careful_path();
        }
    }

    #[inline(always)]
    fn capture(&mut self, _: &mut u32, thread: u64, step: u32) {
        if thread != self.thread || step != 0 {
            self.leave_to_careful_path();
            self.skipped = step;
        }
    }

    /// Before version 6 threads are identified by their ids alone, so any is right.
    #[inline(always)]
    fn thread(&mut self, id: u64) {
        if IS_V6 && id != self.thread && !self.covered.threads.contains(id) {
            self.leave_to_careful_path();
        }
    }

    #[inline(always)]
    fn stack(&mut self, id: u32) {
        if !self.covered.stacks.contains(u64::from(id)) {
            self.leave_to_careful_path();
        }
    }

    #[inline(always)]
    fn labels(&mut self, id: u32, has_reserved_flag: bool) {
        if has_reserved_flag || !self.covered.labels.contains(u64::from(id)) {
            self.leave_to_careful_path();
        }
    }

    #[cold]
    #[inline(never)]
    fn wrong(&mut self) {
        (self.careful_from, self.is_wrong) = (0, true);
    }
}

/// One encoding of blobs. Versions 4 and 5 share their encodings.
trait Decode<const IS_V6: bool> {
    /// Whether a header inherits from the previous one.
    const INHERITS: bool;
    /// Whether the next blob may be read on this path, given the previous header.
    fn begin(header: &mut BlobHeader, expected: &Expected<IS_V6>) -> bool;
    /// Decodes the blob at the beginning of `rest`, if all of it is there. Otherwise
    /// `header` is unusable.
    fn decode(
        header: &mut BlobHeader,
        rest: &[u8],
        expected: &mut Expected<IS_V6>,
    ) -> Option<Extent>;
    /// Whether the decoded blob is left to the careful path.
    fn needs_careful_path(header: &BlobHeader, expected: &Expected<IS_V6>) -> bool;
    /// Computes the sequence number of a blob that is left to the careful path.
    fn number(header: &mut BlobHeader, blob: &[u8], expected: &Expected<IS_V6>);
}

struct Compressed;

impl<const IS_V6: bool> Decode<IS_V6> for Compressed {
    const INHERITS: bool = true;

    #[inline(always)]
    fn begin(header: &mut BlobHeader, expected: &Expected<IS_V6>) -> bool {
        // Fields that the version does not have are always zero. Stating it lets the
        // compiler leave them out of the loop.
        if IS_V6 {
            (header.activity, header.related_activity) = (Guid::ZERO, Guid::ZERO);
        } else {
            (header.label_list, header.has_reserved_flag) = (0, false);
        }
        expected.may_inherit(header)
    }

    #[inline(always)]
    #[expect(clippy::arithmetic_side_effects, reason = "64 bits hold a window's index and 32 bits")]
    fn decode(
        header: &mut BlobHeader,
        rest: &[u8],
        expected: &mut Expected<IS_V6>,
    ) -> Option<Extent> {
        let end;
        let window = match rest.first_chunk() {
            Some(window) => window,
            None => {
                end = at_end(rest);
                &end
            }
        };
        let payload_at = match IS_V6 {
            true => compressed_v6(header, window, expected),
            false => compressed_v4(header, window, expected),
        };
        // Two zero bytes mean that nothing changed, not even the time.
        if IS_V6 && let [0, 0, ..] = window {
            expected.leave_to_careful_path();
        }
        // The size of a wrong header is far larger than any block.
        let next_at = payload_at as u64 + u64::from(header.payload_size);
        header.header_size = size_of_header(payload_at);
        let next_at = usize::try_from(next_at).ok()?;
        (next_at <= rest.len()).then_some(Extent { payload_at, next_at })
    }

    #[inline(always)]
    fn needs_careful_path(header: &BlobHeader, expected: &Expected<IS_V6>) -> bool {
        expected.needs_careful_path(header.timestamp)
    }

    fn number(header: &mut BlobHeader, blob: &[u8], expected: &Expected<IS_V6>) {
        header.sequence = expected.number.wrapping_add(expected.skipped);
        // Events of type 0 have no sequence number.
        if header.metadata_id == 0 && !blob.first().is_some_and(|flags| says_number(*flags)) {
            header.sequence = header.sequence.wrapping_sub(1);
        }
    }
}

struct Fixed;

impl<const IS_V6: bool> Decode<IS_V6> for Fixed {
    const INHERITS: bool = false;

    #[inline(always)]
    fn begin(_: &mut BlobHeader, _: &Expected<IS_V6>) -> bool {
        true
    }

    #[inline(always)]
    fn decode(header: &mut BlobHeader, rest: &[u8], _: &mut Expected<IS_V6>) -> Option<Extent> {
        // Stated so that the compiler does not keep fields from one blob to the next.
        *header = BlobHeader::default();
        if IS_V6 { quick_v6(header, rest) } else { quick_v4(header, rest) }
    }

    #[inline(always)]
    fn needs_careful_path(header: &BlobHeader, expected: &Expected<IS_V6>) -> bool {
        let covered = &expected.covered;
        // Threads that write about other threads, and labels, are rare: one test finds
        // that there are none.
        let is_usual_v6 = || {
            (header.thread ^ header.capture_thread) | u64::from(header.label_list) == 0
                || covered.threads.contains(header.thread)
                    && covered.labels.contains(u64::from(header.label_list))
        };
        !(!expected.needs_careful_path(header.timestamp)
            && covered.metadata.contains(u64::from(header.metadata_id))
            && covered.stacks.contains(u64::from(header.stack))
            && header.capture_thread == expected.thread
            && header.sequence == expected.number
            && (!IS_V6 || is_usual_v6()))
    }

    fn number(_: &mut BlobHeader, _: &[u8], _: &Expected<IS_V6>) {}
}

impl State {
    /// Passes the next events to `take`, as long as nothing about them is unusual and
    /// `take` wants more.
    ///
    /// Most events take this path. The block's running header is a local variable here,
    /// so that it stays in registers, and nothing is looked up unless `take` asks for it.
    #[inline(always)]
    pub(crate) fn run(&mut self, window: &[u8], start: u64, take: &mut impl Take) -> RunEnd {
        match self.cursor.encoding {
            BlobEncoding::CompressedV4 => self.run_blobs::<Compressed, false>(window, start, take),
            BlobEncoding::CompressedV6 => self.run_blobs::<Compressed, true>(window, start, take),
            BlobEncoding::FixedV4 => self.run_blobs::<Fixed, false>(window, start, take),
            BlobEncoding::FixedV6 => self.run_blobs::<Fixed, true>(window, start, take),
            BlobEncoding::FixedV3 => RunEnd::Between,
        }
    }

    /// The loop of [`State::run`] for one encoding. A blob that needs more than this loop
    /// checks ends it: the careful path reads or judges that one, and the next run begins
    /// after it.
    #[inline(always)]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions within a block, which ends within 64 bits"
    )]
    fn run_blobs<D: Decode<IS_V6>, const IS_V6: bool>(
        &mut self,
        window: &[u8],
        start: u64,
        take: &mut impl Take,
    ) -> RunEnd {
        if self.cursor.is_done() || self.cursor.is_contradicted {
            return RunEnd::Between;
        }
        let mut header = self.cursor.header;
        let times = self.cursor.times;
        // The time of the run's last event, for the next check that a thread's times rise.
        // Version 6 promises no such thing, so there the loop need not keep it.
        let mut last_ticks = header.timestamp;
        let covered = self.context.tables.covered;
        let expected = Expected::<IS_V6>::new(covered, self.losses.run(), times.most());
        let Some(mut expected) = expected.filter(|expected| D::begin(&mut header, expected)) else {
            return RunEnd::Between;
        };
        let first = expected.number;
        take.begin(self.cursor.end, &self.context.tables.covered);
        let (from, to) = (index(self.cursor.at, start), index(self.cursor.end, start));
        // The rest of the block. Its length is the only thing to check and to update.
        let mut rest = window.get(from..to).unwrap_or_default();
        let mut run_end = RunEnd::Between;
        while !rest.is_empty() {
            // A broken blob makes `header` unusable. It is decoded again on the careful
            // path, and ends its block.
            let Some(blob) = D::decode(&mut header, rest, &mut expected) else { break };
            let Some(behind) = rest.get(blob.next_at..) else { break };
            let payload = rest.get(blob.payload_at..).unwrap_or_default();
            let blob_at = self.cursor.end - rest.len() as u64;
            let payload_at = blob_at + blob.payload_at as u64;
            // Deltas are unsigned, so the times of a run are never before the block's
            // first.
            if D::needs_careful_path(&header, &expected) {
                if expected.is_wrong {
                    break;
                }
                D::number(&mut header, rest, &expected);
                if !D::INHERITS {
                    self.cursor.header = header;
                }
                (self.cursor.blob, self.cursor.payload_at) = (blob_at, payload_at);
                rest = behind;
                run_end = RunEnd::OnBlob;
                break;
            }
            if D::INHERITS {
                header.sequence = expected.number;
            }
            expected.number = expected.number.wrapping_add(1);
            if !IS_V6 {
                last_ticks = header.timestamp;
            }
            let changes_what_lasts = match rest {
                [flags, ..] if D::INHERITS => Some(says_what_lasts(*flags)),
                _ => None,
            };
            let form = BlobForm { is_v6: IS_V6, changes_what_lasts };
            rest = behind;
            if !take.take(&self.context, &header, payload, payload_at, form) {
                break;
            }
        }
        let next = expected.number;
        if !IS_V6 {
            // The times of one thread rise, so its last one is the latest. If they do
            // not, another check finds out.
            self.cursor.times.latest = times.latest.max(last_ticks.wrapping_sub(times.least));
        }
        // Without an event, `last_ticks` may be that of an event without a number.
        let ticks = if next == first { self.losses.run_ticks() } else { last_ticks };
        self.losses.advance_run(next, ticks);
        self.statistics.events += u64::from(next.wrapping_sub(first));
        if D::INHERITS {
            if run_end == RunEnd::Between {
                // Computed here, so that the loop does not have to keep it.
                header.sequence = next.wrapping_sub(1);
            }
            self.cursor.header = header;
        }
        self.cursor.at = self.cursor.end - rest.len() as u64;
        run_end
    }
}
