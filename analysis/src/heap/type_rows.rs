//! Full names of the types of a heap dump.
//!
//! The runtime describes each type once per session, and omits the outer types of a nested type:
//! `Entry[K,V]`. The full name comes from one of three places:
//!
//! 1. The file of the module, if it is at hand ([`ModuleTypes`]).
//! 2. The name of a generic type with the nested type as an argument. Names of arguments are
//!    complete, and the ids of arguments are known.
//! 3. Names of methods, if exactly one type of the module has the last name.

use super::module_types::ModuleTypes;
use crate::hash::HashMap;
use crate::model::{Model, NameOptions, ProcessHandle, split_outside, type_text};
use nettrace_parser::view::{HeapRowsOf as Rows, HeapType as Row};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum nesting of arrays in arrays.
const DEPTH: usize = 32;

/// The types that the trace has described so far.
#[derive(Debug, Default)]
pub(super) struct TypeRows {
    processes: BTreeMap<ProcessHandle, HashMap<u64, TypeRow>>,
    /// Types that were read from module files, by the path of the module as the trace stores it.
    of_files: BTreeMap<String, ModuleTypes>,
}

#[derive(Debug, Clone)]
pub(super) struct TypeRow {
    pub(super) module_id: u64,
    flags: u32,
    /// Metadata token; 0 if it is unknown.
    token: u32,
    /// Name as the runtime writes it.
    pub(super) name: String,
    parameters: Box<[u64]>,
}

impl TypeRow {
    const ARRAY: u32 = 8;

    fn is_array(&self) -> bool {
        self.flags & TypeRow::ARRAY != 0
    }

    /// Returns the brackets of an array, such as `[,]`. The rank is only in the name with .NET Core
    /// 3.1. Other versions have it in the flags, and may omit the name.
    fn suffix(&self) -> String {
        if let Some(at) = self.name.rfind('[').filter(|_| self.name.ends_with(']')) {
            return self.name.get(at..).unwrap_or_default().to_owned();
        }
        let rank = (self.flags >> 8 & 0x3f).max(1);
        format!("[{}]", ",".repeat(rank.saturating_sub(1) as usize))
    }
}

impl TypeRows {
    pub(super) fn learn<'r>(&mut self, process: ProcessHandle, rows: Rows<'r, Row<'r>>) {
        let types = self.processes.entry(process).or_default();
        for row in rows {
            let known = TypeRow {
                module_id: row.module_id,
                flags: row.flags,
                token: row.token,
                name: row.name.to_string(),
                parameters: row.parameters().collect(),
            };
            // A repeated description without a name is ignored.
            match types.get_mut(&row.type_id) {
                Some(before) if known.name.is_empty() && !before.name.is_empty() => {}
                Some(before) => *before = known,
                None => drop(types.insert(row.type_id, known)),
            }
        }
    }

    /// Adds a type that Mono reports; its name is complete.
    pub(super) fn name(
        &mut self,
        process: ProcessHandle,
        (type_id, module_id, name): (u64, u64, String),
    ) {
        let row = TypeRow { module_id, flags: 0, token: 0, name, parameters: Box::default() };
        self.processes.entry(process).or_default().insert(type_id, row);
    }

    /// Returns the paths, as the trace stores them, of modules with types that may be nested.
    pub(super) fn modules<'m>(&self, model: &'m Model) -> BTreeSet<&'m str> {
        let mut ids: BTreeSet<(ProcessHandle, u64)> = BTreeSet::new();
        for (process, rows) in &self.processes {
            let may_be_nested = |row: &&TypeRow| row.token != 0 && !row.name.contains('.');
            ids.extend(rows.values().filter(may_be_nested).map(|row| (*process, row.module_id)));
        }
        let path = |(process, id)| path_of(model, process, id);
        ids.into_iter().filter_map(path).collect()
    }

    pub(super) fn add_file(&mut self, path: &str, types: ModuleTypes) {
        self.of_files.insert(path.to_owned(), types);
    }

    pub(super) fn rows_of(&self, process: ProcessHandle) -> Option<&HashMap<u64, TypeRow>> {
        self.processes.get(&process)
    }
}

/// Returns the path of a module's file, as the trace stores it.
fn path_of(model: &Model, process: ProcessHandle, module_id: u64) -> Option<&str> {
    let module = model.process(process)?.modules.find(module_id, u64::MAX)?;
    Some(module.il_path.as_str()).filter(|path| !path.is_empty())
}

