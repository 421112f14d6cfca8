//! Versions of the format.

/// Version of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Version {
    /// NetPerf (`.netperf`): .NET Core 2.1 and 2.2, and later versions on request.
    V3,
    /// Versions 4 and 5: .NET Core 3.0 and later. Streams do not distinguish the two; only in
    /// version 5, metadata may have tags.
    V4,
    /// Version 6, which one-collect writes (`dotnet-trace collect-linux`, `record-trace`).
    V6 {
        /// Minor version. All minor versions are readable.
        minor: u32,
    },
}

impl Version {
    /// Returns the major version: 3, 4 or 6.
    pub fn major(self) -> u32 {
        match self {
            Version::V3 => 3,
            Version::V4 => 4,
            Version::V6 { .. } => 6,
        }
    }

    /// Returns the minor version; 0 before version 6.
    pub fn minor(self) -> u32 {
        match self {
            Version::V3 | Version::V4 => 0,
            Version::V6 { minor } => minor,
        }
    }
}
