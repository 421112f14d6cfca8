//! Checks which modules import which.

use nettrace_testdata::layers;
use std::path::Path;

/// Modules of the crate, the lowest layer first. A module only imports modules of earlier lines.
const ORDER: &[&[&str]] = &[
    &["bytes", "command_id", "hresult", "keywords"],
    &["error", "version"],
    &["message", "deadlines"],
    &["arguments", "endpoint", "advertise"],
    &["provider", "transcript"],
    &["command"],
    &["connection", "startup", "proc"],
    &["arrived"],
    &["runtime"],
    &["port", "discover", "session"],
    &["launch", "replay"],
    &["fake"],
];

#[test]
fn no_module_imports_what_stands_above_it() {
    layers::assert_order(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), ORDER, &[]);
}
