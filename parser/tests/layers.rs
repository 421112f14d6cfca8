//! Which module may import which. docs/architecture.md quotes the order.

use nettrace_testdata::layers;
use std::path::Path;

/// Lowest first: a module imports modules of lower lines only, and none of its own line.
const ORDER: &[&[&str]] = &[
    &["format_guide", "guid", "work", "forget", "serial", "held"],
    &["error"],
    &["primitive", "schema", "source", "clock"],
    &["statistics", "damage"],
    &["format"],
    &["blob", "payload"],
    &["catalog"],
    &["block"],
    &["limits", "loss"],
    &["tables"],
    &["event"],
    &["view", "serialize"],
    &["reader"],
    &["kept"],
    &["order"],
    &["outcome", "feed", "raw", "positioned", "check"],
    &["mapping", "parallel"],
    &["internal"],
];

/// Imports against the order that are still to be turned round.
const NOT_YET: &[(&str, &str)] = &[
    ("block", "view"),
    ("catalog", "block"),
    ("clock", "block"),
    ("damage", "block"),
    ("damage", "format"),
    ("event", "reader"),
    ("event", "view"),
    ("format", "block"),
    ("limits", "tables"),
    ("payload", "event"),
    ("reader", "order"),
    ("statistics", "block"),
];

#[test]
fn no_module_imports_what_stands_above_it() {
    layers::assert_order(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), ORDER, NOT_YET);
}
