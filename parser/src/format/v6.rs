//! Framing of version 6: a 4-byte block header (FORMAT.md 7.1).
//!
//! | bits | |
//! |---|---|
//! | 0–23 | size of the content in bytes, at most 16,777,215 |
//! | 24–31 | kind |
//!
//! No padding, no alignment, no trailer.

use super::{Frame, Framed};
use crate::block::BlockKind;
use crate::primitive::u32;
use crate::source::Span;

const HEADER: u64 = 4;

/// The block at `position`, whose bytes begin at `input`.
pub(crate) fn frame(input: &[u8], position: u64) -> Framed {
    let Ok((_, word)) = u32(input) else { return Framed::Need(4) };
    let [a, b, c, kind] = word.to_le_bytes();
    let len = u32::from_le_bytes([a, b, c, 0]);
    let kind = match kind {
        // The end may have content one day; it is part of the end.
        0 => return Framed::End(HEADER.saturating_add(u64::from(len))),
        1 => BlockKind::Trace,
        2 => BlockKind::Event,
        3 => BlockKind::Metadata,
        4 => BlockKind::SequencePoint,
        5 => BlockKind::Stack,
        6 => BlockKind::Thread,
        7 => BlockKind::RemoveThread,
        8 => BlockKind::LabelList,
        other => BlockKind::Unknown(other),
    };
    Framed::Block(Frame { kind, start: position, body: Span { start: position.saturating_add(HEADER), len } })
}
