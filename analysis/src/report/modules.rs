//! Modules of processes, and files that are mapped into them.

use super::contract::{Recording, Report, ReportInput, SCHEMA, SampleReport};
use crate::hash::HashMap;
use crate::model::{Model, Process, Resolved};
use crate::sorted::SortFew;
use std::cmp::Reverse;

/// Computes a [`ModulesReport`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Modules {
    /// OS ids of the processes whose modules are listed; empty for all processes.
    pub processes: Vec<u64>,
}

impl Report for Modules {
    type Output = ModulesReport;

    const NAME: &'static str = "modules";
    const ABOUT: &'static str = "What was loaded";
    const RECORD: &'static [Recording] = &[Recording::runtime(0x8, 4)];
    const INPUT: ReportInput = ReportInput::Code;

    fn finish(self, resolved: &Resolved<'_>) -> ModulesReport {
        let mut report = ModulesReport::new(resolved.model());
        let is_wanted =
            |row: &ModuleRow| row.process_id.is_some_and(|id| self.processes.contains(&id));
        report.modules.retain(|row| self.processes.is_empty() || is_wanted(row));
        report
    }
}

impl SampleReport for Modules {}

/// Modules of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ModulesReport {
    /// Version of this document.
    pub schema: u32,
    /// Modules by process, then by number of reported methods, most first, then by name.
    pub modules: Vec<ModuleRow>,
}

/// Kind of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ModuleKind {
    /// .NET module.
    #[default]
    Managed,
    /// Mapped file, which only version 6 has.
    Native,
}

/// Module of a process, or file that is mapped into it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ModuleRow {
    /// OS id of the process; `None` if the stream does not contain it.
    pub process_id: Option<u64>,
    /// Short name.
    pub name: String,
    /// Path as the runtime reports it.
    pub path: String,
    /// Full name of the assembly; `None` if unknown.
    pub assembly: Option<String>,
    /// Name of the application domain; `None` if unknown.
    pub domain: Option<String>,
    /// Kind of the module.
    pub kind: ModuleKind,
    /// Whether the module contains precompiled code that the runtime uses.
    pub is_ready_to_run: bool,
    /// Whether the module was generated in memory.
    pub is_dynamic: bool,
    /// Number of reported methods whose precompiled code was used.
    pub precompiled_methods: u64,
    /// Number of compilations of methods: a method compiled at two tiers counts twice.
    pub jitted_methods: u64,
    /// Size of the code compiled at run time, in bytes.
    pub jitted_bytes: u64,
    /// Time of loading, in nanoseconds since the session's start; `None` if not recorded, such as
    /// before the session.
    pub loaded_ns: Option<i64>,
    /// Time of unloading, in nanoseconds since the session's start; `None` if not recorded.
    pub unloaded_ns: Option<i64>,
}

impl ModulesReport {
    /// Lists the modules of a trace.
    fn new(model: &Model) -> ModulesReport {
        let mut modules = Vec::new();
        for (_, process) in model.processes() {
            let mut rows = managed(model, process);
            rows.extend(process.mappings().iter().map(|mapping| ModuleRow {
                process_id: process.id,
                name: mapping.name.clone(),
                path: mapping.path.clone(),
                kind: ModuleKind::Native,
                ..ModuleRow::default()
            }));
            rows.sort_few_by(|a, b| {
                let key = |row: &ModuleRow| {
                    (row.kind, Reverse(row.jitted_methods.saturating_add(row.precompiled_methods)))
                };
                key(a).cmp(&key(b)).then_with(|| (&a.name, &a.path).cmp(&(&b.name, &b.path)))
            });
            // A file may be mapped in several pieces.
            rows.dedup();
            modules.append(&mut rows);
        }
        ModulesReport { schema: SCHEMA, modules }
    }
}

fn managed(model: &Model, process: &Process) -> Vec<ModuleRow> {
    let clock = model.session().map(|session| session.clock());
    let nanos = |ticks: Option<u64>| clock?.nanos_since_start(ticks?);
    let mut by_id: HashMap<u64, usize> = HashMap::default();
    let mut rows: Vec<ModuleRow> = Vec::new();
    for module in process.modules() {
        by_id.insert(module.module_id, rows.len());
        let assembly = process.assembly_of(module);
        let domain = assembly.and_then(|assembly| process.domain_of(assembly));
        rows.push(ModuleRow {
            process_id: process.id,
            name: module.name.clone(),
            path: if module.il_path.is_empty() {
                module.native_path.clone()
            } else {
                module.il_path.clone()
            },
            assembly: assembly.map(|assembly| assembly.name.clone()),
            domain: domain.map(|domain| domain.name.clone()),
            kind: ModuleKind::Managed,
            is_ready_to_run: module.is_ready_to_run,
            is_dynamic: module.is_dynamic,
            loaded_ns: nanos(module.loaded_ticks),
            unloaded_ns: nanos(module.unloaded_ticks),
            ..ModuleRow::default()
        });
    }
    for code in process.methods() {
        let Some(row) = by_id.get(&code.module_id).and_then(|row| rows.get_mut(*row)) else {
            continue;
        };
        match code.is_jitted {
            // A cold section belongs to a method that is counted for its hot section.
            true if code.is_cold => {
                row.jitted_bytes = row.jitted_bytes.saturating_add(u64::from(code.size))
            }
            true => {
                row.jitted_methods = row.jitted_methods.saturating_add(1);
                row.jitted_bytes = row.jitted_bytes.saturating_add(u64::from(code.size));
            }
            false if code.is_cold => {}
            false => row.precompiled_methods = row.precompiled_methods.saturating_add(1),
        }
    }
    rows
}
