#![no_main]
#[path = "../../../cli/tests/invariants/mod.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::sessions::reports_once(bytes));
