//! Checks which modules import which.
#![allow(clippy::restriction, clippy::pedantic)]

use nettrace_testdata::layers;
use std::path::Path;

/// Modules of the crate, the lowest layer first. A module only imports modules of earlier lines.
const ORDER: &[&[&str]] = &[
    &["bytes", "end", "error"],
    &["lib"],
    &["linux::image", "linux::mappings", "linux::memory", "linux::system_call"],
    &["linux::process"],
    &["linux::prologue"],
    &["linux::unwind"],
    &["linux::space"],
    &["linux"],
];

#[test]
fn no_module_imports_what_stands_above_it() {
    layers::assert_order(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), ORDER, &[]);
}
