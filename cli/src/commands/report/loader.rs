//! `report loader` as tables.

use super::words::{left_out, ms};
use crate::args::ReportArgs;
use crate::commands::Context;
use crate::printable::printable;
use crate::units;
use nettrace_analysis::report::{LoadedModule, LoaderReport};
use std::collections::HashMap;
use std::io::{self, Write};

pub(super) fn text(args: &ReportArgs, report: &LoaderReport, context: &mut Context<'_>) -> io::Result<()> {
    let (strong, faint) = (context.style.strong(), context.style.faint());
    let time = |nanos: Option<i64>| nanos.map_or_else(|| "-".to_owned(), units::milliseconds);
    let mut modules: HashMap<_, Vec<&LoadedModule>> = HashMap::new();
    for row in &report.modules {
        modules.entry((row.process_id, row.assembly_id)).or_default().push(row);
    }
    let out = context.out.buffer();
    if !report.assemblies.is_empty() {
        writeln!(out, "{}", faint.over(" LOADED ms  UNLOADED ms  KIND     ASSEMBLY; MODULES"))?;
    }
    for row in report.assemblies.iter().take(args.number) {
        let parts = modules.get(&(row.process_id, row.assembly_id)).map_or(&[][..], Vec::as_slice);
        let kind = match (row.is_dynamic, parts.iter().any(|part| part.is_ready_to_run)) {
            (true, _) => "dynamic",
            (_, true) => "r2r",
            _ => "il",
        };
        let paths: Vec<&str> = parts.iter().map(|part| &*part.path).collect();
        writeln!(
            out,
            "{:>10}  {:>11}  {kind:<7}  {}; {}",
            time(row.loaded_ns),
            time(row.unloaded_ns),
            printable(&short(&row.name)),
            faint.over(printable(&paths.join(", "))),
        )?;
    }
    left_out(context, report.assemblies.len(), args.number)?;
    let out = context.out.buffer();
    if !report.binds.is_empty() {
        writeln!(out, "\n{}", faint.over("   TIME ms    FIRST ms  COUNT  CACHED  ASSEMBLY <- REQUESTED BY"))?;
    }
    for row in report.binds.iter().take(args.number) {
        let result = if row.is_found { "" } else { "not found: " };
        writeln!(
            out,
            "{:>10}  {:>10}  {:>5}  {:>6}  {result}{} <- {}",
            ms(row.duration_ns),
            units::milliseconds(row.first_ns),
            units::count(row.count),
            units::count(row.cached),
            printable(&short(&row.assembly)),
            faint.over(printable(&if row.requested_by.is_empty() {
                "?".to_owned()
            } else {
                short(&row.requested_by)
            })),
        )?;
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
    writeln!(context.out.buffer(), "{}", strong.over(line))
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
