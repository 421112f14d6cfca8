#![no_main]
use fuzz_target::convert;
use nettrace_writer::{Damage, Session};

libfuzzer_sys::fuzz_target!(|input: (Session, Vec<Damage>)| {
    let (session, damages) = input;
    let recording = session.record();
    let mut bytes = recording.stream.bytes;
    // What is whole is converted as a whole.
    assert_eq!(convert(&bytes).expect("it is a trace").len(), recording.events.len());
    for damage in damages {
        damage.apply(&mut bytes);
    }
    // What is damaged may fail, but does not panic.
    let _ = convert(&bytes);
});
