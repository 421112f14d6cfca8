//! The command line of `nettrace collect`.

use super::{OnStall, SessionArgs, TalkArgs, TargetArgs};
use crate::args::amount::{Bytes, Rotation, Span};
use crate::args::providers::RundownChoice;
use clap::{Args, ValueEnum};
use nettrace_export::{GRAMMAR, Predicate};
use std::ffi::OsString;
use std::path::PathBuf;

const COLLECT_EXAMPLES: &str = "\
Ctrl-C, Enter, SIGTERM or SIGHUP stops the session, takes what the process still has to say, and finishes the file; a second \
one, half a second later or more, gives up at once. With -- COMMAND the program is traced from its first method, uses this terminal, and its \
exit code is that of nettrace.

Examples:
  nettrace collect -p 4711 --duration 10s
  nettrace collect -n shop --profile gc-collect --duration 00:01:00 -o gc.nettrace
  nettrace collect --providers System.Net.Http,MyCompany-Orders::5 -- dotnet shop.dll
  nettrace collect -p 4711 --rotate 5x100MB --until 'Microsoft-Windows-DotNETRuntime/GC/Start where Depth>=2'
  nettrace collect -p 4711 --dry-run --profile gc-verbose";

/// What a runtime does when its buffers are full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BufferingMode {
    /// Drop the newest events
    #[value(alias = "0")]
    Drop,
    /// Have the threads wait that write events
    #[value(alias = "1")]
    Block,
}

/// Record events of a running process, or of one that is started, into a file
#[derive(Debug, Args)]
#[command(after_help = format!("{GRAMMAR}\n\n{COLLECT_EXAMPLES}"))]
pub(crate) struct CollectArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Every process that can be reached, one file each; with --port every one that comes
    #[arg(long, conflicts_with_all = ["process_id", "name"], help_heading = "Which process")]
    pub(crate) all: bool,

    /// Trace the .NET programs that the started one starts, one file each
    #[arg(long, help_heading = "Which process")]
    pub(crate) children: bool,

    /// Start this program and trace it from its first method
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["process_id", "name", "port", "all"])]
    #[arg(help_heading = "Which process")]
    pub(crate) command: Vec<OsString>,

    #[command(flatten)]
    pub(crate) session: SessionArgs,

    /// The file to write, which is FILE.part until it is whole, and compressed if it ends in .gz; - for
    /// standard output. Without: NAME_DATE_TIME.nettrace
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// When standard output is not read and 16 MiB wait for it; drop leaves a hole in the trace
    #[arg(long, value_enum, value_name = "WHAT", default_value = "stop")]
    pub(crate) on_stall: OnStall,

    /// Convert the finished trace too, into files beside it: speedscope, … as in nettrace convert --format list
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub(crate) format: Vec<String>,

    /// Stop after this time: 90s, 5min, or dd:hh:mm:ss
    #[arg(long, value_name = "TIME", help_heading = "When to stop")]
    pub(crate) duration: Option<Span>,

    /// Stop when the file has this size; what the process says at the end comes on top
    #[arg(long, value_name = "SIZE", conflicts_with = "rotate", help_heading = "When to stop")]
    pub(crate) max_size: Option<Bytes>,

    /// Go on in a new file at this size and keep the newest N; each is a whole trace
    #[arg(long, value_name = "NxSIZE", help_heading = "When to stop")]
    pub(crate) rotate: Option<Rotation>,

    /// Stop after an event that fulfils this: Provider/Event, Provider/Event where FIELD>VALUE and …; see below
    #[arg(long, value_name = "CONDITION", value_parser = Predicate::of_event, help_heading = "When to stop")]
    pub(crate) until: Option<Predicate>,

    /// Go on for so long after the event of --until or --stopping-event
    #[arg(long, value_name = "TIME", help_heading = "When to stop")]
    pub(crate) keep_after: Option<Span>,

    /// Stop after an event of this provider
    #[arg(long, value_name = "NAME", help_heading = "When to stop")]
    pub(crate) stopping_event_provider_name: Option<String>,

    /// … of this name
    #[arg(long, value_name = "NAME", requires = "stopping_event_provider_name")]
    #[arg(help_heading = "When to stop")]
    pub(crate) stopping_event_event_name: Option<String>,

    /// … with these values: FIELD:VALUE,FIELD:VALUE
    #[arg(long, value_name = "FILTER", requires = "stopping_event_event_name")]
    #[arg(help_heading = "When to stop")]
    pub(crate) stopping_event_payload_filter: Option<String>,

    /// What the process says at the end of methods and modules: true, false, or a keyword in hexadecimal
    #[arg(long, value_name = "WHICH")]
    pub(crate) rundown: Option<RundownChoice>,

    /// Whether a process that waits at startup is let go
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_value_t = true, default_missing_value = "true")]
    #[arg(action = clap::ArgAction::Set, value_parser = clap::builder::BoolishValueParser::new())]
    #[arg(hide_default_value = true)]
    pub(crate) resume_runtime: bool,

    /// Whether the started program uses this terminal; false: it reads nothing and shows nothing
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_value_t = true, default_missing_value = "true")]
    #[arg(action = clap::ArgAction::Set, value_parser = clap::builder::BoolishValueParser::new())]
    #[arg(hide_default_value = true)]
    pub(crate) show_child_io: bool,

    /// What the process does when its buffers are full: drop events, or wait (.NET 11)
    #[arg(long, value_enum, value_name = "MODE", default_value = "drop", ignore_case = true)]
    pub(crate) buffering_mode: BufferingMode,

    /// Not needed here: see --port
    #[arg(long, value_name = "PLATFORM", hide = true)]
    pub(crate) dsrouter: Option<String>,

    /// Show the request, byte by byte, and send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}
