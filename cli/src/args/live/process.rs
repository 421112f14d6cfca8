//! The command line of `nettrace process`.

use super::{TalkArgs, TargetArgs};
use crate::args::amount::Span;
use crate::args::{CommonArgs, FormArg};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct ProcessArgs {
    #[command(subcommand)]
    pub(crate) request: ProcessRequest,
}

/// Options that all requests have in common.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    #[command(flatten)]
    pub(crate) form: FormArg,

    #[command(flatten)]
    pub(crate) talk: TalkArgs,

    #[command(flatten)]
    _common: CommonArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProcessRequest {
    /// Show version, command line, architecture and supported commands of the process
    Info {
        #[command(flatten)]
        ask: AskArgs,
    },
    /// Show the environment variables of the process
    Env {
        #[command(flatten)]
        ask: AskArgs,
        /// Show only the variables with these names
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Set or remove an environment variable
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
    /// Resume a process that is suspended at startup
    Resume {
        #[command(flatten)]
        ask: AskArgs,
    },
    /// Start or stop writing perf maps, for Linux perf
    Perfmap {
        #[command(flatten)]
        ask: AskArgs,
        /// Which files to write
        #[arg(value_enum, default_value_t)]
        which: PerfMapChoice,
    },
    /// Load a startup hook: an assembly with a StartupHook class
    StartupHook {
        #[command(flatten)]
        ask: AskArgs,
        /// The assembly; the path is the process's, which matters in containers
        #[arg(value_name = "DLL")]
        assembly: PathBuf,
    },
    /// Write a dump of the memory of the process
    Dump {
        #[command(flatten)]
        ask: AskArgs,
        /// The file to write; the path is the process's, which matters in containers
        #[arg(long, short, value_name = "FILE")]
        output: PathBuf,
        /// How much to include
        #[arg(long = "type", value_enum, value_name = "TYPE", default_value_t)]
        kind: DumpChoice,
        /// Also write a crash report (needs .NET 6)
        #[arg(long)]
        crash_report: bool,
        /// Log to the standard output of the process. If nothing reads that, the process
        /// hangs
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
        /// A file whose content is passed to the profiler
        #[arg(long, value_name = "FILE")]
        client_data: Option<PathBuf>,
    },
    /// Set the profiler of a process that is suspended at startup
    StartupProfiler {
        #[command(flatten)]
        ask: AskArgs,
        #[command(flatten)]
        profiler: ProfilerArgs,
    },
    /// Send any command, known or not
    ///
    /// A wrong command or payload can crash the process, hang it, or reveal its memory: a
    /// runtime trusts every client that can connect, and may answer an unexpected payload
    /// with uninitialised memory.
    Send {
        #[command(flatten)]
        ask: AskArgs,
        /// Confirm that this may crash the process
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

/// Arguments that name a profiler.
#[derive(Debug, Args)]
pub(crate) struct ProfilerArgs {
    /// The profiler's class id
    #[arg(value_name = "GUID")]
    pub(crate) class_id: nettrace_ipc::Guid,
    /// The profiler's library; the path is the process's, which matters in containers
    #[arg(value_name = "LIBRARY")]
    pub(crate) path: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PerfMapChoice {
    /// Both files
    #[default]
    All,
    /// Only jit-PID.dump
    Jitdump,
    /// Only perf-PID.map
    Perfmap,
    /// Stop writing perf maps
    Off,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DumpChoice {
    /// Stacks, modules and what they need
    #[default]
    Normal,
    /// As normal, with the heaps
    Heap,
    /// As normal, with personal data removed
    Triage,
    /// All memory
    Full,
}
