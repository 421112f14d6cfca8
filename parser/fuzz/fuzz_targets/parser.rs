//! Fuzz targets of the parser. The input decides which of the checks are made.
#![no_main]

mod chosen;
#[path = "../../tests/invariants/mod.rs"]
mod invariants;

use chosen::Target;
use invariants::{Questions, targets};

const TARGETS: [(&str, Target); 9] = [
    ("stream", |bytes| targets::stream(bytes, Questions::drawn_by(bytes))),
    ("structured", |bytes| targets::structured(bytes, Questions::drawn_by(bytes))),
    ("truth", |bytes| targets::truth(bytes, Questions::drawn_by(bytes))),
    ("blob", |bytes| targets::blob(bytes, Questions::drawn_by(bytes))),
    ("metadata", |bytes| targets::metadata(bytes, Questions::drawn_by(bytes))),
    ("payload", |bytes| targets::payload(bytes, Questions::drawn_by(bytes))),
    ("raw", |bytes| targets::raw::raw(bytes, Questions::drawn_by(bytes))),
    ("ordered", |bytes| targets::ordered(bytes, Questions::drawn_by(bytes))),
    ("resync", nettrace_parser::fuzzing::decisions),
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chosen::target(&TARGETS)(bytes));
