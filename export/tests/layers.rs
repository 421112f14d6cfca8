//! Checks which modules import which. docs/architecture.md quotes the order.

use nettrace_testdata::layers;
use std::path::Path;

/// Modules of the crate, the lowest layer first. A module only imports modules of earlier lines.
const ORDER: &[&[&str]] = &[
    &["escape", "expression", "glob", "hidden", "long", "nearest", "tags", "time_range", "units"],
    &["utf16"],
    &["json"],
    &["async_events", "detail", "line", "shape"],
    &["event_types", "page", "payload"],
    &["compiled", "labels", "pattern", "plain", "selection"],
    &["text_value"],
    &["predicate"],
    &["filter"],
    &["csv", "ndjson", "text"],
    &["writer"],
    &["parts"],
];

#[test]
fn no_module_imports_what_stands_above_it() {
    layers::assert_order(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), ORDER, &[]);
}
