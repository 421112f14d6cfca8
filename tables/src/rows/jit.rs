//! Makes the rows of the table of compiled methods.

use super::RowPrefix;
use crate::sheet::Sheet;
use nettrace_analysis::report::JitReport;

pub(crate) fn write_methods(sheet: &mut Sheet, report: &JitReport, prefix: RowPrefix) {
    for method in &report.methods {
        let mut row = sheet.row();
        prefix.begin_row(&mut row, method.start_ns);
        row.count(method.process_id);
        row.count(method.thread);
        row.text(&*method.name);
        row.text(&*method.module);
        row.text(method.tier);
        row.count(Some(u64::from(method.il_bytes)).filter(|bytes| *bytes > 0));
        row.count(Some(u64::from(method.native_bytes)).filter(|bytes| *bytes > 0));
        row.count(method.is_complete.then_some(method.duration_ns));
        row.flag(method.background);
        row.flag(method.r2r_rejected);
        row.flag(method.is_complete);
        let bytes = row.end();
        sheet.end_row(bytes);
    }
}
