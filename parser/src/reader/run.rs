//! Passes usual events of a block to the caller without further checks: the fast path.

use super::state::{MIN_SEARCHED_PAYLOAD, State};
use crate::blob::{
    BlobEncoding, BlobHeader, Extent, Watch, at_end, changes_sticky_fields, compressed_v4,
    compressed_v6, quick_v4, quick_v6, size_of_header, stores_number,
};
use crate::context::Context;
use crate::source::index;
use crate::tables::Covered;
use nettrace_guid::Guid;

/// Receiver of events. Its methods are inlined into the loop over a block, as closures that pass
/// through several layers would not be.
pub(crate) trait Take {
    /// Receives an event. `payload` is the rest of the block from the payload on, `payload_at` its
    /// stream position. Returns `false` to pause.
    fn take(
        &mut self,
        context: &Context,
        header: &BlobHeader,
        payload: &[u8],
        payload_at: u64,
        form: BlobForm,
    ) -> bool;

    /// Prepares for a run of events in a block that ends at `end`. All ids of these
    /// events are in `covered`, and one capture thread wrote them.
    #[inline(always)]
    fn begin(&mut self, _end: u64, _covered: &Covered) {}
}

/// Facts about an event of a run that are not in its header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlobForm {
    pub(crate) is_v6: bool,
    /// Whether processor, activities or labels may differ from those of the previous event.
    /// `None` if this must be found by comparing them.
    pub(crate) changes_sticky_fields: Option<bool>,
}

/// Place at which a run of usual events ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// After the last event that was passed on.
    Between,
    /// At a blob that was not passed on, because something about it is unusual.
    OnBlob,
}

/// Expectations about the next blob, which is passed on if it meets them all. Only the fields that
/// a header stores are observed; inherited fields were checked before.
struct Expected {
    covered: Covered,
    /// Capture thread of the run. Threads write many events in a row.
    thread: u64,
    /// Sequence number of the thread's next event, so that compressed headers need not count.
    number: u32,
    /// Number of sequence numbers that an unusual header skips.
    left_out: u32,
    /// Time in ticks from which a row is unusual: one tick after the largest time in the block's
    /// header, or 0 if anything else about the row is unusual, so that one comparison finds
    /// both.
    careful_from: u64,
    is_wrong: bool,
}

impl Expected {
    /// Creates the expectations about a blob that inherits nothing. `None` if the blob is unusual
    /// in any case.
    #[inline]
    fn for_run(covered: Covered, run: Option<(u64, u32)>, max_ticks: u64) -> Option<Expected> {
        let (thread, number) = run?;
        // In some versions, an event of type 0 has no sequence number, so a stream that defines
        // this type is read on the careful path.
        let is_countable = !covered.metadata.contains(0);
        is_countable.then_some(Expected {
            covered,
            thread,
            number,
            left_out: 0,
            careful_from: max_ticks.saturating_add(1),
            is_wrong: false,
        })
    }

    /// Creates the expectations about a blob that inherits from `header`. `None` if the blob is
    /// unusual in any case.
    #[inline]
    fn after(
        header: &BlobHeader,
        covered: Covered,
        run: Option<(u64, u32)>,
        max_ticks: u64,
    ) -> Option<Expected> {
        let is_usual = covered.metadata.contains(u64::from(header.metadata_id))
            && covered.stacks.contains(u64::from(header.stack));
        Expected::for_run(covered, run, max_ticks).filter(|expected| {
            is_usual
                && header.capture_thread == expected.thread
                && header.sequence.wrapping_add(1) == expected.number
        })
    }

    /// Creates the expectations about a version 6 blob that inherits from `header`. `None` if the
    /// blob is unusual in any case.
    #[inline]
    fn after_v6(
        header: &BlobHeader,
        covered: Covered,
        run: Option<(u64, u32)>,
        max_ticks: u64,
    ) -> Option<Expected> {
        let is_usual = !header.has_reserved_flag
            && covered.threads.contains(header.thread)
            && covered.labels.contains(u64::from(header.label_list));
        Expected::after(header, covered, run, max_ticks)
            .filter(|expected| is_usual && covered.threads.contains(expected.thread))
    }

    /// Returns whether anything about the decoded row, which has this time, is unusual.
    #[inline(always)]
    fn needs_careful_path(&self, ticks: u64) -> bool {
        ticks >= self.careful_from
    }
}

/// Returns a time that every row reaches. The function is cold, so that its branches count as
/// unlikely.
#[cold]
fn any_time() -> u64 {
    0
}

impl Watch for Expected {
    #[inline(always)]
    fn on_next(&mut self, _: &mut u32, _: u32) {}

