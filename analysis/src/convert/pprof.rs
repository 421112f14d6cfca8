//! pprof's protobuf format, always compressed with gzip, as its specification requires.
//!
//! | | |
//! |---|---|
//! | opened by | `go tool pprof`, Pyroscope, Parca, Google Cloud Profiler, speedscope |
//! | sample types | CPU: `samples/count`, `wall/nanoseconds`, or `cpu/nanoseconds` if an operating system took the samples. Sampled allocations: `alloc_objects/count`, `alloc_space/bytes`; allocation ticks, which do not say how many objects they stand for: `alloc_space/bytes`. Contention, waits: `contentions/count`, `delay/nanoseconds`. A heap dump: `inuse_objects/count`, `inuse_space/bytes`. Others: their name and `count`, then `value` if there is one |
//! | labels | `thread` (text), `thread_id` and `process_id` (numbers), `state`; `type` is the allocated or thrown type |
//! | mappings | one per module; the first is the program, which viewers show |
//! | waits | the outermost frame of samples of threads that waited is `(waiting)` |
//! | locations | one per function: offsets are unknown. With lines, one per line of a function, whose file is that of the line |
//! | kinds | the first of the requested kinds that the trace has: a profile has a single set of sample types |
//!
//! The last sample type is the default. `wall` is wall time: the runtime's sampler does
//! not know which threads were on a processor. Functions have no `system_name`: if both
//! names are equal, pprof takes the name for C++ and removes its arguments.

use super::encode::Message;
use super::{Convert, ConvertError, ConvertOptions, Output};
use crate::hash::{HashMap, HashSet};
use crate::model::{
    Call, FrameKind, Kind, Mode, Profile, ProfileKey, Resolved, SampleClock, Texts, Totals,
};
use crate::numbering::Numbering;
use std::collections::BTreeMap;
use std::io::{self, Write};

pub(super) const KINDS: &[Kind] = &[Kind::Cpu];

#[derive(Debug)]
pub(crate) struct Pprof<'o> {
    out: Output<'o>,
    kinds: Vec<Kind>,
    title: String,
}

impl<'o> Pprof<'o> {
    /// Creates a converter that writes to `out`, compressed.
    pub(crate) fn new(out: Box<dyn Write + Send + 'o>, options: &ConvertOptions) -> Pprof<'o> {
        Pprof {
            out: Output::new(out, true),
            kinds: options.kinds_or(KINDS),
            title: options.title.clone(),
        }
    }
}

impl Convert for Pprof<'_> {
    fn wants_samples(&self) -> bool {
        false
    }

    fn finish(
        self: Box<Self>,
        resolved: &Resolved<'_>,
        profile: &Profile,
    ) -> Result<(), ConvertError> {
        let Pprof { out, kinds, title } = *self;
        let kind = super::first_kind(&kinds, profile)?;
        let mut file = File {
            out,
            resolved,
            clock: profile.clock(),
            message: Message::default(),
            texts: Texts::default(),
            locations: Numbering::default(),
            functions: HashMap::default(),
            mappings: Numbering::default(),
        };
        // The first string must be empty: 0 means "none".
        file.text("");
        file.sample_types(kind)?;
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        for (key, totals) in profile.rows().iter().filter(|(key, _)| key.kind == kind) {
            if file.sample(key, totals)? {
                (first, last) = (first.min(totals.first_nanos), last.max(totals.last_nanos));
            }
        }
        // The first mapping is the main program.
        if let Some(program) = program(resolved, profile) {
            file.mapping(&program);
        }
        file.locations()?;
        file.mappings()?;
        file.head(kind, first, last, &title)?;
        file.strings()?;
        Ok(file.out.finish()?)
    }
}