/// Finds the full names of the types of one process.
pub(super) struct TypeNames<'a> {
    rows: Option<&'a HashMap<u64, TypeRow>>,
    /// Types that were read from module files, by module id.
    of_files: HashMap<u64, &'a ModuleTypes>,
    /// Full names of nested types that occur as generic arguments, as the runtime writes them, by
    /// type id.
    whole: HashMap<u64, String>,
    /// Full names that occur in names of methods, by module id and last name of the type; empty if
    /// several types have this last name.
    of_methods: HashMap<(u64, &'a str), &'a str>,
}

impl<'a> TypeNames<'a> {
    pub(super) fn new(
        rows: &'a TypeRows,
        process: ProcessHandle,
        model: &'a Model,
    ) -> TypeNames<'a> {
        let mut names = TypeNames {
            rows: rows.rows_of(process),
            of_files: HashMap::default(),
            whole: HashMap::default(),
            of_methods: HashMap::default(),
        };
        for row in names.rows.into_iter().flat_map(|rows| rows.values()) {
            let path = path_of(model, process, row.module_id);
            if let Some(types) = path.and_then(|path| rows.of_files.get(path)) {
                names.of_files.insert(row.module_id, types);
            }
            names.learn_arguments(&row.name, &row.parameters, 0);
        }
        // If several types of a module have the same last name, methods do not tell them apart.
        // Compilers use names such as `<>c` many times.
        let mut reported: HashMap<(u64, &str), u32> = HashMap::default();
        for row in
            names.rows.into_iter().flat_map(|rows| rows.values()).filter(|row| !row.is_array())
        {
            let count = reported.entry((row.module_id, without_arguments(&row.name))).or_default();
            *count = count.saturating_add(1);
        }
        let texts = model.texts();
        for code in model.process(process).into_iter().flat_map(|process| process.methods()) {
            let namespace = texts.get(code.namespace);
            let path = without_arguments(namespace);
            let last = path.rsplit('+').next().unwrap_or(path);
            let is_nested = last.len() < path.len();
            let last = if is_nested { last } else { path };
            if last.starts_with('<') || reported.get(&(code.module_id, last)) != Some(&1) {
                continue;
            }
            let whole = names.of_methods.entry((code.module_id, last)).or_insert(path);
            if *whole != path {
                *whole = "";
            }
        }
        names
    }

    /// Returns the id of the module that has a type of this name; `None` if no module has it.
    pub(super) fn module_of(&self, name: &str) -> Option<u64> {
        let mut rows = self.rows.into_iter().flat_map(|rows| rows.values());
        rows.find(|row| row.name == name).map(|row| row.module_id).filter(|id| *id != 0)
    }

    /// Learns the full names of generic arguments from the name of a type that has them.
    fn learn_arguments(&mut self, name: &str, parameters: &[u64], depth: usize) {
        let Some(rows) = self.rows.filter(|_| depth < DEPTH) else { return };
        let path = without_arguments(name);
        let inside = name.get(path.len()..).and_then(|rest| rest.strip_prefix('['));
        let Some(inside) = inside.and_then(|rest| rest.rsplit_once(']')).map(|(inside, _)| inside)
        else {
            return;
        };
        let arguments: Vec<&str> =
            split_outside(inside, ',').filter(|text| !text.is_empty()).collect();
        if arguments.len() != parameters.len() {
            return;
        }
        for (argument, id) in arguments.into_iter().zip(parameters) {
            let path = without_arguments(argument);
            let Some(row) = rows.get(id) else { continue };
            let own = without_arguments(&row.name);
            let is_whole = path.strip_suffix(own).is_some_and(|outer| outer.ends_with('+'));
            if is_whole && !own.is_empty() && !row.is_array() {
                self.whole.insert(*id, path.to_owned());
            }
        }
    }

    /// Returns a type's name as the runtime writes it, with outer types; `None` if the trace does
    /// not describe the type.
    pub(super) fn stored(&self, id: u64) -> Option<String> {
        self.stored_at(id, 0)
    }

    fn stored_at(&self, id: u64, depth: usize) -> Option<String> {
        let row = self.rows?.get(&id).filter(|_| depth < DEPTH)?;
        if row.is_array() {
            // The element type may have a full name, unlike the array.
            let element = row.parameters.first();
            let element =
                element.and_then(|element| self.stored_at(*element, depth.saturating_add(1)));
            return match element {
                Some(element) => Some(format!("{element}{}", row.suffix())),
                None if row.name.is_empty() => None,
                None => Some(row.name.clone()),
            };
        }
        if row.name.is_empty() {
            return None;
        }
        let own = without_arguments(&row.name);
        let arguments = row.name.get(own.len()..).unwrap_or_default();
        let of_file = self.of_files.get(&row.module_id);
        let of_file = of_file.and_then(|types| types.full_name(row.token, own));
        let outer = match of_file.as_ref().or_else(|| self.whole.get(&id)) {
            Some(whole) => whole.as_str(),
            None if own.contains(['.', '+']) => own,
            None => self
                .of_methods
                .get(&(row.module_id, own))
                .copied()
                .filter(|name| !name.is_empty())
                .unwrap_or(own),
        };
        Some(format!("{outer}{arguments}"))
    }

    pub(super) fn row(&self, id: u64) -> Option<&TypeRow> {
        self.rows?.get(&id)
    }

    /// Converts a name of the runtime to source notation.
    pub(super) fn shown(stored: &str) -> String {
        let path = without_arguments(stored);
        let rest = stored.get(path.len()..).unwrap_or_default();
        // In `Entry[System.String,System.Int32][]`, the arguments belong to an unknown outer type.
        let inside = rest.strip_prefix('[').map(in_brackets);
        let count = inside
            .map_or(0, |inside| split_outside(inside, ',').filter(|text| !text.is_empty()).count());
        if count == 0 || path.contains('`') {
            return type_text(stored, NameOptions::default());
        }
        type_text(&format!("{path}`{count}{rest}"), NameOptions::default())
    }
}

