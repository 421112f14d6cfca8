//! What frames without names mean, and what gives them names.

use crate::model::{Coverage, MissingNames};

impl Coverage {
    /// Returns advice for users whose frames lack names, if any is needed. `is_complete`: the
    /// trace has its end, so that its session was not cut short.
    pub fn advice(&self, is_complete: bool) -> Option<String> {
        let (percent, why) = self.missing()?;
        let remedy = match why {
            MissingNames::NotDescribed => {
                "no code at their addresses is described in the trace".to_owned()
            }
            MissingNames::CompiledAhead => {
                "the process was compiled ahead of time (NativeAOT), and its runtime \
                 writes no events of methods. Give the folder with its program and what was \
                 stripped from it (.dbg) with --symbols. Waits are recognised by names, so threads \
                 that waited may count as running"
                    .to_owned()
            }
            MissingNames::NoSymbols => {
                "the recorder stored no symbols for their addresses. A perf map names compiled \
                 methods: run the process with DOTNET_PerfMapEnabled=1 and give \
                 /tmp/perf-PID.map with --perf-map"
                    .to_owned()
            }
            MissingNames::NoRundown => {
                let what = match (is_complete, self.has_methods) {
                    (false, _) => {
                        "it ends before the runtime wrote it: stop the session before the process \
                         ends"
                    }
                    (true, true) => "record with it, as is the default",
                    (true, false) => {
                        "record with it, as is the default; but if the process is one of \
                         NativeAOT, it describes no methods, and --symbols names them"
                    }
                };
                format!(
                    "the trace has no rundown, the list of methods that the runtime writes when a \
                     session ends; {what}. A perf map, given with --perf-map, names methods, too. \
                     Waits are recognised by names, so threads that waited may count as running"
                )
            }
        };
        Some(format!("{}: {remedy}", missing(percent)))
    }
}

/// Writes how many frames have no name.
pub(super) fn missing(percent: u64) -> String {
    format!("{percent} % of the frames have no name")
}
