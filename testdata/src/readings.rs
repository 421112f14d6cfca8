//! Streams with the times of a process and its threads, as a recording has them behind its events.

use nettrace_writer::{
    EventType, FieldType, Session, SessionEvent, SessionThread, Step, Value, Version,
};

const MS: u64 = 1_000_000;

/// Readings of a process, to which a test adds one after another in time order. Times are
/// milliseconds, and a tick is a nanosecond.
#[derive(Debug, Clone)]
pub struct Readings {
    session: Session,
    /// Events with their times.
    events: Vec<(u64, SessionEvent)>,
    start: u64,
}

impl Readings {
    /// Creates a stream without readings, with the clock of a session.
    pub fn new(of: &Session) -> Readings {
        let mut session = Session::new(Version::V4);
        session.trace = of.trace.clone();
        let fields = |event: EventType, names: &[&str]| {
            names.iter().fold(event, |event, name| event.field(name, FieldType::UInt64))
        };
        let of_type = |id, name| EventType::new("Nettrace-Clock", id, name);
        let named = of_type(2, "Thread/Name").field("Name", FieldType::Text);
        let total = ["RoundTicks", "UserNS", "SystemNS", "MajorFaults", "ResidentBytes"];
        session.types = vec![
            fields(of_type(1, "Thread/Time"), &["RanNS", "ReadyNS", "Slices", "MajorFaults"]),
            fields(named, &["BornTicks"]),
            fields(of_type(3, "Process/Total"), &total).field("Threads", FieldType::UInt32),
            of_type(7, "Thread/End"),
            fields(
                of_type(5, "Group/Limits").field("Level", FieldType::UInt32),
                &["QuotaNS", "PeriodNS", "Periods", "Throttled", "MemoryLimit", "OomKills"],
            ),
            of_type(6, "Recording/End").field("Attached", FieldType::UInt32),
        ];
        session.threads = vec![SessionThread::new(0)];
        let start = of.trace.sync_ticks;
        Readings { session, events: Vec::new(), start }
    }

    fn add(&mut self, event_type: usize, thread: u64, at_ms: u64, values: Vec<Value>) {
        let threads = &mut self.session.threads;
        let place = threads.iter().position(|it| it.os_thread_id == thread);
        let thread = place.unwrap_or_else(|| {
            threads.push(SessionThread::new(thread));
            threads.len() - 1
        });
        let event = SessionEvent {
            event_type,
            thread,
            capture_thread: 0,
            values,
            ..SessionEvent::default()
        };
        self.events.push((at_ms * MS, event));
    }

    /// Adds the name and the birth of a thread.
    pub fn born(&mut self, thread: u64, name: &str, at_ms: u64) -> &mut Readings {
        let ticks = Value::U64(self.start + at_ms * MS);
        self.add(1, thread, at_ms, vec![Value::Text(name.into()), ticks]);
        self
    }

    /// Adds the name of a thread that was born before the session.
    pub fn born_before(&mut self, thread: u64, name: &str, before_ms: u64) -> &mut Readings {
        let ticks = Value::U64(self.start - before_ms * MS);
        self.add(1, thread, 0, vec![Value::Text(name.into()), ticks]);
        self
    }

    /// Adds what a thread ran, and was ready, since its birth.
    pub fn time(&mut self, thread: u64, at_ms: u64, ran_ms: u64, ready_ms: u64) -> &mut Readings {
        let numbers = [ran_ms * MS, ready_ms * MS, 1, 0].map(Value::U64);
        self.add(0, thread, at_ms, numbers.to_vec());
        self
    }

    /// Adds what the process ran, which ends a round.
    pub fn total(&mut self, at_ms: u64, ran_ms: u64) -> &mut Readings {
        let mut values: Vec<Value> =
            [self.start + at_ms * MS, ran_ms * MS, 0, 0, 0].map(Value::U64).to_vec();
        values.push(Value::U32(3));
        self.add(2, 0, at_ms, values);
        self
    }

    /// Adds the periods of a limit of the process's group: 50 ms in each 100 ms.
    pub fn limit(&mut self, at_ms: u64, periods: u64, throttled: u64) -> &mut Readings {
        self.group(at_ms, [50 * MS, 100 * MS, periods, throttled, 0, 0])
    }

    /// Adds how many processes of the process's group were killed, which may have 512 MiB.
    pub fn killed(&mut self, at_ms: u64, processes: u64) -> &mut Readings {
        self.group(at_ms, [0, 0, 0, 0, 512 << 20, processes])
    }

    fn group(&mut self, at_ms: u64, numbers: [u64; 6]) -> &mut Readings {
        let mut values = vec![Value::U32(0)];
        values.extend(numbers.map(Value::U64));
        self.add(4, 0, at_ms, values);
        self
    }

    /// Adds that the process was not held at its start for the session.
    pub fn attached(&mut self, at_ms: u64) -> &mut Readings {
        self.add(5, 0, at_ms, vec![Value::U32(1)]);
        self
    }

    /// Returns the bytes of the stream.
    pub fn bytes(&self) -> Vec<u8> {
        let mut session = self.session.clone();
        let mut before = 0;
        session.steps = self
            .events
            .iter()
            .map(|(at, event)| {
                let ticks_later = u32::try_from(at - before).unwrap();
                before = *at;
                Step::Event(SessionEvent { ticks_later, ..event.clone() })
            })
            .collect();
        session.record().stream.bytes
    }

    /// Returns a file with the readings behind the end mark of the trace.
    pub fn behind(&self, trace: &[u8]) -> Vec<u8> {
        let bytes = self.bytes();
        let length = bytes.len() as u64;
        [trace, &bytes, &length.to_le_bytes(), b"nt-clock"].concat()
    }
}