/// Returns the text up to the bracket that closes one which is already open.
fn in_brackets(text: &str) -> &str {
    let mut open = 1usize;
    let end = text.find(|c| {
        match c {
            '[' => open = open.saturating_add(1),
            ']' => open = open.saturating_sub(1),
            _ => {}
        }
        open == 0
    });
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Returns the part of a name before its arguments: ``A.Outer`1+Inner`` of
/// ``A.Outer`1+Inner[System.Int32]``.
fn without_arguments(name: &str) -> &str {
    name.find('[').and_then(|at| name.get(..at)).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, flags: u32, parameters: &[u64]) -> TypeRow {
        TypeRow {
            module_id: 1,
            flags,
            token: 0,
            name: name.to_owned(),
            parameters: parameters.into(),
        }
    }

    fn names(rows: &HashMap<u64, TypeRow>) -> TypeNames<'_> {
        let mut names = TypeNames {
            rows: Some(rows),
            of_files: HashMap::default(),
            whole: HashMap::default(),
            of_methods: HashMap::default(),
        };
        for row in rows.values() {
            names.learn_arguments(&row.name, &row.parameters, 0);
        }
        names
    }

    #[test]
    fn generic_arguments_belong_to_their_own_nested_type() {
        let mut rows = HashMap::default();
        rows.insert(1, row("System.Collections.Generic.List`1[A.Outer+Inner]", 0, &[2]));
        rows.insert(2, row("Inner", 0, &[]));
        rows.insert(3, row("Inner[]", 8, &[2]));
        rows.insert(4, row("Other", 0, &[]));
        rows.insert(5, row("", 8 | 0x200, &[2]));
        rows.insert(6, row("", 8, &[9]));
        let names = names(&rows);
        let shown = |id| names.stored(id).map(|stored| TypeNames::shown(&stored));
        assert_eq!(shown(2).as_deref(), Some("A.Outer.Inner"));
        assert_eq!(shown(3).as_deref(), Some("A.Outer.Inner[]"));
        assert_eq!(shown(4).as_deref(), Some("Other"));
        assert_eq!(shown(5).as_deref(), Some("A.Outer.Inner[,]"));
        assert_eq!((shown(6), shown(7)), (None, None));
        assert_eq!(shown(1).as_deref(), Some("System.Collections.Generic.List<Outer.Inner>"));
    }

    #[test]
    fn arguments_of_a_type_that_is_not_known_belong_to_the_nested_one() {
        let cases = [
            ("Entry[A.B[],System.String][]", "Entry<B[],string>[]"),
            ("Entry[System.Int32]", "Entry<int>"),
            ("System.String[,]", "System.String[,]"),
            ("N.Table`1+Entry[System.Int32][]", "N.Table<int>.Entry[]"),
        ];
        for (stored, shown) in cases {
            assert_eq!(TypeNames::shown(stored), shown);
        }
    }

    #[test]
    fn a_unique_name_of_the_module_identifies_its_type() {
        let mut rows = HashMap::default();
        rows.insert(1, row("Entry[System.Int32]", 0, &[7]));
        rows.insert(2, row("<>c", 0, &[]));
        let mut names = names(&rows);
        names.of_methods.insert((1, "Entry"), "N.Table`1+Entry");
        names.of_methods.insert((1, "<>c"), "");
        assert_eq!(names.stored(1).as_deref(), Some("N.Table`1+Entry[System.Int32]"));
        assert_eq!(names.stored(2).as_deref(), Some("<>c"));
    }
}
