//! What reports and conversions of stacks have in common.

use crate::samples::{NameStyleArg, StateArg, group};
use crate::time_range::TimeRange;
use clap::Args;
use nettrace_analysis::FrameGroup;
use nettrace_analysis::Pattern;
use std::path::PathBuf;

/// Which samples count, and how frames are named.
#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// Only samples of this OS thread; may be given several times
    #[arg(long, value_name = "TID")]
    pub(crate) thread: Vec<u64>,

    /// Only samples of this OS process; may be given several times
    #[arg(long, value_name = "PID")]
    pub(crate) process: Vec<u64>,

    /// Only samples from FROM until before TO, such as 1.5s..3s, 200ms.., ..10us; without unit: seconds
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) time: Option<TimeRange>,

    /// Only stacks with a frame like this
    #[arg(long, value_name = "REGEX")]
    pub(crate) frame: Option<Pattern>,

    /// No stacks with a frame like this
    #[arg(long, value_name = "REGEX")]
    pub(crate) exclude: Option<Pattern>,

    /// Only samples in this state; may be given several times. The runtime's sampler stops threads whether they run
    /// or wait: report topN and tree show what ran (running) unless asked otherwise, all else shows all
    #[arg(long, value_enum, value_name = "STATE")]
    pub(crate) state: Vec<StateArg>,

    /// Leave out code of .NET, of Microsoft's libraries and of the system, by module (System.*, Microsoft.*): its time is
    /// that of whoever of your code called it. Async methods are one frame
    #[arg(long)]
    pub(crate) my_code: bool,

    /// Async methods as one frame: their state machine, without the builders that start and resume it
    #[arg(long)]
    pub(crate) fold_async: bool,

    /// Show frames like this as one under this name; $1 in it is the first group. The first that fits counts
    #[arg(long, value_name = "REGEX=NAME", value_parser = group)]
    pub(crate) group: Vec<FrameGroup>,

    /// Leave out frames like this: their time is their caller's. What is asked is the name that is shown
    #[arg(long, value_name = "REGEX")]
    pub(crate) fold: Vec<Pattern>,

    /// Leave out frames that have less of all time, with all that they call
    #[arg(long, value_name = "PERCENT", value_parser = crate::samples::percent)]
    pub(crate) fold_percent: Option<f64>,

    /// Recursion once: calls of itself, and up to eight methods that call each other in turn
    #[arg(long)]
    pub(crate) fold_recursion: bool,

    /// How much of a name to show
    #[arg(long, value_enum, value_name = "STYLE", default_value_t)]
    pub(crate) names: NameStyleArg,

    /// Names as the runtime stores them: lambdas, async methods and types in the compiler's notation
    #[arg(long)]
    pub(crate) raw_names: bool,

    /// Names for what the trace does not name, such as /tmp/perf-1234.map of process 1234
    #[arg(long, value_name = "FILE")]
    pub(crate) perf_map: Vec<PathBuf>,

    /// Names of native code, from the ELF files below this folder that the trace says were mapped (version 6)
    #[arg(long, value_name = "DIR")]
    pub(crate) symbols: Vec<PathBuf>,
}
