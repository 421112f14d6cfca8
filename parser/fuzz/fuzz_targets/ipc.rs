//! Fuzz target of the bytes that a process sends: replies, advertisements, transcripts.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nettrace_ipc::fuzzing::bytes_from_outside(bytes));
