//! Options that reports and conversions of stacks have in common.

use super::DuringArgs;
use crate::expression::pattern;
use clap::{Args, ValueEnum};
use nettrace_analysis::{CutStacks, EventSelector, FrameGroup, Kind, Pattern, ThreadState};
use nettrace_export::TimeRange;
use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

/// Options that choose which events or samples count, by thread, process and time.
#[derive(Debug, Args)]
pub(crate) struct MomentArgs {
    /// Only events of this OS thread; may be repeated
    #[arg(long, value_name = "TID")]
    pub(crate) thread: Vec<u64>,

    /// Only events of this OS process; may be repeated
    #[arg(long, value_name = "PID")]
    pub(crate) process: Vec<u64>,

    /// Only events from FROM up to, but not including, TO, such as 1.5s..3s, 200ms..,
    /// ..10us; a number without a unit means seconds
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    pub(crate) time: Option<TimeRange>,

    #[command(flatten)]
    pub(crate) during: DuringArgs,
}

/// Options that choose which stacks count, and how those that lost their callers are treated.
#[derive(Debug, Args)]
pub(crate) struct StackFilterArgs {
    /// Only stacks with a frame that matches
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub(crate) frame: Option<Pattern>,

    /// Leave out stacks with a frame that matches
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub(crate) exclude: Option<Pattern>,

    /// How to treat stacks that lost their callers: the runtime keeps 100 frames
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub(crate) cut_stacks: CutStacksArg,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CutStacksArg {
    /// Add the callers of the thread's previous stack where that is certain, else mark
    #[default]
    Repair,
    /// Add a frame that says so
    Mark,
    /// Leave them as they are
    Keep,
}

impl CutStacksArg {
    pub(crate) fn how(self) -> CutStacks {
        match self {
            CutStacksArg::Repair => CutStacks::Repair,
            CutStacksArg::Mark => CutStacks::Mark,
            CutStacksArg::Keep => CutStacks::Keep,
        }
    }
}

/// Options that choose which frames are shown as one, or not at all.
#[derive(Debug, Args)]
pub(crate) struct FoldArgs {
    /// Hide frames of .NET, of Microsoft's libraries and of the system, by module
    /// (System.*, Microsoft.*), or those whose names do not match. Their time counts for
    /// your method that called them. Implies --fold-async
    #[arg(long, value_name = "REGEX", value_parser = pattern, num_args = 0..=1, require_equals = true)]
    pub(crate) my_code: Option<Option<Pattern>>,

    /// Show an async method as one frame: its state machine, without the builders that
    /// start and resume it
    #[arg(long)]
    pub(crate) fold_async: bool,

    /// Show who awaits async code as its callers, instead of what resumed it on the thread.
    /// collect --async records what tells them; without, a frame says that they are not in
    /// the trace. Of standard input, the first 64 MiB are read for what .NET 11's async profiler
    /// tells. Implies --fold-async
    #[arg(long = "async")]
    pub(crate) async_callers: bool,

    /// Show matching frames as one frame of this name; $1 stands for the first group of
    /// the expression. If several match, the first is used
    #[arg(long, value_name = "REGEX=NAME", value_parser = group)]
    pub(crate) group: Vec<FrameGroup>,

    /// Hide matching frames: their time counts for their caller. The expression is
    /// matched with the name as shown
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub(crate) fold: Vec<Pattern>,

    /// Show recursion once: a method that calls itself, or up to eight methods that call
    /// each other in turn
    #[arg(long)]
    pub(crate) fold_recursion: bool,
}

/// Options that choose how frames are named.
#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// How much of a name to show
    #[arg(long, value_enum, value_name = "STYLE", default_value_t)]
    pub(crate) names: NameStyleArg,

    /// Show names as the runtime stores them: the compiler's names for lambdas, async
    /// methods and types
    #[arg(long)]
    pub(crate) raw_names: bool,

    /// Show the source line of each frame, so that rows are lines instead of methods. Lines
    /// come from portable PDBs beside the modules, in them, beside the trace or in
    /// --symbols; a + marks the first line of a method, where the trace does not tell more
    #[arg(long)]
    pub(crate) lines: bool,

    /// A file with names of code that the trace does not name, such as /tmp/perf-1234.map
    /// of process 1234
    #[arg(long, value_name = "FILE")]
    pub(crate) perf_map: Vec<PathBuf>,

    /// A folder with the ELF files that were mapped into the traced process, or such a file:
    /// their symbols name native code (version 6), and programs that were compiled ahead of
    /// time (NativeAOT: the program, its .dbg or its .pdb). For --lines, a folder with
    /// portable PDBs or modules, whatever their paths were
    #[arg(long, value_name = "DIR")]
    pub(crate) symbols: Vec<PathBuf>,
}

