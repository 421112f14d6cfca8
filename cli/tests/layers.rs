//! Which module may import which. docs/architecture.md quotes the order.

use nettrace_testdata::layers;
use std::path::Path;

/// Lowest first: a module imports modules of lower lines only, and none of its own line.
const ORDER: &[&[&str]] = &[
    &[
        "console",
        "delays",
        "distinct",
        "exit",
        "json_text",
        "printable",
        "session",
        "sparkline",
        "style",
        "unblocked",
        "units",
    ],
    &["status_line"],
    &["cut", "failure", "progress", "recommended", "render", "screen"],
    &["counter_text", "new_file", "symbols"],
    &["input"],
    &["messages", "survey"],
    &["args"],
    &["live", "samples"],
    &["output"],
    &["context"],
    &["table"],
    &["commands"],
];

#[test]
fn no_module_imports_what_stands_above_it() {
    layers::assert_order(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), ORDER, &[]);
}
