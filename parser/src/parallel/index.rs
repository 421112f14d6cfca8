//! Finds the regions that threads read.

use crate::damage::Class;
use crate::error::Error;
use crate::frame::BlockKind;
use crate::limits::Limits;
use crate::loss;
use crate::reader::{Plan, PlannedBlock, Reader, Step};
use crate::source::Source;
use crate::tables::Tables;

/// Region to be read.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) plan: Box<Plan>,
    /// Observations about sequence numbers to count before the region's events.
    pub(super) before: Vec<loss::Observation>,
    /// Total size of the region's event blocks in bytes.
    pub(super) bytes: u64,
}

/// Result of looking for the next region.
#[derive(Debug)]
pub(super) enum Next {
    Job(Job),
    /// A place from which on one thread must read the stream.
    Irregular,
    End,
}

/// Maximum size of a region, in event bytes. The result of a region is held in memory until its
/// turn comes, so streams with larger regions are read by one thread, which delivers events as
/// it reads them. Runtimes write a sequence point every 10 MiB.
const MAX_REGION_BYTES: u64 = 16 << 20;

/// Maximum number of bytes of tables that may be copied for each byte of the stream. Rows are
/// larger in memory than in the stream.
const MAX_COPIES: u64 = 64;

/// Maximum size in bytes of a table that may change between regions, because each region in
/// flight then has a copy. Tables of real traces are much smaller.
const MAX_COPIED_BYTES: u64 = 4 << 20;

/// Walks the stream block by block.
#[derive(Debug)]
pub(super) struct RegionFinder<S> {
    reader: Reader<S>,
    blocks: Vec<PlannedBlock>,
    /// Finished plans, whose memory is reused.
    #[expect(clippy::vec_box, reason = "they go from thread to thread, and are large")]
    spare: Vec<Box<Plan>>,
    nothing: Tables,
    bytes: u64,
    /// Number of bytes of shared tables that had to be copied because they changed.
    copied: u64,
    /// Addresses of the tables that were shared most recently.
    shared: [usize; 2],
    /// Whether a table above [`MAX_COPIED_BYTES`] changed.
    is_copy_large: bool,
    /// Minimum size of a region that ends between blocks, in event bytes. `None` if
    /// regions must end at sequence points, because their events have to be sorted.
    cut_bytes: Option<u64>,
    is_ended: bool,
}

impl<S: Source> RegionFinder<S> {
    pub(super) fn new(source: S, limits: Limits, cut_bytes: Option<u64>) -> RegionFinder<S> {
        let reader = Reader::for_index(source, limits);
        RegionFinder {
            reader,
            blocks: Vec::new(),
            spare: Vec::new(),
            nothing: Tables::default(),
            bytes: 0,
            copied: 0,
            shared: [0; 2],
            is_copy_large: false,
            cut_bytes,
            is_ended: false,
        }
    }

    /// Returns the next region. Empty regions are skipped.
    pub(super) fn next(&mut self) -> Result<Next, Error> {
        while !self.is_ended {
            match self.reader.step()? {
                Step::Block(frame) => {
                    if frame.kind == BlockKind::Event {
                        let covered = self.reader.state().context.tables.covered;
                        self.blocks.push(PlannedBlock { frame, covered });
                        self.bytes = self.bytes.saturating_add(u64::from(frame.body.len));
                    }
                    let is_large = self.bytes > MAX_REGION_BYTES;
                    // The index of a thread that ends within a region may be reused there.
                    if frame.kind == BlockKind::RemoveThread || is_large || self.is_surprised() {
                        return Ok(Next::Irregular);
                    }
                    if self.cut_bytes.is_some_and(|min_bytes| self.bytes >= min_bytes)
                        && self.bytes >= self.reader.state().context.tables.copied_bytes()
                    {
                        return Ok(self.job(false));
                    }
                }
                Step::Skipped(_) if self.is_surprised() => return Ok(Next::Irregular),
                Step::Skipped(_) | Step::Passed => {}
                Step::Barrier if self.blocks.is_empty() => {}
                Step::Barrier => return Ok(self.job(true)),
                Step::End if self.is_surprised() => return Ok(Next::Irregular),
                Step::End => self.is_ended = true,
                Step::Event => return Ok(Next::Irregular),
            }
        }
        if self.blocks.is_empty() { Ok(Next::End) } else { Ok(self.job(true)) }
    }

    /// Returns whether several threads cannot read the stream correctly, because of version 3, a
    /// block that the input's end cuts off, or damage in a block.
    fn is_surprised(&self) -> bool {
        let state = self.reader.state();
        state.is_irregular
            || state.context.is_v3()
            || !state.is_block_whole()
            // One thread is faster if large tables change between many small regions.
            || self.is_copy_large
            || self.copied > self.reader.position().saturating_mul(MAX_COPIES)
            || state.damage.findings().iter().any(|finding| {
                finding.block.is_some() || !matches!(finding.class, Class::Note | Class::Incomplete)
            })
    }

