//! Views of the traced process and its runtime.

use super::{KnownProvider, View, number32, text};
use crate::event::Event;
use crate::payload::Utf16;

/// Traced process: event 1 of `Microsoft-DotNETCore-EventPipe`, versions 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ProcessInfo<'r> {
    /// Command line of the process.
    pub command_line: Utf16<'r>,
    /// Operating system; `None` before version 1.
    pub os: Option<Utf16<'r>>,
    /// Processor architecture; `None` before version 1.
    pub architecture: Option<Utf16<'r>>,
}

impl<'r> View<'r> for ProcessInfo<'r> {
    fn from_event(event: &Event<'r>) -> Option<ProcessInfo<'r>> {
        if event.known_provider() != KnownProvider::EventPipe || event.id() != 1 {
            return None;
        }
        let fields = &mut event.fields();
        Some(ProcessInfo {
            command_line: text(fields, "CommandLine")?,
            os: text(fields, "OSInformation"),
            architecture: text(fields, "ArchInformation"),
        })
    }
}

/// Bit of `Sku` that stands for Mono.
const MONO_SKU: u32 = 0x4;

/// Runtime of the process: runtime event 187 and rundown event 187, version 0.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RuntimeInformation<'r> {
    /// Version of the base class library, such as 10, 0, 9 for .NET 10.0.9, but 4, 0, 0 for .NET
    /// Core 3.1.
    pub version: [u32; 3],
    /// Whether the runtime is Mono.
    pub is_mono: bool,
    /// Command line of the process.
    pub command_line: Utf16<'r>,
    /// Path of the runtime's library, which is the only hint at the version of .NET Core 3.1.
    pub runtime_path: Utf16<'r>,
}

impl<'r> View<'r> for RuntimeInformation<'r> {
    fn from_event(event: &Event<'r>) -> Option<RuntimeInformation<'r>> {
        if !matches!(event.known_provider(), KnownProvider::Runtime | KnownProvider::Rundown)
            || event.id() != 187
        {
            return None;
        }
        let fields = &mut event.fields();
        let is_mono = number32(fields, "Sku")? & MONO_SKU != 0;
        Some(RuntimeInformation {
            is_mono,
            version: [
                number32(fields, "BclMajorVersion")?,
                number32(fields, "BclMinorVersion")?,
                number32(fields, "BclBuildNumber")?,
            ],
            command_line: text(fields, "CommandLine")?,
            runtime_path: text(fields, "RuntimeDllPath")?,
        })
    }
}
