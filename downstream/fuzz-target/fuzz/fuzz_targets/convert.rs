#![no_main]
use fuzz_target::convert;
use nettrace_writer::{Damage, Session};

libfuzzer_sys::fuzz_target!(|input: (Session, Vec<Damage>)| {
    let (session, damages) = input;
    let recording = session.record();
    let mut bytes = recording.stream.bytes;
    // All events of an intact trace are converted.
    assert_eq!(convert(&bytes).expect("it is a trace").len(), recording.events.len());
    for damage in damages {
        damage.apply(&mut bytes);
    }
    // A damaged trace may be an error, but not a panic.
    let _ = convert(&bytes);
});
