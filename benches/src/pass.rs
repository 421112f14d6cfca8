//! One pass over a trace: it is opened, read to its end, and summed up in a checksum.

use crate::checksum::Checksum;
use crate::{memory, ndjson};
use nettrace_parser::parallel::{self, Options, Order, Region};
use nettrace_parser::{
    Buffered, Event, FieldValue, MappedFile, Outcome, PositionedFile, Reader, Source, Value, Visit,
    VisitValues, Whole,
};
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// Parts of an event that a pass reads, and the order of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Reads all header fields, in file order.
    Raw,
    /// Reads header fields, schema and stack, in time order.
    Ordered,
    /// Reads header fields and every payload value, in file order.
    Fields,
    /// Reads header fields and every payload value, in time order. It is compared with the mode
    /// `timefields` of TraceEvent.
    OrderedFields,
    /// Writes NDJSON, in file order.
    Ndjson,
    /// Writes NDJSON, in time order.
    OrderedNdjson,
    /// Finds the positions of blocks, without reading their events.
    Index,
}

impl Mode {
    /// All modes, with their names on the command line.
    pub const ALL: [(Mode, &'static str); 7] = [
        (Mode::Raw, "raw"),
        (Mode::Ordered, "ordered"),
        (Mode::Fields, "fields"),
        (Mode::OrderedFields, "ordered-fields"),
        (Mode::Ndjson, "ndjson"),
        (Mode::OrderedNdjson, "ordered-ndjson"),
        (Mode::Index, "index"),
    ];

    /// Returns the mode's name on the command line.
    pub fn name(self) -> &'static str {
        Mode::ALL.into_iter().find(|(mode, _)| *mode == self).map_or("", |(_, name)| name)
    }

    /// Returns the mode with this name.
    pub fn of_name(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|(_, known)| *known == name).map(|(mode, _)| mode)
    }
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// The fastest way: one thread maps the file piece by piece. Several threads, and
    /// [`Mode::Index`], read it at positions.
    Mapped,
    /// One thread reads the file with `read`, through a buffer.
    Read,
}

/// The result of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassResult {
    /// Checksum of the events.
    pub checksum: Checksum,
    /// Whether the trace is complete, and has no losses, damage or events out of order.
    pub is_intact: bool,
}

impl PassResult {
    pub(crate) fn new(checksum: Checksum, outcome: &Outcome) -> PassResult {
        PassResult { checksum, is_intact: outcome.is_intact() && outcome.out_of_order == 0 }
    }
}

/// Opens `path` and makes one pass.
///
/// # Errors
/// Errors of reading.
pub fn file(path: &Path, mode: Mode, input: Input, threads: usize) -> io::Result<PassResult> {
    match (mode, input) {
        (Mode::Ndjson, _) => ndjson::pass(path, Order::File, input, threads),
        (Mode::OrderedNdjson, _) => ndjson::pass(path, Order::Time, input, threads),
        (_, Input::Read) => source(Buffered::new(File::open(path)?), mode),
        (Mode::Index, _) => source(PositionedFile::open(path)?, mode),
        (_, Input::Mapped) if threads == 1 => source(mapped(path)?, mode),
        (Mode::Raw, _) => at_positions::<Headers>(path, Order::File, threads),
        (Mode::Fields, _) => at_positions::<AllFields>(path, Order::File, threads),
        (Mode::Ordered, _) => at_positions::<SchemaAndStack>(path, Order::Time, threads),
        (Mode::OrderedFields, _) => at_positions::<AllFields>(path, Order::Time, threads),
    }
}

/// Maps a trace.
///
/// # Errors
/// When it cannot be opened or mapped.
#[expect(unsafe_code, reason = "benchmarks read files that nobody else has")]
pub fn mapped(path: &Path) -> io::Result<MappedFile> {
    // SAFETY: the traces of a benchmark are not changed while it runs.
    unsafe { MappedFile::open(path) }
}

/// Makes one pass over a stream in memory.
///
/// # Errors
/// The errors of [`file()`].
pub fn memory(stream: &[u8], mode: Mode) -> io::Result<PassResult> {
    source(Whole::new(stream), mode)
}

fn source<S: Source>(source: S, mode: Mode) -> io::Result<PassResult> {
    match mode {
        Mode::Raw => one_thread::<_, Headers>(source, Order::File),
        Mode::Fields => one_thread::<_, AllFields>(source, Order::File),
        Mode::Ordered => one_thread::<_, SchemaAndStack>(source, Order::Time),
        Mode::OrderedFields => one_thread::<_, AllFields>(source, Order::Time),
        Mode::Index => index(Reader::new(source).blocks_only()),
        Mode::Ndjson | Mode::OrderedNdjson => {
            Err(io::Error::new(io::ErrorKind::Unsupported, "NDJSON is made of files only"))
        }
    }
}

/// Finds all blocks. The checksum has the number of blocks in place of events, and their positions.
fn index<S: Source>(mut reader: Reader<S>) -> io::Result<PassResult> {
    let mut sum = Checksum::default();
    while let Some(block) = reader.next_block().map_err(io::Error::other)? {
        sum.events += 1;
        sum.fold_number(block.span.start.rotate_left(20) ^ u64::from(block.span.len));
    }
    // Losses are unknown, because no event was read.
    let is_intact = reader.is_complete() && reader.damage().findings().is_empty();
    Ok(PassResult { checksum: sum, is_intact })
}

