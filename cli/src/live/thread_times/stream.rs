//! Writes rows as the second stream: version 4, with a description of each event.

use super::rows::{HowEnded, RecordingEnd, Row, RowKind};
use crate::input::second::{PROVIDER, RECORDING_END};
use nettrace_parser::Trace;
use nettrace_writer::{
    Blob, Definition, EventBlock, Field, FieldType, Stream, SysTime, Value, Version, payload,
};
use std::io::{self, Write};

/// Maximum number of rows of a block, which stays below 64 KB.
const MAX_BLOCK_ROWS: usize = 512;
/// Id of the thread that all events are written by, in the sequence of which none is missing.
const CAPTURE_THREAD: u64 = 1;
/// Level of the events: informational.
const LEVEL: u32 = 4;

/// Returns names and fields of the events, in the order of their ids from 1.
fn types() -> Vec<(&'static str, Vec<Field>)> {
    use FieldType::{Int32, Text, UInt32, UInt64};
    let fields = |all: &[(&str, FieldType)]| -> Vec<Field> {
        all.iter().map(|(name, of)| Field::new(name, of.clone())).collect()
    };
    let u64s = |names: &[&str]| -> Vec<Field> {
        names.iter().map(|name| Field::new(name, UInt64)).collect()
    };
    let counts = ["RanNS", "ReadyNS", "Slices", "MajorFaults"];
    let mut process = u64s(&["RoundTicks", "UserNS", "SystemNS", "MajorFaults", "ResidentBytes"]);
    process.push(Field::new("Threads", UInt32));
    let mut machine = vec![Field::new("Processors", UInt32)];
    machine.extend(u64s(&[
        "UserNS",
        "NiceNS",
        "SystemNS",
        "IdleNS",
        "IoWaitNS",
        "IrqNS",
        "SoftIrqNS",
        "StealNS",
    ]));
    let mut group = fields(&[("Level", UInt32), ("Version", UInt32), ("Path", Text)]);
    group.extend(u64s(&[
        "QuotaNS",
        "PeriodNS",
        "Periods",
        "Throttled",
        "ThrottledNS",
        "MemoryLimit",
        "OomKills",
    ]));
    let mut end = fields(&[
        ("Ended", UInt32),
        ("Status", Int32),
        ("Asked", Text),
        ("Silent", Text),
        ("Version", Text),
    ]);
    end.extend(u64s(&["IntervalNS", "Rounds", "CostNS"]));
    end.push(Field::new("Attached", UInt32));
    vec![
        ("Thread/Time", u64s(&counts)),
        ("Thread/Name", fields(&[("Name", Text), ("BornTicks", UInt64)])),
        ("Process/Total", process),
        ("Machine/Total", machine),
        ("Group/Limits", group),
        ("Recording/End", end),
        ("Thread/End", Vec::new()),
    ]
}

/// A second stream that is being written. Its rows wait until they are flushed.
#[derive(Debug)]
pub(super) struct ClockStream {
    stream: Stream,
    rows: Vec<Blob>,
    sequence: u32,
    last_ticks: u64,
}

impl ClockStream {
    /// Begins the stream that goes with a first one, whose header this is.
    pub(super) fn new(first: &Trace) -> ClockStream {
        let mut stream = Stream::new(Version::V4);
        let start = &first.start;
        let small = |number: u32| i32::try_from(number).unwrap_or(0);
        stream.trace(&nettrace_writer::Trace {
            sync_time: SysTime {
                year: start.year,
                month: start.month,
                day_of_week: start.day_of_week,
                day: start.day,
                hour: start.hour,
                minute: start.minute,
                second: start.second,
                millisecond: start.millisecond,
            },
            sync_ticks: first.sync_ticks,
            tick_frequency: first.tick_frequency,
            pointer_size: i32::from(first.pointer_size),
            process_id: small(first.process_id.unwrap_or(0)),
            processor_count: small(first.processors.unwrap_or(0)),
            sampling_nanos: small(first.sampling_period_nanos.unwrap_or(0)),
            ..nettrace_writer::Trace::default()
        });
        let start_ticks = first.sync_ticks;
        let definitions = types().into_iter().zip(1..).map(|((name, fields), id)| {
            let definition = Definition {
                metadata_id: id,
                provider: PROVIDER.to_owned(),
                event_id: id,
                name: name.to_owned(),
                version: 1,
                level: LEVEL,
                fields,
                ..Definition::default()
            };
            Blob::definition(CAPTURE_THREAD, start_ticks, definition.encode())
        });
        stream.metadata_blobs(&EventBlock::new(definitions));
        ClockStream { stream, rows: Vec::new(), sequence: 0, last_ticks: 0 }
    }

