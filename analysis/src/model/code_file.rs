//! Files with native code, to which symbol files can give names of functions.

/// A file with native code that is in a process's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeFile<'p> {
    /// Path of the file, as the trace stores it.
    pub path: &'p str,
    /// Build id of the file in hexadecimal, if the trace has one.
    pub build_id: Option<&'p str>,
    /// Whether the file was compiled ahead of time (NativeAOT), according to the runtime.
    pub is_compiled_ahead: bool,
}
