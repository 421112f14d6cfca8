//! Checks that every byte of an input is accounted for.
//!
//! Each byte belongs to exactly one of these:
//!
//! - the stream's header, or its end mark;
//! - framing: header of an object or block, padding, tagged values, end tag;
//! - content of a block that was read: its header and its rows. Each row of an event block was delivered
//!   as an event (in version 3 it may be a definition);
//! - content of a block that was skipped and noted, such as a block of an unknown kind;
//! - the lost bytes of one finding, among which no event was delivered;
//! - bytes after the end mark.

use nettrace_parser::{BlockKind, Finding, Item, Reader, Version, raw};

struct Block {
    start: u64,
    content: u64,
    end: u64,
    kind: BlockKind,
    header: u64,
    is_read: bool,
}

/// Reads `bytes` and accounts for all of them.
pub(crate) fn assert_every_byte_is_explained(bytes: &[u8]) {
    let mut reader = Reader::from_slice(bytes);
    let mut blocks: Vec<Block> = Vec::new();
    let mut events: Vec<(u64, u64)> = Vec::new();
    loop {
        match reader.next_item() {
            Ok(Some(Item::Block(block))) => {
                let content = block.content;
                // Version 3 has no header before the rows.
                let header = raw::event_block_header(content)
                    .map_or(0, |(_, header)| u64::from(header.size));
                blocks.push(Block {
                    start: block.offset,
                    content: block.span.start,
                    end: block.span.end().min(bytes.len() as u64),
                    kind: block.kind,
                    header,
                    is_read: !content.is_empty(),
                });
            }
            Ok(Some(Item::Event(event))) => {
                events
                    .push((event.offset(), event.payload_offset() + event.payload().len() as u64));
            }
            Ok(Some(other)) => panic!("neither a block nor an event: {other:?}"),
            Ok(None) => break,
            // A stream that cannot be opened has nothing to check.
            Err(_) => return,
        }
    }
    let damage = reader.damage();
    let kept_lost: u64 = damage.findings().iter().map(|finding| finding.lost_bytes).sum();
    if kept_lost != damage.lost_bytes() {
        // There are more findings than are kept, so that only their sum can be checked, by `Told`.
        return;
    }
    let lost = stretches(damage.findings());
    let end = reader.end_offset().unwrap_or(0);
    Explained { bytes, version: reader.version(), blocks, events, lost, end }.check();
}

/// Returns the ranges of lost bytes in order, and asserts that they do not overlap.
fn stretches(findings: &[Finding]) -> Vec<(u64, u64)> {
    let mut lost: Vec<(u64, u64)> = findings
        .iter()
        .filter(|finding| finding.lost_bytes > 0)
        .map(|finding| (finding.lost_offset, finding.lost_offset + finding.lost_bytes))
        .collect();
    lost.sort_unstable();
    for pair in lost.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "lost twice: {pair:x?} in {findings:#?}");
    }
    lost
}

struct Explained<'d> {
    bytes: &'d [u8],
    version: Option<Version>,
    blocks: Vec<Block>,
    events: Vec<(u64, u64)>,
    lost: Vec<(u64, u64)>,
    end: u64,
}

impl Explained<'_> {
    fn check(&self) {
        for (from, to) in &self.events {
            let inside = self.lost.iter().find(|(lost, end)| lost < to && from < end);
            assert!(
                inside.is_none(),
                "event {from:x}..{to:x} was given and told to be lost: {inside:x?}"
            );
        }
        for pair in self.events.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "events overlap or go back: {pair:x?}");
        }
        for pair in self.blocks.windows(2) {
            assert!(
                pair[0].start < pair[1].start,
                "blocks go back: {:x} {:x}",
                pair[0].start,
                pair[1].start
            );
        }
        let starts: Vec<u64> =
            self.blocks.iter().map(|block| block.start).chain([self.end]).collect();
        for (block, next) in self.blocks.iter().zip(starts.get(1..).unwrap_or_default()) {
            // A block may begin inside another one whose size is wrong.
            let end = block.end.min(*next);
            if block.kind == BlockKind::Event && block.is_read {
                self.explain_rows(block, end);
            }
            self.explain_framing(end, *next);
        }
    }

    /// Asserts that every byte between the header of a block and `end` belongs to a row or is lost.
    fn explain_rows(&self, block: &Block, end: u64) {
        let mut at = block.content;
        let is_lost_whole = self.lost_at(at).is_some();
        if self.version != Some(Version::V3) && !is_lost_whole {
            at += block.header;
        }
        while at < end {
            if let Some(behind) = self.lost_at(at) {
                assert!(behind > at);
                at = behind;
            } else if let Ok(found) = self.events.binary_search_by_key(&at, |(from, _)| *from) {
                at = self.behind_row(at, self.events[found].1, block);
            } else if self.version == Some(Version::V3) && self.u32(at + 4) == Some(0) {
                // A row that is no event is a definition.
                at = self.behind_row(at, at, block);
            } else {
                panic!(
                    "byte {at:x} of block {:x} is neither given nor lost; lost: {:x?}",
                    block.start, self.lost
                );
            }
        }
        assert!(
            at == end || self.lost_at(end).is_some() || end < block.end,
            "{at:x} is beyond {end:x}"
        );
    }

    /// Returns the end of the row at `at`. Uncompressed rows store their size.
    fn behind_row(&self, at: u64, payload_end: u64, block: &Block) -> u64 {
        let flags = self.u32(block.content).unwrap_or(0) >> 16;
        let is_compressed = self.version != Some(Version::V3) && flags & 1 == 1;
        if is_compressed { payload_end } else { at + 4 + u64::from(self.u32(at).unwrap_or(0)) }
    }

    /// Asserts that every byte between two blocks is lost or belongs to the end of an object.
    fn explain_framing(&self, from: u64, to: u64) {
        let mut at = from;
        while at < to {
            if let Some(behind) = self.lost_at(at) {
                at = behind;
                continue;
            }
            let rest = &self.bytes[at as usize..];
            if matches!(self.version, Some(Version::V6 { .. })) {
                // Only an end mark, which may have content, can lie between blocks.
                let word = self.u32(at).unwrap_or(u32::MAX);
                let is_end = word >> 24 == 0 && to == self.end && to <= at + 4 + u64::from(word);
                assert!(is_end, "byte {at:x} of version 6 belongs to no block and is not lost");
                return;
            }
            let size = match rest[0] {
                // An end tag, or the end mark of the stream; then tagged values.
                6 | 1 => 1,
                8 => 2,
                9 => 3,
                10 => 5,
                11 => 9,
                13 | 14 => 5 + u64::from(self.u32(at + 1).unwrap_or(0)),
                other => {
                    panic!(
                        "byte {at:x} is {other:#x} between blocks and not lost; lost: {:x?}",
                        self.lost
                    )
                }
            };
            at += size;
        }
    }

    /// Returns the end of the range of lost bytes around `at`, if the byte is lost.
    fn lost_at(&self, at: u64) -> Option<u64> {
        let index = self.lost.partition_point(|(from, _)| *from <= at);
        let (_, end) = self.lost.get(index.checked_sub(1)?)?;
        (*end > at).then_some(*end)
    }

    fn u32(&self, at: u64) -> Option<u32> {
        let at = usize::try_from(at).ok()?;
        Some(u32::from_le_bytes(self.bytes.get(at..)?.first_chunk().copied()?))
    }
}
