//! One pass over a trace: opened anew, read to its end, folded into a checksum.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;

use nettrace_parser::parallel::{self, Options, Order, Region};
use nettrace_parser::{
    Buffered, Event, FieldValue, MappedFile, PositionedFile, Reader, Source, TimeOrdered, Value,
    Visit, VisitValues, Whole,
};

use crate::checksum::Checksum;
use crate::memory::allocations;
use crate::ndjson;

/// What is done with each event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// File order; all header fields.
    Raw,
    /// Time order; header fields, schema and stack.
    Ordered,
    /// File order; header fields and every payload value.
    Fields,
    /// Time order and every payload value, as TraceEvent's `timefields`.
    OrderedFields,
    /// Formatted as NDJSON, file order.
    Ndjson,
    /// The same in time order.
    OrderedNdjson,
    /// Blocks only: where they lie.
    Index,
}

impl Mode {
    /// All of them.
    pub const ALL: [Mode; 7] = [
        Mode::Raw,
        Mode::Ordered,
        Mode::Fields,
        Mode::OrderedFields,
        Mode::Ndjson,
        Mode::OrderedNdjson,
        Mode::Index,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Raw => "raw",
            Mode::Ordered => "ordered",
            Mode::Fields => "fields",
            Mode::OrderedFields => "ordered-fields",
            Mode::Ndjson => "ndjson",
            Mode::OrderedNdjson => "ordered-ndjson",
            Mode::Index => "index",
        }
    }

    /// The order that events come in.
    pub fn order(self) -> Order {
        match self {
            Mode::Ordered | Mode::OrderedFields | Mode::OrderedNdjson => Order::Time,
            Mode::Raw | Mode::Fields | Mode::Ndjson | Mode::Index => Order::File,
        }
    }

    /// The one of that name.
    pub fn of_name(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// As it is fastest: mapped into memory piece by piece, or by several threads in file
    /// order at positions.
    Mapped,
    /// By `read`, through a buffer.
    Read,
}

/// What a pass saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Events, and what they sum up to.
    pub checksum: Checksum,
    /// What went wrong on the way, if all was not well: losses, damage, a missing end.
    pub wrong: Wrong,
}

/// What no valid trace has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wrong {
    /// Events lost.
    pub lost: u64,
    /// Threads that began anew.
    pub restarts: u64,
    /// Events out of order (time-ordered modes).
    pub out_of_order: u64,
    /// Findings of damage.
    pub damage: u64,
    /// Whether the end mark is missing.
    pub is_incomplete: bool,
}

/// Opens `path` and makes one pass. In file order more than one thread read at positions,
/// and so does the index, by one; a file that comes in by `read` does so by one thread
/// whatever their number.
///
/// # Errors
/// What reading reports.
pub fn file(path: &Path, mode: Mode, input: Input, threads: usize) -> io::Result<Seen> {
    file_watched(path, mode, input, threads, |_| ())
}

/// The same; `observe` is called with the number of events so far after each, or after
/// each region.
///
/// # Errors
/// As `file`.
#[inline(always)]
pub fn file_watched(
    path: &Path,
    mode: Mode,
    input: Input,
    threads: usize,
    observe: impl Fn(u64) + Send,
) -> io::Result<Seen> {
    match (mode, input) {
        (Mode::Ndjson | Mode::OrderedNdjson, _) => {
            let checksum = ndjson::pass(path, mode.order(), input, threads, observe)?;
            Ok(Seen { checksum, wrong: Wrong::default() })
        }
        (_, Input::Read) => source(Buffered::new(File::open(path)?), mode, observe),
        (Mode::Index, _) => source(PositionedFile::open(path)?, mode, observe),
        (_, Input::Mapped) if threads == 1 => source(mapped(path)?, mode, observe),
        (_, Input::Mapped) => in_regions(path, mode, threads, observe),
    }
}

/// Maps a trace.
///
/// # Errors
/// When it cannot be opened or mapped.
#[expect(unsafe_code, reason = "benchmarks read files that nobody else has")]
pub fn mapped(path: &Path) -> io::Result<MappedFile> {
    // SAFETY: the traces of a benchmark are written before it begins, and not changed
    // until it ends.
    unsafe { MappedFile::open(path) }
}

/// Makes one pass over a stream in memory.
///
/// # Errors
/// As `file`.
pub fn memory(stream: &[u8], mode: Mode) -> io::Result<Seen> {
    source(Whole::new(stream), mode, |_| ())
}

