//! The rest of the Process set (04): resume, environment, perf map, startup hook.
//!
//! | command | request payload | reply |
//! |---|---|---|
//! | ResumeRuntime 04 01 | none | i32 0, or nothing |
//! | ProcessEnvironment 04 02 | none | u32 length, u16 future; then that many bytes: u32 count, strings |
//! | SetEnvironmentVariable 04 03 | string name, string value (null unsets) | i32 0 |
//! | EnablePerfMap 04 05 | u32 type | i32 0 |
//! | DisablePerfMap 04 06 | none | i32 0 |
//! | ApplyStartupHook 04 07 | string path | i32 0, after the hook ran |

use super::Command;
use super::sealed::Sealed;
use crate::command_id::{CommandId, Patience};
use crate::error::{ReplyFault, RequestError, StartupHookFault};
use crate::message::{Message, Reader, Writer, required, without_nul};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Resumes a runtime that waits at startup for the port over which this command is sent. It has no
/// effect if the runtime does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResumeRuntime;

answered_by_hresult!(ResumeRuntime, Reply);

impl Command for ResumeRuntime {
    fn id(&self) -> CommandId {
        CommandId::RESUME_RUNTIME
    }
}

/// Requests the environment variables of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessEnvironment;

impl Sealed for ProcessEnvironment {
    /// Number of bytes with the variables that follow the reply on its connection.
    type Success = u32;

    fn read_success(&self, payload: &[u8]) -> Result<u32, ReplyFault> {
        let mut reader = Reader::new(payload);
        let bytes = reader.u32("continuation length")?;
        reader.u16("future")?;
        Ok(bytes)
    }
}

impl Command for ProcessEnvironment {
    fn id(&self) -> CommandId {
        CommandId::PROCESS_ENVIRONMENT
    }
}

/// An environment variable of a process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Variable {
    /// The text before the first `=`. If the entry begins with `=`, that one belongs to the name,
    /// as on Windows.
    pub name: String,
    /// The text after the `=` that ends the name; `None` if there is no such `=`.
    pub value: Option<String>,
}

/// Reads the variables that follow the reply to ProcessEnvironment.
pub(crate) fn read_environment(continuation: &[u8]) -> Result<Vec<Variable>, ReplyFault> {
    let mut reader = Reader::new(continuation);
    let count = reader.u32("variable count")?;
    let mut variables = Vec::new();
    for _ in 0..count {
        let entry = reader.string("variable")?;
        // `=C:=C:\dir` is an entry of Windows whose name begins with `=`.
        let split =
            entry.char_indices().skip(1).find(|(_, character)| *character == '=').map(|(at, _)| at);
        let (name, value) = match split.and_then(|at| entry.split_at_checked(at)) {
            Some((name, value)) => {
                (name.to_owned(), Some(value.strip_prefix('=').unwrap_or(value).to_owned()))
            }
            None => (entry, None),
        };
        variables.push(Variable { name, value });
    }
    Ok(variables)
}

/// Sets or removes an environment variable of the running process. Code that reads the variable
/// later sees the change. If the runtime still waits at startup, that code includes startup hooks
/// and `Main`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetEnvironmentVariable {
    name: String,
    value: Option<String>,
}

impl SetEnvironmentVariable {
    /// Makes the command that sets a variable. An empty value is not the same as no variable.
    ///
    /// # Errors
    /// The name is empty or contains `=` or NUL, or the value contains NUL.
    pub fn set(name: &str, value: &str) -> Result<Self, RequestError> {
        Ok(SetEnvironmentVariable {
            name: variable_name(name)?,
            value: Some(without_nul(value, "variable's value")?),
        })
    }

    /// Makes the command that removes a variable. The runtime refuses it if there is no variable of
    /// this name.
    ///
    /// # Errors
    /// The errors of [`SetEnvironmentVariable::set`].
    pub fn unset(name: &str) -> Result<Self, RequestError> {
        Ok(SetEnvironmentVariable { name: variable_name(name)?, value: None })
    }
}

fn variable_name(name: &str) -> Result<String, RequestError> {
    let what = "variable's name";
    if name.contains('=') {
        return Err(RequestError::Character { what, character: '=' });
    }
    required(name, what)
}

answered_by_hresult!(SetEnvironmentVariable, Reply);

impl Command for SetEnvironmentVariable {
    fn id(&self) -> CommandId {
        CommandId::SET_ENVIRONMENT_VARIABLE
    }

    fn message(&self) -> Result<Message, RequestError> {
        let mut writer = Writer::new(self.id());
        writer.string(&self.name).nullable(self.value.as_deref());
        writer.finish()
    }
}

