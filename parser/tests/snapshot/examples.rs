//! What is left of the two worked examples when only their first bytes are there.

use nettrace_testdata::synth::{tiny_v4, tiny_v6};

/// A worked example, and what each of its prefixes holds.
pub(crate) struct Example {
    pub(crate) bytes: Vec<u8>,
    /// The length of the shortest prefix that can be read.
    fatal_below: usize,
    /// Lengths from which on a prefix has one more event.
    events_from: &'static [usize],
    /// The length from which on the one lost event is known.
    loss_from: usize,
}

/// What a prefix holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) events: usize,
    pub(crate) lost: u64,
    pub(crate) is_complete: bool,
}

/// Returns both examples.
pub(crate) fn examples() -> [Example; 2] {
    [
        Example {
            bytes: tiny_v4().bytes,
            fatal_below: 0x65,
            events_from: &[0x1c7, 0x1d5, 0x1e0, 0x1ff],
            loss_from: 0x240,
        },
        Example {
            bytes: tiny_v6().bytes,
            fatal_below: 0x4d,
            events_from: &[0xe5, 0xed],
            loss_from: 0xf3,
        },
    ]
}

impl Example {
    /// Returns what the first `length` bytes hold, or `None` if they cannot be read.
    pub(crate) fn left(&self, length: usize) -> Option<Left> {
        (length >= self.fatal_below).then(|| Left {
            events: self.events_from.iter().filter(|from| length >= **from).count(),
            lost: u64::from(length >= self.loss_from),
            is_complete: length == self.bytes.len(),
        })
    }
}
