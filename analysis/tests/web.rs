//! A web application with planted problems, whose counts are known from its clients.

use nettrace_analysis::report::{Report, ReportPass, Sql, SqlReport};
use nettrace_parser::Reader;
use nettrace_testdata::corpus;

fn reported<R: Report>(name: &str, report: R) -> Option<R::Output> {
    let trace = corpus::web(name)?;
    let mut pass = ReportPass::new(report);
    let bytes = trace.bytes();
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    Some(pass.finish().output)
}

/// The place that ran most commands with a statement that contains a text.
fn place(report: &SqlReport, text: &str) -> (u64, u64, u64) {
    let row = report.statements.iter().find(|row| row.text.contains(text)).unwrap();
    let place = &row.places[0];
    (place.count, place.units, place.most_in_one)
}

#[test]
fn each_command_is_counted_once_with_what_ran_it() {
    for name in ["dt-database", "dt-diag"] {
        let Some(report) = reported(name, Sql::default()) else { return };
        assert_eq!((report.count, report.different, report.errors), (127, 4, 0), "{name}");
        assert_eq!(report.durations.count, 127);
        let counts: Vec<u64> = report.requests.iter().map(|row| row.commands).collect();
        assert_eq!(counts, [110, 12, 5], "{name}");
        let most = &report.requests[0];
        assert_eq!((most.units, most.most_in_one, most.statements), (10, 11, 2), "{name}");
        assert_eq!(place(&report, "\"CustomerId\" = @"), (100, 10, 10), "{name}");
        assert_eq!(place(&report, "FROM \"Customers\""), (10, 10, 1), "{name}");
        assert_eq!(place(&report, "WHERE \"o\".\"Id\" = @id"), (12, 12, 1), "{name}");
        assert_eq!(place(&report, "FROM \"Products\""), (5, 5, 1), "{name}");
        let is_one_line =
            |row: &nettrace_analysis::report::SqlStatement| !row.text.contains(char::is_control);
        assert!(report.statements.iter().all(is_one_line));
    }
}
