//! Expected content of the prefixes of the two worked examples.

use nettrace_testdata::synth::{tiny_v4, tiny_v6};

/// A worked example, and the lengths at which its prefixes get more content.
pub(crate) struct Example {
    pub(crate) bytes: Vec<u8>,
    /// Length of the shortest prefix that can be read.
    fatal_below: usize,
    /// Length of the shortest prefix with each event.
    events_from: &'static [usize],
    /// Length of the shortest prefix in which the lost event is known.
    loss_from: usize,
}

/// Content of a prefix.
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
    /// Returns the content of the first `length` bytes, or `None` if they cannot be read.
    pub(crate) fn left(&self, length: usize) -> Option<Left> {
        (length >= self.fatal_below).then(|| Left {
            events: self.events_from.iter().filter(|from| length >= **from).count(),
            lost: u64::from(length >= self.loss_from),
            is_complete: length == self.bytes.len(),
        })
    }
}