/// The files for Linux `perf` that the runtime writes, always into `/tmp`, whatever `TMPDIR` says.
///
/// Only [`crate::Runtime::enable_perf_map`] sends this command. It first checks that the runtime is
/// not .NET 8 or 9 that still waits at startup, because that would crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PerfMapType {
    /// The files of [`PerfMapType::JitDump`] and of [`PerfMapType::PerfMap`].
    All,
    /// The file `jit-PID.dump`.
    JitDump,
    /// The files `perf-PID.map` and `perfinfo-PID.map`.
    PerfMap,
}

answered_by_hresult!(PerfMapType, Reply);

impl Command for PerfMapType {
    fn id(&self) -> CommandId {
        CommandId::ENABLE_PERF_MAP
    }

    fn message(&self) -> Result<Message, RequestError> {
        let mut writer = Writer::new(self.id());
        writer.u32(match self {
            PerfMapType::All => 1,
            PerfMapType::JitDump => 2,
            PerfMapType::PerfMap => 3,
        });
        writer.finish()
    }
}

/// Stops writing the files of EnablePerfMap. The command is also accepted when nothing was enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisablePerfMap;

answered_by_hresult!(DisablePerfMap, Reply);

impl Command for DisablePerfMap {
    fn id(&self) -> CommandId {
        CommandId::DISABLE_PERF_MAP
    }
}

/// Runs `StartupHook.Initialize` of an assembly in the target at once, or before `Main` if the
/// target still waits at startup.
///
/// .NET 9 and 10 crash if there is no such file, so the file is checked first. It must be a managed
/// assembly that has a type `StartupHook` and a method `Initialize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartupHook {
    path: PathBuf,
    text: String,
}

impl StartupHook {
    /// Makes a startup hook of an assembly at an absolute path. The target and this process must
    /// reach it by the same path.
    ///
    /// # Errors
    /// [`RequestError::StartupHook`] with the reason.
    pub fn new(path: impl AsRef<Path>) -> Result<Self, RequestError> {
        Self::with_root(path, "/")
    }

    /// Makes a startup hook for a target with another root directory, such as `/proc/PID/root`.
    ///
    /// # Errors
    /// The errors of [`StartupHook::new`].
    pub fn with_root(path: impl AsRef<Path>, root: impl AsRef<Path>) -> Result<Self, RequestError> {
        let (path, root) = (path.as_ref(), root.as_ref());
        let refuse = |source| RequestError::StartupHook { path: path.to_owned(), source };
        let text = path.to_str().ok_or_else(|| refuse(StartupHookFault::NotUnicode))?;
        let text = required(text, "startup hook's path")?;
        if !path.is_absolute() {
            return Err(refuse(StartupHookFault::NotAbsolute));
        }
        let hook = StartupHook { path: path.to_owned(), text };
        hook.check(root)?;
        Ok(hook)
    }

    /// Checks the assembly's file. The check is repeated just before the command is sent.
    pub(crate) fn check(&self, root: &Path) -> Result<(), RequestError> {
        let refuse = |source| RequestError::StartupHook { path: self.path.clone(), source };
        let seen = match self.path.strip_prefix("/") {
            Ok(relative) => root.join(relative),
            Err(_) => self.path.clone(),
        };
        let bytes = std::fs::read(&seen)
            .map_err(|error| refuse(StartupHookFault::Unreadable(Arc::new(error))))?;
        let names = |name: &[u8]| bytes.windows(name.len()).any(|window| window == name);
        if !bytes.starts_with(b"MZ") || !names(b"BSJB") {
            return Err(refuse(StartupHookFault::NotManaged));
        }
        if !names(b"StartupHook\0") || !names(b"Initialize\0") {
            return Err(refuse(StartupHookFault::NoInitialize));
        }
        Ok(())
    }
}

answered_by_hresult!(StartupHook, StartupHook);

impl Command for StartupHook {
    fn id(&self) -> CommandId {
        CommandId::APPLY_STARTUP_HOOK
    }

