//! Stopping a process that sends events as fast as it can.

use super::Subject;
use nettrace_parser::{Buffered, Reader, Value};
use nettrace_testdata::peers;

/// Number after which the workload's count begins again.
const ROUND: u64 = 100_000;

#[test]
#[ignore = "needs NETTRACE_PEERS"]
fn a_stop_under_full_load_loses_nothing_that_the_stream_does_not_say() {
    peers::each(peers::all(), |peer| {
        let mut subject = Subject::start(peer, "throughput");
        let options =
            ["--providers", "Nettrace-Workload", "--rundown", "false", "--max-size", "5MB"];
        let run = subject.collect(&[&options[..], &["-o", "x.nettrace"]].concat());
        assert_eq!(run.code, Some(0), ".NET {}: {}", peer.major, run.stderr);
        let bytes = std::fs::read(subject.folder.file("x.nettrace")).unwrap();
        let mut reader = Reader::new(Buffered::new(&bytes[..]));
        let (mut count, mut missing, mut last, mut lost_before_last) = (0_u64, 0_u64, None, 0);
        while let Some(event) = reader.next_event().unwrap() {
            if (event.provider(), event.id()) != ("Nettrace-Workload", 8) {
                continue;
            }
            let number = event.fields().next().and_then(|field| match field.value {
                Ok(Value::I64(number)) => u64::try_from(number).ok(),
                _ => None,
            });
            let number = number.unwrap();
            // One thread counts, so that each missing number is a lost event.
            missing += last.map_or(0, |last: u64| (number + ROUND - last - 1) % ROUND);
            last = Some(number);
            count += 1;
            lost_before_last = reader.losses().total();
        }
        let lost = reader.losses().total();
        eprintln!(".NET {}: {count} events, {lost} lost", peer.major);
        assert!(count > 10_000 && reader.is_complete());
        // Events that were lost after the last event are missing no number.
        assert_eq!(
            missing % ROUND,
            lost_before_last % ROUND,
            ".NET {}: {count} events",
            peer.major
        );
        subject.assert_unharmed();
    });
}
