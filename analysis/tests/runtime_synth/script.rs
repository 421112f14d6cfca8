//! Synthetic streams of the runtime's events, and their reports.

use crate::common::{RUNTIME, filtered, native};
use nettrace_analysis::Filter;
use nettrace_analysis::report::{Report, ReportPass};
use nettrace_parser::Reader;
use nettrace_testdata::synth::{Session, SessionEvent, SessionThread, Step, Value, Version};

/// Id and version of the runtime's events. The index in the list is the event type.
const TYPES: [(u32, u8); 29] = [
    (1, 2),
    (2, 1),
    (3, 1),
    (4, 2),
    (5, 1),
    (7, 1),
    (8, 1),
    (9, 1),
    (10, 4),
    (50, 0),
    (55, 0),
    (57, 0),
    (61, 0),
    (62, 0),
    (143, 1),
    (145, 1),
    (154, 1),
    (155, 1),
    (204, 3),
    (205, 4),
    (283, 0),
    (284, 0),
    (15, 0),
    (20, 0),
    (160, 0),
    (185, 0),
    (188, 0),
    (191, 0),
    (192, 0),
];
pub(crate) const SAMPLED: usize = TYPES.len();
pub(crate) const BIND_STARTS: usize = TYPES.len() + 1;
pub(crate) const BIND_STOPS: usize = TYPES.len() + 2;

pub(crate) fn bytes_of(steps: Vec<Step>) -> Vec<u8> {
    let mut session = Session::new(Version::V4);
    session.trace.tick_frequency = 1_000_000_000;
    session.types = TYPES.iter().map(|(id, version)| native(RUNTIME, *id, *version)).collect();
    session.types.extend([
        native(RUNTIME, 303, 0),
        native(RUNTIME, 290, 0),
        native(RUNTIME, 291, 0),
    ]);
    session.threads = vec![SessionThread::new(11), SessionThread::new(12), SessionThread::new(13)];
    session.steps = steps;
    session.record().stream.bytes
}

pub(crate) fn report_with<R: Report>(
    report: R,
    steps: Vec<Step>,
    filter: Filter,
) -> (R::Output, u64) {
    let bytes = bytes_of(steps);
    let mut pass = ReportPass::with_options(report, filtered(filter));
    assert!(pass.read(&mut Reader::from_slice(&bytes).time_ordered()).unwrap().is_complete);
    let reported = pass.finish();
    (reported.output, reported.events)
}

pub(crate) fn report<R: Report>(report: R, steps: Vec<Step>) -> R::Output {
    report_with(report, steps, Filter::default()).0
}

/// A builder of a stream, with events at ascending times.
pub(crate) struct Script {
    now: u32,
    pub(crate) steps: Vec<Step>,
}

impl Script {
    pub(crate) fn new() -> Script {
        Script { now: 0, steps: Vec::new() }
    }

    pub(crate) fn of_type(
        mut self,
        at: u32,
        thread: usize,
        event_type: usize,
        values: Vec<Value>,
    ) -> Script {
        self.steps.push(Step::Event(SessionEvent {
            event_type,
            thread,
            capture_thread: thread,
            ticks_later: at - self.now,
            values,
            ..SessionEvent::default()
        }));
        self.now = at;
        self
    }

    pub(crate) fn event(self, at: u32, thread: usize, id: u32, values: Vec<Value>) -> Script {
        let event_type = TYPES.iter().position(|(known, _)| *known == id).unwrap();
        self.of_type(at, thread, event_type, values)
    }

    pub(crate) fn suspend(self, begin: u32, end: u32, thread: usize, reason: u32) -> Script {
        self.event(begin, thread, 9, vec![Value::U32(reason), Value::U32(0), Value::U16(0)]).event(
            end,
            thread,
            8,
            vec![Value::U16(0)],
        )
    }

    pub(crate) fn restart(self, begin: u32, end: u32, thread: usize) -> Script {
        self.event(begin, thread, 7, vec![Value::U16(0)]).event(end, thread, 3, vec![Value::U16(0)])
    }

    pub(crate) fn start(
        self,
        at: u32,
        thread: usize,
        [number, generation, reason, kind]: [u32; 4],
    ) -> Script {
        let mut values = [number, generation, reason, kind].map(Value::U32).to_vec();
        values.extend([Value::U16(0), Value::U64(0)]);
        self.event(at, thread, 1, values)
    }

    pub(crate) fn end(self, at: u32, thread: usize, number: u32) -> Script {
        self.event(at, thread, 2, vec![Value::U32(number), Value::U32(0), Value::U16(0)])
    }

    /// Adds sizes of the heap: `size` bytes in each generation, of which half was promoted.
    pub(crate) fn stats(self, at: u32, thread: usize, size: u64) -> Script {
        let pair = [Value::U64(size), Value::U64(size / 2)];
        let mut values: Vec<Value> = std::iter::repeat_n(pair.clone(), 4).flatten().collect();
        values.extend([
            Value::U64(7),
            Value::U64(8),
            Value::U32(9),
            Value::U32(10),
            Value::U32(11),
            Value::U16(0),
        ]);
        values.extend(pair);
        self.event(at, thread, 4, values)
    }

    /// Adds the history of a heap, with the same ten numbers for each of five generations.
    pub(crate) fn heap(self, at: u32, thread: usize, index: u32, row: [u64; 10]) -> Script {
        let mut values = vec![Value::U16(0)];
        values.extend([0; 6].map(Value::U64));
        values.extend([0, 0, 0, 0, 0, index].map(Value::U32));
        values.extend([Value::U64(0), Value::U32(5)]);
        values.extend(std::iter::repeat_n(row.map(Value::U64), 5).flatten());
        self.event(at, thread, 204, values)
    }

    pub(crate) fn global(
        self,
        at: u32,
        thread: usize,
        heaps: u32,
        mechanisms: u32,
        times: &[u32],
    ) -> Script {
        let mut values = vec![Value::U64(0)];
        values.extend([heaps, 0, 0, 0, mechanisms].map(Value::U32));
        values.push(Value::U16(0));
        values.extend([1, 40, 0, 0, times.len() as u32].map(Value::U32));
        values.extend(times.iter().map(|time| Value::U32(*time)));
        self.event(at, thread, 205, values)
    }

    /// Adds a blocking collection from `at` to `at + 20`, on thread 0.
    pub(crate) fn whole(self, at: u32, number: u32, generation: u32) -> Script {
        self.suspend(at, at + 2, 0, 1)
            .start(at + 4, 0, [number, generation, 0, 0])
            .end(at + 10, 0, number)
            .stats(at + 11, 0, 100)
            .restart(at + 12, at + 20, 0)
    }
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.into())
}
