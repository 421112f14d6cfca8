//! View of modules, which are the files and memory to which methods belong.

use super::{KnownProvider, View, number, number32, text, value};
use crate::event::Event;
use crate::payload::{Utf16, Value};
use nettrace_guid::Guid;

/// Module: runtime events 152 (load) and 153 (unload), rundown events 153 (start) and 154 (end),
/// versions 0 to 3.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Module<'r> {
    /// Reason why the module is reported.
    pub change: ModuleChange,
    /// Id of the module.
    pub module_id: u64,
    /// Id of the module's assembly.
    pub assembly_id: u64,
    /// Flags as stored, which functions such as [`Module::is_dynamic`] interpret.
    pub flags: u32,
    /// Path of the file with its IL.
    pub il_path: Utf16<'r>,
    /// Path of the file with its precompiled code.
    pub native_path: Utf16<'r>,
    /// Signature of the managed PDB; `None` before version 2.
    pub pdb_signature: Option<Guid>,
    /// Age of the managed PDB; `None` before version 2.
    pub pdb_age: Option<u32>,
    /// Path of the managed PDB at build time; `None` before version 2.
    pub pdb_path: Option<Utf16<'r>>,
}

/// Reason why a module is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModuleChange {
    /// The module was loaded.
    Load,
    /// The module was unloaded.
    Unload,
    /// The module existed when the session started.
    AtStart,
    /// The module existed when the session ended.
    AtEnd,
}

impl<'r> View<'r> for Module<'r> {
    fn from_event(event: &Event<'r>) -> Option<Module<'r>> {
        let change = match (event.known_provider(), event.id()) {
            (KnownProvider::Runtime, 152) => ModuleChange::Load,
            (KnownProvider::Runtime, 153) => ModuleChange::Unload,
            (KnownProvider::Rundown, 153) => ModuleChange::AtStart,
            (KnownProvider::Rundown, 154) => ModuleChange::AtEnd,
            _ => return None,
        };
        let fields = &mut event.fields();
        let module_id = number(fields, "ModuleID")?;
        let assembly_id = number(fields, "AssemblyID")?;
        let flags = number32(fields, "ModuleFlags")?;
        let il_path = text(fields, "ModuleILPath")?;
        let native_path = text(fields, "ModuleNativePath")?;
        let has_pdb = event.version() >= 2;
        let pdb_signature = if has_pdb { value(fields, "ManagedPdbSignature") } else { None };
        Some(Module {
            change,
            module_id,
            assembly_id,
            flags,
            il_path,
            native_path,
            pdb_signature: match pdb_signature {
                Some(Value::Guid(guid)) => Some(guid),
                _ => None,
            },
            pdb_age: if has_pdb { number32(fields, "ManagedPdbAge") } else { None },
            pdb_path: if has_pdb { text(fields, "ManagedPdbBuildPath") } else { None },
        })
    }
}

impl<'r> Module<'r> {
    /// Returns whether the module contains precompiled code that the runtime uses.
    pub fn is_ready_to_run(&self) -> bool {
        self.flags & 0x20 != 0
    }

    /// Returns whether the module was generated in memory.
    pub fn is_dynamic(&self) -> bool {
        self.flags & 4 != 0
    }
}
