//! The target of what a process says: replies, advertisements, transcripts.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nettrace_ipc::fuzzing::bytes_from_outside(bytes));