    /// Adds a row. Times never decrease, so that a reader need not sort.
    pub(super) fn push(&mut self, row: &Row) {
        let (metadata_id, thread, values) = encoded(&row.kind);
        self.sequence = self.sequence.wrapping_add(1);
        self.last_ticks = self.last_ticks.max(row.ticks);
        self.rows.push(Blob {
            metadata_id,
            sequence_number: self.sequence,
            thread_id: thread,
            capture_thread_id: CAPTURE_THREAD,
            ticks: self.last_ticks,
            is_sorted: true,
            payload: payload(&values),
            ..Blob::default()
        });
        if self.rows.len() >= MAX_BLOCK_ROWS {
            self.end_block();
        }
    }

    /// Writes all rows.
    pub(super) fn flush_to(&mut self, out: impl Write) -> io::Result<()> {
        self.end_block();
        self.stream.flush_to(out)
    }

    /// Writes all rows and the end mark.
    pub(super) fn end(mut self, out: impl Write) -> io::Result<()> {
        self.end_block();
        self.stream.end().flush_to(out)
    }

    /// Returns the number of bytes that wait to be written, without those of the last block.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.stream.bytes.len()
    }

    /// Returns the time of the last row in ticks.
    pub(super) fn last_ticks(&self) -> u64 {
        self.last_ticks
    }

    fn end_block(&mut self) {
        if !self.rows.is_empty() {
            self.stream.event_block(&EventBlock::new(self.rows.drain(..)));
        }
    }
}

/// Returns the id of a row's event, its thread, and the values of its fields.
fn encoded(row: &RowKind) -> (u32, u64, Vec<Value>) {
    let u64s =
        |numbers: &[u64]| -> Vec<Value> { numbers.iter().copied().map(Value::U64).collect() };
    match row {
        RowKind::ThreadTime(time) => {
            let numbers = [time.ran_ns, time.ready_ns, time.slices, time.major_faults];
            (1, time.thread, u64s(&numbers))
        }
        RowKind::ThreadName { thread, name, born_ticks } => {
            (2, *thread, vec![Value::Text(name.clone()), Value::U64(*born_ticks)])
        }
        RowKind::Process(total) => {
            let mut values = u64s(&[
                total.round_ticks,
                total.user_ns,
                total.system_ns,
                total.major_faults,
                total.resident_bytes,
            ]);
            values.push(Value::U32(total.threads));
            (3, 0, values)
        }
        RowKind::Machine(total) => {
            let mut values = vec![Value::U32(total.processors)];
            values.extend(u64s(&total.times_ns));
            (4, 0, values)
        }
        RowKind::Group(group) => {
            let mut values = vec![
                Value::U32(group.level),
                Value::U32(group.version),
                Value::Text(group.path.clone()),
            ];
            values.extend(u64s(&[
                group.quota_ns,
                group.period_ns,
                group.periods,
                group.throttled,
                group.throttled_ns,
                group.memory_limit,
                group.oom_kills,
            ]));
            (5, 0, values)
        }
        RowKind::End(end) => (RECORDING_END, 0, encoded_end(end)),
        RowKind::ThreadEnd { thread } => (7, *thread, Vec::new()),
    }
}

