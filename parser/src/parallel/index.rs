//! Finding regions, ahead of those who read them.

use crate::damage::Class;
use crate::error::Error;
use crate::frame::BlockKind;
use crate::limits::Limits;
use crate::loss;
use crate::reader::{Plan, PlannedBlock, Reader, Step};
use crate::source::Source;
use crate::tables::Tables;

/// A stretch without sequence point, to be read.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) plan: Box<Plan>,
    /// What the count of losses must know before the region's events.
    pub(super) before: Vec<loss::Step>,
    /// Bytes of its event blocks.
    pub(super) bytes: u64,
}

/// What comes next.
#[derive(Debug)]
pub(super) enum Next {
    Job(Job),
    /// From here on the stream must be read by one thread.
    Irregular,
    End,
}

/// Event bytes of a region in file order that is large enough for a worker of its own.
const PORTION_BYTES: u64 = 1 << 20;

/// Event bytes of the largest region. What is made of a region is held whole until its turn comes, so a stream with
/// larger ones is for one thread, which gives events as it goes. Runtimes write a sequence point every 10 MiB.
const REGION_BYTES: u64 = 16 << 20;

/// So many bytes of tables may be copied for each byte of the stream. Rows are larger in memory than in the stream.
const COPIES: u64 = 64;

/// Walks the stream block by block.
#[derive(Debug)]
pub(super) struct Index<S> {
    reader: Reader<S>,
    blocks: Vec<PlannedBlock>,
    /// Plans that were read: memory for the next ones.
    #[expect(clippy::vec_box, reason = "they go from thread to thread, and are large")]
    spare: Vec<Box<Plan>>,
    nothing: Tables,
    bytes: u64,
    /// Bytes of the tables that regions shared and that were copied because they changed.
    copied: u64,
    /// Which tables were shared last.
    shared: [usize; 2],
    /// Regions may be cut between blocks: their events need not be sorted.
    may_cut: bool,
    is_ended: bool,
}

impl<S: Source> Index<S> {
    pub(super) fn new(source: S, limits: Limits, may_cut: bool) -> Index<S> {
        let reader = Reader::index(source, limits);
        Index {
            reader,
            blocks: Vec::new(),
            spare: Vec::new(),
            nothing: Tables::default(),
            bytes: 0,
            copied: 0,
            shared: [0; 2],
            may_cut,
            is_ended: false,
        }
    }

    /// The next region. Empty ones are passed over.
    pub(super) fn next(&mut self) -> Result<Next, Error> {
        while !self.is_ended {
            match self.reader.step()? {
                Step::Block(frame) => {
                    if frame.kind == BlockKind::Event {
                        let covered = self.reader.state().context.tables.covered;
                        self.blocks.push(PlannedBlock { frame, covered });
                        self.bytes = self.bytes.saturating_add(u64::from(frame.body.len));
                    }
                    let is_large = self.bytes > REGION_BYTES;
                    if frame.kind == BlockKind::RemoveThread || is_large || self.is_surprised() {
                        return Ok(Next::Irregular);
                    }
                    if self.may_cut && self.bytes >= PORTION_BYTES && self.bytes >= self.copied_bytes() {
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

    /// Whether something was met that more than one thread cannot tell right: version 3, a block
    /// that the input's end cuts, damage. What is wrong behind or between blocks is harmless.
    fn is_surprised(&self) -> bool {
        let state = self.reader.state();
        state.is_irregular
            || state.context.is_v3()
            || !state.is_block_whole()
            // Many small regions between which large tables change are read faster by one.
            || self.copied > self.reader.position().saturating_mul(COPIES)
            || state.damage.findings().iter().any(|finding| {
                finding.block.is_some() || !matches!(finding.class, Class::Note | Class::Incomplete)
            })
    }

    /// Hands over what was found. At a sequence point the tables go along; the point itself is read
    /// by the next step.
    fn job(&mut self, is_at_barrier: bool) -> Next {
        let before = self.reader.state_mut().losses.take_log();
        let mut plan = self.spare.pop().unwrap_or_else(|| Box::new(Plan::empty()));
        let context = &mut self.reader.state_mut().context;
        for (last, (table, bytes)) in self.shared.iter_mut().zip(context.tables.shared()) {
            if std::mem::replace(last, table) != table {
                self.copied = self.copied.saturating_add(bytes);
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

    /// What is copied with a portion: where stacks are many, portions are larger.
    fn copied_bytes(&self) -> u64 {
        self.reader.state().context.tables.copied_bytes()
    }

    /// Takes back a plan that was read. What it shared is let go: tables that others share are copied
    /// when they change.
    pub(super) fn take_back(&mut self, mut plan: Box<Plan>) {
        self.nothing.share_with(&mut plan.context.tables);
        self.spare.push(plan);
    }

    pub(super) fn is_v6(&self) -> bool {
        self.reader.state().context.is_v6()
    }

    /// What the count of losses must know behind the last region.
    pub(super) fn take_log(&mut self) -> Vec<loss::Step> {
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
        Blob, EventBlock, SequencePoint, Stack, StackBlock, Stream, ThreadBlock, ThreadRow, Trace, Version,
    };

    /// Regions of one event each, between which a thread is defined; before them, a number of threads.
    fn regions(threads: u64, count: u64) -> Vec<u8> {
        let mut stream = Stream::new(Version::V6);
        stream.trace(&Trace::default());
        let row = |index| ThreadRow::new(index, 1, index);
        stream.thread_block(&ThreadBlock::new((1..=threads).map(row).collect::<Vec<_>>()));
        for index in threads + 1..=threads + count {
            let event = Blob { thread_id: 1, capture_thread_id: 1, ticks: index, ..Blob::default() };
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
                stream.stack_block(&StackBlock { first_id, stacks: vec![stack], ..StackBlock::default() });
            }
            for number in 1..=128 {
                let event = Blob { sequence_number: number, payload: vec![0; 64 << 10], ..Blob::default() };
                stream.event_block(&EventBlock::new([event]));
            }
            stream.end();
            let mut index = Index::new(Whole::new(&stream.bytes), Limits::default(), true);
            let mut portions = 0;
            while let Next::Job(_) = index.next().unwrap() {
                portions += 1;
            }
            portions
        };
        // Events have 8 MiB, stacks nothing, and 4 MiB and what belongs to them.
        assert_eq!((portions(0), portions(64)), (8, 2));
    }

    /// How many regions are given to several threads, and whether the rest is for one.
    fn given(bytes: &[u8]) -> (u64, bool) {
        let mut index = Index::new(Whole::new(bytes), Limits::default(), false);
        // They are read by others for as long as they are here.
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
