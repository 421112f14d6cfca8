//! The command line.

pub(crate) mod amount;
mod convert;
mod diff;
mod events;
mod heap;
mod input;
mod live;
mod open;
mod overview;
pub(crate) mod profiles;
pub(crate) mod providers;
mod report;
mod samples;

pub(crate) use convert::*;
pub(crate) use diff::*;
pub(crate) use events::*;
pub(crate) use heap::*;
pub(crate) use input::*;
pub(crate) use live::*;
pub(crate) use open::*;
pub(crate) use overview::*;
pub(crate) use report::*;
pub(crate) use samples::*;

use crate::style::ColorChoice;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (reads nettrace 3 (NetPerf), 4, 5, 6)");

const AFTER_HELP: &str = "\
Exit codes:
  0  the whole trace was read
  1  failed: no such file, not a trace, an unsupported version
  2  wrong usage
  3  the trace is damaged or incomplete; what can be read was read, stderr says what is missing";

/// Read .nettrace and .netperf files: what .NET's EventPipe, dotnet-trace and one-collect record.
///
/// A trace is a file, or - for standard input; gzip is recognised whatever the name. Results go to
/// stdout, everything else to stderr. Without a command, the trace is summed up: what it is, and what stands out.
#[derive(Debug, Parser)]
#[command(name = "nettrace", version = VERSION, after_help = AFTER_HELP, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours; auto also respects NO_COLOR, CLICOLOR_FORCE and TERM=dumb
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t, hide_default_value = true)]
    #[arg(help_heading = "Options of all commands")]
    pub(crate) color: ColorChoice,

    /// Show all columns and full names, even if lines get wider than the terminal
    #[arg(long, global = true, help_heading = "Options of all commands")]
    pub(crate) wide: bool,

    /// Print only errors to stderr: no progress, no warnings
    #[arg(long, short, global = true, help_heading = "Options of all commands")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Info(InfoArgs),
    Stats(StatsArgs),
    Events(EventsArgs),
    Schema(SchemaArgs),
    Check(CheckArgs),
    Report(ReportCommand),
    Open(Box<OpenArgs>),
    Diff(Box<DiffArgs>),
    Convert(ConvertArgs),
    Heap(Box<HeapArgs>),
    Ps(PsArgs),
    Collect(Box<CollectArgs>),
    Watch(Box<WatchArgs>),
    Process(Box<ProcessArgs>),
    Replay(ReplayArgs),
    ListProfiles(ListProfilesArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Print a script that completes this command in a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  nettrace completions bash > /etc/bash_completion.d/nettrace")]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  nettrace man | man -l -\n  nettrace man events > nettrace-events.1")]
pub(crate) struct ManArgs {
    /// The command whose page to print, such as events or report gc; default: nettrace itself
    pub(crate) command: Vec<String>,
}
