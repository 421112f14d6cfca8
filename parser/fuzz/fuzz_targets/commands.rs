//! Fuzz targets of converters and commands.
#![no_main]

mod chosen;
#[path = "../../../cli/tests/invariants/mod.rs"]
mod invariants;

use chosen::Target;

const TARGETS: [(&str, Target); 4] = [
    ("convert", invariants::convert_once),
    ("files", invariants::files::files_once),
    ("gcdump", invariants::gcdump::gcdump),
    ("reports", invariants::sessions::reports_once),
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chosen::target(&TARGETS)(bytes));
