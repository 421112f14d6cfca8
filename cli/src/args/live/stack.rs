//! The command line of `nettrace stack`.

use super::{TalkArgs, TargetArgs, ThreadTimesArg};
use crate::args::amount::Span;
use clap::Args;
use std::num::NonZeroU32;

const EXAMPLES: &str = "\
Examples:
  nettrace stack -p 4711
  nettrace stack -n shop --json \\
      | jq '.threads[] | select(.waits_for == \"lock\")'
  nettrace stack -p 4711 --every 1s --count 10
  nettrace stack -p 4711 --native

Exit code 1: no thread was seen; stderr says why.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StackArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Also list each thread without managed frames by itself, and threads that ended
    /// while stacks were taken
    #[arg(long, short)]
    pub(crate) all: bool,

    /// Also show native frames of threads that wait, in libraries and the runtime, and of
    /// threads without managed frames (Linux)
    ///
    /// The process is not stopped: the kernel reports where a thread is blocked and
    /// nettrace reads its stack from outside, which needs the same permission as a
    /// debugger. Running threads have no native frames; with --every, native frames are
    /// from the last round. Names come from the libraries' symbols, also from a
    /// `libcoreclr.so.dbg` beside the library; without symbols, a frame is shown as
    /// `libcoreclr.so+0x1234`.
    #[arg(long)]
    pub(crate) native: bool,

    /// Show identical stacks once, with their threads; the default on a terminal
    #[arg(long, overrides_with = "no_merge")]
    pub(crate) merge: bool,

    /// Show each thread by itself
    #[arg(long, overrides_with = "merge")]
    pub(crate) no_merge: bool,

    /// How long to wait until each thread has been seen
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(crate) timeout: Span,

    /// Take stacks again and again, at this interval, and count how often each was seen
    #[arg(long, value_name = "TIME")]
    pub(crate) every: Option<Span>,

    /// How often to take stacks [default with --every: 10]
    #[arg(long, value_name = "N", requires = "every")]
    pub(crate) count: Option<NonZeroU32>,

    /// With --every, how often to read the processor time of each thread, which tells what threads in
    /// native calls did (Linux); rarer while it costs more than 0.5 % of a processor; off for never
    #[arg(long, value_name = "TIME|off", default_value = "50ms")]
    pub(crate) thread_times: ThreadTimesArg,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}
