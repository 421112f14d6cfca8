//! Providers that have typed views.

/// Provider whose events have typed views. It is determined once per event type, so that a
/// test of an event's provider only compares two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KnownProvider {
    /// `Microsoft-Windows-DotNETRuntime`.
    Runtime,
    /// `Microsoft-Windows-DotNETRuntimeRundown`.
    Rundown,
    /// `Microsoft-Windows-DotNETRuntimePrivate`.
    RuntimePrivate,
    /// `Microsoft-DotNETCore-SampleProfiler`.
    SampleProfiler,
    /// `Microsoft-DotNETCore-EventPipe`.
    EventPipe,
    /// `System.Threading.Tasks.TplEventSource`.
    Tasks,
    /// `System.Diagnostics.Metrics`.
    Metrics,
    /// `Microsoft-Diagnostics-DiagnosticSource`.
    DiagnosticSource,
    /// `Microsoft-Extensions-Logging`.
    Logging,
    /// `System.Runtime.CompilerServices.AsyncProfilerEventSource`.
    AsyncProfiler,
    /// `Universal.System`.
    UniversalSystem,
    /// `Universal.Events`.
    UniversalEvents,
    /// Any other provider.
    Other,
}

impl KnownProvider {
    pub(crate) fn from_name(name: &str) -> KnownProvider {
        match name {
            "Microsoft-Windows-DotNETRuntime" => KnownProvider::Runtime,
            "Microsoft-Windows-DotNETRuntimeRundown" => KnownProvider::Rundown,
            "Microsoft-Windows-DotNETRuntimePrivate" => KnownProvider::RuntimePrivate,
            "Microsoft-DotNETCore-SampleProfiler" => KnownProvider::SampleProfiler,
            "Microsoft-DotNETCore-EventPipe" => KnownProvider::EventPipe,
            "System.Threading.Tasks.TplEventSource" => KnownProvider::Tasks,
            "System.Diagnostics.Metrics" => KnownProvider::Metrics,
            "Microsoft-Diagnostics-DiagnosticSource" => KnownProvider::DiagnosticSource,
            "Microsoft-Extensions-Logging" => KnownProvider::Logging,
            super::async_profiler::NAME => KnownProvider::AsyncProfiler,
            "Universal.System" => KnownProvider::UniversalSystem,
            "Universal.Events" => KnownProvider::UniversalEvents,
            _ => KnownProvider::Other,
        }
    }
}
