//! Tests that reading ends at the end mark. A reader looks at bytes after the mark only if it need
//! not wait for them, and at a limited number of them.

use nettrace_parser::check::Findings;
use nettrace_parser::parallel::{self, Options, Region};
use nettrace_parser::{Buffered, Class, Fault, Feed, Limits, Reader, Source, Whole};
use nettrace_testdata::changed;
use nettrace_testdata::corpus;
use nettrace_testdata::one_type;
use nettrace_testdata::synth::{Blob, EventBlock, PartKind, Stream, Trace, Version};
use std::io::{self, Read};
use std::ops::ControlFlow;

/// A source that fails after its last byte, where a pipe that is held open would wait for ever.
struct HeldOpen<'d>(&'d [u8]);

impl Read for HeldOpen<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Err(io::Error::other("this would wait"));
        }
        self.0.read(buffer)
    }
}

/// Returns a stream of `blocks` event blocks, with its end mark.
fn stream(version: Version, blocks: u32) -> Stream {
    let stream = one_type(version);
    with_events(stream, blocks)
}

fn with_events(mut stream: Stream, blocks: u32) -> Stream {
    for block in 0..blocks {
        let rows = (0..50).map(|row| Blob {
            metadata_id: 1,
            sequence_number: 1 + block * 50 + row,
            thread_id: 1,
            capture_thread_id: 1,
            ticks: 5_000_000 + u64::from(block * 50 + row),
            payload: vec![7; 16],
            ..Blob::default()
        });
        stream.event_block(&EventBlock::new(rows));
    }
    stream.end();
    stream
}

fn count<S: Source>(reader: &mut Reader<S>) -> u64 {
    let mut events = 0;
    reader.for_each(|_| events += 1).unwrap();
    events
}

#[test]
fn a_pipe_that_is_held_open_behind_the_end_mark_does_not_block() {
    let mut streams = vec![stream(Version::V4, 40).bytes, stream(Version::V6, 40).bytes];
    let complete = |bytes: &Vec<u8>| {
        let mut reader = Reader::from_slice(bytes);
        count(&mut reader);
        reader.is_complete()
    };
    // Undefined ids make the reader look further.
    for version in [Version::V4, Version::V6] {
        let mut stream = Stream::new(version);
        stream.trace(&Trace::default());
        streams.push(with_events(stream, 3).bytes);
    }
    streams.extend(corpus::traces().into_iter().map(|trace| trace.bytes()).filter(complete));
    for bytes in &streams {
        let mut reader = Reader::from_read(HeldOpen(bytes));
        let events = count(&mut reader);
        assert!(reader.is_complete() && events == count(&mut Reader::from_slice(bytes)));
        let mut ordered = Reader::from_read(HeldOpen(bytes)).time_ordered();
        let mut by_time = 0;
        ordered.for_each(|_| by_time += 1).unwrap();
        assert_eq!(by_time, events);
    }
}

/// A source that records how far the reader wants to read.
struct Asked<'d> {
    whole: Whole<&'d [u8]>,
    most: u64,
}

impl Source for Asked<'_> {
    fn start(&self) -> u64 {
        0
    }
    fn bytes(&self) -> &[u8] {
        let bytes = self.whole.bytes();
        bytes.get(..self.most as usize).unwrap_or(bytes)
    }
    fn fill(&mut self, end: u64) -> io::Result<bool> {
        self.most = self.most.max(end);
        self.whole.fill(end)
    }
    fn fill_at_once(&mut self, end: u64) -> io::Result<bool> {
        self.fill(end)
    }
    fn release(&mut self, _before: u64) {}
}

