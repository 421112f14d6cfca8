//! The fast way through a block of events.

use super::state::State;
use crate::blob::{
    BlobEncoding, BlobHeader, Extent, Watch, at_end, compressed_v4, compressed_v6, quick_v4, quick_v6,
    says_number, says_what_lasts, size_of_header,
};
use crate::context::Context;
use crate::source::index;
use crate::tables::Covered;
use nettrace_guid::Guid;

/// Receives events. Methods are inlined into the loop over a block, which closures passed through
/// several layers would not be.
pub(crate) trait Take {
    /// An event, by its header, what is left of the block from the payload on, and the stream
    /// position of that. `false`: no more for now.
    fn take(
        &mut self,
        context: &Context,
        header: &BlobHeader,
        payload: &[u8],
        payload_at: u64,
        form: BlobForm,
    ) -> bool;

    /// A run begins, in a block that ends at `end`. All ids of its events are `covered`, and all are of one capture thread.
    #[inline(always)]
    fn begin(&mut self, _end: u64, _covered: &Covered) {}
}

/// What is known of an event of a run beside its header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlobForm {
    pub(crate) is_v6: bool,
    /// Whether the processor, the activities or the labels may be others than those of the event before. `None`: the
    /// header is whole, and does not say what is new.
    pub(crate) changes_what_lasts: Option<bool>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// The cursor is behind the last event that was given.
    Between,
    /// The cursor is on a blob that was not given, because something about it is unusual.
    OnBlob,
}

/// What the next blob must be like to be given without a further look. Told of whatever a header has;
/// what it inherits was usual before.
struct Usual {
    covered: Covered,
    /// Runs of one capture thread are long: its thread row and its next number are settled once.
    thread: u64,
    /// The thread's next number. In a block of compressed headers it is that of the header before, and
    /// one: headers need no number of their own on the way.
    number: u32,
    /// Numbers that an unusual header leaves out.
    left_out: u32,
    /// Something is unusual, or wrong.
    is_odd: bool,
    is_wrong: bool,
}

impl Usual {
    /// `None`: nothing can be said without a further look.
    #[inline]
    fn of(covered: Covered, run: Option<(u64, u32)>) -> Option<Usual> {
        let (thread, number) = run?;
        // A type of id 0 takes no number in some versions; those who define it get the careful way.
        let is_countable = !covered.metadata.contains(0);
        is_countable.then_some(Usual { covered, thread, number, left_out: 0, is_odd: false, is_wrong: false })
    }

    /// The same, where the next blob inherits from the one before.
    #[inline]
    fn after(header: &BlobHeader, covered: Covered, run: Option<(u64, u32)>) -> Option<Usual> {
        let mut usual = Usual::of(covered, run)?;
        usual.metadata(header.metadata_id);
        usual.stack(header.stack);
        usual.is_odd |= header.capture_thread != usual.thread;
        usual.is_odd |= header.sequence.wrapping_add(1) != usual.number;
        (!usual.is_odd).then_some(usual)
    }

    /// The same for version 6.
    #[inline]
    fn after_v6(header: &BlobHeader, covered: Covered, run: Option<(u64, u32)>) -> Option<Usual> {
        let mut usual = Usual::after(header, covered, run)?;
        usual.is_odd |= !covered.threads.contains(usual.thread);
        usual.thread(header.thread);
        usual.labels(header.label_list, header.has_reserved_flag);
        (!usual.is_odd).then_some(usual)
    }
}

/// Keeps what hardly ever happens out of the way.
#[cold]
fn odd() -> bool {
    true
}

impl Watch for Usual {
    #[inline(always)]
    fn next(&mut self, _: &mut u32, _: u32) {}

    #[inline(always)]
    fn metadata(&mut self, id: u32) {
        if !self.covered.metadata.contains(u64::from(id)) {
            self.is_odd = odd();
        }
    }

    #[inline(always)]
    fn capture(&mut self, _: &mut u32, thread: u64, step: u32) {
        if thread != self.thread || step != 0 {
            self.is_odd = odd();
            self.left_out = step;
        }
    }

    #[inline(always)]
    fn thread(&mut self, id: u64) {
        if id != self.thread && !self.covered.threads.contains(id) {
            self.is_odd = odd();
        }
    }

    #[inline(always)]
    fn stack(&mut self, id: u32) {
        if !self.covered.stacks.contains(u64::from(id)) {
            self.is_odd = odd();
        }
    }

    #[inline(always)]
    fn labels(&mut self, id: u32, has_reserved_flag: bool) {
        if has_reserved_flag || !self.covered.labels.contains(u64::from(id)) {
            self.is_odd = odd();
        }
    }

    #[cold]
    fn wrong(&mut self) {
        (self.is_odd, self.is_wrong) = (true, true);
    }
}

/// The same before version 6, where threads are known by their ids alone.
struct UsualV4(Usual);

impl Watch for UsualV4 {
    #[inline(always)]
    fn next(&mut self, _: &mut u32, _: u32) {}

    #[inline(always)]
    fn metadata(&mut self, id: u32) {
        self.0.metadata(id);
    }