fn encoded_end(end: &RecordingEnd) -> Vec<Value> {
    let (ended, status) = match end.end {
        HowEnded::Unknown => (0, 0),
        HowEnded::Exited(code) => (1, code),
        HowEnded::Killed(signal) => (2, signal),
    };
    vec![
        Value::U32(ended),
        Value::I32(status),
        Value::Text(end.asked.join("\n")),
        Value::Text(end.silent.join("\n")),
        Value::Text(env!("CARGO_PKG_VERSION").to_owned()),
        Value::U64(end.cost.interval_ns),
        Value::U64(end.cost.rounds),
        Value::U64(end.cost.cost_ns),
        Value::U32(end.is_attached.into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::rows::{GroupLimits, MachineTotal, ProcessTotal, ReadingCost, ThreadTime};
    use super::*;
    use nettrace_parser::Reader;
    use nettrace_parser::check::Findings;
    use nettrace_testdata::synth::{tiny_v4, tiny_v6};

    fn header(bytes: &[u8]) -> Trace {
        Reader::from_slice(bytes).trace().unwrap().clone()
    }

    fn rows() -> Vec<Row> {
        let time =
            ThreadTime { thread: 12, ran_ns: 1, ready_ns: 2, slices: 3, major_faults: u64::MAX };
        let name =
            RowKind::ThreadName { thread: 12, name: "wörker 😀".to_owned(), born_ticks: 5 };
        let process = ProcessTotal {
            round_ticks: 6,
            user_ns: 7,
            system_ns: 8,
            major_faults: 9,
            resident_bytes: 10,
            threads: 11,
        };
        let machine = MachineTotal { processors: 2, times_ns: [1, 2, 3, 4, 5, 6, 7, 8] };
        let group = GroupLimits {
            level: 1,
            version: 2,
            path: "/pod".to_owned(),
            quota_ns: 3,
            period_ns: 4,
            periods: 5,
            throttled: 6,
            throttled_ns: 7,
            memory_limit: 8,
            oom_kills: 9,
        };
        let end = RecordingEnd {
            end: HowEnded::Killed(11),
            asked: vec!["A".to_owned(), "B".to_owned()],
            silent: vec!["B".to_owned()],
            is_attached: true,
            cost: ReadingCost { interval_ns: 1, rounds: 2, cost_ns: 3 },
        };
        let kinds = [
            name,
            RowKind::ThreadTime(time),
            RowKind::Machine(machine),
            RowKind::Group(group),
            RowKind::Process(process),
            RowKind::ThreadEnd { thread: 12 },
            RowKind::End(end),
        ];
        kinds.into_iter().zip(100..).map(|(kind, ticks)| Row { ticks, kind }).collect()
    }

    fn stream(first: &Trace, rows: &[Row]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut stream = ClockStream::new(first);
        for row in rows {
            stream.push(row);
            stream.flush_to(&mut bytes).unwrap();
        }
        stream.end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_second_stream_describes_its_events_and_has_the_clock_of_the_first() {
        for first in [tiny_v4().bytes, tiny_v6().bytes] {
            let first = header(&first);
            let bytes = stream(&first, &rows());
            let its = header(&bytes);
            assert_eq!(
                (its.start, its.sync_ticks, its.tick_frequency, its.pointer_size),
                (first.start, first.sync_ticks, first.tick_frequency, first.pointer_size)
            );
            assert_eq!(its.process_id, first.process_id);
            let mut texts = Vec::new();
            let mut reader = Reader::from_slice(&bytes);
            reader
                .for_each(|event| {
                    assert_eq!(event.provider(), PROVIDER);
                    let fields = event.fields();
                    let fields =
                        fields.map(|field| format!("{}={}", field.name(), field.value.unwrap()));
                    let fields: Vec<String> = fields.collect();
                    let (name, id) = (event.name().to_string(), event.id());
                    let thread = event.thread_id().unwrap_or(0);
                    texts.push(format!("{id} {name} {thread} {}", fields.join(" ")));
                })
                .unwrap();
            assert!(reader.outcome().is_intact());
            assert_eq!(
                texts,
                [
                    "2 Thread/Name 12 Name=wörker 😀 BornTicks=5",
                    "1 Thread/Time 12 RanNS=1 ReadyNS=2 Slices=3 MajorFaults=18446744073709551615",
                    "4 Machine/Total 0 Processors=2 UserNS=1 NiceNS=2 SystemNS=3 IdleNS=4 IoWaitNS=5 IrqNS=6 \
                     SoftIrqNS=7 StealNS=8",
                    "5 Group/Limits 0 Level=1 Version=2 Path=/pod QuotaNS=3 PeriodNS=4 Periods=5 Throttled=6 \
                     ThrottledNS=7 MemoryLimit=8 OomKills=9",
                    "3 Process/Total 0 RoundTicks=6 UserNS=7 SystemNS=8 MajorFaults=9 ResidentBytes=10 Threads=11",
                    "7 Thread/End 12 ",
                    &format!(
                        "6 Recording/End 0 Ended=2 Status=11 Asked=A\nB Silent=B Version={} IntervalNS=1 \
                         Rounds=2 CostNS=3 Attached=1",
                        env!("CARGO_PKG_VERSION")
                    ),
                ]
            );
        }
    }

    #[test]
    fn a_second_stream_keeps_to_the_format_however_many_rows_it_has() {
        let first = header(&tiny_v4().bytes);
        let one = ThreadTime { thread: 1, ..ThreadTime::default() };
        let many = (0..5000).map(|ticks| Row {
            // Times before the start of the first stream, and one that falls.
            ticks: if ticks == 77 { 3 } else { ticks },
            kind: RowKind::ThreadTime(ThreadTime { ran_ns: ticks, ..one }),
        });
        let mut bytes = Vec::new();
        let mut stream = ClockStream::new(&first);
        many.for_each(|row| stream.push(&row));
        assert!(stream.waiting_bytes() > 0);
        stream.end(&mut bytes).unwrap();
        let findings = Findings::read(&mut Reader::from_slice(&bytes)).unwrap();
        assert_eq!((findings.events(), findings.violations()), (5000, &[][..]));
    }

    #[test]
    fn a_stream_that_breaks_off_has_all_that_was_flushed() {
        let first = header(&tiny_v4().bytes);
        let mut bytes = Vec::new();
        let mut stream = ClockStream::new(&first);
        rows().iter().for_each(|row| stream.push(row));
        stream.flush_to(&mut bytes).unwrap();
        let mut reader = Reader::from_slice(&bytes);
        let mut events = 0;
        reader.for_each(|_| events += 1).unwrap();
        assert_eq!((events, reader.is_complete()), (7, false));
    }
}