/// Makes a pass and counts what it allocates after its first half: its tables and
/// buffers have their size by then, so that what is left would go on for ever. `events`
/// is their number. With several threads each region costs some allocations, whatever the
/// number of its events.
///
/// # Errors
/// As `file`.
pub fn allocations_when_warm(
    path: &Path,
    mode: Mode,
    input: Input,
    threads: usize,
    events: u64,
) -> io::Result<u64> {
    let at_half = OnceLock::new();
    file_watched(path, mode, input, threads, |count| {
        if count >= events / 2 {
            at_half.get_or_init(allocations);
        }
    })?;
    Ok(allocations() - at_half.into_inner().unwrap_or(0))
}

/// Makes one pass over a source. `observe` is called with the number of events so far
/// after each.
///
/// # Errors
/// As `file`.
#[inline(always)]
pub fn source<S: Source>(source: S, mode: Mode, observe: impl Fn(u64) + Send) -> io::Result<Seen> {
    if mode == Mode::Index {
        return index(Reader::of_blocks(source));
    }
    let reader = Reader::new(source);
    match mode {
        Mode::Raw => in_file_order(reader, HeaderAlone, observe),
        Mode::Fields => in_file_order(reader, AllFields, observe),
        Mode::Ordered => in_time_order(reader.time_ordered(), SchemaAndStack, observe),
        Mode::OrderedFields => in_time_order(reader.time_ordered(), AllFields, observe),
        Mode::Ndjson | Mode::OrderedNdjson => Err(unsupported("NDJSON of anything but a file")),
        Mode::Index => Err(unsupported("events of an index")),
    }
}

fn unsupported(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("{what}: there is nothing for it"))
}

/// Finds all blocks: each counts as an event does elsewhere, and its place goes into the
/// checksum.
fn index<S: Source>(mut reader: Reader<S>) -> io::Result<Seen> {
    let mut sum = Checksum::default();
    while let Some(block) = reader.next_block().map_err(io::Error::other)? {
        sum.events += 1;
        sum.number(block.span().start.rotate_left(20) ^ u64::from(block.span().len));
    }
    // Without events nothing is known of losses.
    Ok(Seen { checksum: sum, wrong: Wrong { lost: 0, restarts: 0, ..Wrong::of(&reader, 0) } })
}

/// Reads regions with several threads. What waits for its turn holds the bytes after it,
/// so in time order a mapping spares as much memory as a region has, touched for the
/// first time.
fn in_regions(
    path: &Path,
    mode: Mode,
    threads: usize,
    observe: impl Fn(u64) + Send,
) -> io::Result<Seen> {
    let positioned = || PositionedFile::open(path);
    let mapped = || mapped(path);
    match mode {
        Mode::Raw => {
            let file = positioned()?;
            regions(
                || file.reopened(),
                Order::File,
                threads,
                |region| folded(region, HeaderAlone),
                observe,
            )
        }
        Mode::Fields => {
            let file = positioned()?;
            regions(
                || file.reopened(),
                Order::File,
                threads,
                |region| folded(region, AllFields),
                observe,
            )
        }
        Mode::Ordered => {
            let file = mapped()?;
            regions(
                || file.reopened(),
                Order::Time,
                threads,
                |region| folded(region, SchemaAndStack),
                observe,
            )
        }
        Mode::OrderedFields => {
            let file = mapped()?;
            regions(
                || file.reopened(),
                Order::Time,
                threads,
                |region| folded(region, AllFields),
                observe,
            )
        }
        Mode::Ndjson | Mode::OrderedNdjson | Mode::Index => {
            Err(unsupported("regions of this mode"))
        }
    }
}

fn regions<S: Source>(
    source: impl Fn() -> S + Sync,
    order: Order,
    threads: usize,
    fold: impl Fn(&mut Region<'_, S>) -> Result<Checksum, nettrace_parser::Error> + Sync,
    observe: impl Fn(u64) + Send,
) -> io::Result<Seen> {
    let options = Options::new().threads(threads).order(order);
    let mut sum = Checksum::default();
    let outcome = parallel::read(source, options, fold, |region| {
        sum = sum.join(region);
        observe(sum.events);
        ControlFlow::Continue(())
    })
    .map_err(io::Error::other)?;
    let wrong = Wrong {
        lost: outcome.losses().total(),
        restarts: outcome.losses().restarts(),
        out_of_order: outcome.out_of_order(),
        damage: outcome.damage().findings().len() as u64,
        is_incomplete: !outcome.is_complete(),
    };
    Ok(Seen { checksum: sum, wrong })
}

#[inline(always)]
fn folded<S: Source>(
    region: &mut Region<'_, S>,
    take: impl TakeEvent,
) -> Result<Checksum, nettrace_parser::Error> {
    // Not a closure: one of this size is called and not inlined, with an event that is put together in memory.
    let mut each = Each { sum: Checksum::default(), take, observe: |_| () };
    region.visit(&mut each)?;
    Ok(each.sum)
}

/// A short visitor, inlined into the loop over a block.
struct Each<T, O> {
    sum: Checksum,
    take: T,
    observe: O,
}

impl<T: TakeEvent, O: Fn(u64)> Visit for Each<T, O> {
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        self.take.event(&mut self.sum, &event);
        (self.observe)(self.sum.events);
    }
}

