#![no_main]
use fuzz_target::convert;
use nettrace_writer::{Damage, Session};

libfuzzer_sys::fuzz_target!(|input: (Session, Vec<Damage>)| {
    let (session, damages) = input;
    let recording = session.record();
    let mut bytes = recording.stream.bytes;
    // An undamaged stream is converted completely.
    assert_eq!(convert(&bytes).expect("it is a trace").len(), recording.events.len());
    for damage in damages {
        damage.apply(&mut bytes);
    }
    // A damaged stream may be an error, but no panic.
    let _ = convert(&bytes);
});
