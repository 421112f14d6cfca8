//! What is known of a trace when reading it has ended, however it was read.

use super::{Input, UnpackFault};
use nettrace_parser::{Damage, Losses, Outcome, Reader, Statistics, Version};

/// A trace that was read, by one thread or by several.
pub(crate) trait Ended {
    fn version(&self) -> Option<Version>;
    /// Events that the stream's numbers show to be missing.
    fn losses(&self) -> &Losses;
    fn damage(&self) -> &Damage;
    fn statistics(&self) -> &Statistics;
    /// Whether the stream's end mark was seen.
    fn is_complete(&self) -> bool;
    /// Where the stream ended, or how far it was read.
    fn end_offset(&self) -> u64;
    /// What was wrong with the compressed file.
    fn unpack_fault(&self) -> Option<UnpackFault>;
    /// All but what was wrong with the compressed file.
    fn outcome(&self) -> Outcome;
}

impl Ended for Reader<Input> {
    fn version(&self) -> Option<Version> {
        self.version()
    }

    fn losses(&self) -> &Losses {
        self.losses()
    }

    fn damage(&self) -> &Damage {
        self.damage()
    }

    fn statistics(&self) -> &Statistics {
        self.statistics()
    }

    fn is_complete(&self) -> bool {
        self.is_complete()
    }

    fn end_offset(&self) -> u64 {
        self.end_offset().unwrap_or_else(|| self.position())
    }

    fn unpack_fault(&self) -> Option<UnpackFault> {
        self.source().unpack_fault()
    }

    fn outcome(&self) -> Outcome {
        self.outcome()
    }
}

/// Several threads read plain files only.
impl Ended for Outcome {
    fn version(&self) -> Option<Version> {
        self.version()
    }

    fn losses(&self) -> &Losses {
        self.losses()
    }

    fn damage(&self) -> &Damage {
        self.damage()
    }

    fn statistics(&self) -> &Statistics {
        self.statistics()
    }

    fn is_complete(&self) -> bool {
        self.is_complete()
    }

    fn end_offset(&self) -> u64 {
        self.end_offset()
    }

    fn unpack_fault(&self) -> Option<UnpackFault> {
        None
    }

    fn outcome(&self) -> Outcome {
        self.clone()
    }
}