#[inline(never)]
fn in_file_order<S: Source>(
    mut reader: Reader<S>,
    take: impl TakeEvent,
    observe: impl Fn(u64) + Send,
) -> io::Result<Seen> {
    let mut each = Each { sum: Checksum::default(), take, observe };
    reader.visit(&mut each).map_err(io::Error::other)?;
    Ok(Seen { checksum: each.sum, wrong: Wrong::of(&reader, 0) })
}

#[inline(never)]
fn in_time_order<S: Source>(
    mut events: TimeOrdered<S>,
    take: impl TakeEvent,
    observe: impl Fn(u64) + Send,
) -> io::Result<Seen> {
    let mut each = Each { sum: Checksum::default(), take, observe };
    events.visit(&mut each).map_err(io::Error::other)?;
    Ok(Seen { checksum: each.sum, wrong: Wrong::of(events.reader(), events.out_of_order()) })
}

/// Folds an event. A trait and not a function, so that it is inlined where events come
/// from.
trait TakeEvent {
    fn event(&self, sum: &mut Checksum, event: &Event<'_>);
}

struct HeaderAlone;

impl TakeEvent for HeaderAlone {
    #[inline(always)]
    fn event(&self, sum: &mut Checksum, event: &Event<'_>) {
        sum.header(event);
    }
}

/// Header, schema and stack.
struct SchemaAndStack;

impl TakeEvent for SchemaAndStack {
    #[inline(always)]
    fn event(&self, sum: &mut Checksum, event: &Event<'_>) {
        sum.header(event);
        schema_and_stack(sum, event);
    }
}

/// Folds in what can only be had by looking up the event's type and its stack.
#[inline(always)]
pub fn schema_and_stack(sum: &mut Checksum, event: &Event<'_>) {
    let fields = event.schema().map_or(0, |schema| schema.fields.len() as u64);
    let leaf = event.stack().addresses().next().unwrap_or(0);
    sum.number(fields ^ leaf);
}

/// Header and every value of the payload.
struct AllFields;

impl TakeEvent for AllFields {
    #[inline(always)]
    fn event(&self, sum: &mut Checksum, event: &Event<'_>) {
        sum.header(event);
        event.visit_fields(&mut Values(sum));
    }
}

/// The values of a payload.
struct Values<'s>(&'s mut Checksum);

impl<'r> VisitValues<'r> for Values<'_> {
    #[inline(always)]
    fn field(&mut self, field: FieldValue<'r>) {
        self.0.number(field.value.as_ref().map_or(1, value));
    }

    #[inline(always)]
    fn element(&mut self, element: Value<'r>) {
        self.0.number(value(&element));
    }
}

/// The values within another one.
struct Nested(u64);

impl<'r> VisitValues<'r> for Nested {
    #[inline(always)]
    fn field(&mut self, field: FieldValue<'r>) {
        self.add(field.value.as_ref().map_or(1, value));
    }

    #[inline(always)]
    fn element(&mut self, element: Value<'r>) {
        self.add(value(&element));
    }
}

impl Nested {
    #[inline(always)]
    fn add(&mut self, number: u64) {
        self.0 = self.0.wrapping_add(number);
    }
}

/// A number that cannot be had without decoding the value.
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
        // Where a text ends had to be searched for.
        Value::Utf16(text) => text.bytes().len() as u64,
        Value::Utf8(text) => text.bytes().len() as u64,
        Value::Bytes(bytes) => bytes.len() as u64,
        Value::Guid(guid) => u128::from_le_bytes(guid.to_bytes()) as u64,
        nested => nested_value(nested),
    }
}

#[inline(never)]
fn nested_value(nested: &Value<'_>) -> u64 {
    let mut values = Nested(2);
    match nested {
        Value::Array(array) => array.visit(&mut values),
        Value::Object(object) => object.fields().visit(&mut values),
        _ => return 4,
    }
    values.0
}

impl Wrong {
    fn of<S: Source>(reader: &Reader<S>, out_of_order: u64) -> Wrong {
        Wrong {
            lost: reader.losses().total(),
            restarts: reader.losses().restarts(),
            out_of_order,
            damage: reader.damage().findings().len() as u64,
            is_incomplete: !reader.is_complete(),
        }
    }
}