/// Options that choose what counts, and how its frames are named.
#[derive(Debug, Args)]
pub(crate) struct NamedArgs {
    #[command(flatten)]
    pub(crate) moments: MomentArgs,

    #[command(flatten)]
    pub(crate) stacks: StackFilterArgs,

    #[command(flatten)]
    pub(crate) names: NameArgs,
}

/// Options that choose what counts, and how its frames are folded and named.
#[derive(Debug, Args)]
pub(crate) struct FoldedArgs {
    #[command(flatten)]
    pub(crate) moments: MomentArgs,

    #[command(flatten)]
    pub(crate) stacks: StackFilterArgs,

    #[command(flatten)]
    pub(crate) folds: FoldArgs,

    #[command(flatten)]
    pub(crate) names: NameArgs,
}

/// Options that choose what counts, how its frames are named, and which code is the program's own.
#[derive(Debug, Args)]
pub(crate) struct OwnedArgs {
    #[command(flatten)]
    pub(crate) named: NamedArgs,

    /// Your code: frames whose names match. By default what the program brings: its main
    /// module and those with names of the same family
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    pub(crate) my_code: Option<Pattern>,
}

/// Options that choose which activities count, and how their threads are followed.
#[derive(Debug, Args)]
pub(crate) struct FollowArgs {
    #[command(flatten)]
    pub(crate) named: NamedArgs,

    /// Follow the threads of activities by what .NET 11's async profiler says, too, which
    /// collect --async records: it knows when code of .NET's libraries goes on, and activities
    /// without ids of the runtime. Reads the trace twice; of standard input, the first 64 MiB.
    /// Stacks are those of topN --async
    #[arg(long = "async")]
    pub(crate) async_callers: bool,
}

/// Options that choose which samples count, and how their frames are folded and named.
#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    pub(crate) moments: MomentArgs,

    #[command(flatten)]
    pub(crate) stacks: StackFilterArgs,

    /// Only samples in this state; may be repeated. The runtime's sampler stops all
    /// threads, whether they run or wait; topN and tree therefore count only running ones
    /// by default, everything else counts all
    #[arg(long, value_enum, value_name = "STATE")]
    pub(crate) state: Vec<StateArg>,

    #[command(flatten)]
    pub(crate) folds: FoldArgs,

    /// Hide frames that have less than this share of the total, with all that they call
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) fold_percent: Option<f64>,

    #[command(flatten)]
    pub(crate) names: NameArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateArg {
    /// Every sample
    All,
    /// Managed or native code was running
    Running,
    /// Managed code was running, or spinning for a lock
    Managed,
    /// The thread was spinning for a lock (part of managed)
    TakingLock,
    /// A native call, which may have run or blocked
    Native,
    /// The innermost method is known to wait
    Waiting,
    /// The thread could run and did not, as the recorded times of the thread say
    Ready,
}

impl StateArg {
    pub(crate) fn states(self) -> &'static [ThreadState] {
        match self {
            StateArg::All => &ThreadState::ALL,
            StateArg::Running => &ThreadState::RUNNING,
            StateArg::Managed => &[ThreadState::Managed, ThreadState::TakingLock],
            StateArg::TakingLock => &[ThreadState::TakingLock],
            StateArg::Native => &[ThreadState::Native],
            StateArg::Waiting => &[ThreadState::Waiting],
            StateArg::Ready => &[ThreadState::Ready],
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

/// The value of `--kind`: what to count.
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
        Ok(known
            .map_or_else(|| KindArg::Event(text.to_owned()), |(_, kinds)| KindArg::Known(kinds)))
    }
}

/// Names that `--kind` knows, each with the kinds that it stands for.
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
        let event = self.event_name()?.to_owned();
        Some(EventSelector { event, weight: weight.unwrap_or_default().to_owned() })
    }
}

/// Parses a percentage of a whole: `1`, `0.5`, `2%`.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    percent_up_to(100.0, text)
}

/// Parses a percentage from 0 to `most`, which may be more than 100.
pub(crate) fn percent_up_to(most: f64, text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse();
    let number = number.ok().filter(|percent| (0.0..=most).contains(percent));
    number.ok_or_else(|| format!("expected a percentage from 0 to {most}, such as 1 or 0.5%"))
}

/// Parses `REGEX=NAME`, or PerfView's `REGEX->NAME`. An expression may have `=` in it, a name may
/// not.
pub(crate) fn group(text: &str) -> Result<FrameGroup, String> {
    let parts = text.rsplit_once("->").or_else(|| text.rsplit_once('='));
    let Some((expression, name)) =
        parts.filter(|(expression, name)| !expression.is_empty() && !name.is_empty())
    else {
        return Err(r"expected an expression and a name, such as '^MyApp\.Json=JSON'".to_owned());
    };
    Ok(FrameGroup { pattern: pattern(expression)?, name: name.to_owned() })
}
