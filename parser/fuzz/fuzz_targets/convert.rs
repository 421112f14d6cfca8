#![no_main]
#[path = "../../../cli/tests/calm/mod.rs"]
mod calm;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| calm::convert_once(bytes));
