//! Why a collection happened, and of which kind it is.

use std::fmt;

/// Why a collection happened. It is written by the name that TraceEvent has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum GcReason {
    /// `AllocSmall`: small objects were allocated.
    #[default]
    AllocSmall,
    /// `Induced`: code asked for it.
    Induced,
    /// `LowMemory`: the operating system is short of memory.
    LowMemory,
    /// `Empty`.
    Empty,
    /// `AllocLarge`: large objects were allocated.
    AllocLarge,
    /// `OutOfSpaceSOH`: there was no room for small objects.
    OutOfSpaceSmall,
    /// `OutOfSpaceLOH`: there was no room for large objects.
    OutOfSpaceLarge,
    /// `InducedNotForced`: code asked for it, and the runtime may have done less.
    InducedNotForced,
    /// `Internal`: a test of the runtime.
    Internal,
    /// `InducedLowMemory`: code asked for it because memory is short.
    InducedLowMemory,
    /// `InducedCompacting`: code asked for one that compacts.
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
    /// `InducedAggressive`: code asked for one that gives memory back.
    InducedAggressive,
    /// A reason of a later runtime, by its number.
    Other(u32),
}

/// Reasons by the number that the runtime writes.
const REASONS: [GcReason; 18] = [
    GcReason::AllocSmall,
    GcReason::Induced,
    GcReason::LowMemory,
    GcReason::Empty,
    GcReason::AllocLarge,
    GcReason::OutOfSpaceSmall,
    GcReason::OutOfSpaceLarge,
    GcReason::InducedNotForced,
    GcReason::Internal,
    GcReason::InducedLowMemory,
    GcReason::InducedCompacting,
    GcReason::LowMemoryHost,
    GcReason::ShortFull,
    GcReason::LowMemoryHostBlocking,
    GcReason::TuningSmall,
    GcReason::TuningLarge,
    GcReason::Stepping,
    GcReason::InducedAggressive,
];

impl GcReason {
    /// Returns the reason that the runtime writes as this number.
    pub(super) fn from_stored(stored: u32) -> GcReason {
        let known = usize::try_from(stored).ok().and_then(|at| REASONS.get(at));
        known.copied().unwrap_or(GcReason::Other(stored))
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
        f.pad(match self {
            GcReason::AllocSmall => "AllocSmall",
            GcReason::Induced => "Induced",
            GcReason::LowMemory => "LowMemory",
            GcReason::Empty => "Empty",
            GcReason::AllocLarge => "AllocLarge",
            GcReason::OutOfSpaceSmall => "OutOfSpaceSOH",
            GcReason::OutOfSpaceLarge => "OutOfSpaceLOH",
            GcReason::InducedNotForced => "InducedNotForced",
            GcReason::Internal => "Internal",
            GcReason::InducedLowMemory => "InducedLowMemory",
            GcReason::InducedCompacting => "InducedCompacting",
            GcReason::LowMemoryHost => "LowMemoryHost",
            GcReason::ShortFull => "PMFullGC",
            GcReason::LowMemoryHostBlocking => "LowMemoryHostBlocking",
            GcReason::TuningSmall => "BgcTuningSOH",
            GcReason::TuningLarge => "BgcTuningLOH",
            GcReason::Stepping => "BgcStepping",
            GcReason::InducedAggressive => "InducedAggressive",
            GcReason::Other(number) => return write!(f, "{number}"),
        })
    }
}

/// How a collection runs. It is written by the name that TraceEvent has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum GcKind {
    /// `NonConcurrentGC`: all threads are paused.
    #[default]
    Blocking,
    /// `BackgroundGC`: threads are paused for parts of it.
    Background,
    /// `ForegroundGC`: a blocking one during a background collection.
    Foreground,
    /// A kind of a later runtime, by its number.
    Other(u32),
}

impl GcKind {
    /// Returns the kind that the runtime writes as this number. Version 0 of the event had no
    /// other kinds than blocking ones, and no number.
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
