//! Test of the order of imports. docs/architecture.md quotes the order.

use nettrace_testdata::layers;
use std::path::Path;

/// Layers, lowest first. A module imports modules of earlier lines only.
const ORDER: &[&[&str]] = &[
    &["format_guide", "work", "forget", "serial", "held", "version"],
    &["error"],
    &["bytes", "schema", "clock"],
    &["following"],
    &["source"],
    &["frame", "progress"],
    &["damage"],
    &["blob", "payload"],
    &["catalog"],
    &["block"],
    &["format", "statistics", "limits", "loss"],
    &["tables", "cursor"],
    &["context"],
    &["event"],
    &["owned_event", "view", "serialize"],
    &["resync"],
    &["reader::found", "reader::scope"],
    &["reader::state"],
    &["reader::apply", "reader::blobs", "reader::run"],
    &["reader::phase", "reader::visit"],
    &["reader::machine"],
    &["reader::begin", "reader::end", "reader::events", "reader::framing", "reader::recovery"],
    &["reader::dispatch"],
    &["reader"],
    &["order::delivered", "order::heads", "order::queued_event"],
    &["order::runs"],
    &["order::queue"],
    &["order::filter"],
    &["order::time_ordered"],
    &["order"],
    &["outcome"],
    &["feed", "index", "raw", "positioned", "check"],
    &["mapping", "parallel", "serialize_findings"],
    &["unstable"],
];

#[test]
fn the_architecture_quotes_the_order() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/architecture.md");
    let text = std::fs::read_to_string(path).expect("the document is there").replace("\r\n", "\n");
    let order = layers::as_text(ORDER);
    assert!(
        text.contains(&format!("```text\n{order}```")),
        "docs/architecture.md does not have:\n{order}"
    );
}

#[test]
fn no_module_imports_what_stands_above_it() {
    layers::assert_order(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), ORDER, &[]);
}