    fn message(&self) -> Result<Message, RequestError> {
        let mut writer = Writer::new(self.id());
        writer.string(&self.text);
        writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::golden::{hex, payload, unhex};
    use super::*;

    fn sent(command: &impl Command) -> String {
        hex(command.message().unwrap().as_bytes())
    }

    #[test]
    fn requests_without_payload_are_those_of_the_transcripts() {
        assert_eq!(sent(&ResumeRuntime), "444f544e45545f4950435f563100140004010000");
        assert_eq!(sent(&ProcessEnvironment), "444f544e45545f4950435f563100140004020000");
        assert_eq!(sent(&DisablePerfMap), "444f544e45545f4950435f563100140004060000");
    }

    #[test]
    fn variables_are_set_and_unset_as_in_the_transcripts() {
        let set = SetEnvironmentVariable::set("A", "b").unwrap();
        assert_eq!(
            sent(&set),
            "444f544e45545f4950435f56310024000403000002000000410000000200000062000000"
        );
        let unset = SetEnvironmentVariable::unset("A").unwrap();
        assert_eq!(
            sent(&unset),
            "444f544e45545f4950435f563100200004030000020000004100000000000000"
        );
        let empty = SetEnvironmentVariable::set("E", "").unwrap();
        assert_eq!(
            sent(&empty),
            "444f544e45545f4950435f5631002200040300000200000045000000010000000000"
        );
    }

    #[test]
    fn a_variable_needs_a_name() {
        assert_eq!(
            SetEnvironmentVariable::set("", "x"),
            Err(RequestError::Empty("variable's name"))
        );
        assert!(SetEnvironmentVariable::set("a=b", "x").is_err());
        assert!(SetEnvironmentVariable::set("a\0", "x").is_err());
        assert!(SetEnvironmentVariable::set("a", "x\0").is_err());
    }

    #[test]
    fn the_environment_follows_its_reply() {
        let reply = payload("444f544e45545f4950435f5631001a00ff000000880000000000");
        assert_eq!(ProcessEnvironment.read_success(&reply), Ok(136));
        let continuation = unhex(
            "040000001300000050004100540048003d002f007500730072002f00620069006e003a002f00620069006e0000000c00000048004f004d0045003d002f0074006d0070002f00700000000e00000054004d0050004400490052003d002f0074006d0070002f00700000000d0000004c0041004e0047003d0043002e005500540046002d0038000000",
        );
        assert_eq!(continuation.len(), 136);
        let variables = read_environment(&continuation).unwrap();
        let shown: Vec<String> = variables
            .iter()
            .map(|variable| {
                format!("{}={}", variable.name, variable.value.as_deref().unwrap_or("(none)"))
            })
            .collect();
        assert_eq!(shown, ["PATH=/usr/bin:/bin", "HOME=/tmp/p", "TMPDIR=/tmp/p", "LANG=C.UTF-8"]);
    }

    #[test]
    fn an_entry_without_equals_sign_has_no_value() {
        let mut writer = Writer::new(CommandId::PROCESS_ENVIRONMENT);
        writer.u32(3).string("LONE").string("=C:=C:\\x").string("A=b=c");
        let variables = read_environment(writer.finish().unwrap().payload()).unwrap();
        let variable = |name: &str, value: Option<&str>| Variable {
            name: name.to_owned(),
            value: value.map(str::to_owned),
        };
        assert_eq!(
            variables,
            [variable("LONE", None), variable("=C:", Some("C:\\x")), variable("A", Some("b=c"))]
        );
    }

    #[test]
    fn a_count_beyond_the_bytes_is_a_fault_and_no_allocation() {
        let fault = read_environment(&unhex("ffffffff"));
        assert!(matches!(fault, Err(ReplyFault::Truncated { field: "variable", .. })), "{fault:?}");
    }

    #[test]
    fn perf_map_types_are_never_zero() {
        assert_eq!(sent(&PerfMapType::PerfMap), "444f544e45545f4950435f56310018000405000003000000");
        for (kind, byte) in
            [(PerfMapType::All, 1), (PerfMapType::JitDump, 2), (PerfMapType::PerfMap, 3)]
        {
            assert_eq!(kind.message().unwrap().payload(), [byte, 0, 0, 0]);
        }
    }

    #[test]
    fn a_startup_hook_must_be_an_assembly_that_is_there() {
        let folder = std::env::temp_dir().join(format!("nettrace-ipc-hook-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("hook.dll");
        assert!(matches!(
            StartupHook::new(folder.join("none.dll")),
            Err(RequestError::StartupHook { .. })
        ));
        assert!(matches!(
            StartupHook::new(Path::new("hook.dll")),
            Err(RequestError::StartupHook { .. })
        ));
        std::fs::write(&path, b"text").unwrap();
        assert!(matches!(StartupHook::new(&path), Err(RequestError::StartupHook { .. })));
        std::fs::write(&path, b"MZ..BSJB..\0Main\0").unwrap();
        assert!(matches!(StartupHook::new(&path), Err(RequestError::StartupHook { .. })));
        std::fs::write(&path, b"MZ..BSJB..\0StartupHook\0Initialize\0").unwrap();
        assert!(StartupHook::new(&path).is_ok());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_hook_is_sent_as_the_target_sees_it() {
        let root = std::env::temp_dir().join(format!("nettrace-ipc-root-{}", std::process::id()));
        std::fs::create_dir_all(root.join("tmp/p")).unwrap();
        std::fs::write(root.join("tmp/p/hook.dll"), b"MZ..BSJB..\0StartupHook\0Initialize\0")
            .unwrap();
        let hook = StartupHook::with_root(Path::new("/tmp/p/hook.dll"), &root).unwrap();
        assert_eq!(
            sent(&hook),
            "444f544e45545f4950435f563100380004070000100000002f0074006d0070002f0070002f0068006f006f006b002e0064006c006c000000"
        );
        std::fs::remove_dir_all(&root).unwrap();
    }
}
