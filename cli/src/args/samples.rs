//! What reports and conversions of stacks have in common.

use clap::{Args, ValueEnum};
use nettrace_analysis::{EventSelector, FrameGroup, Kind, Pattern, State};
use nettrace_export::TimeRange;
use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

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
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateArg {
    /// All there are
    All,
    /// Managed or native
    Running,
    /// Managed code ran
    Managed,
    /// Native code ran, or something blocked that is not known to wait
    Native,
    /// A method that is known to wait was innermost
    Waiting,
}

impl StateArg {
    pub(crate) fn states(self) -> &'static [State] {
        match self {
            StateArg::All => &State::ALL,
            StateArg::Running => &State::RUNNING,
            StateArg::Managed => &[State::Managed],
            StateArg::Native => &[State::Native],
            StateArg::Waiting => &[State::Waiting],
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum NameStyleArg {
    /// Type.Method
    Short,
    /// Module!Namespace.Type.Method
    Full,
    /// Module!Namespace.Type.Method(arguments)
    #[default]
    Signature,
}

/// What to count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KindArg {
    Known(&'static [Kind]),
    Event(String),
}

impl FromStr for KindArg {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let text_of = if text.eq_ignore_ascii_case("allocations") { "alloc" } else { text };
        let known = KINDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text_of));
        Ok(known.map_or_else(|| KindArg::Event(text.to_owned()), |(_, kinds)| KindArg::Known(kinds)))
    }
}

/// What `--kind` knows by name.
pub(crate) const KINDS: &[(&str, &[Kind])] = &[
    ("cpu", &[Kind::Cpu]),
    ("alloc", &[Kind::AllocationSamples, Kind::AllocationTicks]),
    ("exceptions", &[Kind::Exceptions]),
    ("contention", &[Kind::Contention]),
    ("waits", &[Kind::Waits]),
    ("threads", &[Kind::ThreadStarts]),
    ("off-cpu", &[Kind::OffCpu]),
    ("heap", &[Kind::Heap]),
];

impl KindArg {
    pub(crate) fn kinds(&self) -> &'static [Kind] {
        match self {
            KindArg::Known(kinds) => kinds,
            KindArg::Event(_) => &[Kind::Event],
        }
    }

    pub(crate) fn event_name(&self) -> Option<&str> {
        match self {
            KindArg::Known(_) => None,
            KindArg::Event(name) => Some(name),
        }
    }

    pub(crate) fn selector(&self, weight: Option<&str>) -> Option<EventSelector> {
        let name = self.event_name()?;
        Some(EventSelector::new(name).weight(weight.unwrap_or_default()))
    }
}

/// `1`, `0.5`, `2%`.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("expected a percentage, such as 1 or 0.5%".to_owned()),
    }
}

/// `REGEX=NAME`, or PerfView's `REGEX->NAME`. An expression may have `=` in it, a name may not.
pub(crate) fn group(text: &str) -> Result<FrameGroup, String> {
    let parts = text.rsplit_once("->").or_else(|| text.rsplit_once('='));
    let Some((pattern, name)) = parts.filter(|(pattern, name)| !pattern.is_empty() && !name.is_empty())
    else {
        return Err(r"expected an expression and a name, such as '^MyApp\.Json=JSON'".to_owned());
    };
    let pattern: Pattern = pattern.parse().map_err(|error: regex::Error| error.to_string())?;
    Ok(FrameGroup::new(pattern, name))
}
