//! The command line of `nettrace process`.

use super::{TalkArgs, TargetArgs};
use crate::args::amount::Span;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Ask a process, or have it do something
#[derive(Debug, Args)]
pub(crate) struct ProcessArgs {
    #[command(subcommand)]
    pub(crate) request: ProcessRequest,
}

/// What is common to all requests.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProcessRequest {
    /// What the process says of itself: version, command line, architecture, commands it knows
    Info {
        #[command(flatten)]
        ask: AskArgs,
    },
    /// Its environment
    Env {
        #[command(flatten)]
        ask: AskArgs,
        /// Only these variables
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Set a variable of its environment, or remove it
    Setenv {
        #[command(flatten)]
        ask: AskArgs,
        /// NAME=VALUE, or NAME with --unset
        #[arg(value_name = "NAME[=VALUE]")]
        variable: String,
        /// Remove the variable
        #[arg(long)]
        unset: bool,
    },
    /// Let a process go that waits at startup
    Resume {
        #[command(flatten)]
        ask: AskArgs,
    },
    /// Have it write files for Linux perf, or stop that
    Perfmap {
        #[command(flatten)]
        ask: AskArgs,
        /// Which files
        #[arg(value_enum, default_value_t)]
        which: PerfMapChoice,
    },
    /// Have it load a startup hook: an assembly with a StartupHook class
    StartupHook {
        #[command(flatten)]
        ask: AskArgs,
        /// The assembly, as the process sees it
        #[arg(value_name = "DLL")]
        assembly: PathBuf,
    },
    /// Have it write a dump of its memory
    Dump {
        #[command(flatten)]
        ask: AskArgs,
        /// The file, as the process sees it
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
        /// How much
        #[arg(long = "type", value_enum, value_name = "TYPE", default_value_t)]
        kind: DumpChoice,
        /// Write a crash report beside it (.NET 6)
        #[arg(long)]
        crash_report: bool,
        /// Let the writer log to the standard output of the process. If nobody reads that, the process
        /// freezes
        #[arg(long)]
        logging: bool,
    },
    /// Load a profiler into the running process
    AttachProfiler {
        #[command(flatten)]
        ask: AskArgs,
        #[command(flatten)]
        profiler: ProfilerArgs,
        /// How long the process may take to load it
        #[arg(long, value_name = "TIME", default_value = "10s")]
        timeout: Span,
        /// A file whose bytes the profiler is handed
        #[arg(long, value_name = "FILE")]
        client_data: Option<PathBuf>,
    },
    /// Name a profiler to a process that waits at startup
    StartupProfiler {
        #[command(flatten)]
        ask: AskArgs,
        #[command(flatten)]
        profiler: ProfilerArgs,
    },
    /// Send a command of which nobody knows what it does
    ///
    /// A wrong command or payload can kill the process, freeze it, or leak its memory: runtimes trust whoever
    /// may connect. A payload where none is expected is answered with bytes that were never written.
    Send {
        #[command(flatten)]
        ask: AskArgs,
        /// I know that this can kill the process
        #[arg(long, required = true)]
        unsafe_raw: bool,
        /// Command set, hexadecimal
        #[arg(value_name = "SET", value_parser = crate::args::amount::hex_byte)]
        set: u8,
        /// Command, hexadecimal
        #[arg(value_name = "ID", value_parser = crate::args::amount::hex_byte)]
        id: u8,
        /// The payload, hexadecimal
        #[arg(value_name = "PAYLOAD", default_value = "", hide_default_value = true)]
        payload: String,
    },
}

/// Which profiler.
#[derive(Debug, Args)]
pub(crate) struct ProfilerArgs {
    /// Its class id
    #[arg(value_name = "GUID")]
    pub(crate) class_id: nettrace_ipc::Guid,
    /// Its library, as the process sees it
    #[arg(value_name = "LIBRARY")]
    pub(crate) path: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PerfMapChoice {
    /// Both kinds
    #[default]
    All,
    /// jit-PID.dump
    Jitdump,
    /// perf-PID.map
    Perfmap,
    /// No more
    Off,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DumpChoice {
    /// Stacks, modules and what they need
    #[default]
    Normal,
    /// With the heaps
    Heap,
    /// As normal, with personal data removed
    Triage,
    /// All memory
    Full,
}
