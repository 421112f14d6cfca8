//! Tests that all modes and inputs of a pass see the same events.

use nettrace_benches::make::Case;
use nettrace_benches::pass::{self, Input, Mode};

fn folder() -> std::path::PathBuf {
    std::env::temp_dir().join(format!("nettrace-passes-{}", std::process::id()))
}

#[test]
fn events_and_checksum_are_equal_over_threads_and_ways_to_read() {
    for case in Case::READ {
        println!("{}", case.name());
        let file = case.file(&folder(), 1_000_000).unwrap();
        for (mode, _) in Mode::ALL {
            let seen = pass::file(&file, mode, Input::Mapped, 1).unwrap();
            assert!(seen.checksum.events > 0 && seen.is_intact, "{mode:?} {seen:?}");
            for (input, threads) in
                [(Input::Read, 1), (Input::Mapped, 2), (Input::Mapped, 5), (Input::Read, 2)]
            {
                let again = pass::file(&file, mode, input, threads).unwrap();
                assert_eq!(seen, again, "{} {mode:?} {input:?} {threads}", case.name());
            }
        }
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn modes_that_see_headers_only_count_the_same_events() {
    let file = Case::Mixed.file(&folder(), 600_000).unwrap();
    let events = |mode| pass::file(&file, mode, Input::Mapped, 2).unwrap().checksum.events;
    let raw = events(Mode::Raw);
    let others =
        [Mode::Ordered, Mode::Fields, Mode::OrderedFields, Mode::Ndjson, Mode::OrderedNdjson];
    for mode in others {
        assert_eq!(events(mode), raw, "{mode:?}");
    }
    assert!(events(Mode::Index) < raw);
    std::fs::remove_file(file).unwrap();
}
