#![no_main]
#[path = "../../tests/invariants/mod.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::targets::truth(
    bytes,
    invariants::Questions::drawn_by(bytes)
));
