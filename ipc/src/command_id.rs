//! Command sets and ids, and the deadline of the reply to each command.

use std::fmt;

/// A command set and the id of a command in it. A message has them at offsets 16 and 17.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommandId {
    /// Number of the command set.
    pub set: u8,
    /// Id of the command in the set.
    pub id: u8,
}

/// The known commands: set and id, name, and the major version of the runtime that introduced the
/// command.
const KNOWN: &[(CommandId, &str, u32)] = &[
    (CommandId::GENERATE_CORE_DUMP, "GenerateCoreDump", 3),
    (CommandId::GENERATE_CORE_DUMP_2, "GenerateCoreDump2", 6),
    (CommandId::GENERATE_CORE_DUMP_3, "GenerateCoreDump3", 7),
    (CommandId::STOP_TRACING, "StopTracing", 3),
    (CommandId::COLLECT_TRACING, "CollectTracing", 3),
    (CommandId::COLLECT_TRACING_2, "CollectTracing2", 3),
    (CommandId::COLLECT_TRACING_3, "CollectTracing3", 9),
    (CommandId::COLLECT_TRACING_4, "CollectTracing4", 9),
    (CommandId::COLLECT_TRACING_5, "CollectTracing5", 10),
    (CommandId::COLLECT_TRACING_6, "CollectTracing6", 11),
    (CommandId::ATTACH_PROFILER, "AttachProfiler", 3),
    (CommandId::STARTUP_PROFILER, "StartupProfiler", 6),
    (CommandId::PROCESS_INFO, "ProcessInfo", 5),
    (CommandId::RESUME_RUNTIME, "ResumeRuntime", 5),
    (CommandId::PROCESS_ENVIRONMENT, "ProcessEnvironment", 6),
    (CommandId::SET_ENVIRONMENT_VARIABLE, "SetEnvironmentVariable", 6),
    (CommandId::PROCESS_INFO_2, "ProcessInfo2", 6),
    (CommandId::ENABLE_PERF_MAP, "EnablePerfMap", 8),
    (CommandId::DISABLE_PERF_MAP, "DisablePerfMap", 8),
    (CommandId::APPLY_STARTUP_HOOK, "ApplyStartupHook", 8),
    (CommandId::PROCESS_INFO_3, "ProcessInfo3", 8),
];

impl CommandId {
    pub(crate) const SERVER_SET: u8 = 0xFF;
    /// GenerateCoreDump, which is 01 01 in messages.
    pub const GENERATE_CORE_DUMP: CommandId = CommandId { set: 1, id: 1 };
    /// GenerateCoreDump2, which is 01 02 in messages.
    pub const GENERATE_CORE_DUMP_2: CommandId = CommandId { set: 1, id: 2 };
    /// GenerateCoreDump3, which is 01 03 in messages.
    pub const GENERATE_CORE_DUMP_3: CommandId = CommandId { set: 1, id: 3 };
    /// StopTracing, which is 02 01 in messages.
    pub const STOP_TRACING: CommandId = CommandId { set: 2, id: 1 };
    /// CollectTracing, which is 02 02 in messages.
    pub const COLLECT_TRACING: CommandId = CommandId { set: 2, id: 2 };
    /// CollectTracing2, which is 02 03 in messages.
    pub const COLLECT_TRACING_2: CommandId = CommandId { set: 2, id: 3 };
    /// CollectTracing3, which is 02 04 in messages.
    pub const COLLECT_TRACING_3: CommandId = CommandId { set: 2, id: 4 };
    /// CollectTracing4, which is 02 05 in messages.
    pub const COLLECT_TRACING_4: CommandId = CommandId { set: 2, id: 5 };
    /// CollectTracing5, which is 02 06 in messages.
    pub const COLLECT_TRACING_5: CommandId = CommandId { set: 2, id: 6 };
    /// CollectTracing6, which is 02 07 in messages.
    pub const COLLECT_TRACING_6: CommandId = CommandId { set: 2, id: 7 };
    /// AttachProfiler, which is 03 01 in messages.
    pub const ATTACH_PROFILER: CommandId = CommandId { set: 3, id: 1 };
    /// StartupProfiler, which is 03 02 in messages.
    pub const STARTUP_PROFILER: CommandId = CommandId { set: 3, id: 2 };
    /// ProcessInfo, which is 04 00 in messages.
    pub const PROCESS_INFO: CommandId = CommandId { set: 4, id: 0 };
    /// ResumeRuntime, which is 04 01 in messages.
    pub const RESUME_RUNTIME: CommandId = CommandId { set: 4, id: 1 };
    /// ProcessEnvironment, which is 04 02 in messages.
    pub const PROCESS_ENVIRONMENT: CommandId = CommandId { set: 4, id: 2 };
    /// SetEnvironmentVariable, which is 04 03 in messages.
    pub const SET_ENVIRONMENT_VARIABLE: CommandId = CommandId { set: 4, id: 3 };
    /// ProcessInfo2, which is 04 04 in messages.
    pub const PROCESS_INFO_2: CommandId = CommandId { set: 4, id: 4 };
    /// EnablePerfMap, which is 04 05 in messages.
    pub const ENABLE_PERF_MAP: CommandId = CommandId { set: 4, id: 5 };
    /// DisablePerfMap, which is 04 06 in messages.
    pub const DISABLE_PERF_MAP: CommandId = CommandId { set: 4, id: 6 };
    /// ApplyStartupHook, which is 04 07 in messages.
    pub const APPLY_STARTUP_HOOK: CommandId = CommandId { set: 4, id: 7 };
    /// ProcessInfo3, which is 04 08 in messages.
    pub const PROCESS_INFO_3: CommandId = CommandId { set: 4, id: 8 };

    /// Returns the name that the protocol's document gives the command, if the command is
    /// known.
    pub fn name(self) -> Option<&'static str> {
        KNOWN.iter().find(|(id, ..)| *id == self).map(|(_, name, _)| *name)
    }

    /// Returns the major version of the first runtime that has the command. Prereleases of that
    /// version may lack it.
    pub fn since(self) -> Option<u32> {
        KNOWN.iter().find(|(id, ..)| *id == self).map(|(.., since)| *since)
    }

    /// Returns every command with a name.
    pub fn known() -> impl Iterator<Item = CommandId> {
        KNOWN.iter().map(|(id, ..)| *id)
    }
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "command {:02x} {:02x}", self.set, self.id),
        }
    }
}

impl fmt::Debug for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x}{:02x} {}", self.set, self.id, self.name().unwrap_or("unknown"))
    }
}

/// Which of the [`crate::Deadlines`] applies to the reply to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    Reply,
    Dump,
    StartupHook,
    Profiler,
    Stop,
}
