//! Records the damage of a stream: every skipped range and every oddity, with its offset.

use crate::error::Fault;
use crate::frame::{BlockKind, Frame};
use std::fmt;

/// Kind of loss that a fault caused ([FORMAT.md 13.2](crate::format_guide#13.2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Class {
    /// The position of the next object or block became unknown.
    FramingLost,
    /// The content of one block was unusable, but its end was known.
    BlockLost,
    /// A row was broken. Only the rows before it in the block were delivered.
    RestOfBlockLost,
    /// A row that stores its own size was broken. All other rows of the block were delivered.
    RowLost,
    /// The input ended inside an item.
    Incomplete,
    /// Something odd, by which nothing was lost.
    Note,
    /// Something that can be read, but that no correct writer stores. The events after it in
    /// the block are delivered, but may have been read from bytes that are no events
    /// ([FORMAT.md 13.6](crate::format_guide#13.6)).
    Contradiction,
}

impl Class {
    /// Returns the class in a few words, such as `rest of block lost`.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::FramingLost => "framing lost",
            Class::BlockLost => "block lost",
            Class::RestOfBlockLost => "rest of block lost",
            Class::RowLost => "row lost",
            Class::Incomplete => "incomplete",
            Class::Note => "note",
            Class::Contradiction => "contradiction",
        }
    }
}

/// One fault of a stream, and what it cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Loss that the fault caused.
    pub class: Class,
    /// Stream offset of the first affected byte.
    pub offset: u64,
    /// Number of bytes of the stream that were not delivered because of the fault. No
    /// byte is counted twice, and no delivered byte is counted.
    pub lost_bytes: u64,
    /// Stream offset of the first lost byte, which is before [`Finding::offset`] if the fault
    /// spoils the item around it. Meaningless if no bytes are lost.
    pub lost_offset: u64,
    /// Kind of the block with the fault; `None` between blocks.
    pub block: Option<BlockKind>,
    /// Stream offset of the first byte of the block with the fault; between blocks equal to
    /// [`Finding::offset`].
    pub block_offset: u64,
    /// Name of the item that was being read, such as `metadata row`.
    pub context: &'static str,
    /// Fault, with the wrong values.
    pub fault: Fault,
}

impl Finding {
    /// Ends the loss at `position`. Returns the number of bytes that are no longer lost.
    fn shorten(&mut self, position: u64) -> u64 {
        let still_lost = position.saturating_sub(self.lost_offset).min(self.lost_bytes);
        let given_back = self.lost_bytes.saturating_sub(still_lost);
        self.lost_bytes = still_lost;
        given_back
    }

    /// Moves the start of the loss to `position`, if it is earlier.
    fn spare(&mut self, position: u64) {
        let spared = position.saturating_sub(self.lost_offset).min(self.lost_bytes);
        self.lost_offset = self.lost_offset.saturating_add(spared);
        self.lost_bytes = self.lost_bytes.saturating_sub(spared);
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}: {}: ", self.offset, self.class.as_str())?;
        if let Some(block) = self.block {
            write!(f, "{block} block at {:#x}, ", self.block_offset)?;
        }
        write!(f, "{}: {}", self.context, self.fault)?;
        match self.lost_bytes {
            0 => Ok(()),
            1 => f.write_str(" (1 byte lost)"),
            bytes => write!(f, " ({bytes} bytes lost)"),
        }
    }
}

/// Maximum number of findings of one kind that are kept in full; further ones are only
/// counted.
const MAX_KEPT_PER_KIND: u64 = 64;

/// Faults of a stream up to the current position. All findings are counted, and at most 64 of
/// a kind are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Damage {
    findings: Vec<Finding>,
    kinds: Vec<FindingCount>,
    last_loss: Option<LastLoss>,
    /// Stream offset up to which bytes were delivered, so that losses begin after it.
    delivered_to: u64,
}

/// Most recent loss, which becomes smaller if reading resumes in the middle of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LastLoss {
    finding: Finding,
    /// Index of the finding in `findings`, if it is kept.
    kept: Option<usize>,
}

