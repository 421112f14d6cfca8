//! The fuzz target without a fuzzer: a test on stable Rust runs its steps on some thousand inputs.

use arbitrary::{Arbitrary, Unstructured};
use fuzz_target::convert;
use nettrace_writer::{Damage, Session, Version};

/// Runs the steps of the fuzz target. Returns the version, the number of events of the session, and
/// the number of lines after damage.
fn run(input: &[u8]) -> (Version, usize, usize) {
    let (session, damages) =
        <(Session, Vec<Damage>)>::arbitrary_take_rest(Unstructured::new(input)).unwrap();
    let recording = session.record();
    let mut bytes = recording.stream.bytes;
    assert_eq!(convert(&bytes).expect("it is a trace").len(), recording.events.len());
    for damage in damages {
        damage.apply(&mut bytes);
    }
    let left = convert(&bytes).map_or(0, |lines| lines.len());
    (session.version, recording.events.len(), left)
}

#[test]
fn thousands_of_inputs_are_converted_whole_and_damaged() {
    let (mut events, mut left) = (0, 0);
    let mut versions = std::collections::BTreeSet::new();
    for seed in 1..=2_000_u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let input: Vec<u8> = (0..seed % 1_500)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state as u8
            })
            .collect();
        let (version, written, found) = run(&input);
        versions.insert(version);
        events += written;
        left += found;
    }
    assert_eq!(versions.len(), Version::ALL.len());
    assert!(events > 10_000, "{events} events are few");
    assert!(left < events && left > 0, "damage has left {left} of {events}");
    println!("{events} events, {left} of them after damage");
}

/// Checks that the README of the writer shows this target. Only the name of the crate differs.
#[test]
fn the_readme_shows_the_target_as_it_is() {
    let target =
        include_str!("../fuzz/fuzz_targets/convert.rs").replace("use fuzz_target::convert;\n", "");
    let readme = include_str!("../../../writer/README.md").replace("use shop::convert;\n", "");
    assert!(
        readme.contains(target.trim_end()),
        "the README of nettrace-writer shows another fuzz target"
    );
}
