//! How many frames have a name, and what to do if many have none.

/// How many frames have a name.
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

impl Coverage {
    /// Advice for users whose frames lack names, if any is needed. `is_complete`: the trace
    /// has its end, so that its session was not cut short.
    pub fn advice(&self, is_complete: bool) -> Option<String> {
        let unnamed = self.frames.saturating_sub(self.named);
        // A few stubs have no name in any trace.
        if unnamed == 0 || self.has_rundown && unnamed.saturating_mul(20) < self.frames {
            return None;
        }
        let share = unnamed.saturating_mul(100).div_ceil(self.frames.max(1));
        Some(if self.has_rundown || self.has_methods && share < 20 {
            format!(
                "{share} % of the frames have no name: no code at their addresses is described in the trace"
            )
        } else if self.is_compiled_ahead {
            format!(
                "{share} % of the frames have no name: the process was compiled ahead of time (NativeAOT), and its runtime \
                 writes no events of methods. Give the folder with its program and what was stripped from it (.dbg) with \
                 --symbols. Waits are recognised by names, so threads that waited may count as running"
            )
        } else if self.has_mappings {
            format!(
                "{share} % of the frames have no name: the recorder stored no symbols for their addresses. A perf map \
                 names compiled methods: run the process with DOTNET_PerfMapEnabled=1 and give \
                 /tmp/perf-PID.map with --perf-map"
            )
        } else {
            let what = match (is_complete, self.has_methods) {
                (false, _) => {
                    "it ends before the runtime wrote it: stop the session before the process ends"
                }
                (true, true) => "record with it, as is the default",
                (true, false) => {
                    "record with it, as is the default; but if the process is one of NativeAOT, it describes no methods, and --symbols names them"
                }
            };
            format!(
                "{share} % of the frames have no name: the trace has no rundown, the list of methods that the \
                 runtime writes when a session ends; {what}. A perf map, given with --perf-map, names methods, too. \
                 Waits are recognised by names, so threads that waited may count as running"
            )
        })
    }
}
