//! The command line of commands that talk to running processes.

mod collect;
mod counters;
mod discover;
mod process;
mod stack;
mod top;

pub(crate) use collect::{BufferingMode, CollectArgs, ThreadTimesArg};
pub(crate) use counters::{CountersArgs, LiveCounterFormat};
pub(crate) use discover::DiscoverArgs;
pub(crate) use process::{AskArgs, DumpChoice, PerfMapChoice, ProcessArgs, ProcessRequest};
pub(crate) use stack::StackArgs;
pub(crate) use top::{TopArgs, TopView};

use super::{EventFilterArgs, EventFormat, FormArg, ShapeArgs};
use crate::args::amount::Span;
use crate::args::providers::{ClrEvents, EventIds, ProviderList};
use clap::{Args, ValueEnum};
use nettrace_export::{GRAMMAR, Predicate};
use std::path::PathBuf;

const PS_EXAMPLES: &str = "\
CAN is what the runtime answers to, and so what nettrace can do there:
  trace      collect, watch, top, stack, counters and discover
  no-stacks  --no-stacks: events without stacks (.NET 9)
  event ids  --events: only events with some ids, or all but these (.NET 10)
  dump       process dump
  env        process env
  perfmap    process perfmap
  hook       process startup-hook
  resume     it waits at its start; process resume lets it go

Examples:
  nettrace ps
  nettrace ps --json | jq '.processes[] | select(.reachable) | .pid'";

#[derive(Debug, Args)]
#[command(after_help = PS_EXAMPLES)]
pub(crate) struct PsArgs {
    #[command(flatten)]
    pub(crate) form: FormArg,

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

/// Parses the id of a process.
///
/// # Errors
/// The text is no number: it may be the name of a process, which is another option's value.
pub(crate) fn pid(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| "a process id is a number; --name (-n) takes the name of a process".to_owned())
}

/// Options that name a process.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct TargetArgs {
    /// The process with this id
    #[arg(long, short, value_name = "PID", help_heading = "Which process")]
    #[arg(value_parser = pid)]
    pub(crate) process_id: Option<u32>,

    /// The process of this name, if there is only one
    #[arg(long, short, value_name = "NAME", help_heading = "Which process")]
    pub(crate) name: Option<String>,

    /// A diagnostic port: PATH or tcp://HOST:PORT, where nettrace listens and runtimes
    /// connect; with ,connect appended, nettrace connects to a runtime that listens there
    #[arg(long, visible_aliases = ["diagnostic-port", "dport"], value_name = "ADDRESS")]
    #[arg(help_heading = "Which process")]
    pub(crate) port: Option<String>,
}

/// Options of all commands that talk to a process.
#[derive(Debug, Args)]
pub(crate) struct TalkArgs {
    /// Record all bytes sent and received in this file, which nettrace replay can play
    #[arg(long, value_name = "TRANSCRIPT")]
    pub(crate) record: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,

    /// How long a process may take to answer; default: 10 s, 30 s to begin a session, 60
    /// s and 2 s of silence to end one, 10 min to write a dump
    #[arg(long, value_name = "TIME")]
    pub(crate) patience: Option<Span>,
}

/// Options that choose what a session records.
#[derive(Debug, Clone, Args)]
pub(crate) struct SessionArgs {
    /// Providers, as Name[:KEYWORDS[:LEVEL[:KEY=VALUE;…]]], separated by commas
    ///
    /// KEYWORDS are hexadecimal, or * for all; LEVEL is 0 to 5 or a name. The default is
    /// all keywords; for the runtime's own provider, those of the profile dotnet-common.
    /// Commas between double quotes do not separate. If several options name one
    /// provider, their keywords are combined.
    #[arg(long, value_name = "LIST", help_heading = "Which events")]
    pub(crate) providers: Vec<ProviderList>,

    /// Predefined sets of providers; several are combined. If no option names a provider:
    /// dotnet-common and, for collect, dotnet-sampled-thread-time
    #[arg(
        long,
        value_name = "PROFILE",
        value_enum,
        value_delimiter = ',',
        help_heading = "Which events"
    )]
    pub(crate) profile: Vec<ProfileName>,

    /// Keywords of the runtime's own provider by name, joined by +, such as gc+exception
    #[arg(long, value_name = "NAMES", help_heading = "Which events")]
    pub(crate) clrevents: Option<ClrEvents>,

    /// Level of --clrevents: 0 to 5, or logalways, critical, error, warning,
    /// informational, verbose
    #[arg(long, value_name = "LEVEL", default_value = "4", hide_default_value = true)]
    #[arg(value_parser = crate::args::providers::level, help_heading = "Which events")]
    pub(crate) clreventlevel: nettrace_ipc::Level,

    /// Only events with these ids: Name=1,2,3, or all but these: Name!=4,5 (needs
    /// .NET 10)
    #[arg(long, value_name = "PROVIDER=IDS", help_heading = "Which events")]
    pub(crate) events: Vec<EventIds>,

    /// Record no stacks: smaller and cheaper (needs .NET 9)
    #[arg(long, help_heading = "Which events")]
    pub(crate) no_stacks: bool,

    /// Memory that the process may use for events not yet sent, in MB
    #[arg(long, value_name = "MB", default_value = "256")]
    pub(crate) buffersize: std::num::NonZeroU32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// GC, loader, JIT, exceptions and threads of the runtime; cheap
    DotnetCommon,
    /// Stacks of all threads up to 1,000 times a second
    DotnetSampledThreadTime,
    /// GC, and a sample for every 100 kB allocated
    GcVerbose,
    /// Only GC; the cheapest
    GcCollect,
    /// Commands of ADO.NET and Entity Framework
    Database,
    /// What an ASP.NET Core application does: requests, calls to others, spans, SQL, log
    /// messages from Warning on, locks, collections, exceptions, and stacks. Took 3 % of a core
    /// of a server with 6,000 small requests a second, the default profiles 2 %
    Web,
    /// What dotnet-trace called cpu-sampling before 2025: stacks, and many events of the
    /// runtime
    CpuSampling,
}

