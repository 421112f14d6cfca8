//! Ready-made sets of providers: those of dotnet-trace, and one for web applications.

use crate::args::ProfileName;
use nettrace_ipc::{Arguments, Level, Provider, RequestError, Rundown};

/// Name of the runtime's own provider.
pub(crate) const RUNTIME: &str = "Microsoft-Windows-DotNETRuntime";
const PRIVATE: &str = "Microsoft-Windows-DotNETRuntimePrivate";
pub(crate) const SAMPLER: &str = "Microsoft-DotNETCore-SampleProfiler";
/// Name of the provider that passes on events of DiagnosticSources. A process has one listener for
/// all sessions, so a session replaces the filters of another.
pub(crate) const DIAGNOSTIC_SOURCE: &str = "Microsoft-Diagnostics-DiagnosticSource";

/// Keywords of the profile dotnet-common: GC, AssemblyLoader, Loader, JIT, Exception, Threading,
/// ILToNativeMap, Compilation.
pub(crate) const COMMON_KEYWORDS: u64 = 0x10_0003_801D;

/// Name of the provider of tasks, which also makes ids of activities.
pub(crate) const TASKS: &str = "System.Threading.Tasks.TplEventSource";
/// Keyword of the runtime's events about waits for locks.
const CONTENTION_KEYWORD: u64 = 0x4000;
/// Keywords of messages of Microsoft.Extensions.Logging: as text, and with arguments and
/// exceptions.
const MESSAGE_KEYWORDS: u64 = 0xC;
/// Keyword of the DiagnosticSource provider for events, without its messages about itself.
const EVENTS_KEYWORD: u64 = 0x2;
/// Keyword that makes ids of activities flow with tasks. The ids tell which request an event
/// belongs to.
pub(crate) const ACTIVITY_IDS_KEYWORD: u64 = 0x80;

/// Filter that selects what the SqlClient and Entity Framework listeners write about commands.
const DATABASE_SPECS: &str = "\
SqlClientDiagnosticListener/System.Data.SqlClient.WriteCommandBefore@Activity1Start:-Command;Command.CommandText;ConnectionId;Operation;Command.Connection.ServerVersion;Command.CommandTimeout;Command.CommandType;Command.Connection.ConnectionString;Command.Connection.Database;Command.Connection.DataSource;Command.Connection.PacketSize\r\n\
SqlClientDiagnosticListener/System.Data.SqlClient.WriteCommandAfter@Activity1Stop:\r\n\
Microsoft.EntityFrameworkCore/Microsoft.EntityFrameworkCore.Database.Command.CommandExecuting@Activity2Start:-Command;Command.CommandText;ConnectionId;IsAsync;Command.Connection.ClientConnectionId;Command.Connection.ServerVersion;Command.CommandTimeout;Command.CommandType;Command.Connection.ConnectionString;Command.Connection.Database;Command.Connection.DataSource;Command.Connection.PacketSize\r\n\
Microsoft.EntityFrameworkCore/Microsoft.EntityFrameworkCore.Database.Command.CommandExecuted@Activity2Stop:";

