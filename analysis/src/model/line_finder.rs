//! Finds the source line of an address: code, then IL by the [map](super::il_maps) of the code, then
//! line by the PDB of the module.

use super::folding::is_framework_module;
use super::handle::{MethodHandle, ProcessHandle};
use super::il_maps::IlMap;
use super::source_line::SourceLine;
use super::{Model, Process};
use crate::hash::{HashMap, HashSet};
use nettrace_parser::Guid;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of bytes of PDBs that become lines: sequence points, of which each takes three
/// or more, and names of files. A hundred thousand methods have some 20 MB.
const MAX_LINE_BYTES: usize = 32 << 20;

/// How many methods in the stacks of a trace have lines, and why others have none. The compiler's own
/// methods, which have no lines, are not counted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LineCoverage {
    /// Number of methods with lines.
    pub found: u64,
    /// Number of compiled methods of which only the first line is known, because the trace has no
    /// map of their code.
    pub without_map: u64,
    /// Number of methods of which only the first line is known, because their code was precompiled.
    pub precompiled: u64,
    /// Modules whose PDB is missing, those with the most methods first.
    pub without_pdb: Vec<ModuleWithoutPdb>,
    /// Number of the framework's methods without a PDB.
    pub of_framework: u64,
    /// Number of methods without lines because PDBs have more of them than are kept.
    pub beyond_limit: u64,
}

/// A module whose PDB is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModuleWithoutPdb {
    /// Short name of the module.
    pub module: String,
    /// Id of the PDB.
    pub id: Guid,
    /// Number of methods in the stacks of the trace.
    pub methods: u64,
}

/// A line as the finder has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Line {
    /// Index of the file in [`LineFinder::files`].
    file: u32,
    line: u32,
    is_first: bool,
}

/// The visible lines of a version of a method's code.
struct MethodLines<'m> {
    start: u64,
    map: Option<&'m IlMap>,
    /// First IL offset of each line, in order.
    lines: Vec<(u32, Line)>,
}

impl MethodLines<'_> {
    fn at(&self, address: u64) -> Option<Line> {
        let (_, first) = *self.lines.first()?;
        let Some(map) = self.map else { return Some(Line { is_first: true, ..first }) };
        let il_offset = map.il_offset(address.saturating_sub(self.start));
        let end = self.lines.partition_point(|(at, _)| *at <= il_offset);
        let before = end.checked_sub(1).and_then(|at| self.lines.get(at));
        before.map(|(_, line)| *line).or(Some(first))
    }
}

/// A source file: its path, and its address on the web.
#[derive(Debug, Clone, Default)]
struct SourceFile {
    path: Arc<str>,
    url: Option<Arc<str>>,
}

/// Finds lines, and counts the methods that have none.
pub(super) struct LineFinder<'m> {
    model: &'m Model,
    methods: HashMap<(u32, u32), Option<MethodLines<'m>>>,
    files: Vec<SourceFile>,
    /// Index of each document in `files`.
    of_document: HashMap<(Guid, u32), u32>,
    /// Methods that were counted, by process and id.
    counted: HashSet<(u32, u64)>,
    coverage: LineCoverage,
    without_pdb: BTreeMap<Guid, ModuleWithoutPdb>,
    /// Rest of [`MAX_LINE_BYTES`].
    room: usize,
}

