//! Writes `report loader` as tables.

use super::words::{assemblies, ms, prose, time};
use crate::context::Context;
use crate::cut::{Text, fixed, main, other};
use crate::table::{left, list, right};
use crate::units;
use nettrace_analysis::report::{AssemblyRow, LoadedModule, LoaderReport};
use std::collections::HashMap;
use std::io::{self, Write};

/// Minimum width of a column with two names, in characters.
const MIN_PAIR_COLUMNS: usize = 56;

pub(super) fn text(
    rows: usize,
    report: &LoaderReport,
    context: &mut Context<'_>,
) -> io::Result<()> {
    let strong = context.style.strong();
    let mut modules: HashMap<_, Vec<&LoadedModule>> = HashMap::new();
    for row in &report.modules {
        modules.entry((row.process_id, row.assembly_id)).or_default().push(row);
    }
    let parts = |row: &AssemblyRow| {
        modules.get(&(row.process_id, row.assembly_id)).map_or(&[][..], Vec::as_slice)
    };
    if !report.assemblies.is_empty() {
        list(context, &report.assemblies, rows).columns([
            right("LOADED ms", 10, 0).fill(&|row| time(row.loaded_ns).into()),
            right("UNLOADED ms", 11, 1).fill(&|row| time(row.unloaded_ns).into()),
            left("KIND", 7, 2).fill(&|row| {
                let is_ready_to_run = parts(row).iter().any(|part| part.is_ready_to_run);
                match (row.is_dynamic, is_ready_to_run) {
                    (true, _) => "dynamic".into(),
                    (_, true) => "r2r".into(),
                    _ => "il".into(),
                }
            }),
            left("ASSEMBLY; MODULES", 17, 0).at_least(MIN_PAIR_COLUMNS).fill(&|row| {
                let paths: Vec<&str> = parts(row).iter().map(|part| &*part.path).collect();
                let (name, version) = short(&row.name);
                let paths = paths.join(", ");
                Text::parts([main(name), fixed(&version), fixed("; "), other(&paths)]).into()
            }),
        ])?;
    }
    if !report.binds.is_empty() {
        writeln!(context.out.buffer())?;
        list(context, &report.binds, rows).columns([
            right("TIME ms", 10, 0).fill(&|row| ms(row.duration_ns).into()),
            right("FIRST ms", 10, 2).fill(&|row| units::milliseconds(row.first_ns).into()),
            right("COUNT", 5, 1).fill(&|row| units::count(row.count).into()),
            right("CACHED", 6, 3).fill(&|row| units::count(row.cached).into()),
            left("ASSEMBLY <- REQUESTED BY", 24, 0).at_least(MIN_PAIR_COLUMNS).fill(&|row| {
                let result = if row.is_found { "" } else { "not found: " };
                let (name, version) = short(&row.assembly);
                let (by, by_version) = short(&row.requested_by);
                let by = if by.is_empty() { "?" } else { by };
                let (name, by) = (main(name), main(by));
                let parts = [fixed(result), name, fixed(&version), fixed(" <- "), by];
                Text::parts(parts.into_iter().chain([fixed(&by_version)])).into()
            }),
        ])?;
    }
    let loaded = report.assemblies.iter().filter(|row| row.loaded_ns.is_some()).count() as u64;
    let missing = report.binds.iter().filter(|row| !row.is_found).count() as u64;
    let line = format!(
        "{}, {} loaded in the trace; {}, {} not found",
        assemblies(report.assemblies.len() as u64),
        units::count(loaded),
        units::counted(report.binds.len() as u64, "distinct request"),
        units::count(missing),
    );
    prose(context, &strong, &line)
}

/// Splits an assembly's full name into name and version: `Name` and ` 1.2.3.4` for `Name,
/// Version=1.2.3.4, Culture=neutral`.
fn short(name: &str) -> (&str, String) {
    let mut parts = name.split(", ");
    let first = parts.next().unwrap_or_default();
    let version = parts.find_map(|part| part.strip_prefix("Version="));
    (first, version.map_or_else(String::new, |version| format!(" {version}")))
}
