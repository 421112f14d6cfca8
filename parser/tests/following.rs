//! Tests of files with two streams: every way to read gives the first one as if it were alone.

use nettrace_parser::check::Findings;
use nettrace_parser::following::Following;
use nettrace_parser::parallel::{self, Options, Region};
use nettrace_parser::{Buffered, Class, Limits, Outcome, PositionedFile, Reader, Source, Whole};
use nettrace_testdata::changed;
use nettrace_testdata::corpus;
use nettrace_testdata::synth::{
    EventType, Session, SessionEvent, SessionThread, Step, Version, tiny_v4, tiny_v6,
};
use std::io::Read;
use std::ops::ControlFlow;

fn joined(first: &[u8], second: &[u8]) -> Vec<u8> {
    [first, second, &Following::trailer(second.len() as u64)].concat()
}

/// Returns offset, time and payload of each event, and how the stream ended.
fn told<S: Source>(mut reader: Reader<S>) -> (Vec<(u64, u64, Vec<u8>)>, Outcome) {
    let mut events = Vec::new();
    reader
        .for_each(|event| {
            events.push((event.offset(), event.timestamp_ticks(), event.payload().to_vec()));
        })
        .unwrap();
    (events, reader.outcome())
}

struct Temporary(std::path::PathBuf);

impl Temporary {
    fn new(name: &str, bytes: &[u8]) -> Temporary {
        let name = format!("nettrace-following-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        Temporary(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn each_stream_of_a_file_is_read_as_if_it_were_alone() {
    let streams = [tiny_v4().bytes, tiny_v6().bytes];
    for first in corpus::traces().iter().map(|trace| trace.bytes()).chain(streams.clone()) {
        for second in &streams {
            let file = joined(&first, second);
            let alone = told(Reader::from_slice(&first));
            let reader = Reader::from_slice(&file);
            let following = reader.following().unwrap();
            assert_eq!(following.start, first.len() as u64);
            assert!(told(reader) == alone);
            assert!(
                told(Reader::from_slice(following.bytes(&file)))
                    == told(Reader::from_slice(second))
            );
            let path = Temporary::new("alone", &file);
            let positioned = PositionedFile::open(&path.0).unwrap();
            assert_eq!(positioned.following(), Some(following));
            assert!(told(Reader::new(positioned.reopened())) == alone);
            assert!(told(Reader::new(positioned)) == alone);
            // A pipe ends at the end mark, as it always did.
            if alone.1.is_complete {
                assert!(told(Reader::from_read(&file[..])).0 == alone.0);
            }
        }
    }
}

#[cfg(feature = "mmap")]
#[test]
#[expect(unsafe_code, reason = "the file of this test is its own")]
fn a_mapped_file_ends_where_the_second_stream_begins() {
    use nettrace_parser::MappedFile;
    let (first, second) = (tiny_v4().bytes, tiny_v6().bytes);
    let path = Temporary::new("mapped", &joined(&first, &second));
    let mapped = unsafe { MappedFile::open(&path.0) }.unwrap();
    assert_eq!(mapped.following().unwrap().start, first.len() as u64);
    assert!(told(Reader::new(mapped.positioned())) == told(Reader::from_slice(&first)));
    assert!(told(Reader::new(mapped)) == told(Reader::from_slice(&first)));
}

#[test]
fn a_check_finds_nothing_in_a_file_with_two_streams_and_a_note_in_one_with_other_bytes() {
    for first in corpus::traces().iter().map(|trace| trace.bytes()) {
        let second = tiny_v6().bytes;
        let file = joined(&first, &second);
        let mut reader = Reader::from_slice(&file);
        let mut findings = Findings::read(&mut reader).unwrap();
        let alone = Findings::read(&mut Reader::from_slice(&first)).unwrap();
        assert_eq!(findings, alone);
        let start = reader.following().unwrap().start;
        let of_second = Findings::read(&mut Reader::from_slice(&second)).unwrap();
        findings.add_following(start, of_second.clone());
        assert_eq!(findings.events(), alone.events());
        let count = |findings: &Findings| findings.counts().map(|(_, count)| count).sum::<u64>();
        assert_eq!(count(&findings), count(&alone) + count(&of_second));
        let added = &findings.violations()[alone.violations().len()..];
        assert!(added.iter().all(|violation| violation.offset >= start));
        // Without the length behind it, a second stream is bytes like any others.
        let without = [&first[..], &second[..]].concat();
        if alone.counts().all(|(kind, _)| kind != "truncated") {
            let findings = Findings::read(&mut Reader::from_slice(&without)).unwrap();
            assert!(findings.counts().any(|count| count == ("trailing_bytes", 1)));
        }
    }
}

#[test]
fn damage_at_the_end_of_the_first_stream_does_not_go_on_in_the_second() {
    for version in [Version::V4, Version::V6] {
        let first = match version {
            Version::V4 => tiny_v4().bytes,
            _ => tiny_v6().bytes,
        };
        for flipped in first.len().saturating_sub(200)..first.len() {
            let mut first = first.clone();
            if let Some(byte) = first.get_mut(flipped) {
                *byte ^= 0x55;
            }
            let file = joined(&first, &tiny_v4().bytes);
            assert_eq!(
                told(Reader::from_slice(&file)),
                told(Reader::from_slice(&first)),
                "{flipped}"
            );
        }
    }
}

#[test]
fn a_wrong_length_leaves_all_bytes_to_the_first_stream() {
    let (first, second) = (tiny_v4().bytes, tiny_v6().bytes);
    let whole = second.len() as u64;
    for len in [0, 1, whole - 1, whole + 1, u64::MAX, u64::MAX - 15, 1 << 63] {
        let file = [&first[..], &second, &Following::trailer(len)].concat();
        let mut reader = Reader::from_slice(&file);
        assert_eq!(reader.following(), None, "{len}");
        let findings = Findings::read(&mut reader).unwrap();
        assert!(findings.counts().any(|count| count == ("trailing_bytes", 1)), "{len}");
    }
    // The whole file cannot be a second stream, because there has to be a first one.
    let only = [&second[..], &Following::trailer(whole)].concat();
    assert_eq!(Reader::from_slice(&only).following(), None);
}

#[test]
fn several_threads_end_where_the_second_stream_begins() {
    for trace in corpus::traces() {
        let first = trace.bytes();
        let file = joined(&first, &tiny_v4().bytes);
        let count = |bytes: &[u8]| {
            let mut events = 0;
            let work = |region: &mut Region<'_, _>| {
                let mut events = 0u64;
                region.for_each(|_| events += 1)?;
                Ok(events)
            };
            let options =
                changed(|it: &mut Options| (it.threads, it.limits) = (2, Limits::default()));
            let outcome = parallel::read(
                || Whole::new(bytes),
                options,
                work,
                |more| {
                    events += more;
                    ControlFlow::Continue(())
                },
            );
            (events, outcome.unwrap())
        };
        assert!(count(&file) == count(&first));
    }
}

/// A source that delivers few bytes at a time.
struct Slow<'d>(&'d [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = buffer.len().min(self.1);
        self.0.read(&mut buffer[..count])
    }
}

