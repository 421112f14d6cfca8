#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nettrace_parser::fuzzing::decisions(bytes));