    #[inline(always)]
    fn on_metadata(&mut self, id: u32) {
        if !self.covered.metadata.contains(u64::from(id)) {
            self.careful_from = any_time();
        }
    }

    #[inline(always)]
    fn on_capture(&mut self, _: &mut u32, thread: u64, step: u32) {
        if thread != self.thread || step != 0 {
            self.careful_from = any_time();
            self.left_out = step;
        }
    }

    #[inline(always)]
    fn on_thread(&mut self, id: u64) {
        if id != self.thread && !self.covered.threads.contains(id) {
            self.careful_from = any_time();
        }
    }

    #[inline(always)]
    fn on_stack(&mut self, id: u32) {
        if !self.covered.stacks.contains(u64::from(id)) {
            self.careful_from = any_time();
        }
    }

    #[inline(always)]
    fn on_labels(&mut self, id: u32, has_reserved_flag: bool) {
        if has_reserved_flag || !self.covered.labels.contains(u64::from(id)) {
            self.careful_from = any_time();
        }
    }

    #[cold]
    fn on_wrong(&mut self) {
        (self.careful_from, self.is_wrong) = (0, true);
    }
}

/// Expectations about a blob before version 6, where the ids of threads need no definition.
struct ExpectedV4(Expected);

impl Watch for ExpectedV4 {
    #[inline(always)]
    fn on_next(&mut self, _: &mut u32, _: u32) {}

    #[inline(always)]
    fn on_metadata(&mut self, id: u32) {
        self.0.on_metadata(id);
    }

    #[inline(always)]
    fn on_capture(&mut self, sequence: &mut u32, thread: u64, step: u32) {
        self.0.on_capture(sequence, thread, step);
    }

    #[inline(always)]
    fn on_thread(&mut self, _: u64) {}

    #[inline(always)]
    fn on_stack(&mut self, id: u32) {
        self.0.on_stack(id);
    }

    fn on_labels(&mut self, _: u32, _: bool) {}

    fn on_wrong(&mut self) {
        self.0.on_wrong();
    }
}

/// Decoder of one encoding of blobs.
trait Decode {
    /// Type that checks the fields of a blob.
    type Watch: Watch;
    /// Whether a header inherits from the previous one.
    const INHERITS: bool;
    const IS_V6: bool;
    /// Starts a run. `None` if the next blob is unusual in any case.
    fn begin(
        header: &mut BlobHeader,
        covered: Covered,
        run: Option<(u64, u32)>,
        max_ticks: u64,
    ) -> Option<Self::Watch>;
    fn expected(watch: &mut Self::Watch) -> &mut Expected;
    /// Returns whether the decoded blob is unusual.
    fn needs_careful_path(header: &BlobHeader, watch: &mut Self::Watch) -> bool;
    /// Decodes the blob at the beginning of `rest`, if all of it is present. Otherwise
    /// `header` is unusable.
    fn decode(header: &mut BlobHeader, rest: &[u8], watch: &mut Self::Watch) -> Option<Extent>;
    /// Computes the sequence number of an unusual blob.
    fn compute_number(header: &mut BlobHeader, blob: &[u8], expected: &Expected);
}

// Macros, because two types that are generic over the version took 85 instead of 79
// instructions for each event of a uniform trace, and 2 to 7 % more of others: the compiler
// kept fields that a version does not have.
macro_rules! version_4 {
    () => {
        type Watch = ExpectedV4;
        const IS_V6: bool = false;
        #[inline(always)]
        fn expected(watch: &mut ExpectedV4) -> &mut Expected {
            &mut watch.0
        }
    };
}

macro_rules! version_6 {
    () => {
        type Watch = Expected;
        const IS_V6: bool = true;
        #[inline(always)]
        fn expected(watch: &mut Expected) -> &mut Expected {
            watch
        }
    };
}