    #[inline(always)]
    fn capture(&mut self, sequence: &mut u32, thread: u64, step: u32) {
        self.0.capture(sequence, thread, step);
    }

    #[inline(always)]
    fn thread(&mut self, _: u64) {}

    #[inline(always)]
    fn stack(&mut self, id: u32) {
        self.0.stack(id);
    }

    fn labels(&mut self, _: u32, _: bool) {}

    fn wrong(&mut self) {
        self.0.wrong();
    }
}

/// One way to write blobs.
trait Decode {
    /// What is unusual in it.
    type Watch: Watch;
    /// Whether a header inherits from the one before.
    const INHERITS: bool;
    const IS_V6: bool;
    /// `None`: the next blob needs a further look.
    fn begin(header: &mut BlobHeader, covered: Covered, run: Option<(u64, u32)>) -> Option<Self::Watch>;
    fn usual(watch: &mut Self::Watch) -> &mut Usual;
    /// Whether the blob that was decoded is unusual.
    fn is_odd(header: &BlobHeader, watch: &mut Self::Watch) -> bool;
    /// The blob at the beginning of `rest`, if it is whole there. If not, `header` is of no use.
    fn decode(header: &mut BlobHeader, rest: &[u8], watch: &mut Self::Watch) -> Option<Extent>;
    /// Works out the number of an unusual blob.
    fn settle(header: &mut BlobHeader, blob: &[u8], usual: &Usual);
}

macro_rules! version_4 {
    () => {
        type Watch = UsualV4;
        const IS_V6: bool = false;
        #[inline(always)]
        fn usual(watch: &mut UsualV4) -> &mut Usual {
            &mut watch.0
        }
    };
}