/// Returns the name of the program's module. That is the module that the command line names, or
/// else the one whose `Main` is outermost most often.
fn program(resolved: &Resolved<'_>, profile: &Profile) -> Option<String> {
    let mut entries: BTreeMap<&str, u64> = BTreeMap::new();
    for (key, totals) in profile.rows() {
        let frames =
            resolved.frames(key.stack).iter().rev().filter_map(|frame| resolved.frame(*frame));
        let outermost = frames.into_iter().find(|frame| frame.kind == FrameKind::Managed);
        if let Some(frame) =
            outermost.filter(|frame| !frame.module.is_empty() && frame.method == "Main")
        {
            let sum = entries.entry(&frame.module).or_default();
            *sum = sum.saturating_add(totals.samples);
        }
    }
    let by_entry = || {
        entries.iter().max_by_key(|(_, samples)| **samples).map(|(module, _)| (*module).to_owned())
    };
    let modules: HashSet<&str> = resolved.all_frames().iter().map(|frame| &*frame.module).collect();
    let by_command_line = resolved.model().processes().find_map(|(_, process)| {
        let words = process.name.split([' ', '"']).filter(|word| !word.is_empty());
        let names = words.filter_map(|word| word.rsplit(['/', '\\']).next());
        let stems = names.map(|name| {
            [".dll", ".exe"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
        });
        stems.into_iter().find(|stem| modules.contains(stem)).map(str::to_owned)
    });
    by_command_line.or_else(by_entry)
}

/// Returns the names and units of the values that samples of a kind have: the count, unless it is
/// not known, and the weight.
fn value_types(
    kind: Kind,
    clock: SampleClock,
) -> (Option<(&'static str, &'static str)>, (&'static str, &'static str)) {
    let [count, weight] = match kind {
        Kind::Cpu => [("samples", "count"), (clock.key(), "nanoseconds")],
        // A tick stands for about 100 KB of objects, whose number is not known.
        Kind::AllocationTicks => return (None, ("alloc_space", "bytes")),
        Kind::AllocationSamples => [("alloc_objects", "count"), ("alloc_space", "bytes")],
        Kind::Contention | Kind::Waits => [("contentions", "count"), ("delay", "nanoseconds")],
        Kind::OffCpu => [("switches", "count"), ("off_cpu", "nanoseconds")],
        Kind::Exceptions => [("samples", "count"), ("exceptions", "count")],
        Kind::ThreadStarts => [("samples", "count"), ("threads", "count")],
        Kind::Event => [("events", "count"), ("value", "count")],
        Kind::Heap => [("inuse_objects", "count"), ("inuse_space", "bytes")],
    };
    (Some(count), weight)
}

/// Field numbers of the messages of pprof.
mod field {
    pub(super) const SAMPLE_TYPE: u32 = 1;
    pub(super) const SAMPLE: u32 = 2;
    pub(super) const MAPPING: u32 = 3;
    pub(super) const LOCATION: u32 = 4;
    pub(super) const FUNCTION: u32 = 5;
    pub(super) const STRING_TABLE: u32 = 6;
    pub(super) const TIME_NANOS: u32 = 9;
    pub(super) const DURATION_NANOS: u32 = 10;
    pub(super) const PERIOD_TYPE: u32 = 11;
    pub(super) const PERIOD: u32 = 12;
    pub(super) const COMMENT: u32 = 13;
    pub(super) const DEFAULT_SAMPLE_TYPE: u32 = 14;
}

/// The file while it is written. Fields of a message may be in any order, so samples are written
/// first, and the tables to which they refer last.
struct File<'a, 'o> {
    out: Output<'o>,
    resolved: &'a Resolved<'a>,
    clock: SampleClock,
    message: Message,
    texts: Texts,
    /// Calls by their ids, which count from 1. A function has the id of its first location.
    locations: Numbering<Call>,
    /// Function of each name and file that have lines: the id of its first location.
    functions: HashMap<(u64, u64), u64>,
    /// Ids of the modules' mappings, by the index of the module's name in the string table.
    mappings: Numbering<u64>,
}

impl File<'_, '_> {
    /// Writes one field of the file.
    fn put(&mut self, field: u32, inner: &Message) -> io::Result<()> {
        self.message.clear();
        self.message.message(field, inner);
        self.out.write_all(self.message.bytes())
    }

    fn value_type(&mut self, (name, unit): (&str, &str)) -> Message {
        let mut message = Message::default();
        message.uint(1, self.text(name)).uint(2, self.text(unit));
        message
    }

    fn sample_types(&mut self, kind: Kind) -> io::Result<()> {
        let (count, weight) = value_types(kind, self.clock);
        for value_type in count.into_iter().chain([weight]) {
            let message = self.value_type(value_type);
            self.put(field::SAMPLE_TYPE, &message)?;
        }
        Ok(())
    }

    /// Writes a sample; returns `false` if the filter excludes the sample.
    fn sample(&mut self, key: &ProfileKey, totals: &Totals) -> io::Result<bool> {
        let resolved = self.resolved;
        let Some(frames) = resolved.selected(key.stack, key.mode) else { return Ok(false) };
        let is_open = key.kind.is_open_wait(key.label);
        let waiting = key.label.filter(|_| is_open).map(|label| Call::Label(key.kind, label));
        let calls = waiting.into_iter().chain(frames.iter().map(|frame| Call::Frame(*frame)));
        let calls = calls.chain(resolved.state_root(key.kind, key.stack, key.mode));
        let ids: Vec<u64> = calls.map(|call| self.locations.id(call).0).collect();
        let (count, _) = value_types(key.kind, self.clock);
        let values = count.map(|_| totals.count).into_iter().chain([totals.weight]);
        let mut sample = Message::default();
        sample.packed(1, ids.into_iter()).packed(2, values.collect::<Vec<_>>().into_iter());
        if key.kind == Kind::Heap {
            // Heap objects do not belong to a thread.
            self.put(field::SAMPLE, &sample)?;
            return Ok(true);
        }
        let model = resolved.model();
        self.text_label(&mut sample, "thread", &model.thread_label(key.thread));
        if let Some(thread) = model.thread(key.thread) {
            if let Some(id) = thread.os_thread_id {
                self.number_label(&mut sample, "thread_id", id);
            }
            if let Some(id) = model.process(thread.process).and_then(|process| process.id) {
                self.number_label(&mut sample, "process_id", id);
            }
        }
        if key.mode != Mode::Unknown {
            self.text_label(&mut sample, "state", resolved.state(key.stack, key.mode).name());
        }
        if let Some(label) = key.label.filter(|_| !is_open) {
            self.text_label(&mut sample, "type", model.text(label));
        }
        self.put(field::SAMPLE, &sample)?;
        Ok(true)
    }

    fn text_label(&mut self, sample: &mut Message, key: &str, text: &str) {
        let mut label = Message::default();
        label.uint(1, self.text(key)).uint(2, self.text(text));
        sample.message(3, &label);
    }

    fn number_label(&mut self, sample: &mut Message, key: &str, number: u64) {
        let mut label = Message::default();
        label.uint(1, self.text(key)).uint(3, number);
        sample.message(3, &label);
    }

    /// Returns the index of a text in the string table.
    fn text(&mut self, text: &str) -> u64 {
        self.texts.intern(text).0.into()
    }

    /// Returns the id of a module's mapping, which is described on first use; 0 if there is none.
    fn mapping(&mut self, module: &str) -> u64 {
        if module.is_empty() {
            return 0;
        }
        let text = self.text(module);
        self.mappings.id(text).0
    }

    fn locations(&mut self) -> io::Result<()> {
        let resolved = self.resolved;
        for (id, call) in (1u64..).zip(std::mem::take(&mut self.locations).into_values()) {
            let (text, module, file, at) = match call {
                Call::Frame(frame) => {
                    let Some(frame) = resolved.frame(frame) else { continue };
                    let has_file = frame.kind != FrameKind::Unknown;
                    let file = if has_file { &*frame.module } else { "" };
                    (frame.without_line(), &*frame.module, file, frame.line.as_ref())
                }
                Call::Label(_, label) => (resolved.model().text(label).into(), "", "", None),
                call => (call.fixed_text().unwrap_or_default().into(), "", "", None),
            };
            let mapping = self.mapping(module);
            let name = self.text(&text);
            let file = at.map_or(file, |at| &at.file);
            let file = if file.is_empty() { 0 } else { self.text(file) };
            let function_id = match at {
                Some(_) => *self.functions.entry((name, file)).or_insert(id),
                None => id,
            };
            let mut function = Message::default();
            function.uint(1, id).uint(2, name);
            if file > 0 {
                function.uint(4, file);
            }
            let mut line = Message::default();
            line.uint(1, function_id);
            if let Some(at) = at {
                line.uint(2, at.line.into());
            }
            let mut location = Message::default();
            location.uint(1, id);
            if mapping > 0 {
                location.uint(2, mapping);
            }
            location.message(4, &line);
            self.put(field::LOCATION, &location)?;
            if function_id == id {
                self.put(field::FUNCTION, &function)?;
            }
        }
        Ok(())
    }

    fn mappings(&mut self) -> io::Result<()> {
        for (id, text) in (1u64..).zip(std::mem::take(&mut self.mappings).into_values()) {
            let mut mapping = Message::default();
            // There are no addresses, but there are functions: nothing needs
            // symbolication.
            mapping.uint(1, id).uint(5, text).uint(7, 1);
            self.put(field::MAPPING, &mapping)?;
        }
        Ok(())
    }

    fn head(&mut self, kind: Kind, first: i64, last: i64, title: &str) -> io::Result<()> {
        let model = self.resolved.model();
        let (_, default) = value_types(kind, self.clock);
        let mut head = Message::default();
        if let Some(session) = model.session() {
            let start = session.start.unix_nanos().and_then(|nanos| i64::try_from(nanos).ok());
            if let Some(start) = start {
                head.int(
                    field::TIME_NANOS,
                    start.saturating_add(if first == i64::MAX { 0 } else { first }),
                );
            }
        }
        if first <= last {
            head.int(field::DURATION_NANOS, last.saturating_sub(first));
        }
        if let (Kind::Cpu, Some(period)) = (kind, model.period_nanos()) {
            let period_type = self.value_type(default);
            head.message(field::PERIOD_TYPE, &period_type).uint(field::PERIOD, period);
        } else if kind == Kind::AllocationSamples {
            let period_type = self.value_type(("space", "bytes"));
            head.message(field::PERIOD_TYPE, &period_type).uint(field::PERIOD, 102_400);
        }
        if !title.is_empty() {
            head.uint(field::COMMENT, self.text(title));
        }
        if kind == Kind::Cpu && self.clock == SampleClock::Wall {
            let comment = "wall time between the samples of a thread, not time on a processor";
            head.uint(field::COMMENT, self.text(comment));
        }
        head.uint(field::DEFAULT_SAMPLE_TYPE, self.text(default.0));
        self.out.write_all(head.bytes())
    }

    fn strings(&mut self) -> io::Result<()> {
        for text in self.texts.all() {
            self.message.clear();
            self.message.text(field::STRING_TABLE, text);
            self.out.write_all(self.message.bytes())?;
        }
        Ok(())
    }
}
