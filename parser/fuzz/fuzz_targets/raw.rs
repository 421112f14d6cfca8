#![no_main]
#[path = "../../tests/calm/mod.rs"]
mod calm;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| calm::targets::raw::raw(
    bytes,
    calm::Questions::drawn_by(bytes)
));