macro_rules! version_6 {
    () => {
        type Watch = Usual;
        const IS_V6: bool = true;
        #[inline(always)]
        fn usual(watch: &mut Usual) -> &mut Usual {
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
            ) -> Option<Self::Watch> {
                $begin(header, covered, run)
            }
            #[inline(always)]
            fn is_odd(_: &BlobHeader, watch: &mut Self::Watch) -> bool {
                Self::usual(watch).is_odd
            }
            #[inline(always)]
            #[expect(clippy::arithmetic_side_effects, reason = "64 bits hold a window's index and 32 bits")]
            fn decode(header: &mut BlobHeader, rest: &[u8], watch: &mut Self::Watch) -> Option<Extent> {
                let end;
                let window = match rest.first_chunk() {
                    Some(window) => window,
                    None => {
                        end = at_end(rest);
                        &end
                    }
                };
                let payload_at = $decode(header, window, watch);
                // Two bytes of zeros say that nothing is new, not even the time.
                if Self::IS_V6
                    && let [0, 0, ..] = window
                {
                    Self::usual(watch).is_odd = odd();
                }
                // A wrong header's size is far beyond any block.
                let next_at = payload_at as u64 + u64::from(header.payload_size);
                header.header_size = size_of_header(payload_at);
                let next_at = usize::try_from(next_at).ok()?;
                (next_at <= rest.len()).then_some(Extent { payload_at, next_at })
            }
            fn settle(header: &mut BlobHeader, blob: &[u8], usual: &Usual) {
                header.sequence = usual.number.wrapping_add(usual.left_out);
                // A type of id 0 takes none.
                if header.metadata_id == 0 && !blob.first().is_some_and(|flags| says_number(*flags)) {
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
            fn begin(_: &mut BlobHeader, covered: Covered, run: Option<(u64, u32)>) -> Option<Self::Watch> {
                $begin(covered, run)
            }
            #[inline(always)]
            fn is_odd(header: &BlobHeader, watch: &mut Self::Watch) -> bool {
                let (usual, has_threads) = (Self::usual(watch), $has_threads);
                !(usual.covered.metadata.contains(u64::from(header.metadata_id))
                    && usual.covered.stacks.contains(u64::from(header.stack))
                    && header.capture_thread == usual.thread
                    && header.sequence == usual.number
                    // Threads that write about others, and labels, are rare.
                    && (!has_threads
                        || (header.thread ^ header.capture_thread) | u64::from(header.label_list) == 0
                        || usual.covered.threads.contains(header.thread)
                            && usual.covered.labels.contains(u64::from(header.label_list))))
            }
            #[inline(always)]
            fn decode(header: &mut BlobHeader, rest: &[u8], _: &mut Self::Watch) -> Option<Extent> {
                // Said where the compiler sees it: no field needs to be kept from one blob to the next.
                *header = BlobHeader::default();
                $decode(header, rest)
            }
            fn settle(_: &mut BlobHeader, _: &[u8], _: &Usual) {}
        }
    };
}

#[inline(always)]
fn begin_compressed_v4(
    header: &mut BlobHeader,
    covered: Covered,
    run: Option<(u64, u32)>,
) -> Option<UsualV4> {
    // Said where the compiler sees it.
    (header.label_list, header.has_reserved_flag) = (0, false);
    Usual::after(header, covered, run).map(UsualV4)
}

#[inline(always)]
fn begin_compressed_v6(header: &mut BlobHeader, covered: Covered, run: Option<(u64, u32)>) -> Option<Usual> {
    // Said where the compiler sees it.
    (header.activity, header.related_activity) = (Guid::ZERO, Guid::ZERO);
    Usual::after_v6(header, covered, run)
}

#[inline(always)]
fn begin_fixed_v4(covered: Covered, run: Option<(u64, u32)>) -> Option<UsualV4> {
    Usual::of(covered, run).map(UsualV4)
}

#[inline(always)]
fn begin_fixed_v6(covered: Covered, run: Option<(u64, u32)>) -> Option<Usual> {
    Usual::of(covered, run).filter(|usual| covered.threads.contains(usual.thread))
}

compressed!(CompressedV4, compressed_v4, version_4, begin_compressed_v4);
compressed!(CompressedV6, compressed_v6, version_6, begin_compressed_v6);
fixed!(FixedV4, quick_v4, version_4, begin_fixed_v4, false);
fixed!(FixedV6, quick_v6, version_6, begin_fixed_v6, true);

impl State {
    /// Gives the events ahead to `take` for as long as nothing about them is unusual and `take` says
    /// to go on.
    ///
    /// This is the way most events go. The block's running header is a local here, so that it stays
    /// in registers, and nothing is looked up that `take` does not ask for.
    #[inline(always)]
    pub(crate) fn run(&mut self, window: &[u8], start: u64, take: &mut impl Take) -> RunEnd {
        match self.cursor.encoding {
            BlobEncoding::CompressedV4 => self.run_blobs::<CompressedV4>(window, start, take),
            BlobEncoding::CompressedV6 => self.run_blobs::<CompressedV6>(window, start, take),
            BlobEncoding::FixedV4 => self.run_blobs::<FixedV4>(window, start, take),
            BlobEncoding::FixedV6 => self.run_blobs::<FixedV6>(window, start, take),
            BlobEncoding::FixedV3 => RunEnd::Between,
        }
    }

    #[inline(always)]
    #[expect(clippy::arithmetic_side_effects, reason = "positions within a block, which ends within 64 bits")]
    fn run_blobs<D: Decode>(&mut self, window: &[u8], start: u64, take: &mut impl Take) -> RunEnd {
        if self.cursor.is_done() || self.cursor.is_doubted {
            return RunEnd::Between;
        }
        let mut header = self.cursor.header;
        let times = self.cursor.times;
        let most_ticks = times.most();
        let mut last_ticks = header.timestamp;
        let begun = D::begin(&mut header, self.context.tables.covered, self.losses.run());
        let Some(mut watch) = begun else { return RunEnd::Between };
        let first = D::usual(&mut watch).number;
        take.begin(self.cursor.end, &self.context.tables.covered);
        let (from, to) = (index(self.cursor.at, start), index(self.cursor.end, start));
        // What is left of the block. One length is all there is to check and to keep up.
        let mut rest = window.get(from..to).unwrap_or_default();
        let mut run_end = RunEnd::Between;
        while !rest.is_empty() {
            // A blob that is broken spoils `header`; it is decoded again, carefully, and its block
            // ends with it.
            let Some(blob) = D::decode(&mut header, rest, &mut watch) else { break };
            let Some(behind) = rest.get(blob.next_at..) else { break };
            let payload = rest.get(blob.payload_at..).unwrap_or_default();
            let blob_at = self.cursor.end - rest.len() as u64;
            let payload_at = blob_at + blob.payload_at as u64;
            // Deltas have no sign, so times of a run are not before the block's first.
            let is_outside = header.timestamp > most_ticks;
            if D::is_odd(&header, &mut watch) || is_outside {
                if D::usual(&mut watch).is_wrong {
                    break;
                }
                D::settle(&mut header, rest, D::usual(&mut watch));
                if !D::INHERITS {
                    self.cursor.header = header;
                }
                (self.cursor.blob, self.cursor.payload_at) = (blob_at, payload_at);
                rest = behind;
                run_end = RunEnd::OnBlob;
                break;
            }
            let usual = D::usual(&mut watch);
            if D::INHERITS {
                header.sequence = usual.number;
            }
            usual.number = usual.number.wrapping_add(1);
            last_ticks = header.timestamp;
            let changes_what_lasts = match rest {
                [flags, ..] if D::INHERITS => Some(says_what_lasts(*flags)),
                _ => None,
            };
            let form = BlobForm { is_v6: D::IS_V6, changes_what_lasts };
            rest = behind;
            if !take.take(&self.context, &header, payload, payload_at, form) {
                break;
            }
        }
        // Times of one thread rise: its last is the latest. Where they do not, another look tells.
        self.cursor.times.latest = times.latest.max(last_ticks.wrapping_sub(times.least));
        let next = D::usual(&mut watch).number;
        self.losses.advance_run(next, last_ticks);
        self.statistics.events += u64::from(next.wrapping_sub(first));
        if D::INHERITS {
            self.cursor.header = header;
        }
        self.cursor.at = self.cursor.end - rest.len() as u64;
        run_end
    }
}