macro_rules! compressed {
    ($name:ident, $decode:path, $version:ident, $begin:expr) => {
        struct $name;
        impl Decode for $name {
            $version!();
            const INHERITS: bool = true;
            #[inline(always)]
            fn begin(
                header: &mut BlobHeader,
                covered: Covered,
                run: Option<(u64, u32)>,
                max_ticks: u64,
            ) -> Option<Self::Watch> {
                $begin(header, covered, run, max_ticks)
            }
            #[inline(always)]
            fn needs_careful_path(header: &BlobHeader, watch: &mut Self::Watch) -> bool {
                Self::expected(watch).needs_careful_path(header.timestamp)
            }
            #[inline(always)]
            #[expect(
                clippy::arithmetic_side_effects,
                reason = "64 bits hold a window's index and 32 bits"
            )]
            fn decode(
                header: &mut BlobHeader,
                rest: &[u8],
                watch: &mut Self::Watch,
            ) -> Option<Extent> {
                let end;
                let window = match rest.first_chunk() {
                    Some(window) => window,
                    None => {
                        end = at_end(rest);
                        &end
                    }
                };
                let payload_at = $decode(header, window, watch);
                // Two zero bytes mean that nothing changed, not even the time. A large payload
                // may have rows in it.
                if Self::IS_V6
                    && (matches!(window, [0, 0, ..]) || header.payload_size >= MIN_SEARCHED_PAYLOAD)
                {
                    Self::expected(watch).careful_from = any_time();
                }
                // A wrong header gets a size that no block has.
                let next_at = payload_at as u64 + u64::from(header.payload_size);
                header.header_size = size_of_header(payload_at);
                let next_at = usize::try_from(next_at).ok()?;
                (next_at <= rest.len()).then_some(Extent { payload_at, next_at })
            }
            fn compute_number(header: &mut BlobHeader, blob: &[u8], expected: &Expected) {
                header.sequence = expected.number.wrapping_add(expected.left_out);
                // Events of type 0 have no sequence number.
                if header.metadata_id == 0
                    && !blob.first().is_some_and(|flags| stores_number(*flags))
                {
                    header.sequence = header.sequence.wrapping_sub(1);
                }
            }
        }
    };
}

macro_rules! fixed {
    ($name:ident, $decode:path, $version:ident, $begin:expr, $has_threads:expr) => {
        struct $name;
        impl Decode for $name {
            $version!();
            const INHERITS: bool = false;
            #[inline(always)]
            fn begin(
                _: &mut BlobHeader,
                covered: Covered,
                run: Option<(u64, u32)>,
                max_ticks: u64,
            ) -> Option<Self::Watch> {
                $begin(covered, run, max_ticks)
            }
            #[inline(always)]
            fn needs_careful_path(header: &BlobHeader, watch: &mut Self::Watch) -> bool {
                let (expected, has_threads) = (Self::expected(watch), $has_threads);
                !(!expected.needs_careful_path(header.timestamp)
                    && !(Self::IS_V6 && header.payload_size >= MIN_SEARCHED_PAYLOAD)
                    && expected.covered.metadata.contains(u64::from(header.metadata_id))
                    && expected.covered.stacks.contains(u64::from(header.stack))
                    && header.capture_thread == expected.thread
                    && header.sequence == expected.number
                    // Threads that write about other threads, and labels, are rare.
                    && (!has_threads
                        || (header.thread ^ header.capture_thread) | u64::from(header.label_list) == 0
                        || expected.covered.threads.contains(header.thread)
                            && expected.covered.labels.contains(u64::from(header.label_list))))
            }
            #[inline(always)]
            fn decode(header: &mut BlobHeader, rest: &[u8], _: &mut Self::Watch) -> Option<Extent> {
                // With this the compiler does not keep fields from one blob to the next.
                *header = BlobHeader::default();
                $decode(header, rest)
            }
            fn compute_number(_: &mut BlobHeader, _: &[u8], _: &Expected) {}
        }
    };
}

#[inline(always)]
fn begin_compressed_v4(
    header: &mut BlobHeader,
    covered: Covered,
    run: Option<(u64, u32)>,
    max_ticks: u64,
) -> Option<ExpectedV4> {
    // With this the compiler knows that these fields stay zero.
    (header.label_list, header.has_reserved_flag) = (0, false);
    Expected::after(header, covered, run, max_ticks).map(ExpectedV4)
}

#[inline(always)]
fn begin_compressed_v6(
    header: &mut BlobHeader,
    covered: Covered,
    run: Option<(u64, u32)>,
    max_ticks: u64,
) -> Option<Expected> {
    // With this the compiler knows that these fields stay zero.
    (header.activity, header.related_activity) = (Guid::ZERO, Guid::ZERO);
    Expected::after_v6(header, covered, run, max_ticks)
}

#[inline(always)]
fn begin_fixed_v4(covered: Covered, run: Option<(u64, u32)>, max_ticks: u64) -> Option<ExpectedV4> {
    Expected::for_run(covered, run, max_ticks).map(ExpectedV4)
}

#[inline(always)]
fn begin_fixed_v6(covered: Covered, run: Option<(u64, u32)>, max_ticks: u64) -> Option<Expected> {
    Expected::for_run(covered, run, max_ticks)
        .filter(|expected| covered.threads.contains(expected.thread))
}