#[derive(Debug, Args)]
pub(crate) struct ListProfilesArgs {}

/// Help on names that conditions may use beside fields.
const ROWS: &str = "\
Conditions of --show, in text, are about all events of a thing together, and may name what its line has:
  gc          generation, number, type, reason, pause, duration, heap,
              promoted
  exceptions  type, message
  contention  duration, owner, lock
  logs        level (trace to critical), logger, event, message, scope,
              exception
  http        direction (in, out), method, target, status, duration,
              failed (true, false)
  jit         method, tier, duration, size
  threadpool  workers, reason, throughput";

const WATCH_EXAMPLES: &str = "\
Examples:
  nettrace watch -p 4711 --show gc
  nettrace watch -n shop --show http \\
      --where 'duration > 500ms or failed = true'
  nettrace watch -n shop --show logs --where 'level != information'
  nettrace watch -n shop --show logs --format ndjson | jq -c .
  nettrace watch -p 4711 --providers System.Net.Http \\
      --event RequestStart --limit 10";

#[derive(Debug, Args)]
#[command(after_help = format!("{GRAMMAR}\n\n{ROWS}\n\n{WATCH_EXAMPLES}"))]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    #[command(flatten)]
    pub(crate) session: SessionArgs,

    /// Show what happens, one line each: a request with its duration, a message with its scopes
    ///
    /// A line comes when it is over. ndjson and csv have the events themselves, such as
    /// the start and the stop of a request; so has text with --raw. Beside lines of text,
    /// events that --event names are shown as they are.
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        value_delimiter = ',',
        help_heading = "Which events"
    )]
    pub(crate) show: Vec<Show>,

    /// Output format: text for people, ndjson with one JSON object per line for programs
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub(crate) format: EventFormat,

    #[command(flatten)]
    pub(crate) filter: EventFilterArgs,

    /// Only events that meet this condition, such as Count>3, 'Name=abc and not
    /// Message~timeout'; see below
    #[arg(long = "where", value_name = "CONDITION", allow_hyphen_values = true)]
    #[arg(value_parser = super::condition::condition)]
    #[arg(help_heading = "Which events")]
    pub(crate) conditions: Vec<Predicate>,

    /// Stop after this many lines
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Stop after this time: 90s, 5min, or dd:hh:mm:ss
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<Span>,

    /// What to do when standard output is not read, as by a pager, and 16 MiB are waiting
    #[arg(long, value_enum, value_name = "WHAT", default_value = "drop")]
    pub(crate) on_stall: OnStall,

    /// Show stacks, innermost frame first: names as text, addresses for programs
    ///
    /// To name frames, nettrace also requests the runtime's events for loaded methods, at
    /// level verbose. They are not shown unless you ask for them. Methods that were
    /// loaded before come from a second, short session. A name that is likely but not
    /// certain starts with ~.
    #[arg(long)]
    pub(crate) stacks: bool,

    #[command(flatten)]
    pub(crate) shape: ShapeArgs,

    /// Show times as UTC instead of time since the session's start (text)
    #[arg(long)]
    pub(crate) utc: bool,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Show {
    /// Garbage collections: generation, reason, pause, heap before and after
    Gc,
    /// Exceptions as they are thrown
    Exceptions,
    /// Waits for locks: how long, and which thread held the lock
    Contention,
    /// Messages of Microsoft.Extensions.Logging: level, logger, message, scopes,
    /// exception
    Logs,
    /// HTTP requests, sent and answered: target, status, duration
    Http,
    /// Methods as they are compiled: tier, duration, size
    Jit,
    /// Threads of the thread pool, and changes of its size
    Threadpool,
}

/// Behaviour when standard output is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnStall {
    /// Discard what does not fit, and say how much
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

#[derive(Debug, Args)]
#[command(after_help = REPLAY_EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// The transcript
    #[arg(value_name = "TRANSCRIPT")]
    pub(crate) transcript: PathBuf,

    /// Where to listen: PATH or tcp://HOST:PORT; default: a socket in the temporary
    /// folder
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
