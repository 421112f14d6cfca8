//! Frames the blocks of version 6, which have a header of 4 bytes (FORMAT.md 7.1).
//!
//! | bits | |
//! |---|---|
//! | 0–23 | size of the content in bytes, at most 16,777,215 |
//! | 24–31 | kind |
//!
//! There is no padding, no alignment and no trailer, so recovery recognises blocks by their
//! content.

use super::Framed;
use crate::block::kinds::{KINDS, SIGN_BYTES};
use crate::bytes::{Parsed, u32};
use crate::frame::{BlockKind, Frame};
use crate::source::Span;
use crate::work;

/// Size of a block header in bytes.
pub(crate) const HEADER: usize = 4;
/// Number of bytes that are examined to see whether a block begins.
pub(crate) const SHOWN: usize = HEADER + SIGN_BYTES;

/// Reads the header of a version 6 block ([FORMAT.md 7.1](crate::format_guide#7.1)): the
/// number of its kind, and the size of its content, which follows. Kind 0 ends the
/// stream.
///
/// # Errors
/// [`Fault::Truncated`](crate::Fault::Truncated).
pub fn header(input: &[u8]) -> Parsed<'_, (u8, u32)> {
    let (rest, word) = u32(input)?;
    Ok((rest, kind_and_size(word)))
}

/// Splits the word of a block header into the kind and the size.
fn kind_and_size(word: u32) -> (u8, u32) {
    let [kind, ..] = word.to_be_bytes();
    (kind, word & 0x00ff_ffff)
}

/// Returns the block at `position`. `input` begins there.
pub(crate) fn frame(input: &[u8], position: u64) -> Framed {
    let Ok((_, (code, len))) = header(input) else { return Framed::Need(4) };
    let start = position.saturating_add(HEADER as u64);
    match BlockKind::from_number(code) {
        Some(kind) => Framed::Block(Frame { kind, start: position, body: Span { start, len } }),
        // A future end mark may have content, which is part of the end.
        None => Framed::End((HEADER as u64).saturating_add(u64::from(len))),
    }
}

/// Result of looking for a block at a place where one may begin.
enum Sign {
    /// A block of a known kind, with its length in bytes, including the header.
    Block(usize),
    /// An end mark without content.
    End,
    /// This many bytes are needed to decide.
    Need(usize),
    Nothing,
}

fn sign(input: &[u8]) -> Sign {
    work::count(1);
    let frame = match frame(input, 0) {
        Framed::Block(frame) => frame,
        Framed::End(4) => return Sign::End,
        Framed::Need(bytes) => return Sign::Need(bytes),
        _ => return Sign::Nothing,
    };
    let (len, after) = (frame.body.len as usize, input.get(HEADER..).unwrap_or_default());
    if matches!(frame.kind, BlockKind::Unknown(_)) {
        return Sign::Nothing;
    }
    match after.get(..len.min(SIGN_BYTES)) {
        Some(content) if frame.kind.can_begin(frame.body.len, content) => {
            Sign::Block(len.saturating_add(HEADER))
        }
        Some(_) => Sign::Nothing,
        None => Sign::Need(len.min(SIGN_BYTES).saturating_add(HEADER)),
    }
}

/// Returns whether a block is of a kind whose content has few recognisable features.
fn is_weak(block: &[u8]) -> bool {
    !KINDS.iter().any(|row| row.is_telling && block.get(3) == Some(&row.number))
}

/// Returns whether a block certainly begins here. If its kind has few recognisable
/// features, another block must follow.
#[inline]
pub(crate) fn leads_on(input: &[u8], is_ended: bool) -> Chain {
    match sign(input) {
        Sign::Block(_) if !is_weak(input) => Chain::Yes,
        Sign::Block(_) => chain(input, 2, is_ended),
        Sign::Need(bytes) if !is_ended => Chain::Need(bytes),
        _ => Chain::No,
    }
}

/// Result of looking for consecutive blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chain {
    Yes,
    No,
    /// This many bytes are needed to decide.
    Need(usize),
}

/// Returns whether at least `min_blocks` consecutive blocks begin at `input`. Fewer are enough
/// if the last ends where the input does. `is_ended` is set if no more input will come.
pub(crate) fn chain(input: &[u8], min_blocks: u32, is_ended: bool) -> Chain {
    let (mut at, mut count, mut min_blocks) = (0usize, 0u32, min_blocks);
    let mut is_all_weak = true;
    loop {
        if count >= min_blocks {
            return Chain::Yes;
        }
        // If a block's content is cut off, only its beginning counts as evidence.
        let verdict_if_cut = |bytes: usize| match is_ended {
            true if count >= 2 && !is_all_weak => Chain::Yes,
            true => Chain::No,
            false => Chain::Need(at.saturating_add(bytes)),
        };
        let Some(rest) = input.get(at..) else { return verdict_if_cut(SHOWN) };
        if rest.is_empty() && is_ended {
            return if count > 0 { Chain::Yes } else { Chain::No };
        }
        match sign(rest) {
            Sign::Block(bytes) => {
                // Short byte sequences in many payloads look like small blocks of the
                // kinds with few recognisable features.
                if is_weak(rest) && min_blocks >= 3 {
                    min_blocks = min_blocks.saturating_add(1).min(8);
                }
                is_all_weak &= is_weak(rest);
                at = at.saturating_add(bytes);
                count = count.saturating_add(1);
            }
            // Zeros are common, but an end mark exactly at the input's end is not.
            Sign::End if count == 0 || rest.len() > HEADER => return Chain::No,
            Sign::End if is_ended => return Chain::Yes,
            Sign::End => return Chain::Need(at.saturating_add(HEADER).saturating_add(1)),
            Sign::Need(bytes) => return verdict_if_cut(bytes),
            Sign::Nothing => return Chain::No,
        }
    }
}

