//! Makes decisions about a block with arbitrary bytes around it, for the fuzzer and for the
//! replay of its corpus.

use super::fastserial::{Objects, Searched};
use super::v6::{Blocks, Explored, LOOK_BACK};
use super::{AfterMark, GROWN_BYTES, Need, RefusedBytes, Verdict, Window};
use crate::blob::BlobHeader;
use crate::format::{Framed, fastserial, v6};
use crate::frame::{BlockKind, Frame};
use crate::source::Span;
use crate::version::Version;

/// Number of bytes of an input that select the version, the position of the block, the position of
/// its broken row, and whether ids are defined.
const CHOICES: usize = 4;

/// Makes decisions about a block in these bytes, with all bytes available and with only those
/// that were requested. Panics if the answers differ, or do not lie within the bytes.
pub fn decisions(bytes: &[u8]) {
    let Some((&[version, start, broken, is_known], bytes)) = bytes.split_first_chunk::<CHOICES>()
    else {
        return;
    };
    let (start, broken) = (u64::from(start), u64::from(broken));
    let known = is_known & 1 == 1;
    match version % 3 {
        0 => decide_objects(bytes, Version::V3, start, broken),
        1 => decide_objects(bytes, Version::V4, start, broken),
        _ => decide_blocks(bytes, start, broken, known),
    }
}