#[test]
fn a_source_that_cannot_look_at_the_end_has_no_note_if_a_second_stream_is_all_that_comes() {
    for first in &[tiny_v4().bytes, tiny_v6().bytes] {
        let file = joined(first, &tiny_v4().bytes);
        assert_eq!(Buffered::new(&file[..]).at_rest().following(), None);
        for step in [1, 7, 100_000] {
            let check = |bytes: &[u8]| {
                let mut reader = Reader::from_read(Slow(bytes, step));
                Findings::read(&mut reader).unwrap()
            };
            assert_eq!(check(&file), check(first));
            let has_note =
                |bytes: &[u8]| check(bytes).counts().any(|count| count == ("trailing_bytes", 1));
            assert!(has_note(&[&file[..], b"x"].concat()));
            assert!(has_note(&file[..file.len() - 1]));
            assert!(has_note(&[&first[..], b"\0", &file[first.len()..]].concat()));
            assert!(has_note(&[&first[..], &Following::trailer(0)].concat()));
        }
    }
}

#[test]
fn a_long_second_stream_has_no_note_if_the_limit_lets_all_of_it_be_seen() {
    let first = tiny_v4().bytes;
    let second = [&tiny_v4().bytes[..], &vec![0; 3 << 20]].concat();
    let file = joined(&first, &second);
    for (tail_bytes, notes) in [(1 << 20, 1), (8 << 20, 0)] {
        let limits = changed(|it: &mut Limits| it.tail_bytes = tail_bytes);
        let mut reader = Reader::with_limits(Buffered::new(&file[..]).at_rest(), limits);
        reader.for_each(|_| {}).unwrap();
        assert_eq!(reader.damage().count(Class::Note), notes);
    }
}

#[test]
fn a_source_that_does_not_know_its_end_says_that_a_second_stream_came() {
    let second = tiny_v4().bytes;
    for first in [tiny_v4().bytes, tiny_v6().bytes] {
        let goes_on = |file: &[u8]| {
            let mut reader = Reader::new(Buffered::new(file).at_rest());
            reader.for_each(|_| {}).unwrap();
            reader.goes_on()
        };
        assert!(goes_on(&joined(&first, &second)));
        assert!(!goes_on(&first));
        assert!(!goes_on(&[&first[..], b"other bytes"].concat()));
        let file = joined(&first, &second);
        let mut whole = Reader::from_slice(&file);
        whole.for_each(|_| {}).unwrap();
        assert!(!whole.goes_on(), "it ends where the second stream begins");
    }
}

#[test]
fn the_thread_that_wrote_an_event_has_its_id_in_every_version() {
    for version in [Version::V4, Version::V5, Version::V6] {
        let mut session = Session::new(version);
        session.types = vec![EventType::default()];
        session.threads = vec![SessionThread::new(70), SessionThread::new(80)];
        let event = SessionEvent { thread: 0, capture_thread: 1, ..SessionEvent::default() };
        session.steps = vec![Step::Event(event)];
        let bytes = session.record().stream.bytes;
        let mut seen = Vec::new();
        let mut reader = Reader::from_slice(&bytes);
        reader.for_each(|event| seen.push((event.thread_id(), event.capture_thread_id()))).unwrap();
        assert_eq!(seen, [(Some(70), Some(80))], "{version:?}");
    }
}
