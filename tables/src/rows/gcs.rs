//! Makes the rows of the table of garbage collections.

use super::RowPrefix;
use crate::sheet::Sheet;
use nettrace_analysis::report::GcReport;

pub(crate) fn write_collections(sheet: &mut Sheet, report: &GcReport, prefix: RowPrefix) {
    for gc in &report.collections {
        let after = |name: &str| {
            let row = gc.generations.iter().find(|row| row.name == name);
            row.and_then(|row| row.after_bytes)
        };
        let mut row = sheet.row();
        prefix.begin_row(&mut row, gc.start_ns);
        row.count(gc.process_id);
        row.count(u64::from(gc.number));
        row.small(i32::try_from(gc.generation).unwrap_or(i32::MAX));
        row.text(&*gc.reason.to_string());
        row.text(&*gc.kind.to_string());
        row.count(gc.duration_ns);
        row.count(gc.pause_ns);
        row.small(i32::try_from(gc.pauses.len()).unwrap_or(i32::MAX));
        row.count(gc.suspend_ns);
        row.count(gc.since_last_ns);
        row.flag(gc.is_complete);
        row.count(gc.heap_before_bytes);
        row.count(gc.heap_after_bytes);
        row.count(gc.heap_peak_bytes);
        row.count(gc.promoted_bytes);
        row.real(gc.survival_percent);
        row.count(gc.fragmentation_bytes);
        row.real(gc.fragmentation_percent);
        row.count(gc.allocated_bytes);
        row.real(gc.allocated_bytes_per_second);
        for generation in ["gen0", "gen1", "gen2", "loh", "poh"] {
            row.count(after(generation));
        }
        row.count(gc.frozen_bytes);
        row.count(gc.pinned_objects.map(u64::from));
        row.count(gc.finalized_objects);
        row.count(gc.finalized_bytes);
        row.count(gc.handles.map(u64::from));
        row.count(gc.sync_blocks.map(u64::from));
        row.small(gc.heaps.map(|heaps| i32::try_from(heaps).unwrap_or(i32::MAX)));
        row.flag(gc.is_compacting);
        row.flag(gc.is_concurrent);
        row.small(gc.memory_load_percent.map(|load| i32::try_from(load).unwrap_or(i32::MAX)));
        row.count(gc.mark_ns);
        row.count(gc.plan_ns);
        row.count(gc.relocate_ns);
        row.count(gc.compact_ns);
        row.count(gc.sweep_ns);
        let bytes = row.end();
        sheet.end_row(bytes);
    }
}
