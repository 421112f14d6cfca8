//! Whether a block of version 6 covers other blocks, because its size is too large (FORMAT.md 13.3).
//!
//! Payloads may look like blocks, so what is within a block counts only if it leads to its end.

use super::Reader;
use crate::error::Error;
use crate::format::Framed;
use crate::format::v6::{self, SHOWN};
use crate::frame::BlockKind;
use crate::source::{Source, index};

/// Fewer bytes at the end of a block's content are taken for a payload, even if they look like a block. Blocks that
/// writers make are longer.
const LEAST_COVERED: u64 = 24;

impl<S: Source> Reader<S> {
    /// Whether the input, as far as it was asked for, ends before it shows what is behind a block that ends at `end`.
    pub(super) fn is_last(&self, end: u64) -> bool {
        end.saturating_add(SHOWN as u64) > self.source_end()
    }

    /// Whether whole blocks follow each other from `from` on and lead to `to`. Where they are few, the rows of one
    /// must lead to its end: one of a kind of which enough is known, for blocks of threads are soon made by chance.
    pub(super) fn covers_blocks(&mut self, from: u64, to: u64) -> bool {
        // Asked of a row that is none, and again of what the block is left for.
        if self.looked_through.led != Some((from, to)) && self.leads_by_blocks(from, to) {
            self.looked_through.led = Some((from, to));
        }
        self.looked_through.led == Some((from, to))
    }

    fn leads_by_blocks(&mut self, from: u64, to: u64) -> bool {
        if to.saturating_sub(from) < LEAST_COVERED {
            return false;
        }
        // All in all no more blocks are passed over than there are bytes.
        let most = to.saturating_sub(self.looked_through.blocks);
        let (count, leads_there) = v6::leads_to(self.window_from(from), index(to, from), most);
        self.looked_through.blocks = self.looked_through.blocks.saturating_add(count);
        if !leads_there || count > 2 {
            return leads_there;
        }
        let mut at = from;
        while at < to && at >= self.looked_through.covered {
            let Framed::Block(block) = v6::frame(self.window_from(at), at) else { return false };
            let kinds = [BlockKind::Event, BlockKind::Metadata, BlockKind::Stack, BlockKind::SequencePoint];
            if kinds.contains(&block.kind) {
                let (rows, passed) = self.rows_to_end(block, false);
                self.looked_through.covered = passed;
                if rows.is_some_and(|rows| rows > 0) {
                    return true;
                }
            }
            at = block.body_end();
        }
        false
    }

    /// The same up to the input's end, or its end mark.
    pub(super) fn leads_to_end(&mut self, from: u64) -> bool {
        let end = self.source_end();
        let mark = end.saturating_sub(v6::HEADER as u64);
        // Zeros are common at a block's end, too.
        self.covers_blocks(from, end)
            || (self.window_from(mark) == [0; v6::HEADER] && self.covers_blocks(from, mark))
    }

    /// Looks at a blob that may be none, because its block's size is too large: then other blocks follow each
    /// other from it on, or from somewhere behind it. If none do, it is an event.
    ///
    /// Where another block begins behind the one at hand, or the input ends, its size is wrong only if it covers whole
    /// blocks, which lead to its end. What looks like blocks in a payload hardly does.
    #[cold]
    pub(super) fn is_odd_blob_event(&mut self) -> Result<bool, Error> {
        let (blob, end) = (self.state.cursor.blob, self.state.cursor.end);
        let found = match self.is_chain(blob)? {
            true => Some(blob),
            false if self.state.odd_blob.is_header => None,
            false => self.chain_in(blob, end)?.filter(|found| *found < end),
        };
        // Only who reads the whole stream knows what was looked through.
        self.state.is_irregular |= self.state.must_cover && found.is_some();
        let is_none = match found {
            Some(found) if self.is_followed_v6(end)? || self.is_last(end) => self.covers_blocks(found, end),
            found => found.is_some(),
        };
        self.state.resume();
        if let Some(found) = found.filter(|_| is_none) {
            if found < self.state.cursor.at {
                self.state.stop_before_blob();
                return Ok(false);
            }
            self.end_at(found);
        }
        Ok(self.state.accept_resumed(self.source.bytes(), self.source.start()))
    }

    /// The block at hand reaches to `position` only, where another begins.
    fn end_at(&mut self, position: u64) {
        let frame = self.state.cursor.frame;
        self.take_back(position);
        self.state.blocks_were_lost = true;
        self.state.cursor.frame = self.resized(frame, position);
        self.state.cursor.end = position;
    }
}
