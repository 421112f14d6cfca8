//! Modules import only lower layers. docs/architecture.md quotes the order.

use nettrace_testdata::layers;
use std::path::Path;

/// Layers, lowest first. A module imports only modules of lower layers, and none of its own.
const ORDER: &[&[&str]] = &[
    &["flat_json"],
    &[
        "by_type",
        "bytes",
        "document",
        "gzip",
        "hash",
        "metadata",
        "identifier",
        "number_field",
        "recording",
        "sorted",
        "text_field",
    ],
    &[
        "html",
        "model::demangle",
        "model::handle",
        "model::mono_names",
        "model::pattern",
        "model::source_line",
        "numbering",
    ],
    &["model::type_name"],
    &["model::method_name"],
    &["model::names"],
    &["model::public_call", "model::recording"],
    &["model::folding"],
    &["model"],
    &["heap::gcdump::error"],
    &[
        "heap::gcdump::container",
        "heap::gcdump::record",
        "heap::gcdump_about",
        "heap::kinds",
        "heap::links",
        "heap::module_types",
        "heap::name",
        "heap::threads",
    ],
    &["heap::addresses", "heap::dump", "heap::gathered", "heap::graph", "heap::type_rows"],
    &["heap::breadth_first", "heap::build", "heap::lengauer_tarjan", "heap::mono"],
    &["heap::gcdump::file", "heap::gcdump::groups", "heap::gcdump::type_names"],
    &["heap::gcdump::nodes"],
    &["heap::gcdump::graph", "heap::gcdump::reading"],
    &["heap::gcdump::writing"],
    &["heap::gcdump"],
    &["heap::dominators", "heap::reading"],
    &["heap::retained"],
    &["heap::paths", "heap::tree"],
    &["heap::holders"],
    &["heap::report"],
    &["heap::diff"],
    &["heap::own_types"],
    &["heap"],
    &["convert"],
    &["driver"],
    // Shared parts of reports, one file for each report, and the pass that reads a trace for them.
    &[
        "report::contract",
        "report::counts",
        "report::deadlock",
        "report::distribution",
        "report::message_group",
        "report::occurrence",
        "report::running",
    ],
    &["report::requests::facts"],
    &["report::requests"],
    &[
        "report::each_task",
        "report::fields",
        "report::rate",
        "report::series",
        "report::stack_rows",
    ],
    &["report::waiting"],
    &["report::stuck", "report::task_waits"],
    &["report::profiled_awaits"],
    &[
        "report::activities",
        "report::alloc",
        "report::contention",
        "report::counters",
        "report::exceptions",
        "report::gc",
        "report::jit",
        "report::loader",
        "report::logs",
        "report::modules",
        "report::threadpool",
        "report::threads",
        "report::topn",
        "report::tree",
        "report::waits",
    ],
    &["report::benchmark", "report::endpoints"],
    &["report::endpoint_time", "report::sql", "report::startup", "report::tasks", "report::types"],
    &["report::await_steps"],
    &["report::steps"],
    &["report::during", "report::http", "report::request_spans"],
    &["report::set", "report::outcome"],
    &["report::pass"],
    &["report"],
    &["unstable"],
    // Facts: what a trace shows, as data.
    &["fact"],
    &["words"],
    &["findings"],
    &["info::distinct", "info::runtime", "info::type_count"],
    &["info::further"],
    &["info::survey"],
    &["info::stats"],
    &["info"],
    // Traces of files.
    &["input::causes", "input::packing"],
    &["input::packed_file", "input::second", "input::unreadable"],
    &["input::frames", "input::members", "input::recorded_ending"],
    &["input::unpacked"],
    &["input::trace_bytes"],
    &["input::ending"],
    &["input"],
    &["live::top::named_stack", "live::top::processor_time", "live::top::rows"],
    &["live::top::methods", "live::top::slice"],
    &["live::top::window"],
    &["live"],
    // Samples and spans row by row, for documents that are cut into ranges of time.
    &["over_time"],
    // Measurements of a trace for a comparison, and the comparison.
    &["diff::row_name"],
    &[
        "diff::calls",
        "diff::extent",
        "diff::recorded",
        "diff::statistic",
        "diff::subject",
        "diff::work",
    ],
    &["diff::calls_of_both", "diff::measured", "diff::row", "diff::startup"],
    &["diff::inlined"],
    &["diff::async_names", "diff::cut", "diff::per", "diff::side", "diff::stands_out"],
    &["diff::lacking", "diff::pass"],
    &["diff::candidates"],
    &["diff::judge", "diff::verdict"],
    &["diff::report"],
    &["diff::condition"],
    &["diff::page"],
    &["page", "diff"],
];

#[test]
fn no_module_imports_what_stands_above_it() {
    layers::assert_order(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), ORDER, &[]);
}

/// Files of a comparison that look into texts, with the text and the reason.
const TEXTS: [(&str, &str); 3] = [
    ("async_names.rs", "names of types, as the trace has them"),
    ("condition.rs", "what a user types"),
    ("work.rs", "names of activities, as the trace has them"),
];

#[test]
fn a_comparison_looks_into_no_text_of_its_own() {
    let looks = [".contains(\"", ".starts_with(", ".ends_with(", ".strip_prefix("];
    let more = [".strip_suffix(", ".split(", ".split_once(", ".rsplit(", ".parse()", ".parse::<"];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/diff");
    let mut found = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let mut lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        if lines.any(|line| looks.iter().chain(&more).any(|look| line.contains(look))) {
            found.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    found.sort();
    assert_eq!(found, TEXTS.map(|(file, _)| file), "{TEXTS:?}");
}
