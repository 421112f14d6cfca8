//! Files with native code, which symbol files can name.

/// A file with native code in a process's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeFile<'p> {
    /// Path, as stored in the trace.
    pub path: &'p str,
    /// Build id in hexadecimal, if the trace has one.
    pub build_id: Option<&'p str>,
    /// Whether the runtime reported the file as compiled ahead of time (NativeAOT).
    pub is_compiled_ahead: bool,
}
