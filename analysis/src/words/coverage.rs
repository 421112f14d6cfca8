//! Sentences about frames without names, and how to name them.

use crate::model::{NamesAdvice, NamesRemedy};

impl NamesAdvice {
    /// Returns the sentence that says why frames have no names, and what would name them.
    pub fn text(&self) -> String {
        let missing = missing(self.percent);
        let what = match self.remedy {
            None => {
                return format!("{missing}: no code at their addresses is described in the trace");
            }
            Some(NamesRemedy::Symbols) => {
                return format!(
                    "{missing}: the process was compiled ahead of time (NativeAOT), and its runtime \
                     writes no events of methods. Give the folder with its program and what was \
                     stripped from it (.dbg) with --symbols. Waits are recognised by names, so \
                     threads that waited may count as running"
                );
            }
            Some(NamesRemedy::PerfMap) => {
                return format!(
                    "{missing}: the recorder stored no symbols for their addresses. A perf map \
                     names compiled methods: run the process with DOTNET_PerfMapEnabled=1 and give \
                     /tmp/perf-PID.map with --perf-map"
                );
            }
            Some(NamesRemedy::EarlierStop) => {
                "it ends before the runtime wrote it: stop the session before the process ends"
            }
            Some(NamesRemedy::Rundown) => "record with it, as is the default",
            Some(NamesRemedy::RundownOrSymbols) => {
                "record with it, as is the default; but if the process is one of NativeAOT, it \
                 describes no methods, and --symbols names them"
            }
        };
        format!(
            "{missing}: the trace has no rundown, the list of methods that the runtime writes when \
             a session ends; {what}. A perf map, given with --perf-map, names methods, too. Waits \
             are recognised by names, so threads that waited may count as running"
        )
    }
}

/// Writes the share of frames without names: `12 % of the frames have no name`.
pub(super) fn missing(percent: u64) -> String {
    format!("{percent} % of the frames have no name")
}
