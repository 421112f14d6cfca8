//! The modules to which methods belong: files, and code generated in memory.

use super::names::shorten;
use crate::hash::HashMap;
use nettrace_parser::Guid;
use nettrace_parser::view::{self, ModuleChange};

/// A module that a process has loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Module {
    /// Id by which methods refer to the module.
    pub(crate) module_id: u64,
    pub(crate) assembly_id: u64,
    /// File name without its folder and without `.dll` or `.exe`.
    pub(crate) name: String,
    /// Path of the file that contains the IL, as the trace stores it.
    pub(crate) il_path: String,
    /// Path of the file that contains the precompiled code, as the trace stores it; usually empty.
    pub(crate) native_path: String,
    /// Path that the PDB had when the module was built, as the trace stores it.
    pub(crate) pdb_path: String,
    /// Id of the PDB, if the module has a portable one.
    pub(crate) pdb_id: Option<Guid>,
    /// Whether the module contains precompiled code that the runtime uses.
    pub(crate) is_ready_to_run: bool,
    /// Whether the module was generated in memory.
    pub(crate) is_dynamic: bool,
    /// Time of the load in ticks; `None` if the trace has no load event.
    pub(crate) loaded_ticks: Option<u64>,
    /// Time of the unload in ticks, if there was one.
    pub(crate) unloaded_ticks: Option<u64>,
}

impl Module {
    /// Returns whether another module with the same id is the same module. Its files and its
    /// assembly decide.
    fn is_same(&self, other: &Module) -> bool {
        self.assembly_id == other.assembly_id
            && self.il_path == other.il_path
            && self.native_path == other.native_path
    }
}

/// The modules of one process.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModuleTable {
    rows: Vec<Module>,
    /// Modules that had each id, oldest first.
    by_id: HashMap<u64, Vec<Owner>>,
}

/// A module that had an id for some time.
#[derive(Debug, Clone, Copy)]
struct Owner {
    row: u32,
    /// Time of the latest unload of this module or of an earlier owner of the id, in ticks; 0 if
    /// there was none.
    unloaded: u64,
}

impl ModuleTable {
    pub(crate) fn learn(&mut self, module: &view::Module<'_>, ticks: u64) {
        self.change(module.module_id, module.change, ticks, || new_row(module, ticks));
    }

    fn change(&mut self, id: u64, change: ModuleChange, ticks: u64, row_of: impl Fn() -> Module) {
        let owners = self.by_id.entry(id).or_default();
        let newest = owners.last_mut();
        let row = newest.as_ref().and_then(|owner| self.rows.get_mut(owner.row as usize));
        let is_new = match (&row, change) {
            (None, _) => true,
            (Some(_), ModuleChange::Unload) => false,
            (Some(row), _) if row.unloaded_ticks.is_none() => false,
            // A process that exits unloads all modules, and the rundown lists them afterwards. Or
            // the id belongs to a new module whose load event was lost.
            (Some(row), ModuleChange::AtStart | ModuleChange::AtEnd) => !row.is_same(&row_of()),
            // The id was reused.
            (Some(_), _) => true,
        };
        if is_new {
            let Ok(place) = u32::try_from(self.rows.len()) else { return };
            let row = row_of();
            let before = newest.map_or(0, |owner| owner.unloaded);
            owners
                .push(Owner { row: place, unloaded: before.max(row.unloaded_ticks.unwrap_or(0)) });
            self.rows.push(row);
        } else if let (Some(row), Some(owner), ModuleChange::Unload) = (row, newest, change) {
            let unloaded = *row.unloaded_ticks.get_or_insert(ticks);
            owner.unloaded = owner.unloaded.max(unloaded);
        }
    }