    /// Returns the blocks found so far as a region, with a copy of the tables. At a sequence
    /// point, which the next step reads, the tables are moved instead.
    fn job(&mut self, is_at_barrier: bool) -> Next {
        let before = self.reader.state_mut().losses.take_log();
        let mut plan = self.spare.pop().unwrap_or_else(|| Box::new(Plan::empty()));
        let context = &mut self.reader.state_mut().context;
        for (last, (table, bytes)) in self.shared.iter_mut().zip(context.tables.shared()) {
            let before = std::mem::replace(last, table);
            if before != table {
                self.copied = self.copied.saturating_add(bytes);
                self.is_copy_large |= before != 0 && bytes > MAX_COPIED_BYTES;
            }
        }
        if is_at_barrier {
            context.move_to(&mut plan.context);
        } else {
            context.copy_to(&mut plan.context);
        }
        std::mem::swap(&mut plan.blocks, &mut self.blocks);
        self.blocks.clear();
        Next::Job(Job { plan, before, bytes: std::mem::take(&mut self.bytes) })
    }

    /// Keeps a finished plan, so that a later region can reuse its memory. The plan gives up the
    /// tables that it shared, because a table that is shared is copied when it changes.
    pub(super) fn take_back(&mut self, mut plan: Box<Plan>) {
        self.nothing.share_with(&mut plan.context.tables);
        self.spare.push(plan);
    }

    pub(super) fn is_v6(&self) -> bool {
        self.reader.state().context.is_v6()
    }

    /// Takes the observations to count after the last region.
    pub(super) fn take_log(&mut self) -> Vec<loss::Observation> {
        self.reader.state_mut().losses.take_log()
    }

    pub(super) fn into_reader(self) -> Reader<S> {
        self.reader
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Whole;
    use nettrace_testdata::synth::{
        Blob, EventBlock, SequencePoint, Stack, StackBlock, Stream, ThreadBlock, ThreadRow, Trace,
        Version,
    };

    /// Returns a stream that defines `threads` threads, then has `count` regions of one event,
    /// each followed by the definition of a thread.
    fn regions(threads: u64, count: u64) -> Vec<u8> {
        let mut stream = Stream::new(Version::V6);
        stream.trace(&Trace::default());
        let row = |index| ThreadRow::new(index, 1, index);
        stream.thread_block(&ThreadBlock::new((1..=threads).map(row).collect::<Vec<_>>()));
        for index in threads + 1..=threads + count {
            let event =
                Blob { thread_id: 1, capture_thread_id: 1, ticks: index, ..Blob::default() };
            stream.event_block(&EventBlock::new([event]));
            stream.sequence_point(&SequencePoint { ticks: index, ..SequencePoint::default() });
            stream.thread_block(&ThreadBlock::new(vec![row(index)]));
        }
        stream.end();
        stream.bytes
    }

    #[test]
    fn portions_in_file_order_are_no_smaller_than_the_stacks_that_are_copied_for_them() {
        let portions = |stacks: usize| {
            let mut stream = Stream::new(Version::V4);
            stream.trace(&Trace::default());
            for first_id in (1..).take(stacks) {
                let stack = Stack { bytes: vec![0; 64 << 10], size: None };
                stream.stack_block(&StackBlock {
                    first_id,
                    stacks: vec![stack],
                    ..StackBlock::default()
                });
            }
            for number in 1..=128 {
                let event =
                    Blob { sequence_number: number, payload: vec![0; 64 << 10], ..Blob::default() };
                stream.event_block(&EventBlock::new([event]));
            }
            stream.end();
            let mut index =
                RegionFinder::new(Whole::new(&stream.bytes), Limits::default(), Some(1 << 20));
            let mut portions = 0;
            while let Next::Job(_) = index.next().unwrap() {
                portions += 1;
            }
            portions
        };
        // 8 MiB of events; no stacks, or 4 MiB of stacks and overhead.
        assert_eq!((portions(0), portions(64)), (8, 2));
    }

    /// Returns the number of regions for several threads, and whether one thread must read the
    /// rest.
    fn given(bytes: &[u8]) -> (u64, bool) {
        let mut index = RegionFinder::new(Whole::new(bytes), Limits::default(), None);
        // The jobs are kept, as if other threads were reading them.
        let mut jobs = Vec::new();
        loop {
            match index.next().unwrap() {
                Next::Job(job) => jobs.push(job),
                Next::Irregular => return (jobs.len() as u64, true),
                Next::End => return (jobs.len() as u64, false),
            }
        }
    }

    #[test]
    fn no_more_is_copied_for_regions_than_the_stream_is_worth() {
        assert_eq!(given(&regions(10, 30)), (30, false));
        let (jobs, is_for_one) = given(&regions(2000, 2000));
        assert!(is_for_one && jobs < 50, "{jobs}");
    }
}
