//! Counts frames with and without names, and tells the remedy if many have none.

/// Numbers of frames with names, and facts that explain missing ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Coverage {
    /// Number of frames of the distinct stacks.
    pub frames: u64,
    /// Number of frames with a name.
    pub named: u64,
    /// Number of frames with a guessed name, which `named` includes.
    pub guessed: u64,
    /// Whether the trace has a rundown, the list of methods that runtimes write when a session
    /// ends.
    pub has_rundown: bool,
    /// Whether the trace reports any methods.
    pub has_methods: bool,
    /// Whether the trace reports mapped files, as recorders of operating systems do
    /// (version 6).
    pub has_mappings: bool,
    /// Whether code was compiled ahead of time (NativeAOT). The runtime names none of its methods.
    pub is_compiled_ahead: bool,
}

/// Reason why frames have no names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum MissingNames {
    /// Nothing in the trace describes the code at their addresses.
    NotDescribed,
    /// The process was compiled ahead of time, and its runtime reports no methods.
    CompiledAhead,
    /// The recorder stored no symbols.
    NoSymbols,
    /// The trace has no rundown.
    NoRundown,
}

/// Remedy for frames without names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum NamesRemedy {
    /// Symbols: the folder of the program and of the symbols that were stripped from the program.
    Symbols,
    /// A perf map, which .NET writes if `DOTNET_PerfMapEnabled` is set.
    PerfMap,
    /// A session with a rundown, which needs a stop before the process ends.
    EarlierStop,
    /// A recording with a rundown.
    Rundown,
    /// A recording with a rundown or, if the process is one of NativeAOT, symbols.
    RundownOrSymbols,
}

/// Reason why frames have no names, and the remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NamesAdvice {
    /// Percentage of frames without a name, rounded up.
    pub percent: u64,
    /// Reason why names are missing.
    pub why: MissingNames,
    /// Remedy; `None` if none is known.
    pub remedy: Option<NamesRemedy>,
}

impl Coverage {
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

    /// Returns advice for users if many frames lack names. `is_complete`: the trace is not cut
    /// short.
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