/// Number of findings of one kind, and number of bytes lost by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FindingCount {
    class: Class,
    fault: std::mem::Discriminant<Fault>,
    context: &'static str,
    count: u64,
    lost_bytes: u64,
}

impl Damage {
    /// Returns the findings that are kept, including notes, in the order of occurrence.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the kept findings that are not notes.
    pub fn losses(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.class != Class::Note)
    }

    /// Returns the kept notes.
    pub fn notes(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.class == Class::Note)
    }

    /// Returns the number of findings of a class, including those not kept.
    pub fn count(&self, class: Class) -> u64 {
        self.kinds.iter().filter(|kind| kind.class == class).map(|kind| kind.count).sum()
    }

    /// Returns the number of findings other than notes, including those not kept.
    pub fn loss_count(&self) -> u64 {
        let losses = self.kinds.iter().filter(|kind| kind.class != Class::Note);
        losses.fold(0, |sum, kind| sum.saturating_add(kind.count))
    }

    /// Returns whether there is any finding other than a note.
    pub fn is_damaged(&self) -> bool {
        self.kinds.iter().any(|kind| kind.class != Class::Note)
    }

    /// Returns the number of bytes that were not delivered, summed over all findings.
    pub fn lost_bytes(&self) -> u64 {
        self.kinds.iter().fold(0, |sum, kind| sum.saturating_add(kind.lost_bytes))
    }

    /// Returns the number of findings with the class, the context and the kind of fault of this
    /// finding.
    pub fn count_like(&self, finding: &Finding) -> u64 {
        self.kinds.iter().find(|kind| kind.is_of(finding)).map_or(0, |kind| kind.count)
    }

    /// Returns the most recent loss.
    pub(crate) fn last_loss(&self) -> Option<&Finding> {
        self.last_loss.as_ref().map(|last| &last.finding)
    }

    /// Ends the most recent loss at `position`, where reading resumes.
    pub(crate) fn shorten_last_loss(&mut self, position: u64) {
        let Some(last) = &mut self.last_loss else { return };
        let given_back = last.finding.shorten(position);
        let (finding, kept) = (last.finding, last.kept);
        if let Some(kept) = kept.and_then(|at| self.findings.get_mut(at)) {
            kept.lost_bytes = finding.lost_bytes;
        }
        self.give_back(&finding, given_back);
    }

    /// Ends the losses of the block that was read last, which begins at `block_offset`. They end at
    /// `position`, where reading resumes.
    pub(crate) fn shorten_losses(&mut self, block_offset: u64, position: u64) {
        if self.last_loss().is_some_and(|loss| loss.block_offset == block_offset) {
            self.shorten_last_loss(position);
        }
        for at in (0..self.findings.len()).rev() {
            let Some(finding) =
                self.findings.get_mut(at).filter(|it| it.block_offset == block_offset)
            else {
                return;
            };
            let given_back = finding.shorten(position);
            let finding = *finding;
            self.give_back(&finding, given_back);
        }
    }

    /// Returns the stream offset of the loss in the block that was read last, if the loss extends
    /// to the block's end.
    pub(crate) fn lost_to_end_of(&self, block: Frame) -> Option<u64> {
        let loss = self.last_loss().filter(|loss| loss.block_offset == block.start)?;
        let end = loss.lost_offset.saturating_add(loss.lost_bytes);
        (end >= block.body_end()).then_some(loss.lost_offset)
    }

    /// Excludes the bytes before `position` from later losses: they were delivered, although
    /// reading resumes before them.
    pub(crate) fn spare(&mut self, position: u64) {
        self.delivered_to = self.delivered_to.max(position);
    }

    /// Subtracts bytes that were not lost after all.
    fn give_back(&mut self, finding: &Finding, bytes: u64) {
        if let Some(kind) = self.kinds.iter_mut().find(|kind| bytes > 0 && kind.is_of(finding)) {
            kind.lost_bytes = kind.lost_bytes.saturating_sub(bytes);
        }
    }

    #[cold]
    pub(crate) fn add(&mut self, mut finding: Finding) {
        finding.spare(self.delivered_to);
        let count = match self.kinds.iter_mut().find(|kind| kind.is_of(&finding)) {
            Some(kind) => {
                kind.count = kind.count.saturating_add(1);
                kind.lost_bytes = kind.lost_bytes.saturating_add(finding.lost_bytes);
                kind.count
            }
            None => {
                self.kinds.push(FindingCount {
                    class: finding.class,
                    fault: std::mem::discriminant(&finding.fault),
                    context: finding.context,
                    count: 1,
                    lost_bytes: finding.lost_bytes,
                });
                1
            }
        };
        let is_kept = count <= MAX_KEPT_PER_KIND;
        if !matches!(finding.class, Class::Note | Class::Contradiction) {
            self.last_loss =
                Some(LastLoss { finding, kept: is_kept.then_some(self.findings.len()) });
        }
        if is_kept {
            self.findings.push(finding);
        }
    }

    /// Adds a finding between blocks at `offset`, which loses bytes from there on.
    pub(crate) fn add_outside(
        &mut self,
        class: Class,
        offset: u64,
        lost_bytes: u64,
        context: &'static str,
        fault: Fault,
    ) {
        self.add_between(class, offset, offset, lost_bytes, context, fault);
    }

    /// Adds a finding between blocks at `offset`, which loses bytes from `lost_offset` on.
    pub(crate) fn add_between(
        &mut self,
        class: Class,
        offset: u64,
        lost_offset: u64,
        lost_bytes: u64,
        context: &'static str,
        fault: Fault,
    ) {
        self.add(Finding {
            class,
            offset,
            lost_bytes,
            lost_offset,
            block: None,
            block_offset: offset,
            context,
            fault,
        });
    }

    /// Adds a loss of framing at `offset`, in or after a block.
    pub(crate) fn add_framing_lost(
        &mut self,
        frame: Frame,
        offset: u64,
        lost_offset: u64,
        lost_bytes: u64,
        context: &'static str,
        fault: Fault,
    ) {
        self.add(Finding {
            class: Class::FramingLost,
            offset,
            lost_bytes,
            lost_offset,
            block: Some(frame.kind),
            block_offset: frame.start,
            context,
            fault,
        });
    }

    /// Returns a collector for the findings in one block.
    pub(crate) fn in_block(&mut self, frame: Frame) -> BlockDamage<'_> {
        BlockDamage { damage: self, frame, is_cut: false }
    }

    /// Returns a collector for the findings in one block. `is_whole` says whether the input
    /// contains all of it.
    pub(crate) fn in_part_of_block(&mut self, frame: Frame, is_whole: bool) -> BlockDamage<'_> {
        BlockDamage { damage: self, frame, is_cut: !is_whole }
    }
}