#[test]
fn of_what_follows_the_end_mark_a_megabyte_is_looked_at_unless_a_limit_allows_more() {
    for version in [Version::V4, Version::V6] {
        let mut bytes = stream(version, 1).bytes;
        let end = bytes.len() as u64;
        bytes.resize(bytes.len() + (8 << 20), 0);
        for (limits, due) in [
            (Limits::default(), 1 << 20),
            (changed(|it: &mut Limits| it.tail_bytes = 100), 100),
            (changed(|it: &mut Limits| it.tail_bytes = 4 << 20), 4 << 20),
        ] {
            let mut reader =
                Reader::with_limits(Asked { whole: Whole::new(&bytes), most: 0 }, limits);
            count(&mut reader);
            assert_eq!(reader.source().most, end + due + 1, "{version:?}");
            let [finding] = reader.damage().findings() else { panic!("{:?}", reader.damage()) };
            assert_eq!((finding.class, finding.offset), (Class::Note, end));
            assert_eq!(finding.fault, Fault::MoreTrailingBytes(due));
            assert!(reader.is_complete() && reader.end_offset() == Some(end));
        }
        let mut reader = Reader::with_limits(
            Whole::new(&bytes),
            changed(|it: &mut Limits| it.tail_bytes = u64::MAX),
        );
        count(&mut reader);
        assert_eq!(reader.damage().findings()[0].fault, Fault::TrailingBytes(8 << 20));
    }
}

#[test]
fn a_check_waits_for_what_follows_the_end_mark() {
    let mut bytes = stream(Version::V4, 1).bytes;
    bytes.extend([7; 300]);
    /// A source that delivers one byte at a time.
    struct Slow<'d>(&'d [u8]);
    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(&mut buffer[..1])
        }
    }
    let mut reader = Reader::from_read(Slow(&bytes));
    let findings = Findings::read(&mut reader).unwrap();
    assert!(findings.counts().any(|count| count == ("trailing_bytes", 1)), "{findings:?}");
    // Without `Findings` the reader does not wait for bytes after the mark.
    let mut reader = Reader::from_read(Slow(&bytes));
    count(&mut reader);
    assert_eq!(reader.damage().count(Class::Note), 0);
}

#[test]
fn an_end_mark_that_one_bit_has_made_is_none_in_a_pipe_too() {
    let stream = stream(Version::V4, 40);
    let at = stream.nth(PartKind::Event, 20).start;
    let mut bytes = stream.bytes.clone();
    // Turns a begin tag, 5, into an end mark, 1.
    bytes[at] ^= 4;
    let whole = count(&mut Reader::from_slice(&bytes));
    assert!(whole > 1900, "{whole}");
    let mut reader = Reader::new(Buffered::new(bytes.as_slice()));
    assert_eq!(count(&mut reader), whole);
    assert!(reader.damage().is_damaged());
}

#[test]
fn a_feed_has_ended_at_the_end_mark_and_looks_at_what_is_pushed_behind_it() {
    let bytes = stream(Version::V6, 3).bytes;
    let mut feed = Feed::new();
    feed.push(&bytes);
    while feed.next_event().unwrap().is_some() {}
    assert!(feed.is_ended() && feed.reader().is_complete());
    feed.push(&[7; 10]);
    feed.end();
    while feed.next_event().unwrap().is_some() {}
    assert_eq!(feed.reader().damage().findings()[0].fault, Fault::TrailingBytes(10));
}

#[test]
fn several_threads_end_at_the_end_mark_as_one_does() {
    let mut bytes = stream(Version::V4, 400).bytes;
    bytes.resize(bytes.len() + (4 << 20), 0);
    let told = [1, 3].map(|threads| {
        let work = |region: &mut Region<'_, _>| {
            let mut events = 0u64;
            region.for_each(|_| events += 1)?;
            Ok(events)
        };
        let mut events = 0;
        let options = changed(|it: &mut Options| it.threads = threads);
        let outcome = parallel::read(
            || Whole::new(&bytes[..]),
            options,
            work,
            |more| {
                events += more;
                ControlFlow::Continue(())
            },
        )
        .unwrap();
        (events, outcome.damage.clone(), outcome.end_offset)
    });
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0].1.findings()[0].fault, Fault::MoreTrailingBytes(1 << 20));
}
