//! The 32-bit codes in a runtime's replies, which give the reason for a refusal.

use std::fmt;

/// The result code of a runtime. Zero is success; a code with the sign bit is a failure.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct HResult(pub u32);

/// The known codes, each with its symbolic name and a text with its meaning and advice.
const KNOWN: &[(u32, &str, &str)] = &[
    (0x0000_0000, "S_OK", "the command was carried out"),
    (
        0x8013_1384,
        "DS_IPC_E_BAD_ENCODING",
        "the runtime could not parse the request: it may not know one of the options; try fewer options or an older command",
    ),
    (0x8013_1385, "DS_IPC_E_UNKNOWN_COMMAND", "this runtime is too old for the command"),
    (
        0x8013_1386,
        "DS_IPC_E_UNKNOWN_MAGIC",
        "the runtime uses another version of the protocol, or the endpoint is not a runtime",
    ),
    (
        0x8013_1387,
        "DS_IPC_E_UNKNOWN_ERROR",
        "the runtime gives no reason; try again, then look at its own output",
    ),
    (
        0x8013_1515,
        "COR_E_NOTSUPPORTED",
        "this kind of runtime (for instance Mono or native AOT) does not support it; use another runtime",
    ),
    (
        0x8000_4005,
        "E_FAIL",
        "the runtime tried and failed: too many sessions (64 is the limit), or a file it could not create; \
         stop other sessions, check that the path is valid for the target process",
    ),
    (
        0x8013_135B,
        "CORPROF_E_NOT_YET_AVAILABLE",
        "the runtime has not started yet; resume it first, then try again",
    ),
    (
        0x8013_1371,
        "CORPROF_E_RUNTIME_UNINITIALIZED",
        "the runtime has not started yet; resume it first, then try again",
    ),
    (
        0x8013_136A,
        "CORPROF_E_PROFILER_ALREADY_ACTIVE",
        "another profiler is attached; detach it first (a runtime takes one profiler at a time)",
    ),
    (0x8007_0057, "E_INVALIDARG", "an argument was refused; check names, paths and types"),
    (0x8007_007A, "ERROR_INSUFFICIENT_BUFFER", "a value was too long for the runtime; shorten it"),
    (
        0x8007_007E,
        "ERROR_MOD_NOT_FOUND",
        "the library could not be loaded; the path must be valid for the target process, and all dependencies must be there",
    ),
    (
        0x8007_00CB,
        "ERROR_ENVVAR_NOT_FOUND",
        "the variable is not set in the target, so it cannot be unset",
    ),
    (0x8007_000E, "E_OUTOFMEMORY", "the target is out of memory; ask for a smaller buffer"),
    (
        0x8007_0005,
        "E_ACCESSDENIED",
        "the target has no permission; check what its user may do at the path",
    ),
    (
        0x8007_0002,
        "ERROR_FILE_NOT_FOUND",
        "the file does not exist for the target process; check the path",
    ),
    (
        0x8007_0003,
        "ERROR_PATH_NOT_FOUND",
        "the directory does not exist for the target process; check the path",
    ),
    (0x8000_4001, "E_NOTIMPL", "this runtime does not implement it; use another runtime"),
    (0x8000_FFFF, "E_UNEXPECTED", "the runtime was not in a state to do it; try again later"),
];

impl HResult {
    /// The command was carried out.
    pub const OK: HResult = HResult(0);
    /// The runtime could not parse the request.
    pub const BAD_ENCODING: HResult = HResult(0x8013_1384);
    /// The runtime does not know the command.
    pub const UNKNOWN_COMMAND: HResult = HResult(0x8013_1385);
    /// The first 14 bytes of the request were not the magic of the protocol.
    pub const UNKNOWN_MAGIC: HResult = HResult(0x8013_1386);
    /// The command failed for a reason that is not specified. A runtime with 64 sessions refuses
    /// another one with this code.
    pub const FAIL: HResult = HResult(0x8000_4005);
    /// The runtime refused an argument.
    pub const INVALID_ARGUMENT: HResult = HResult(0x8007_0057);
    /// The runtime could not load a library.
    pub const MODULE_NOT_FOUND: HResult = HResult(0x8007_007E);
    /// There was no environment variable of this name to remove.
    pub const VARIABLE_NOT_FOUND: HResult = HResult(0x8007_00CB);
    /// The runtime is still suspended at startup, so the command is not available yet.
    pub const NOT_YET_AVAILABLE: HResult = HResult(0x8013_135B);

    /// Returns whether the code is a success, which is a code without the sign bit.
    pub const fn is_ok(self) -> bool {
        self.0 & 0x8000_0000 == 0
    }

    /// Returns the symbolic name, if the code is known.
    pub fn name(self) -> Option<&'static str> {
        KNOWN.iter().find(|(code, ..)| *code == self.0).map(|(_, name, _)| *name)
    }

    /// Returns the meaning of the code and advice, if the code is known.
    pub fn advice(self) -> Option<&'static str> {
        KNOWN.iter().find(|(code, ..)| *code == self.0).map(|(_, _, advice)| *advice)
    }

    /// Returns every code that has a name.
    pub fn known() -> impl Iterator<Item = HResult> {
        KNOWN.iter().map(|(code, ..)| HResult(*code))
    }
}

impl fmt::Display for HResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:08X}", self.0)?;
        match self.name() {
            Some(name) => write!(f, " {name}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for HResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_one_name_and_an_advice() {
        let mut codes: Vec<u32> = HResult::known().map(|code| code.0).collect();
        codes.sort_unstable();
        let all = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), all);
        for code in HResult::known() {
            assert!(code.name().is_some_and(|name| !name.is_empty()));
            assert!(code.advice().is_some_and(|advice| advice.len() > 10));
        }
    }

    #[test]
    fn an_unknown_code_is_shown_in_hexadecimal() {
        assert_eq!(HResult(0x8123_4567).to_string(), "0x81234567");
        assert_eq!(HResult::VARIABLE_NOT_FOUND.to_string(), "0x800700CB ERROR_ENVVAR_NOT_FOUND");
    }
}
