//! Which module may import which. docs/architecture.md quotes the order.

use nettrace_testdata::layers;
use std::path::Path;

/// Lowest first: a module imports modules of lower lines only, and none of its own line.
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