/// Consecutive blocks, as [`leads_to`] found them.
pub(crate) struct Led {
    pub(crate) count: u64,
    /// Whether at least one of the blocks is of a kind with enough recognisable features.
    pub(crate) has_telling: bool,
    /// Whether the last block ends at the expected position.
    pub(crate) leads_there: bool,
}

impl Led {
    /// Returns whether the blocks lead to the expected position, and not by chance: payloads
    /// easily contain what looks like, for example, a thread block. So one or two blocks count
    /// only if a kind has enough recognisable features.
    pub(crate) fn are_blocks(&self) -> bool {
        self.leads_there && (self.count > 2 || self.has_telling)
    }
}

/// Returns whether a header states a known kind other than Trace, and at most `max_bytes`
/// bytes with the header itself.
#[inline]
pub(crate) fn may_be_known(header: u32, max_bytes: u64) -> bool {
    let (kind, size) = kind_and_size(header);
    (2..=KINDS.len()).contains(&usize::from(kind))
        && u64::from(size).saturating_add(HEADER as u64) <= max_bytes
}

/// Returns the consecutive blocks of known kinds from the beginning of `input` to `to`. More
/// than `max_blocks` blocks count as not leading there.
pub(crate) fn leads_to(input: &[u8], to: usize, max_blocks: u64) -> Led {
    let mut led = Led { count: 0, has_telling: false, leads_there: false };
    let mut at = 0usize;
    while at < to {
        let rest = input.get(at..).unwrap_or_default();
        let Framed::Block(block) = frame(rest, 0) else { return led };
        // Bytes after `to` need not be available.
        if led.count >= max_blocks || matches!(sign(rest), Sign::Nothing | Sign::End) {
            return led;
        }
        at = at.saturating_add(HEADER).saturating_add(block.body.len as usize);
        led.count = led.count.saturating_add(1);
        led.has_telling |= !is_weak(rest);
    }
    led.leads_there = at == to && led.count > 0;
    led
}

/// Result of a search for blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// A chain of blocks begins here.
    At(usize),
    /// To decide about offset `at`, `bytes` bytes from there are needed.
    Need {
        at: usize,
        bytes: usize,
    },
    Nothing,
}

/// Returns the first offset in `from..to` at which three consecutive blocks begin; fewer if
/// the input ends after them.
pub(crate) fn find(input: &[u8], from: usize, to: usize, is_ended: bool) -> Found {
    let places = input.get(from..).unwrap_or_default().windows(HEADER).enumerate();
    for (place, header) in places {
        work::count(1);
        let at = from.saturating_add(place);
        if at > to {
            break;
        }
        let number = header.last();
        if !KINDS.iter().any(|row| row.is_searched && Some(&row.number) == number) {
            continue;
        }
        match chain(input.get(at..).unwrap_or_default(), 3, is_ended) {
            Chain::Yes => return Found::At(at),
            Chain::No => {}
            Chain::Need(bytes) => return Found::Need { at, bytes },
        }
    }
    Found::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_testdata::{corpus, synth::tiny_v6};

    /// Returns the offsets of blocks that do not begin as their kind does, and the number of
    /// blocks.
    fn odd_blocks(bytes: &[u8]) -> (Vec<usize>, usize) {
        let (mut at, mut count, mut odd) = (20, 0, Vec::new());
        while let Framed::Block(block) = frame(&bytes[at..], at as u64) {
            if !matches!(sign(&bytes[at..]), Sign::Block(_)) {
                odd.push(at);
            }
            count += 1;
            at = block.body.end() as usize;
        }
        (odd, count)
    }

    #[test]
    fn every_block_that_a_writer_made_begins_as_its_kind_does() {
        let recorded =
            corpus::traces().into_iter().filter(|trace| trace.name().contains("one-collect"));
        for bytes in recorded.map(|trace| trace.bytes()).chain([tiny_v6().bytes]) {
            let (odd, count) = odd_blocks(&bytes);
            assert!(odd.is_empty() && count > 5, "{odd:?} of {count}");
        }
    }
}