impl FindingCount {
    fn is_of(&self, finding: &Finding) -> bool {
        self.class == finding.class
            && self.fault == std::mem::discriminant(&finding.fault)
            && self.context == finding.context
    }
}

/// Collects the findings in one block. Offsets are relative to the block's content.
pub(crate) struct BlockDamage<'d> {
    damage: &'d mut Damage,
    frame: Frame,
    is_cut: bool,
}

impl BlockDamage<'_> {
    pub(crate) fn add(
        &mut self,
        class: Class,
        at: usize,
        lost_bytes: usize,
        context: &'static str,
        fault: Fault,
    ) {
        self.add_spoiling(class, at, at, lost_bytes, context, fault);
    }

    /// Adds a fault at `at` with a loss of `lost_bytes` from `lost_at` on.
    fn add_spoiling(
        &mut self,
        class: Class,
        at: usize,
        lost_at: usize,
        lost_bytes: usize,
        context: &'static str,
        fault: Fault,
    ) {
        self.damage.add(Finding {
            class,
            offset: self.frame.body.start.saturating_add(at as u64),
            lost_bytes: lost_bytes as u64,
            lost_offset: self.frame.body.start.saturating_add(lost_at as u64),
            block: Some(self.frame.kind),
            block_offset: self.frame.start,
            context,
            fault,
        });
    }

    /// Notes an oddity at `at`.
    pub(crate) fn note(&mut self, at: usize, context: &'static str, fault: Fault) {
        self.add(Class::Note, at, 0, context, fault);
    }

    /// Adds a contradiction at `at`; nothing is lost.
    pub(crate) fn add_contradiction(&mut self, at: usize, context: &'static str, fault: Fault) {
        self.add(Class::Contradiction, at, 0, context, fault);
    }

    /// Adds a fault about a thread index that no row defines: as a note if the definition may have
    /// been lost, otherwise as a contradiction.
    pub(crate) fn add_undefined_thread(
        &mut self,
        is_contradiction: bool,
        at: usize,
        context: &'static str,
        index: u64,
    ) {
        let class = if is_contradiction { Class::Contradiction } else { Class::Note };
        self.add(class, at, 0, context, Fault::UndefinedThread(index));
    }

    /// Adds a broken row, which begins at `at` and has `lost_bytes` bytes. The rows after it are
    /// read.
    pub(crate) fn add_lost_row(
        &mut self,
        at: usize,
        lost_bytes: usize,
        context: &'static str,
        fault: Fault,
    ) {
        self.add(Class::RowLost, at, lost_bytes, context, fault);
    }

    /// Adds a fault at `at` that makes a row unreadable. The row begins at `row_at` and has
    /// `lost_bytes` bytes.
    pub(crate) fn add_spoilt_row(
        &mut self,
        at: usize,
        row_at: usize,
        lost_bytes: usize,
        context: &'static str,
        fault: Fault,
    ) {
        self.add_spoiling(Class::RowLost, at, row_at, lost_bytes, context, fault);
    }

    /// Adds a broken row at `at` that makes the `lost_bytes` up to the block's end unreadable.
    pub(crate) fn add_lost_rest(
        &mut self,
        at: usize,
        lost_bytes: usize,
        context: &'static str,
        fault: Fault,
    ) {
        self.add_loss(Class::RestOfBlockLost, at, lost_bytes, context, fault);
    }

    /// Adds a fault that makes the block's content unusable.
    pub(crate) fn add_lost_block(
        &mut self,
        at: usize,
        lost_bytes: usize,
        context: &'static str,
        fault: Fault,
    ) {
        self.add_loss(Class::BlockLost, at, lost_bytes, context, fault);
    }

    /// Returns whether the input ends inside the block, so that rows may be missing.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Adds a loss. If the input ends inside the block and this explains the fault, the loss is
    /// added as [`Class::Incomplete`].
    fn add_loss(
        &mut self,
        class: Class,
        at: usize,
        lost_bytes: usize,
        context: &'static str,
        fault: Fault,
    ) {
        let runs_out = match fault {
            Fault::Truncated
            | Fault::RowSize(_)
            | Fault::PayloadSize(_)
            | Fault::StackSize(_)
            | Fault::Count { .. } => true,
            Fault::HeaderSize(size) => usize::from(size) > lost_bytes,
            _ => false,
        };
        if self.is_cut && runs_out {
            self.add(Class::Incomplete, at, lost_bytes, context, Fault::Truncated);
        } else {
            self.add(class, at, lost_bytes, context, fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    #[test]
    fn no_row_is_lost_after_the_place_where_another_block_begins() {
        let frame = |start| Frame {
            kind: BlockKind::Thread,
            start,
            body: Span { start: start + 4, len: 90 },
        };
        let mut damage = Damage::default();
        damage.in_block(frame(100)).add_lost_row(0, 90, "thread row", Fault::Truncated);
        for at in [40, 60, 80] {
            damage.in_block(frame(200)).add_lost_row(at, 10, "thread row", Fault::Truncated);
        }
        damage.in_block(frame(200)).note(80, "thread row", Fault::Truncated);
        damage.shorten_losses(200, 204 + 65);
        let lost: Vec<u64> = damage.losses().map(|finding| finding.lost_bytes).collect();
        assert_eq!((lost, damage.lost_bytes()), (vec![90, 10, 5, 0], 105));
        assert_eq!(damage.last_loss().map(|loss| loss.lost_bytes), Some(0));
    }
}