compressed!(CompressedV4, compressed_v4, version_4, begin_compressed_v4);
compressed!(CompressedV6, compressed_v6, version_6, begin_compressed_v6);
fixed!(FixedV4, quick_v4, version_4, begin_fixed_v4, false);
fixed!(FixedV6, quick_v6, version_6, begin_fixed_v6, true);

impl State {
    /// Passes the next events to `take`, as long as nothing about them is unusual and
    /// `take` wants more.
    ///
    /// Most events take this path. The running header is a local variable, so that it stays in
    /// registers, and no id is looked up unless `take` does so.
    #[inline(always)]
    pub(crate) fn pass_events(
        &mut self,
        window: &[u8],
        start: u64,
        take: &mut impl Take,
    ) -> RunEnd {
        match self.cursor.encoding {
            BlobEncoding::CompressedV4 => self.pass_blobs::<CompressedV4>(window, start, take),
            BlobEncoding::CompressedV6 => self.pass_blobs::<CompressedV6>(window, start, take),
            BlobEncoding::FixedV4 => self.pass_blobs::<FixedV4>(window, start, take),
            BlobEncoding::FixedV6 => self.pass_blobs::<FixedV6>(window, start, take),
            // Version 3 has no sequence numbers, so the next number of a run is unknown.
            BlobEncoding::FixedV3 => RunEnd::Between,
        }
    }

    #[inline(always)]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions within a block, which ends within 64 bits"
    )]
    fn pass_blobs<D: Decode>(&mut self, window: &[u8], start: u64, take: &mut impl Take) -> RunEnd {
        if self.cursor.is_done() || self.cursor.is_contradicted {
            return RunEnd::Between;
        }
        let mut header = self.cursor.header;
        let times = self.cursor.times;
        // For the check that the times of a thread rise, which version 6 does not promise.
        let mut last_ticks = header.timestamp;
        let covered = self.context.tables.covered;
        let begun = D::begin(&mut header, covered, self.losses.current_run(), times.max());
        let Some(mut watch) = begun else { return RunEnd::Between };
        let first = D::expected(&mut watch).number;
        take.begin(self.cursor.end, &self.context.tables.covered);
        let (from, to) = (index(self.cursor.at, start), index(self.cursor.end, start));
        // The rest of the block. Its length is the only thing to check and to update.
        let mut rest = window.get(from..to).unwrap_or_default();
        let mut run_end = RunEnd::Between;
        while !rest.is_empty() {
            // The careful path decodes a broken blob again, and ends its block.
            let Some(blob) = D::decode(&mut header, rest, &mut watch) else { break };
            let Some(after) = rest.get(blob.next_at..) else { break };
            let payload = rest.get(blob.payload_at..).unwrap_or_default();
            let blob_at = self.cursor.end - rest.len() as u64;
            let payload_at = blob_at + blob.payload_at as u64;
            // Times differ by unsigned deltas, so they are never before the block's first.
            if D::needs_careful_path(&header, &mut watch) {
                // The careful path decodes the blob again if it is wrong.
                if D::expected(&mut watch).is_wrong {
                    break;
                }
                D::compute_number(&mut header, rest, D::expected(&mut watch));
                if !D::INHERITS {
                    self.cursor.header = header;
                }
                (self.cursor.blob, self.cursor.payload_at) = (blob_at, payload_at);
                rest = after;
                run_end = RunEnd::OnBlob;
                break;
            }
            let expected = D::expected(&mut watch);
            if D::INHERITS {
                header.sequence = expected.number;
            }
            expected.number = expected.number.wrapping_add(1);
            if !D::IS_V6 {
                last_ticks = header.timestamp;
            }
            let changes_sticky_fields = match rest {
                [flags, ..] if D::INHERITS => Some(changes_sticky_fields(*flags)),
                _ => None,
            };
            let form = BlobForm { is_v6: D::IS_V6, changes_sticky_fields };
            rest = after;
            if !take.take(&self.context, &header, payload, payload_at, form) {
                break;
            }
        }
        let next = D::expected(&mut watch).number;
        if !D::IS_V6 {
            // The last time of a thread is its latest. Another check finds threads whose times
            // fall.
            self.cursor.times.latest = times.latest.max(last_ticks.wrapping_sub(times.min));
        }
        // Without a new number, the run keeps its time, because `last_ticks` may be the time of
        // an event without a number.
        self.losses.advance_run(next, last_ticks);
        self.statistics.events += u64::from(next.wrapping_sub(first));
        if D::INHERITS {
            if run_end == RunEnd::Between {
                header.sequence = next.wrapping_sub(1);
            }
            self.cursor.header = header;
        }
        self.cursor.at = self.cursor.end - rest.len() as u64;
        run_end
    }
}
