//! The command line of `nettrace top`.

use super::{TalkArgs, TargetArgs, ThreadTimesArg};
use crate::args::amount::Span;
use clap::{Args, ValueEnum};

const EXAMPLES: &str = "\
Shares are of samples, which count as much as their thread ran: by the processor time of each thread on Linux. Elsewhere \
nettrace cannot know that, and code that waits in native calls ranks like code that runs. What a view needs is recorded only while \
it is shown; the third line has what events cost the process. Where standard output is no terminal, each refresh is a block of lines, or with --json one JSON object.

Examples:
  nettrace top -p 4711
  nettrace top -n shop --once --json | jq '.methods[0]'
  nettrace top -p 4711 --view allocations --window 10s";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// How much of the past is shown: 1s to 60s
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub(crate) window: Span,

    /// How often to refresh
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub(crate) refresh_interval: Span,

    /// The list to show first; where standard output is no terminal, the only one. Only what it
    /// needs is recorded. Default: methods, with --json all lists
    #[arg(long, value_enum, value_name = "VIEW")]
    pub(crate) view: Option<TopView>,

    /// Rows of each list, where standard output is no terminal
    #[arg(long, short = 'N', value_name = "N", default_value = "20")]
    pub(crate) number: usize,

    /// Print one complete window and exit
    #[arg(long)]
    pub(crate) once: bool,

    /// Print one JSON object instead of text, at each refresh: with all lists, or those of --view
    #[arg(long)]
    pub(crate) json: bool,

    /// Stop after this time: 90s, 5min, or dd:hh:mm:ss
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Span>,

    /// How often to read the processor time of each thread, by which samples count (Linux); rarer
    /// while it costs more than 0.5 % of a processor; off for never
    #[arg(long, value_name = "TIME|off", default_value = "50ms")]
    pub(crate) thread_times: ThreadTimesArg,

    /// Memory that the process may use for events not yet sent, in MB
    #[arg(long, value_name = "MB", default_value = "256")]
    pub(crate) buffersize: std::num::NonZeroU32,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

/// The lists of `top`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TopView {
    /// Methods, by samples
    Methods,
    /// Threads, with their methods
    Threads,
    /// Allocated types
    Allocations,
    /// Thrown types
    Exceptions,
    /// Where threads waited for locks
    Contention,
    /// Where threads wait
    Waits,
    /// HTTP requests
    Http,
}
