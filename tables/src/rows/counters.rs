//! Makes the rows of the table of counters' values.

use super::{RowPrefix, json};
use crate::sheet::Sheet;
use nettrace_analysis::report::CountersReport;

pub(crate) fn write_values(sheet: &mut Sheet, report: &CountersReport, prefix: RowPrefix) {
    let mut tags = Vec::new();
    for series in &report.series {
        json::write_texts(&mut tags, series.tags.iter().map(|(name, value)| (&**name, &**value)));
        for point in &series.points {
            let mut row = sheet.row();
            prefix.begin_row(&mut row, point.ts_ns);
            row.count(series.process_id);
            row.text(&*series.provider);
            row.text(&*series.name);
            row.text(&*series.display_name);
            row.text(series.kind.name());
            row.text(&*series.unit);
            row.bytes(Some(&tags));
            row.real(series.interval_seconds);
            row.real(Some(point.value).filter(|value| value.is_finite()));
            row.real(point.total);
            row.whole(point.count);
            row.real(point.sum);
            row.real(point.min);
            row.real(point.max);
            let bytes = row.end();
            sheet.end_row(bytes);
        }
    }
}