/// Returns the answer to a question. Panics if it depends on whether all bytes are available or
/// only those that were requested.
fn answers<T: PartialEq + std::fmt::Debug>(
    bytes: &[u8],
    mut ask: impl FnMut(Window<'_>, bool) -> Result<T, Need>,
) -> T {
    let at_once = answer(bytes, bytes.len(), |window| ask(window, true));
    let in_pieces = answer(bytes, 0, |window| ask(window, false));
    assert_eq!(at_once, in_pieces, "however the bytes come");
    at_once
}

fn answer<T>(
    bytes: &[u8],
    mut len: usize,
    mut ask: impl FnMut(Window<'_>) -> Result<T, Need>,
) -> T {
    let mut refused = RefusedBytes::NOTHING;
    loop {
        let window = Window::new(bytes.get(..len).unwrap_or(bytes), 0, &refused);
        match ask(window) {
            Ok(answer) => return answer,
            Err(need) => {
                assert!(
                    need.to > window.end() && need.to < refused.from,
                    "{need:?} is there, or never will be"
                );
                len = usize::try_from(need.to).unwrap_or(usize::MAX).min(bytes.len());
                if need.to > bytes.len() as u64 {
                    refused.from = need.to;
                }
            }
        }
    }
}

/// Verifies that a verdict fits the bytes and the block.
fn assert_within(verdict: Verdict, frame: Frame, end: u64) {
    match verdict {
        Verdict::Accept => {}
        Verdict::Resize { block, next, .. } => {
            assert_eq!((block.kind, block.start), (frame.kind, frame.start));
            assert!(block.body.start <= frame.body.start && block.body_end() <= end, "{block:?}");
            assert!(block.body_end() != frame.body_end(), "{block:?} is as it was");
            assert!(next.is_none_or(|next| (block.body_end()..=end).contains(&next)), "{next:?}");
        }
        Verdict::Realign { block, shift } => {
            assert!(shift < 4 && block.body.start.abs_diff(frame.body.start) < 4, "{block:?}");
        }
        Verdict::Retype { block } => {
            assert_eq!((block.start, block.body), (frame.start, frame.body));
        }
        Verdict::Skip { to } => {
            assert!(to.saturating_add(LOOK_BACK) >= frame.start && to <= end, "{to}");
            assert!(
                to <= frame.body_end().max(frame.body.start.saturating_add(GROWN_BYTES)),
                "{to}"
            );
        }
    }
}

fn objects(window: Window<'_>, version: Version) -> Objects<'_> {
    Objects { window, version: Some(version), shift: 0, max_bytes: 1 << 20 }
}

fn decide_objects(bytes: &[u8], version: Version, start: u64, broken: u64) {
    let refused = RefusedBytes::NOTHING;
    let window = Window::new(bytes, 0, &refused);
    let Framed::Block(frame) = fastserial::frame(window.from(start), start, 0) else { return };
    let end = bytes.len() as u64;
    if frame.body.start > end {
        return;
    }
    answers(bytes, |window, _| objects(window, version).is_sound(&frame));
    let verdict = answers(bytes, |window, _| objects(window, version).resync(frame));
    assert_within(verdict, frame, end);
    let from = frame.body.start.saturating_add(broken).min(frame.body_end()).min(end);
    if let Some(position) =
        answers(bytes, |window, _| objects(window, version).object_within(&frame, from))
    {
        assert!((from..frame.body_end()).contains(&position), "{position}");
    }
    for to in [None, Some(frame.body_end())] {
        match answers(bytes, |window, _| objects(window, version).search(from, to, 256)) {
            Searched::Object(position) | Searched::Nothing(position) => {
                assert!(position <= end, "{position}")
            }
            Searched::Further(position) => {
                assert!(position > from && position <= end, "{position}")
            }
            Searched::Ended => {}
        }
    }
}

fn decide_blocks(bytes: &[u8], start: u64, broken: u64, is_known: bool) {
    let refused = RefusedBytes::NOTHING;
    let window = Window::new(bytes, 0, &refused);
    let end = bytes.len() as u64;
    let frame = match v6::frame(window.from(start), start) {
        Framed::Block(frame) => frame,
        // The content that an end mark announces is examined as a block.
        Framed::End(_) => {
            let body = Span {
                start: start.saturating_add(v6::HEADER as u64),
                len: u32::from(bytes.len() > 300),
            };
            Frame { kind: BlockKind::Unknown(0), start, body }
        }
        _ => return,
    };
    let verdict = blocks(bytes, is_known, |blocks| blocks.resync(frame));
    assert_within(verdict, frame, end);
    let from = frame.body.start.saturating_add(broken);
    if from <= frame.body_end().min(end)
        && let Some(position) = blocks(bytes, is_known, |blocks| blocks.block_within(&frame, from))
    {
        assert!((from..frame.body_end()).contains(&position), "{position}");
    }
    blocks(bytes, is_known, |blocks| blocks.is_followed(frame.body_end()));
    // The reader has examined the bytes after a mark before it decides.
    let (from, to) = (frame.body.start, frame.body.start.saturating_add(256).min(end));
    let bytes = bytes.get(..usize::try_from(to).unwrap_or(usize::MAX)).unwrap_or(bytes);
    let after = |window, explored: &mut Explored| {
        ask_blocks(window, is_known, explored, |blocks| {
            blocks.after_mark(frame.start, from, from, to)
        })
    };
    let refused = RefusedBytes { from: to.saturating_add(1), ..RefusedBytes::NOTHING };
    let window = Window::new(bytes, 0, &refused);
    if let Ok(AfterMark::Block(position)) = after(window, &mut Explored::default()) {
        assert!(position.saturating_add(LOOK_BACK) >= frame.start && position <= end, "{position}");
    }
}

/// Returns the answer to a question about version 6 blocks. `Explored` is kept between
/// calls, as in the reader.
fn blocks<T: PartialEq + std::fmt::Debug>(
    bytes: &[u8],
    is_known: bool,
    ask: impl Fn(&mut Blocks<'_>) -> Result<T, Need>,
) -> T {
    let (mut at_once, mut in_pieces) = (Explored::default(), Explored::default());
    answers(bytes, |window, is_at_once| {
        ask_blocks(window, is_known, if is_at_once { &mut at_once } else { &mut in_pieces }, &ask)
    })
}

fn ask_blocks<T>(
    window: Window<'_>,
    is_known: bool,
    explored: &mut Explored,
    ask: impl Fn(&mut Blocks<'_>) -> Result<T, Need>,
) -> Result<T, Need> {
    let is_unknown = |_: &BlobHeader| !is_known;
    ask(&mut Blocks {
        window,
        explored,
        is_unknown: &is_unknown,
        has_session: true,
        last_content: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_testdata::{cases, fuzz_corpus, synth};

    #[test]
    fn the_fuzzers_corpus_is_replayed() {
        for (_, bytes) in fuzz_corpus::inputs("resync").unwrap() {
            decisions(&bytes);
        }
    }

    /// Returns an input of [`decisions`] about the block at `start`: the parameters, and the bytes
    /// of the stream around its start.
    fn question(bytes: &[u8], start: usize, version: u8, broken: u8) -> Vec<u8> {
        let from = start.saturating_sub(200);
        let window = &bytes[from..bytes.len().min(start + 20_000)];
        [&[version, (start - from) as u8, broken, broken & 1], window].concat()
    }

    #[test]
    fn a_decision_is_the_same_however_the_bytes_come() {
        let synthetic = [synth::tiny_v4().bytes, synth::tiny_v6().bytes];
        let damaged = synth::malformed().into_iter().map(|(_, bytes)| bytes);
        let (mut asked, step) = (0, (28 / cases(1)).max(1) as usize);
        for bytes in synthetic.into_iter().chain(damaged) {
            for start in (20..bytes.len().min(600)).step_by(step) {
                for version in 0..3 {
                    decisions(&question(&bytes, start, version, (start % 251) as u8));
                    asked += 1;
                }
            }
        }
        assert!(asked > 375, "{asked}");
    }
}
