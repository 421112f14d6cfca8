//! Modules: the files and the memory that methods come from.

use super::hash::NumberMap;
use nettrace_parser::view::{self, ModuleChange};

/// A module of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Module {
    /// Identifies it; methods refer to this number.
    pub module_id: u64,
    /// Identifies its assembly.
    pub assembly_id: u64,
    /// Short name: the file's, without folder and without `.dll` or `.exe`.
    pub name: String,
    /// Path of the file with IL, as stored.
    pub il_path: String,
    /// Path of the file with precompiled code, as stored; mostly empty.
    pub native_path: String,
    /// Path of the PDB where it was built, as stored.
    pub pdb_path: String,
    /// Whether it holds precompiled code that the runtime uses.
    pub is_ready_to_run: bool,
    /// Whether it was made in memory.
    pub is_dynamic: bool,
    /// Tick of its load; `None`: it was there before, or its load was not recorded.
    pub loaded_ticks: Option<u64>,
    /// Tick of its unload, if it went.
    pub unloaded_ticks: Option<u64>,
}

/// The modules of one process.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    rows: Vec<Module>,
    /// The newest row of each id.
    by_id: NumberMap<u64, u32>,
}

impl Modules {
    pub(crate) fn learn(&mut self, module: &view::Module<'_>, ticks: u64) {
        let known = self.by_id.get(&module.module_id).copied();
        let row = known.and_then(|row| self.rows.get_mut(row as usize));
        let is_new = match (&row, module.change) {
            (None, _) => true,
            // Its id was given to another.
            (Some(row), change) => row.unloaded_ticks.is_some() && change != ModuleChange::Unload,
        };
        if is_new {
            let Ok(place) = u32::try_from(self.rows.len()) else { return };
            self.by_id.insert(module.module_id, place);
            self.rows.push(new_row(module, ticks));
        } else if let (Some(row), ModuleChange::Unload) = (row, module.change) {
            row.unloaded_ticks.get_or_insert(ticks);
        }
    }

    /// The module of an id that lived at `ticks`; else the newest.
    pub(crate) fn find(&self, module_id: u64, ticks: u64) -> Option<&Module> {
        let newest = self.rows.get(*self.by_id.get(&module_id)? as usize)?;
        if newest.loaded_ticks.is_none_or(|loaded| loaded <= ticks) {
            return Some(newest);
        }
        let is_older = |row: &&Module| {
            row.module_id == module_id && row.unloaded_ticks.is_some_and(|unloaded| ticks < unloaded)
        };
        self.rows.iter().find(is_older).or(Some(newest))
    }

    /// All modules, in the order in which they were first told of.
    pub(crate) fn rows(&self) -> &[Module] {
        &self.rows
    }
}

fn new_row(module: &view::Module<'_>, ticks: u64) -> Module {
    let il_path = module.il_path.to_string();
    let native_path = module.native_path.to_string();
    let path = if il_path.is_empty() { &native_path } else { &il_path };
    Module {
        module_id: module.module_id,
        assembly_id: module.assembly_id,
        name: short_name(path).to_owned(),
        pdb_path: module.pdb_path.map(|path| path.to_string()).unwrap_or_default(),
        is_ready_to_run: module.is_ready_to_run(),
        is_dynamic: module.is_dynamic(),
        loaded_ticks: (module.change == ModuleChange::Load).then_some(ticks),
        unloaded_ticks: (module.change == ModuleChange::Unload).then_some(ticks),
        il_path,
        native_path,
    }
}

/// A path's file name without `.dll`, `.exe` and `.winmd`; other endings belong to the name.
pub(crate) fn short_name(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let ends = |end: &str| {
        let at = file.len().checked_sub(end.len())?;
        let (name, tail) = file.split_at_checked(at)?;
        (tail.eq_ignore_ascii_case(end) && !name.is_empty()).then_some(name)
    };
    [".dll", ".exe", ".winmd"].into_iter().find_map(ends).unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modules_short_name_is_its_file_name() {
        let names =
            ["/a/b/System.Private.CoreLib.dll", "C:\\x\\App.EXE", "libc.so.6", "Emitted", "é.dll", ".dll"];
        let short = ["System.Private.CoreLib", "App", "libc.so.6", "Emitted", "é", ".dll"];
        assert_eq!(names.map(short_name), short);
    }
}
