//! `report loader` as tables.

use super::words::{ms, prose};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::printable::printable;
use crate::table::{Table, left, left_out, right};
use crate::units;
use nettrace_analysis::report::{LoadedModule, LoaderReport};
use std::collections::HashMap;
use std::io::{self, Write};

pub(super) fn text(args: &ReportArgs, report: &LoaderReport, context: &mut Context<'_>) -> io::Result<()> {
    let strong = context.style.strong();
    let time = |nanos: Option<i64>| nanos.map_or_else(|| "-".to_owned(), units::milliseconds);
    let mut modules: HashMap<_, Vec<&LoadedModule>> = HashMap::new();
    for row in &report.modules {
        modules.entry((row.process_id, row.assembly_id)).or_default().push(row);
    }
    let mut table = Table::new([
        right("LOADED ms", 10, 0),
        right("UNLOADED ms", 11, 1),
        left("KIND", 7, 2),
        left("ASSEMBLY; MODULES", 17, 0),
    ]);
    for row in report.assemblies.iter().take(args.number) {
        let parts = modules.get(&(row.process_id, row.assembly_id)).map_or(&[][..], Vec::as_slice);
        let kind = match (row.is_dynamic, parts.iter().any(|part| part.is_ready_to_run)) {
            (true, _) => "dynamic",
            (_, true) => "r2r",
            _ => "il",
        };
        let paths: Vec<&str> = parts.iter().map(|part| &*part.path).collect();
        let name = printable(&format!("{}; {}", short(&row.name), paths.join(", ")));
        table.row([time(row.loaded_ns).into(), time(row.unloaded_ns).into(), kind.into(), name.into()]);
    }
    if !report.assemblies.is_empty() {
        table.write(context)?;
    }
    left_out(context, report.assemblies.len(), args.number)?;
    let mut table = Table::new([
        right("TIME ms", 10, 0),
        right("FIRST ms", 10, 2),
        right("COUNT", 5, 1),
        right("CACHED", 6, 3),
        left("ASSEMBLY <- REQUESTED BY", 24, 0),
    ]);
    for row in report.binds.iter().take(args.number) {
        let result = if row.is_found { "" } else { "not found: " };
        let by = if row.requested_by.is_empty() { "?".to_owned() } else { short(&row.requested_by) };
        table.row([
            ms(row.duration_ns).into(),
            units::milliseconds(row.first_ns).into(),
            units::count(row.count).into(),
            units::count(row.cached).into(),
            printable(&format!("{result}{} <- {by}", short(&row.assembly))).into(),
        ]);
    }
    if !report.binds.is_empty() {
        writeln!(context.out.buffer())?;
        table.write(context)?;
    }
    left_out(context, report.binds.len(), args.number)?;
    let loaded = report.assemblies.iter().filter(|row| row.loaded_ns.is_some()).count() as u64;
    let missing = report.binds.iter().filter(|row| !row.is_found).count() as u64;
    let line = format!(
        "{}, {} loaded in the trace; {}, {} not found",
        match report.assemblies.len() {
            1 => "1 assembly".to_owned(),
            number => format!("{} assemblies", units::count(number as u64)),
        },
        units::count(loaded),
        units::counted(report.binds.len() as u64, "distinct request"),
        units::count(missing),
    );
    prose(context, &strong, &line)
}

/// `Name 1.2.3.4` of `Name, Version=1.2.3.4, Culture=neutral, PublicKeyToken=null`.
fn short(name: &str) -> String {
    let mut parts = name.split(", ");
    let first = parts.next().unwrap_or_default();
    match parts.find_map(|part| part.strip_prefix("Version=")) {
        Some(version) => format!("{first} {version}"),
        None => first.to_owned(),
    }
}