/// Reads a mapped file, and returns the maximum of the memory that no file backs. It is measured
/// every 50,000 events.
///
/// # Errors
/// The errors of [`file()`].
pub fn anonymous_peak(path: &Path) -> io::Result<u64> {
    const EVENTS_BETWEEN_LOOKS: u64 = 50_000;
    let (mut count, mut peak) = (0u64, 0);
    let mut reader = Reader::new(mapped(path)?);
    let each = |_: Event<'_>| {
        count += 1;
        if count % EVENTS_BETWEEN_LOOKS == 0 {
            peak = peak.max(memory::anonymous_bytes().unwrap_or(0));
        }
    };
    reader.for_each(each).map_err(io::Error::other)?;
    Ok(peak)
}

/// Visitor that adds events to a checksum. It is small, so that it is inlined into the loop over a
/// block.
trait Fold: Visit + Default {
    fn sum(self) -> Checksum;
}

#[inline(never)]
fn one_thread<S: Source, F: Fold>(source: S, order: Order) -> io::Result<PassResult> {
    let (mut fold, mut reader) = (F::default(), Reader::new(source));
    if order == Order::File {
        reader.visit(&mut fold).map_err(io::Error::other)?;
        return Ok(PassResult::new(fold.sum(), &reader.outcome()));
    }
    let mut events = reader.time_ordered();
    events.visit(&mut fold).map_err(io::Error::other)?;
    Ok(PassResult::new(fold.sum(), &events.outcome()))
}

fn at_positions<F: Fold>(path: &Path, order: Order, threads: usize) -> io::Result<PassResult> {
    let file = PositionedFile::open(path)?;
    in_regions::<_, F>(|| file.reopened(), order, threads)
}

/// Reads the regions of a trace in parallel, with several threads.
fn in_regions<S: Source, F: Fold>(
    source: impl Fn() -> S + Sync,
    order: Order,
    threads: usize,
) -> io::Result<PassResult> {
    let mut options = Options::default();
    (options.threads, options.order) = (threads, order);
    let fold = |region: &mut Region<'_, S>| {
        let mut fold = F::default();
        region.visit(&mut fold).map(|()| fold.sum())
    };
    let mut sum = Checksum::default();
    let outcome = parallel::read(source, options, fold, |region| {
        sum = sum.join(region);
        ControlFlow::Continue(())
    })
    .map_err(io::Error::other)?;
    Ok(PassResult::new(sum, &outcome))
}

/// Adds the header of each event to a checksum.
#[derive(Default)]
struct Headers(Checksum);

impl Visit for Headers {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.0.fold_header(&event);
    }
}

impl Fold for Headers {
    fn sum(self) -> Checksum {
        self.0
    }
}

/// Adds the header, the schema and the stack of each event to a checksum.
#[derive(Default)]
struct SchemaAndStack(Checksum);

impl Visit for SchemaAndStack {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.0.fold_header(&event);
        // The number of fields needs the event type, the leaf needs the stack.
        let fields = event.schema().map_or(0, |schema| schema.fields.len() as u64);
        let leaf = event.stack().addresses().next().unwrap_or(0);
        self.0.fold_number(fields ^ leaf);
    }
}

impl Fold for SchemaAndStack {
    fn sum(self) -> Checksum {
        self.0
    }
}

/// Adds the header of each event and every value of its payload to a checksum.
#[derive(Default)]
struct AllFields(Checksum);

impl Visit for AllFields {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.0.fold_header(&event);
        event.visit_fields(&mut Values(&mut self.0));
    }
}

impl Fold for AllFields {
    fn sum(self) -> Checksum {
        self.0
    }
}

/// Adds the values of a payload to a checksum.
struct Values<'s>(&'s mut Checksum);

impl<'r> VisitValues<'r> for Values<'_> {
    #[inline(always)]
    fn field(&mut self, field: FieldValue<'r>) {
        self.0.fold_number(field.value.as_ref().map_or(1, value));
    }

    #[inline(always)]
    fn element(&mut self, element: Value<'r>) {
        self.0.fold_number(value(&element));
    }
}

/// Returns a number that depends on the decoded value, to add to a checksum.
#[inline(always)]
fn value(value: &Value<'_>) -> u64 {
    match value {
        Value::Bool(value) => u64::from(*value),
        Value::U8(value) => u64::from(*value),
        Value::U16(value) | Value::Char(value) => u64::from(*value),
        Value::U32(value) => u64::from(*value),
        Value::U64(value) | Value::Pointer(value) => *value,
        Value::I8(value) => *value as u64,
        Value::I16(value) => *value as u64,
        Value::I32(value) => *value as u64,
        Value::I64(value) => *value as u64,
        Value::F32(value) => u64::from(value.to_bits()),
        Value::F64(value) => value.to_bits(),
        // The length of a text is known only after the search for its end.
        Value::Utf16(text) => text.bytes().len() as u64,
        Value::Utf8(text) => text.bytes().len() as u64,
        Value::Bytes(bytes) => bytes.len() as u64,
        Value::Guid(guid) => u128::from_le_bytes(guid.to_bytes()) as u64,
        nested => nested_value(nested),
    }
}

#[inline(never)]
fn nested_value(nested: &Value<'_>) -> u64 {
    let mut sum = Checksum::default();
    match nested {
        Value::Array(array) => array.visit(&mut Values(&mut sum)),
        Value::Object(object) => object.fields().visit(&mut Values(&mut sum)),
        _ => return 4,
    }
    sum.numbers()
}
