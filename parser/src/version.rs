//! Versions of the format.

/// A stream's version as its first bytes tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Version {
    /// NetPerf (`.netperf`): .NET Core 2.1, 2.2, and later when asked for.
    V3,
    /// .NET Core 3.0 and later. Version 5 is not announced: it is version 4 whose metadata may
    /// carry tags.
    V4,
    /// one-collect: `dotnet-trace collect-linux`, `record-trace`.
    V6 {
        /// Minor version; any is readable.
        minor: u32,
    },
}

impl Version {
    /// 3, 4 or 6.
    pub fn major(self) -> u32 {
        match self {
            Version::V3 => 3,
            Version::V4 => 4,
            Version::V6 { .. } => 6,
        }
    }

    /// The minor version; 0 before version 6.
    pub fn minor(self) -> u32 {
        match self {
            Version::V3 | Version::V4 => 0,
            Version::V6 { minor } => minor,
        }
    }
}
