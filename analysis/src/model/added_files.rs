//! Names and lines from files beside the trace: perf maps, symbol files and PDBs.

use super::Model;
use super::folding::is_framework_module;
use super::pdb_file::{PdbFile, WantedPdb};
use super::perf_map::perf_map;
use super::ranges::ReportedRange;
#[cfg(feature = "symbols")]
use super::symbol_file::{SymbolFile, SymbolFileError};
use crate::hash::HashSet;

impl Model {
    /// Adds the symbols of a perf map (see [`perf_map`]) to a process. If `process_id` is `None`,
    /// adds them to all processes that the trace has reported so far.
    pub fn add_perf_map(&mut self, process_id: Option<u64>, text: &str) {
        if process_id.is_some() {
            self.process_handle(process_id);
        }
        for (start, size, name) in perf_map(text) {
            let name = self.texts.intern(name);
            let wanted = self
                .processes
                .iter_mut()
                .filter(|row| process_id.is_none() || row.id == process_id);
            for row in wanted {
                row.perf_map.add(ReportedRange::Exists, start, size, 0, name);
            }
        }
    }

    /// Adds the symbols of a file to all mappings with this path. Several files of one path are
    /// combined, such as a library and the file with the symbols that were stripped from the
    /// library; add the library first.
    ///
    /// # Errors
    /// [`SymbolFileError::OtherBuild`] if a process used another build of the file.
    #[cfg(feature = "symbols")]
    pub fn add_symbol_file(&mut self, path: &str, file: SymbolFile) -> Result<(), SymbolFileError> {
        for process in &self.processes {
            let of_path = process.code_files().filter(|code| code.path == path);
            for build_id in of_path.filter_map(|code| code.build_id) {
                file.check_build(build_id)?;
            }
        }
        match self.symbol_files.get_mut(path) {
            Some(known) => known.add(&file)?,
            None => {
                self.symbol_files.insert(path.to_owned(), file);
            }
        }
        Ok(())
    }

    /// Returns the symbol file that was added for a path.
    #[cfg(feature = "symbols")]
    pub(crate) fn symbol_file(&self, path: &str) -> Option<&SymbolFile> {
        self.symbol_files.get(path)
    }

    /// Keeps from now on what source lines need.
    pub(crate) fn keep_lines(&mut self) {
        self.has_lines = true;
    }

    /// Returns whether frames have source lines.
    pub(crate) fn has_lines(&self) -> bool {
        self.has_lines
    }

    /// Returns the modules with methods whose PDB was not added yet. There are none unless
    /// [`AnalysisOptions::lines`](crate::AnalysisOptions::lines) asks for lines.
    pub fn wanted_pdbs(&self) -> Vec<WantedPdb> {
        let mut wanted = Vec::new();
        for process in self.processes.iter().filter(|_| self.has_lines) {
            let with_code: HashSet<u64> =
                process.methods.codes().iter().map(|code| code.module_id).collect();
            let modules = process
                .modules
                .rows()
                .iter()
                .filter(|module| with_code.contains(&module.module_id) && !module.is_dynamic);
            wanted.extend(modules.filter_map(|module| {
                let id = module.pdb_id.filter(|id| !self.pdbs.contains_key(id))?;
                let (module_path, pdb_path) = (module.il_path.clone(), module.pdb_path.clone());
                let is_framework = is_framework_module(&module.name);
                Some(WantedPdb { module_path, pdb_path, id, is_framework })
            }));
        }
        wanted.sort();
        wanted.dedup();
        wanted
    }

    /// Adds the lines of a module. The PDB belongs to all modules with its id.
    pub fn add_pdb(&mut self, pdb: PdbFile) {
        self.pdbs.insert(pdb.id(), pdb);
    }
}
