//! What a `.gcdump` says of itself.

/// What a `.gcdump` says of itself, and what was found out about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct GcDumpAbout {
    /// Version of the format.
    pub version: u32,
    /// Tool that wrote the file, such as `dotnet-gcdump`; `None` if the file does not name it, as
    /// those of PerfView.
    pub tool: Option<String>,
    /// Name of the machine.
    pub machine: Option<String>,
    /// Name of the process.
    pub process: Option<String>,
    /// Local time of the writer at which the heap was collected, in units of 100 ns since the year
    /// 1; `None` if it is not stored.
    pub collected_ticks: Option<i64>,
    /// Whether the process has addresses of 64 bits.
    pub is_64_bit: bool,
    /// Size of all objects as the file states it, in bytes.
    pub stored_bytes: i64,
    /// Number of objects to which others refer, but which were not dumped: they lay beyond a limit
    /// of the tool, or are no objects of .NET.
    pub undumped_objects: u64,
    /// Number of wrappers of COM objects that the file lists, of both kinds.
    pub com_wrappers: u64,
    /// Whether the file's end is missing, behind all that is needed.
    pub lacks_end: bool,
    /// The whole heap, as far as it can be estimated, if the file has only a part of it.
    pub sampled_from: Option<HeapEstimate>,
}

/// Estimates from the objects of a sampled heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HeapEstimate {
    /// Number of objects.
    pub count: u64,
    /// Their size in bytes.
    pub bytes: u64,
}
