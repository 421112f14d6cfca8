//! Holds the order of modules, which docs/architecture.md quotes.

use nettrace_testdata::layers;
use std::path::Path;

/// Modules, lowest first. A module imports only modules of earlier lines.
const ORDER: &[&[&str]] = &[
    &[
        "console",
        "console_events",
        "delays",
        "exit",
        "ignored_signal",
        "json_text",
        "printable",
        "sparkline",
        "style",
        "unblocked",
        "units",
    ],
    &["status_line"],
    &["cut", "failure", "progress", "recommended", "screen"],
    &["counter_lines", "counter_text", "expression", "new_file", "pdbs", "symbols"],
    &["input"],
    &["ending"],
    &["messages"],
    &["args", "outer_types"],
    &["analysis_options", "live"],
    &["output"],
    &["context"],
    &["analysed", "async_runs", "heap_file", "survey", "table"],
    &["stack_names"],
    // Modules that several commands need come first. A command may import another command.
    &["commands::attached"],
    &["commands::counters::series_rows", "commands::counters::unseen"],
    &["commands::counters::board"],
    &["commands::stack::natives"],
    &["commands::stack::take"],
    &["commands::stack::threads"],
    &["commands::stack::verdict"],
    &["commands::stack::seen"],
    &["commands::stack::document", "commands::stack::text"],
    &[
        "commands::check",
        "commands::convert",
        "commands::counters",
        "commands::diff",
        "commands::discover",
        "commands::events",
        "commands::heap",
        "commands::info",
        "commands::list_profiles",
        "commands::process",
        "commands::ps",
        "commands::replay",
        "commands::stack",
        "commands::stats",
        "commands::watch",
    ],
    &["commands::top::state"],
    &["commands::top::rows"],
    &["commands::top::board"],
    &["commands::collect", "commands::report", "commands::schema", "commands::top"],
    &["commands::completions", "commands::export", "commands::man", "commands::open"],
    &["commands"],
];

#[test]
fn no_module_imports_what_stands_above_it() {
    layers::assert_order(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), ORDER, &[]);
}
