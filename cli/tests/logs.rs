//! `report logs` on a stream made by hand: no recorded trace has messages of ILogger.

use crate::common;
use crate::common::Json;

use common::logging::{self, message, scope};
use common::{file, nettrace};

/// Writes a trace with messages of all levels in a scope: one has an exception, one has several
/// lines and control characters.
pub(crate) fn trace() -> String {
    let steps = vec![
        scope(2, 1000, 1, &["{\"order\":7}"]),
        message(0, 1_500_000, 0, &["looked"]),
        message(0, 1000, 2, &["sold 1 thing"]),
        message(0, 1000, 3, &["few things left\nreally\u{1b}[2J"]),
        message(0, 1000, 4, &["no money"]),
        message(1, 1000, 4, &["{\"TypeName\":\"App.Poor\"}", "{}"]),
    ];
    file("logs.nettrace", &logging::session(steps).record().stream.bytes)
}

#[test]
fn messages_stand_in_time_order_with_levels_scopes_and_exceptions() {
    let ran = nettrace(&["report", "logs", &trace()]);
    let expected = "      1.501  trce     4711  App.Shop[12] looked
                            => order=7
      1.502  info     4711  App.Shop[12] sold 1 thing
                            => order=7
      1.503  warn     4711  App.Shop[12] few things left
                            really\u{fffd}[2J
                            => order=7
      1.504  fail     4711  App.Shop[12] no money
                            => order=7
                            App.Poor
4 messages of 1 logger: 1 fail, 1 warn, 1 info, 1 trce
";
    assert_eq!((ran.text(), ran.code), (expected, Some(0)));
}

#[test]
fn with_a_level_only_what_is_as_severe_is_shown_and_the_summary_leads_there() {
    let trace = trace();
    let ran = nettrace(&["report", "logs", &trace, "--level", "error"]);
    let (messages, last) = ran.text().trim_end().rsplit_once('\n').unwrap();
    assert!(
        messages.starts_with("      1.504  fail     4711  App.Shop[12] no money\n"),
        "{messages}"
    );
    assert_eq!(last, "1 message of 1 logger: 1 fail");
    let warnings = nettrace(&["report", "logs", &trace, "--level", "warning", "--json"]).json();
    assert_eq!(
        (&warnings["count"], &warnings["messages"][1]["level"]),
        (&2.into(), &"error".into())
    );
    assert_eq!(warnings["messages"][1]["exception"], "App.Poor");

    let summary = nettrace(&["report", "summary", &trace, "--json"]).json();
    let findings = summary["findings"].list();
    let found = findings.iter().find(|finding| finding["about"] == "log_errors").unwrap();
    assert_eq!(
        (&found["value"], &found["command"]),
        (&1.into(), &"report logs --level error".into())
    );
}

#[test]
fn levels_have_colours_and_json_has_all() {
    let trace = trace();
    let coloured = nettrace(&["report", "logs", &trace, "--color", "always"]);
    for level in ["\u{1b}[33mwarn", "\u{1b}[1m\u{1b}[31mfail"] {
        assert!(coloured.text().contains(level), "{:?}", coloured.text());
    }
    let json = nettrace(&["report", "logs", &trace, "--json"]).json();
    assert_eq!((&json["schema"], &json["count"]), (&1.into(), &4.into()));
    assert_eq!(json["messages"][3]["level"], "error");
    assert_eq!(json["messages"][3]["exception"], "App.Poor");
    assert_eq!(json["messages"][1]["scopes"][0], "order=7");
    let none = nettrace(&["report", "logs", &trace, "--thread", "1"]);
    assert_eq!(none.text(), "0 messages of 0 loggers\n");
}
