//! The command line of `nettrace discover`.

use super::{TalkArgs, TargetArgs};
use crate::args::amount::Span;
use clap::Args;
use std::ffi::OsString;

const DISCOVER_EXAMPLES: &str = "\
For the time of the session everything that the process can emit is recorded, so on a busy process it costs as much as \
that: the last line (\"cost\" with --json) has its processor time before and during the session. --duration 1s is often \
enough. Nothing is written to a file. Events that are not emitted during the session cannot be seen; of \
the runtime itself, whose events are known, --all lists those too.

Examples:
  nettrace discover -p 4711
  nettrace discover -n shop --duration 1s --json \\
      | jq -r '.providers[] | .record'
  nettrace discover -- dotnet shop.dll";

#[derive(Debug, Args)]
#[command(after_help = DISCOVER_EXAMPLES)]
pub(crate) struct DiscoverArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Start this program and look at it from its beginning
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["process_id", "name", "port"])]
    #[arg(help_heading = "Which process")]
    pub(crate) command: Vec<OsString>,

    /// How long to look
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub(crate) duration: Span,

    /// Also list the events of the runtime that did not come, with their levels and
    /// keywords
    #[arg(long)]
    pub(crate) all: bool,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}