    /// Returns the module that had an id at the time `ticks`, or else the newest module that had
    /// it.
    pub(crate) fn find(&self, module_id: u64, ticks: u64) -> Option<&Module> {
        let owners = self.by_id.get(&module_id)?;
        let newest = self.rows.get(owners.last()?.row as usize)?;
        if newest.loaded_ticks.is_none_or(|loaded| loaded <= ticks) {
            return Some(newest);
        }
        // The first module that was unloaded later.
        let older = owners.get(owners.partition_point(|owner| owner.unloaded <= ticks));
        older.and_then(|owner| self.rows.get(owner.row as usize)).or(Some(newest))
    }

    /// Returns all modules, in the order in which they were first reported.
    pub(crate) fn rows(&self) -> &[Module] {
        &self.rows
    }
}

fn new_row(module: &view::Module<'_>, ticks: u64) -> Module {
    let mut il_path = module.il_path.to_string();
    let mut native_path = module.native_path.to_string();
    let mut pdb_path = module.pdb_path.map(|path| path.to_string()).unwrap_or_default();
    [&mut il_path, &mut native_path, &mut pdb_path].into_iter().for_each(shorten);
    let path = if il_path.is_empty() { &native_path } else { &il_path };
    Module {
        module_id: module.module_id,
        assembly_id: module.assembly_id,
        name: short_name(path).to_owned(),
        pdb_path,
        pdb_id: module.pdb_signature.filter(|id| !id.is_zero()),
        is_ready_to_run: module.is_ready_to_run(),
        is_dynamic: module.is_dynamic(),
        loaded_ticks: (module.change == ModuleChange::Load).then_some(ticks),
        unloaded_ticks: (module.change == ModuleChange::Unload).then_some(ticks),
        il_path,
        native_path,
    }
}

/// Returns the file name of a path without `.dll`, `.exe` or `.winmd`, and without a `.ni` before
/// that, which precompiled files have. Other extensions are kept.
pub(crate) fn short_name(path: &str) -> &str {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let ends = |end: &str| {
        let at = file.len().checked_sub(end.len())?;
        let (name, tail) = file.split_at_checked(at)?;
        (tail.eq_ignore_ascii_case(end) && !name.is_empty()).then_some(name)
    };
    let name = [".dll", ".exe", ".winmd"].into_iter().find_map(ends);
    name.map_or(file, |name| {
        name.strip_suffix(".ni").filter(|rest| !rest.is_empty()).unwrap_or(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modules_short_name_is_its_file_name() {
        let names = [
            "/a/b/System.Private.CoreLib.dll",
            "/a/System.Private.CoreLib.ni.dll",
            "C:\\x\\App.EXE",
            "libc.so.6",
            "Emitted",
            "é.dll",
            ".dll",
            "x.ni",
        ];
        let core = "System.Private.CoreLib";
        let short = [core, core, "App", "libc.so.6", "Emitted", "é", ".dll", "x.ni"];
        assert_eq!(names.map(short_name), short);
    }

    /// Gives one id to so many modules that a search through all of them would take 10^10 steps.
    #[test]
    fn an_id_that_was_given_to_many_modules_means_the_one_of_the_time() {
        let mut modules = ModuleTable::default();
        let (count, id) = (100_000, 7);
        for at in 0..count {
            let row = || Module {
                module_id: id,
                assembly_id: at,
                name: String::new(),
                il_path: String::new(),
                native_path: String::new(),
                pdb_path: String::new(),
                pdb_id: None,
                is_ready_to_run: false,
                is_dynamic: false,
                loaded_ticks: Some(10 * at),
                unloaded_ticks: None,
            };
            modules.change(id, ModuleChange::Load, 10 * at, row);
            if at + 1 < count {
                modules.change(id, ModuleChange::Unload, 10 * at + 5, row);
                modules.change(id, ModuleChange::Unload, 10 * at + 7, row);
            }
        }
        let found = |ticks| modules.find(id, ticks).unwrap().assembly_id;
        for at in 0..count {
            assert_eq!(found(10 * at + 4), at);
            // Between two modules, the id means the later one.
            assert_eq!(found(10 * at + 5), if at + 1 == count { at } else { at + 1 });
        }
        assert_eq!((modules.rows().len(), found(u64::MAX)), (100_000, count - 1));
    }
}