impl<'m> LineFinder<'m> {
    pub(super) fn new(model: &'m Model) -> LineFinder<'m> {
        LineFinder {
            model,
            methods: HashMap::default(),
            files: Vec::new(),
            of_document: HashMap::default(),
            counted: HashSet::default(),
            coverage: LineCoverage::default(),
            without_pdb: BTreeMap::new(),
            room: MAX_LINE_BYTES,
        }
    }

    /// Returns the line of an address in a method's code. A return address must be that of the call.
    pub(super) fn find(
        &mut self,
        (process, row): (ProcessHandle, &'m Process),
        method: MethodHandle,
        address: u64,
        ticks: u64,
    ) -> Option<Line> {
        let key = (process.0, method.0);
        if !self.methods.contains_key(&key) {
            let lines = self.lines_of((process, row), method, ticks);
            self.methods.insert(key, lines);
        }
        self.methods.get(&key)?.as_ref()?.at(address)
    }

    fn lines_of(
        &mut self,
        (process, row): (ProcessHandle, &'m Process),
        method: MethodHandle,
        ticks: u64,
    ) -> Option<MethodLines<'m>> {
        let code = row.methods.code(method)?;
        let module = row.modules.find(code.module_id, ticks)?;
        let id = module.pdb_id.filter(|_| code.token != 0)?;
        let is_new = self.counted.insert((process.0, code.method_id));
        let Some(pdb) = self.model.pdbs.get(&id) else {
            if is_new && is_framework_module(&module.name) {
                self.coverage.of_framework = self.coverage.of_framework.saturating_add(1);
            } else if is_new {
                let row = self.without_pdb.entry(id).or_insert_with(|| ModuleWithoutPdb {
                    module: module.name.clone(),
                    id,
                    methods: 0,
                });
                row.methods = row.methods.saturating_add(1);
            }
            return None;
        };
        let mut lines = Vec::new();
        let Some(points) = pdb.0.sequence_points(code.token, &mut self.room) else {
            self.coverage.beyond_limit =
                self.coverage.beyond_limit.saturating_add(u64::from(is_new));
            return None;
        };
        for point in points {
            // Hidden IL belongs to the line before it.
            if point.line == 0 {
                continue;
            }
            let file = match self.of_document.get(&(id, point.document)) {
                Some(file) => *file,
                None => {
                    let file = u32::try_from(self.files.len()).ok()?;
                    let path = pdb.0.document(point.document).unwrap_or_default();
                    let url = pdb.0.source_url(&path);
                    let bytes = path.len().saturating_add(url.as_ref().map_or(0, String::len));
                    let left = self.room.checked_sub(bytes);
                    self.room = left.unwrap_or(0);
                    let named = SourceFile { path: path.into(), url: url.map(Arc::from) };
                    self.files.push(left.map(|_| named).unwrap_or_default());
                    self.of_document.insert((id, point.document), file);
                    file
                }
            };
            lines.push((point.il_offset, Line { file, line: point.line, is_first: false }));
        }
        let is_mapped = !code.is_cold;
        let map = row.il_maps.find(code.method_id, code.rejit_id, ticks).filter(|_| is_mapped);
        if is_new && !lines.is_empty() {
            let counter = match map {
                Some(_) => &mut self.coverage.found,
                None if code.is_jitted => &mut self.coverage.without_map,
                None => &mut self.coverage.precompiled,
            };
            *counter = counter.saturating_add(1);
        }
        Some(MethodLines { start: code.start, map, lines })
    }

    /// Returns the line with the name of its file.
    pub(super) fn source_line(&self, line: Line) -> Option<SourceLine> {
        let Line { file, line, is_first } = line;
        let SourceFile { path, url } = self.files.get(file as usize)?.clone();
        Some(SourceLine { file: path, line, url, is_first })
    }

    pub(super) fn into_coverage(self) -> LineCoverage {
        let mut without_pdb: Vec<ModuleWithoutPdb> = self.without_pdb.into_values().collect();
        without_pdb.sort_by(|a, b| (b.methods, &a.module).cmp(&(a.methods, &b.module)));
        LineCoverage { without_pdb, ..self.coverage }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_without_a_map_has_the_first_line_of_its_method() {
        let line = |line| Line { file: 0, line, is_first: false };
        let lines = vec![(0, line(7)), (9, line(8))];
        let found = MethodLines { start: 100, map: None, lines }.at(140).unwrap();
        assert_eq!(found, Line { is_first: true, ..line(7) });
        assert_eq!(MethodLines { start: 100, map: None, lines: Vec::new() }.at(140), None);
    }
}
