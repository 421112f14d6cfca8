//! Counts frames with and without names, and finds a remedy if many have none.

use super::names::Frame;

/// Numbers of frames with and without names, and facts that explain why names are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Coverage {
    /// Number of frames in all distinct stacks.
    pub frames: u64,
    /// Number of these frames that have a name.
    pub named: u64,
    /// Number of these frames with a guessed name. They are also counted in `named`.
    pub guessed: u64,
    /// Whether the trace has a rundown, the list of methods that runtimes write when a session
    /// ends.
    pub has_rundown: bool,
    /// Whether the trace reports any methods.
    pub has_methods: bool,
    /// Whether the trace reports mapped files, as recorders of operating systems do
    /// (version 6).
    pub has_mappings: bool,
    /// Whether code of the process was compiled ahead of time (NativeAOT). The runtime names no
    /// methods of such code.
    pub is_compiled_ahead: bool,
}

/// Reason why frames have no names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum MissingNames {
    /// The trace does not describe the code at their addresses.
    NotDescribed,
    /// The process was compiled ahead of time, and its runtime reports no methods.
    CompiledAhead,
    /// The recorder stored no symbols of native code.
    NoSymbols,
    /// The trace has no rundown, so methods that existed before are not named.
    NoRundown,
}

/// What the user can do about frames without names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum NamesRemedy {
    /// Pass symbols: the folder of the program, and the symbols that were stripped from the
    /// program.
    Symbols,
    /// Pass a perf map, which .NET writes if `DOTNET_PerfMapEnabled` is set.
    PerfMap,
    /// Record with a rundown, for which the session must be stopped before the process ends.
    EarlierStop,
    /// Record with a rundown.
    Rundown,
    /// Record with a rundown or, if the process is one of NativeAOT, pass symbols.
    RundownOrSymbols,
}

/// Reason why frames have no names, and what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NamesAdvice {
    /// Percentage of frames without a name, rounded up.
    pub percent: u64,
    /// Reason why names are missing.
    pub why: MissingNames,
    /// What to do about it; `None` if no remedy is known.
    pub remedy: Option<NamesRemedy>,
}

/// Numbers of frames as the trace has them, and of those with a name, which may be guessed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FrameCounts {
    frames: u32,
    named: u32,
    guessed: u32,
}

impl FrameCounts {
    pub(super) const NONE: FrameCounts = FrameCounts { frames: 0, named: 0, guessed: 0 };

    /// Adds a frame.
    pub(super) fn add_frame(&mut self, frame: &Frame) {
        let (named, guessed) = (frame.is_named().into(), frame.is_guessed.into());
        self.add(FrameCounts { frames: 1, named, guessed });
    }

    /// Adds the frames of another stack.
    pub(crate) fn add(&mut self, other: FrameCounts) {
        self.frames = self.frames.saturating_add(other.frames);
        self.named = self.named.saturating_add(other.named);
        self.guessed = self.guessed.saturating_add(other.guessed);
    }
}

impl Coverage {
    /// Returns the coverage of these frames, in the same trace.
    pub(crate) fn with_frames(self, counts: FrameCounts) -> Coverage {
        let FrameCounts { frames, named, guessed } = counts;
        Coverage { frames: frames.into(), named: named.into(), guessed: guessed.into(), ..self }
    }

    /// Returns the percentage of frames without a name, rounded up, and the reason; `None` if
    /// almost all frames have names.
    pub fn missing(&self) -> Option<(u64, MissingNames)> {
        let unnamed = self.frames.saturating_sub(self.named);
        // Every trace has stubs without names.
        if unnamed == 0 || self.has_rundown && unnamed.saturating_mul(20) < self.frames {
            return None;
        }
        let percent = unnamed.saturating_mul(100).div_ceil(self.frames.max(1));
        let why = if self.has_rundown || self.has_methods && percent < 20 {
            MissingNames::NotDescribed
        } else if self.is_compiled_ahead {
            MissingNames::CompiledAhead
        } else if self.has_mappings {
            MissingNames::NoSymbols
        } else {
            MissingNames::NoRundown
        };
        Some((percent, why))
    }

    /// Returns advice for users if many frames lack names. `is_complete` says that the trace has
    /// its end.
    pub fn advice(&self, is_complete: bool) -> Option<NamesAdvice> {
        let (percent, why) = self.missing()?;
        let remedy = match why {
            MissingNames::NotDescribed => None,
            MissingNames::CompiledAhead => Some(NamesRemedy::Symbols),
            MissingNames::NoSymbols => Some(NamesRemedy::PerfMap),
            MissingNames::NoRundown if !is_complete => Some(NamesRemedy::EarlierStop),
            MissingNames::NoRundown if self.has_methods => Some(NamesRemedy::Rundown),
            MissingNames::NoRundown => Some(NamesRemedy::RundownOrSymbols),
        };
        Some(NamesAdvice { percent, why, remedy })
    }
}
