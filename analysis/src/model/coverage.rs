//! How many frames have a name, and what to do if many have none.

/// Numbers of frames with names, and facts that explain missing ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Coverage {
    /// Frames of the distinct stacks.
    pub frames: u64,
    /// Frames with a name.
    pub named: u64,
    /// Frames with a guessed name, which are included in `named`.
    pub guessed: u64,
    /// Whether the trace has a rundown: the list of methods that runtimes write when a
    /// session ends.
    pub has_rundown: bool,
    /// Whether the trace reports any methods.
    pub has_methods: bool,
    /// Whether the trace reports mapped files, as recorders of operating systems do
    /// (version 6).
    pub has_mappings: bool,
    /// Whether code was compiled ahead of time (NativeAOT), of which the runtime names no
    /// methods.
    pub is_compiled_ahead: bool,
}

/// Why frames have no names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum MissingNames {
    /// Nothing in the trace describes the code at their addresses.
    NotDescribed,
    /// The process was compiled ahead of time, and its runtime writes no events of methods.
    CompiledAhead,
    /// The recorder stored no symbols.
    NoSymbols,
    /// The trace has no rundown.
    NoRundown,
}

/// What names frames that have no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum NamesRemedy {
    /// The folder of the program and of the symbols that were stripped from it.
    Symbols,
    /// A perf map, which the process writes if it is run with one.
    PerfMap,
    /// A session that is stopped before the process ends, so that it has a rundown.
    EarlierStop,
    /// A recording with a rundown.
    Rundown,
    /// A recording with a rundown; or symbols, as a process that describes no methods may be one
    /// of NativeAOT.
    RundownOrSymbols,
}

/// Why frames have no names, and what names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct NamesAdvice {
    /// Percentage of frames without a name, rounded up.
    pub percent: u64,
    /// Why they have none.
    pub why: MissingNames,
    /// The remedy; `None` if none is known.
    pub remedy: Option<NamesRemedy>,
}

impl Coverage {
    /// Returns the percentage of frames without a name, rounded up, and why they have none;
    /// `None` if hardly any lack one.
    pub fn missing(&self) -> Option<(u64, MissingNames)> {
        let unnamed = self.frames.saturating_sub(self.named);
        // A few stubs have no name in any trace.
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

    /// Returns advice for users whose frames lack names, if any is needed. `is_complete`: the
    /// trace has its end, so that its session was not cut short.
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
