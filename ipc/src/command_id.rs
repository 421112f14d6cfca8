//! Command sets and ids, and the deadline of the reply to each command.

use std::fmt;

/// A command set and an id in it, as they stand at offsets 16 and 17 of a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommandId {
    /// The command set.
    pub set: u8,
    /// Id of the command in its set.
    pub id: u8,
}

/// Set, id, name, and the major version of the runtime that brought the command.
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
    /// GenerateCoreDump, 01 01.
    pub const GENERATE_CORE_DUMP: CommandId = CommandId { set: 1, id: 1 };
    /// GenerateCoreDump2, 01 02.
    pub const GENERATE_CORE_DUMP_2: CommandId = CommandId { set: 1, id: 2 };
    /// GenerateCoreDump3, 01 03.
    pub const GENERATE_CORE_DUMP_3: CommandId = CommandId { set: 1, id: 3 };
    /// StopTracing, 02 01.
    pub const STOP_TRACING: CommandId = CommandId { set: 2, id: 1 };
    /// CollectTracing, 02 02.
    pub const COLLECT_TRACING: CommandId = CommandId { set: 2, id: 2 };
    /// CollectTracing2, 02 03.
    pub const COLLECT_TRACING_2: CommandId = CommandId { set: 2, id: 3 };
    /// CollectTracing3, 02 04.
    pub const COLLECT_TRACING_3: CommandId = CommandId { set: 2, id: 4 };
    /// CollectTracing4, 02 05.
    pub const COLLECT_TRACING_4: CommandId = CommandId { set: 2, id: 5 };
    /// CollectTracing5, 02 06.
    pub const COLLECT_TRACING_5: CommandId = CommandId { set: 2, id: 6 };
    /// CollectTracing6, 02 07.
    pub const COLLECT_TRACING_6: CommandId = CommandId { set: 2, id: 7 };
    /// AttachProfiler, 03 01.
    pub const ATTACH_PROFILER: CommandId = CommandId { set: 3, id: 1 };
    /// StartupProfiler, 03 02.
    pub const STARTUP_PROFILER: CommandId = CommandId { set: 3, id: 2 };
    /// ProcessInfo, 04 00.
    pub const PROCESS_INFO: CommandId = CommandId { set: 4, id: 0 };
    /// ResumeRuntime, 04 01.
    pub const RESUME_RUNTIME: CommandId = CommandId { set: 4, id: 1 };
    /// ProcessEnvironment, 04 02.
    pub const PROCESS_ENVIRONMENT: CommandId = CommandId { set: 4, id: 2 };
    /// SetEnvironmentVariable, 04 03.
    pub const SET_ENVIRONMENT_VARIABLE: CommandId = CommandId { set: 4, id: 3 };
    /// ProcessInfo2, 04 04.
    pub const PROCESS_INFO_2: CommandId = CommandId { set: 4, id: 4 };
    /// EnablePerfMap, 04 05.
    pub const ENABLE_PERF_MAP: CommandId = CommandId { set: 4, id: 5 };
    /// DisablePerfMap, 04 06.
    pub const DISABLE_PERF_MAP: CommandId = CommandId { set: 4, id: 6 };
    /// ApplyStartupHook, 04 07.
    pub const APPLY_STARTUP_HOOK: CommandId = CommandId { set: 4, id: 7 };
    /// ProcessInfo3, 04 08.
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

/// Kind of the [`crate::Deadlines`] that applies to the reply to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    Reply,
    Dump,
    StartupHook,
    Profiler,
    Stop,
}
