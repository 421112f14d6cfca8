//! Reasons and kinds of collections.

use std::fmt;

/// Reason for a collection. It is written by its name in TraceEvent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum GcReason {
    /// `AllocSmall`: small objects were allocated.
    #[default]
    AllocSmall,
    /// `Induced`: code asked for a collection.
    Induced,
    /// `LowMemory`: the operating system is short of memory.
    LowMemory,
    /// `Empty`: the runtime's value for no reason.
    Empty,
    /// `AllocLarge`: large objects were allocated.
    AllocLarge,
    /// `OutOfSpaceSOH`: there was no room for small objects.
    OutOfSpaceSmall,
    /// `OutOfSpaceLOH`: there was no room for large objects.
    OutOfSpaceLarge,
    /// `InducedNotForced`: code asked for a collection and left the decision to the runtime.
    InducedNotForced,
    /// `Internal`: a test of the runtime.
    Internal,
    /// `InducedLowMemory`: code asked for a collection because memory is short.
    InducedLowMemory,
    /// `InducedCompacting`: code asked for a collection that compacts.
    InducedCompacting,
    /// `LowMemoryHost`: the runtime's host is short of memory.
    LowMemoryHost,
    /// `PMFullGC`: a full collection while memory is short.
    ShortFull,
    /// `LowMemoryHostBlocking`: the runtime's host is short of memory and waits.
    LowMemoryHostBlocking,
    /// `BgcTuningSOH`: background collections keep the small objects at a size.
    TuningSmall,
    /// `BgcTuningLOH`: background collections keep the large objects at a size.
    TuningLarge,
    /// `BgcStepping`: background collections begin to keep a size.
    Stepping,
    /// `InducedAggressive`: code asked for a collection that gives memory back.
    InducedAggressive,
    /// Reason of a later runtime, by number.
    Other(u32),
}

/// Reasons in the order of the numbers that the runtime writes, with their names in TraceEvent.
const REASONS: [(GcReason, &str); 18] = [
    (GcReason::AllocSmall, "AllocSmall"),
    (GcReason::Induced, "Induced"),
    (GcReason::LowMemory, "LowMemory"),
    (GcReason::Empty, "Empty"),
    (GcReason::AllocLarge, "AllocLarge"),
    (GcReason::OutOfSpaceSmall, "OutOfSpaceSOH"),
    (GcReason::OutOfSpaceLarge, "OutOfSpaceLOH"),
    (GcReason::InducedNotForced, "InducedNotForced"),
    (GcReason::Internal, "Internal"),
    (GcReason::InducedLowMemory, "InducedLowMemory"),
    (GcReason::InducedCompacting, "InducedCompacting"),
    (GcReason::LowMemoryHost, "LowMemoryHost"),
    (GcReason::ShortFull, "PMFullGC"),
    (GcReason::LowMemoryHostBlocking, "LowMemoryHostBlocking"),
    (GcReason::TuningSmall, "BgcTuningSOH"),
    (GcReason::TuningLarge, "BgcTuningLOH"),
    (GcReason::Stepping, "BgcStepping"),
    (GcReason::InducedAggressive, "InducedAggressive"),
];

impl GcReason {
    /// Returns the reason for a number that the runtime writes.
    pub(super) fn from_stored(stored: u32) -> GcReason {
        let known = usize::try_from(stored).ok().and_then(|at| REASONS.get(at));
        known.map_or(GcReason::Other(stored), |(reason, _)| *reason)
    }

    /// Returns whether code asked for the collection.
    pub fn is_induced(self) -> bool {
        use GcReason::*;
        matches!(
            self,
            Induced | InducedNotForced | InducedLowMemory | InducedCompacting | InducedAggressive
        )
    }
}

impl fmt::Display for GcReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, REASONS.iter().find(|(reason, _)| reason == self)) {
            (GcReason::Other(number), _) => write!(f, "{number}"),
            (_, known) => f.pad(known.map_or("", |(_, name)| *name)),
        }
    }
}

/// Kind of a collection. It is written by its name in TraceEvent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum GcKind {
    /// `NonConcurrentGC`: all threads are paused.
    #[default]
    Blocking,
    /// `BackgroundGC`: threads are paused only for parts of the collection.
    Background,
    /// `ForegroundGC`: a blocking collection during a background collection.
    Foreground,
    /// Kind of a later runtime, by number.
    Other(u32),
}

impl GcKind {
    /// Returns the kind for a number that the runtime writes. Version 0 of the event has no number,
    /// as all collections were blocking.
    pub(super) fn from_stored(stored: Option<u32>) -> GcKind {
        match stored {
            None | Some(0) => GcKind::Blocking,
            Some(1) => GcKind::Background,
            Some(2) => GcKind::Foreground,
            Some(other) => GcKind::Other(other),
        }
    }
}

impl fmt::Display for GcKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GcKind::Blocking => f.pad("NonConcurrentGC"),
            GcKind::Background => f.pad("BackgroundGC"),
            GcKind::Foreground => f.pad("ForegroundGC"),
            GcKind::Other(number) => write!(f, "{number}"),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for GcReason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for GcKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
