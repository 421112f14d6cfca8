//! The command line of what talks to running processes.

mod collect;
mod process;

pub(crate) use collect::{BufferingMode, CollectArgs};
pub(crate) use process::{AskArgs, DumpChoice, PerfMapChoice, ProcessArgs, ProcessRequest};

use super::{EventFilterArgs, EventFormat};
use crate::args::amount::Span;
use crate::args::providers::{ClrEvents, EventIds, ProviderList};
use clap::{Args, ValueEnum};
use nettrace_export::{GRAMMAR, Predicate};
use std::path::PathBuf;

const PS_EXAMPLES: &str = "\
Examples:
  nettrace ps
  nettrace ps --json | jq '.processes[] | select(.reachable) | .pid'";

/// List the .NET processes of this machine, and whether they can be reached
#[derive(Debug, Args)]
#[command(after_help = PS_EXAMPLES)]
pub(crate) struct PsArgs {
    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// Show full command lines, and sockets that dead processes left behind
    #[arg(long, short)]
    pub(crate) all: bool,

    /// Record all bytes sent and received in this file, which nettrace replay can play
    #[arg(long, value_name = "TRANSCRIPT")]
    pub(crate) record: Option<PathBuf>,

    /// Overwrite an existing transcript
    #[arg(long, requires = "record")]
    pub(crate) force: bool,
}

/// Which process.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct TargetArgs {
    /// The process with this id
    #[arg(long, short, value_name = "PID", help_heading = "Which process")]
    pub(crate) process_id: Option<u32>,

    /// The process of this name, if there is only one
    #[arg(long, short, value_name = "NAME", help_heading = "Which process")]
    pub(crate) name: Option<String>,

    /// A diagnostic port: PATH or tcp://HOST:PORT, where nettrace listens and runtimes connect; with ,connect
    /// appended, nettrace connects to a runtime that listens there
    #[arg(long, visible_aliases = ["diagnostic-port", "dport"], value_name = "ADDRESS")]
    #[arg(help_heading = "Which process")]
    pub(crate) port: Option<String>,
}

/// Options of everything that talks to a process.
#[derive(Debug, Args)]
pub(crate) struct TalkArgs {
    /// Record all bytes sent and received in this file, which nettrace replay can play
    #[arg(long, value_name = "TRANSCRIPT")]
    pub(crate) record: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,

    /// How long a process may take to answer; default: 10 s, 30 s to begin a session, 60 s and 10 s of silence
    /// to end one, 10 min to write a dump
    #[arg(long, value_name = "TIME")]
    pub(crate) patience: Option<Span>,
}

/// What a session asks for.
#[derive(Debug, Clone, Args)]
pub(crate) struct SessionArgs {
    /// Providers, as Name[:KEYWORDS[:LEVEL[:KEY=VALUE;…]]], separated by commas
    ///
    /// KEYWORDS are hexadecimal, or * for all; LEVEL is 0 to 5 or a name. The default is all keywords; for the
    /// runtime's own provider, those of the profile dotnet-common. Commas between double quotes do not
    /// separate. If several options name one provider, their keywords are combined.
    #[arg(long, value_name = "LIST", help_heading = "Which events")]
    pub(crate) providers: Vec<ProviderList>,

    /// Predefined sets of providers; several are combined. If no provider is asked for at all: dotnet-common
    /// and, to record, dotnet-sampled-thread-time
    #[arg(long, value_name = "PROFILE", value_enum, value_delimiter = ',', help_heading = "Which events")]
    pub(crate) profile: Vec<ProfileName>,

    /// Keywords of the runtime's own provider by name, joined by +, such as gc+exception
    #[arg(long, value_name = "NAMES", help_heading = "Which events")]
    pub(crate) clrevents: Option<ClrEvents>,

    /// Level of --clrevents: 0 to 5, or logalways, critical, error, warning, informational, verbose
    #[arg(long, value_name = "LEVEL", default_value = "4", hide_default_value = true)]
    #[arg(value_parser = crate::args::providers::level, help_heading = "Which events")]
    pub(crate) clreventlevel: nettrace_ipc::Level,

    /// Only events with these ids: Name=1,2,3, or all but these: Name!=4,5 (needs .NET 10)
    #[arg(long, value_name = "PROVIDER=IDS", help_heading = "Which events")]
    pub(crate) events: Vec<EventIds>,

    /// Record no stacks: smaller and cheaper (needs .NET 9)
    #[arg(long, help_heading = "Which events")]
    pub(crate) no_stacks: bool,