impl ProfileName {
    /// Returns the providers of the profile.
    pub(crate) fn providers(self) -> Result<Vec<Provider>, RequestError> {
        let provider = |name: &str, keywords: u64, level| {
            Ok(Provider::new(name)?.keywords(keywords).level(level))
        };
        let sampler = || provider(SAMPLER, 0, Level::Informational);
        Ok(match self {
            ProfileName::DotnetCommon => {
                vec![provider(RUNTIME, COMMON_KEYWORDS, Level::Informational)?]
            }
            ProfileName::DotnetSampledThreadTime => vec![sampler()?],
            ProfileName::GcVerbose => vec![provider(RUNTIME, 0x8003, Level::Verbose)?],
            ProfileName::GcCollect => vec![
                provider(RUNTIME, 0x1, Level::Informational)?,
                provider(PRIVATE, 0x1, Level::Informational)?,
            ],
            ProfileName::Database => vec![
                provider(TASKS, ACTIVITY_IDS_KEYWORD, Level::Informational)?,
                provider(DIAGNOSTIC_SOURCE, 0x3, Level::Verbose)?
                    .arguments(Arguments::pairs([("FilterAndPayloadSpecs", DATABASE_SPECS)])?),
            ],
            ProfileName::Web => {
                // `[AS]*` selects the spans of all ActivitySources.
                let specs = format!("[AS]*\r\n{DATABASE_SPECS}");
                vec![
                    sampler()?,
                    provider(RUNTIME, COMMON_KEYWORDS | CONTENTION_KEYWORD, Level::Informational)?,
                    provider(TASKS, ACTIVITY_IDS_KEYWORD, Level::Informational)?,
                    provider("Microsoft.AspNetCore.Hosting", u64::MAX, Level::Informational)?,
                    provider("System.Net.Http", u64::MAX, Level::Informational)?,
                    // Phases of outgoing requests.
                    provider("System.Net.NameResolution", u64::MAX, Level::Informational)?,
                    provider("System.Net.Sockets", u64::MAX, Level::Informational)?,
                    provider("System.Net.Security", u64::MAX, Level::Informational)?,
                    provider(DIAGNOSTIC_SOURCE, EVENTS_KEYWORD, Level::Informational)?
                        .arguments(Arguments::pairs([("FilterAndPayloadSpecs", &*specs)])?),
                    provider("Microsoft-Extensions-Logging", MESSAGE_KEYWORDS, Level::Warning)?,
                ]
            }
            ProfileName::CpuSampling => {
                vec![sampler()?, provider(RUNTIME, 0x14_C14F_CCBD, Level::Informational)?]
            }
        })
    }

    /// Returns the rundown that the profile needs.
    pub(crate) fn rundown(self) -> Rundown {
        match self {
            ProfileName::GcCollect => Rundown::Keyword(0x1),
            _ => Rundown::Default,
        }
    }
}

/// Returns the rundown that serves several profiles together.
pub(crate) fn united_rundown(profiles: &[ProfileName]) -> Rundown {
    let mut rundowns = profiles.iter().map(|profile| profile.rundown());
    match rundowns.next() {
        Some(first) if rundowns.all(|other| other == first) => first,
        _ => Rundown::Default,
    }
}

/// Keywords of the runtime's provider, by the names that dotnet-trace takes.
pub(crate) const CLR_KEYWORDS: &[(&str, u64)] = &[
    ("gc", 0x1),
    ("gchandle", 0x2),
    ("fusion", 0x4),
    ("assemblyloader", 0x4),
    ("loader", 0x8),
    ("jit", 0x10),
    ("ngen", 0x20),
    ("startenumeration", 0x40),
    ("endenumeration", 0x80),
    ("security", 0x400),
    ("appdomainresourcemanagement", 0x800),
    ("jittracing", 0x1000),
    ("interop", 0x2000),
    ("contention", 0x4000),
    ("exception", 0x8000),
    ("threading", 0x1_0000),
    ("jittedmethodiltonativemap", 0x2_0000),
    ("overrideandsuppressngenevents", 0x4_0000),
    ("type", 0x8_0000),
    ("gcheapdump", 0x10_0000),
    ("gcsampledobjectallocationhigh", 0x20_0000),
    ("gcheapsurvivalandmovement", 0x40_0000),
    ("gcheapcollect", 0x80_0000),
    ("managedheadcollect", 0x80_0000),
    ("managedheapcollect", 0x80_0000),
    ("gcheapandtypenames", 0x100_0000),
    ("gcsampledobjectallocationlow", 0x200_0000),
    ("perftrack", 0x2000_0000),
    ("stack", 0x4000_0000),
    ("threadtransfer", 0x8000_0000),
    ("debugger", 0x1_0000_0000),
    ("monitoring", 0x2_0000_0000),
    ("codesymbols", 0x4_0000_0000),
    ("eventsource", 0x8_0000_0000),
    ("compilation", 0x10_0000_0000),
    ("compilationdiagnostic", 0x20_0000_0000),
    ("methoddiagnostic", 0x40_0000_0000),
    ("typediagnostic", 0x80_0000_0000),
    ("jitinstrumentationdata", 0x100_0000_0000),
    ("profiler", 0x200_0000_0000),
    ("waithandle", 0x400_0000_0000),
    ("allocationsampling", 0x800_0000_0000),
];
