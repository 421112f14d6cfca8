//! Checks which modules import which. docs/architecture.md quotes the order.

use nettrace_testdata::layers;
use std::path::Path;

/// Modules of the crate, the lowest layer first. A module only imports modules of earlier lines.
const ORDER: &[&[&str]] = &[
    &["bytes", "column", "hash", "spill"],
    &["batch", "encode", "schema"],
    &["deferred"],
    &["sheet"],
    &["options", "input_row"],
    &["rows"],
    &["wide"],
    &["pass"],
];

#[test]
fn no_module_imports_what_stands_above_it() {
    layers::assert_order(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), ORDER, &[]);
}
