//! Makes the rows of the table of threads' times.

use super::RowPrefix;
use crate::sheet::Sheet;
use nettrace_analysis::ThreadTimes;

/// Writes a row for each reading, thread by thread.
pub(crate) fn write_readings(sheet: &mut Sheet, times: &ThreadTimes, prefix: RowPrefix) {
    for thread in &times.threads {
        for reading in &thread.readings {
            let mut row = sheet.row();
            prefix.begin_row(&mut row, reading.nanos);
            row.count(times.process_id);
            row.count(Some(thread.thread_id));
            row.text(Some(&*thread.name).filter(|name| !name.is_empty()));
            row.count(Some(reading.ran_ns));
            row.count(Some(reading.ready_ns));
            let bytes = row.end();
            sheet.end_row(bytes);
        }
    }
}
