//! Files whose native code a symbol file can name.

/// A file with native code in a process's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeFile<'p> {
    /// Path as stored.
    pub path: &'p str,
    /// Its build id in hexadecimal, if the trace has it.
    pub build_id: Option<&'p str>,
    /// Whether the runtime reported it as compiled ahead of time (NativeAOT).
    pub is_compiled_ahead: bool,
}
