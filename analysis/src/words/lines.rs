//! Sentences about methods without source lines, and what would give them.

use crate::model::LineCoverage;
use nettrace_export::units::{count, counted};

/// Maximum number of modules that are named.
const MAX_MODULES: usize = 5;

impl LineCoverage {
    /// Returns sentences that say which methods have no lines, and what would give them; none if all
    /// have.
    pub fn advice(&self) -> Vec<String> {
        let mut sentences: Vec<String> = self
            .without_pdb
            .iter()
            .take(MAX_MODULES)
            .map(|row| {
                let methods = counted(row.methods, "method");
                let (module, id) = (&row.module, row.id);
                format!("{methods} of {module} without lines: no PDB {{{id}}}; give its folder with --symbols")
            })
            .collect();
        let further = self.without_pdb.get(MAX_MODULES..).unwrap_or_default();
        if !further.is_empty() {
            let methods = further.iter().fold(0u64, |sum, row| sum.saturating_add(row.methods));
            let (methods, modules) = (counted(methods, "method"), count(further.len() as u64));
            sentences.push(format!("{methods} of {modules} more modules without lines: no PDB"));
        }
        if self.without_map > 0 {
            let methods = counted(self.without_map, "method");
            sentences.push(format!(
                "{methods} with the first line only (+): the trace has no map of their code; record \
                 with --lines, or stop the session before the process ends"
            ));
        }
        if self.beyond_limit > 0 {
            let methods = counted(self.beyond_limit, "method");
            sentences.push(format!("{methods} without lines: their PDBs have more than are kept"));
        }
        sentences
    }
}