    /// Memory that the process may use for events that are not yet sent, in MB
    #[arg(long, value_name = "MB", default_value = "256")]
    pub(crate) buffersize: std::num::NonZeroU32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// GC, loader, JIT, exceptions and threads of the runtime; cheap
    DotnetCommon,
    /// Stacks of all threads about 100 times a second
    DotnetSampledThreadTime,
    /// GC, and a sample for every 100 kB allocated
    GcVerbose,
    /// Only GC; the cheapest
    GcCollect,
    /// Commands of ADO.NET and Entity Framework
    Database,
    /// What dotnet-trace called cpu-sampling before 2025: stacks, and many events of the runtime
    CpuSampling,
}

/// The ready-made sets of providers of collect --profile
#[derive(Debug, Args)]
pub(crate) struct ListProfilesArgs {}

const WATCH_EXAMPLES: &str = "\
Examples:
  nettrace watch -p 4711 --show gc
  nettrace watch -n shop --show logs --format ndjson | jq -c .
  nettrace watch -p 4711 --providers System.Net.Http --event RequestStart --limit 10";

/// Print the events of a running process as they happen, one per line
#[derive(Debug, Args)]
#[command(after_help = format!("{GRAMMAR}\n\n{WATCH_EXAMPLES}"))]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    #[command(flatten)]
    pub(crate) session: SessionArgs,

    /// Predefined sets of events
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', help_heading = "Which events")]
    pub(crate) show: Vec<Show>,

    /// text is for people; ndjson has one JSON object per line, for programs
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: EventFormat,

    #[command(flatten)]
    pub(crate) filter: EventFilterArgs,

    /// Only events that fulfil this, such as Count>3, 'Name=abc and not Message~timeout'; see below
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    #[arg(help_heading = "Which events")]
    pub(crate) conditions: Vec<Predicate>,

    /// Stop after this many events
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Stop after this time: 90s, 5min, or dd:hh:mm:ss
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Span>,

    /// When standard output is not read, as in a pager, and 16 MiB wait for it
    #[arg(long, value_enum, value_name = "WHAT", default_value = "drop")]
    pub(crate) on_stall: OnStall,

    /// Show stacks, innermost frame first: names as text, addresses for programs
    ///
    /// To name frames, nettrace also requests the runtime's events for loaded methods, at level verbose. They are not
    /// shown unless you ask for them. Methods that were loaded before come from a second, short session. A name that is
    /// likely but not certain starts with ~.
    #[arg(long)]
    pub(crate) stacks: bool,

    /// Show addresses instead of names (text)
    #[arg(long, requires = "stacks", conflicts_with = "frames")]
    pub(crate) raw_stacks: bool,

    /// Add the names of the frames as "frames", beside the addresses in "stack" (ndjson, csv)
    #[arg(long, requires = "stacks")]
    pub(crate) frames: bool,

    /// Show stored values: ticks, keywords, opcode, processor, sequence number, offset, payload in hex
    #[arg(long)]
    pub(crate) raw: bool,

    /// Show times as UTC instead of time since the session's start (text)
    #[arg(long)]
    pub(crate) utc: bool,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Show {
    /// Garbage collections: start, end, heap sizes
    Gc,
    /// Exceptions as they are thrown
    Exceptions,
    /// Locks that a thread had to wait for
    Contention,
    /// Messages of Microsoft.Extensions.Logging
    Logs,
}

/// What happens when standard output is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnStall {
    /// Throw away what does not fit, and say how much
    Drop,
    /// End the session, after a second
    Stop,
    /// Wait; the process may have to wait too
    Wait,
}

const REPLAY_EXAMPLES: &str = "\
Examples:
  nettrace process info -p 4711 --record run.transcript
  nettrace replay run.transcript --listen /tmp/replayed &
  nettrace process info --port /tmp/replayed,connect";

/// Play a transcript made with --record: behave as the recorded process did
#[derive(Debug, Args)]
#[command(after_help = REPLAY_EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// The transcript
    #[arg(value_name = "TRANSCRIPT")]
    pub(crate) transcript: PathBuf,

    /// Where to listen: PATH or tcp://HOST:PORT; default: a socket in the temporary folder
    #[arg(long, value_name = "ADDRESS", conflicts_with = "connect")]
    pub(crate) listen: Option<String>,

    /// Connect to this port instead, as the recorded processes did
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) connect: Option<String>,

    /// Skip the recorded pauses
    #[arg(long)]
    pub(crate) at_once: bool,

    /// Exit when everything has been played
    #[arg(long)]
    pub(crate) once: bool,
}
