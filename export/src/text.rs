//! Writes events as text for people: aligned lines, one for each event.

mod columns;

use self::columns::Times;
use crate::compiled::{CompiledShapes, Dialect, NumberStyle};
use crate::detail::{Detail, opcode};
use crate::event_types::{EventTypes, TypeIndex};
use crate::hidden::printable;
use crate::json::Json;
use crate::line::digits::sixteen_hex;
use crate::long::cut;
use crate::page::Page;
use crate::selection::Selection;
use crate::text_value::TextValues;
use nettrace_parser::{Event, catalog};
use std::borrow::Cow;
use std::fmt;
use std::io::Write;

/// Minimum and maximum width of the column of names, in characters. In between, it is as wide as
/// the longest name so far. A longer name moves the rest of its line to the right.
const NAME_COLUMNS: (usize, usize) = (40, 64);
/// Width of the column of times: for milliseconds, and for UTC.
const TIME_COLUMNS: (usize, usize) = (12, "2026-11-20 14:37:46.896123".len());
/// Width of the columns of processes and threads.
const ID_COLUMNS: usize = 7;
/// Heading of the column with the events' names.
const EVENT: &str = "EVENT";

/// Text before the digits of a frame's address.
const BEFORE_ADDRESS: &str = "              at 0x";
/// Length of a line with a frame's address, without paint, in bytes.
const ADDRESS_LINE_BYTES: usize = BEFORE_ADDRESS.len() + 16 + 1;

/// Two texts that set off a text, such as a terminal's sequences for colours. They are empty by
/// default.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Paint {
    /// Text to write before the text that is set off.
    pub on: String,
    /// Text to write after the text that is set off.
    pub off: String,
}

impl Paint {
    /// Makes a paint of the text to write before and the text to write after.
    pub fn new(on: impl Into<String>, off: impl Into<String>) -> Paint {
        Paint { on: on.into(), off: off.into() }
    }

    /// Returns the text between [`Paint::on`] and [`Paint::off`].
    pub fn over(&self, text: impl fmt::Display) -> String {
        format!("{}{text}{}", self.on, self.off)
    }
}

/// Layout of events as text.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct TextOptions {
    /// Whether there is a column for the process, which events of version 6 have.
    pub has_processes: bool,
    /// Maximum width of a value, in characters; longer values are cut off. `None` means no limit.
    pub value_columns: Option<usize>,
    /// Paint of less important parts.
    pub faint: Paint,
    /// Paint of names of events.
    pub name: Paint,
    /// Paint of names of events of level 3, warning.
    pub warning: Paint,
    /// Paint of names of events of levels 1 and 2, critical and error.
    pub bad: Paint,
}

/// Writes events as text.
#[derive(Debug)]
pub(crate) struct TextLines {
    detail: Detail,
    options: TextOptions,
    name_columns: usize,
    times: Times,
    /// Texts of the types' names, by [`TypeIndex::number`].
    labels: Vec<Option<Label>>,
    payloads: CompiledShapes,
    values: TextValues,
    /// Names of the frames in the next event's stack. Successive events often have equal stacks, so
    /// `frame_lines` keeps the lines for these names.
    frames: Vec<String>,
    frame_lines: Vec<u8>,
}

/// A type's name in lines of text.
#[derive(Debug, Clone, Default)]
struct Label {
    /// Display name without control characters, and its width in characters.
    name: String,
    width: usize,
    /// The name with its paint, between spaces: the last ones reach to the next column.
    text: Vec<u8>,
    /// Number of the spaces at the end.
    spaces: usize,
    /// Level and width of the column for which the text was made.
    made_for: Option<(u32, usize)>,
}

impl Label {
    /// Makes the text for events of a level in a column of this width, if it is another one.
    #[inline(always)]
    fn adapt(&mut self, level: u32, columns: usize, options: &TextOptions) {
        if self.made_for != Some((level, columns)) {
            self.make(level, columns, options);
        }
    }

    #[inline(never)]
    fn make(&mut self, level: u32, columns: usize, options: &TextOptions) {
        self.made_for = Some((level, columns));
        let paint = match level {
            1 | 2 => &options.bad,
            3 => &options.warning,
            _ => &options.name,
        };
        self.text.clear();
        for text in ["  ", &paint.on, &self.name, &paint.off] {
            self.text.raw(text);
        }
        self.spaces = columns.saturating_sub(self.width).saturating_add(2);
        self.text.extend(std::iter::repeat_n(b' ', self.spaces));
    }
}

impl TextLines {
    pub(crate) fn new(detail: Detail, options: TextOptions) -> TextLines {
        TextLines {
            detail,
            name_columns: NAME_COLUMNS.0,
            times: Times::new(detail.utc),
            labels: Vec::new(),
            payloads: CompiledShapes::new(Dialect::Text),
            values: TextValues::new(options.value_columns),
            options,
            frames: Vec::new(),
            frame_lines: Vec::new(),
        }
    }

    /// Sets the names of the frames in the next event's stack.
    pub(crate) fn name_frames(&mut self, names: &[Cow<'_, str>]) {
        if self.frames.iter().eq(names.iter()) {
            return;
        }
        self.frames.clear();
        self.frames.extend(names.iter().map(|name| name.to_string()));
        self.frame_lines.clear();
        let (on, off) = (&self.options.faint.on, &self.options.faint.off);
        for name in names {
            // Writing to a vector cannot fail.
            let _ = writeln!(self.frame_lines, "{on}{:12}  at {}{off}", "", printable(name));
        }
    }

    /// Appends the line with the headings of the columns.
    pub(crate) fn begin(&self, out: &mut Vec<u8>) {
        let time = if self.detail.utc { "UTC" } else { "TIME ms" };
        let process = if self.options.has_processes { "  PROCESS" } else { "" };
        let (width, name_columns) = (self.times.columns(), self.name_columns);
        let line = format!("{time:>width$}{process}   THREAD  {EVENT:<name_columns$}  PAYLOAD");
        let _ = writeln!(out, "{}", self.options.faint.over(line));
    }

    /// Appends one event.
    #[inline(never)]
    pub(crate) fn write(
        &mut self,
        page: &mut Page,
        event: &Event<'_>,
        type_index: TypeIndex,
        types: &EventTypes,
        selection: Option<&mut Selection>,
    ) {
        if self.labels.get(type_index.number).is_none_or(Option::is_none) {
            self.make_label(type_index.number, types);
        }
        let Some(Some(label)) = self.labels.get_mut(type_index.number) else { return };
        label.adapt(event.level(), self.name_columns, &self.options);
        // What is compiled writes values whole.
        let is_whole = selection.is_none() && self.options.value_columns.is_none();
        let compiled = if is_whole { self.payloads.writer_of(type_index, types) } else { None };
        let payload = event.payload();
        let room = compiled.map_or(0, |payloads| {
            payloads.begin().len().saturating_add(payloads.room(payload.len()))
        });
        let room = room.saturating_add(label.text.len()).saturating_add(columns::MAX_BYTES + 1);
        let mut line = page.writer(room);
        self.times.write(&mut line, event);
        if self.options.has_processes {
            columns::write_id(&mut line, event.process_id());
        }
        columns::write_id(&mut line, event.thread_id());
        line.bytes(&label.text);
        let (left, spaces) = (line.left(), label.spaces);
        let written = compiled.and_then(|payloads| {
            let style =
                NumberStyle { pointer_size: event.session().pointer_size, largest: u64::MAX };
            line.literal(payloads.begin());
            payloads.write(line, payload, style)
        });
        match written {
            Some(mut line) if line.left() < left => {
                line.byte(b'\n');
                let left = line.left();
                page.keep(left);
            }
            _ => {
                page.keep(left);
                self.write_slow(page, event, (type_index, types), selection, spaces);
            }
        }
        if self.detail.raw {
            page.append(|out| self.write_raw(out, event));
        }
        if self.detail.stacks {
            self.write_stack(page, event);
        }
    }

    /// Appends any payload, and the end of the line. `spaces` are before it.
    #[inline(never)]
    fn write_slow(
        &self,
        page: &mut Page,
        event: &Event<'_>,
        (type_index, types): (TypeIndex, &EventTypes),
        selection: Option<&mut Selection>,
        spaces: usize,
    ) {
        let at = page.len();
        page.append(|out| match (selection, types.names(type_index)) {
            (None, Some(names)) => self.values.write_payload(out, event, names),
            (Some(selection), Some(names)) => {
                for chosen in selection.of_shape(type_index.shape, names).iter().flatten() {
                    if let Some(field) = chosen.path.field(event) {
                        if !out.is_empty() {
                            out.push(b' ');
                        }
                        self.values.write_pair(out, &field, &chosen.name);
                    }
                }
            }
            (_, None) => {}
        });
        if page.len() == at {
            // Nothing to align.
            page.cut(at.saturating_sub(spaces));
        }
        page.append(|out| out.push(b'\n'));
    }

    /// Makes the label of a type, and widens the column of names for it.
    #[cold]
    fn make_label(&mut self, number: usize, types: &EventTypes) {
        let Some(row) = types.rows().get(number) else { return };
        if number >= self.labels.len() {
            self.labels.resize(number.saturating_add(1), None);
        }
        if let Some(place) = self.labels.get_mut(number) {
            let name = printable(&cut(&row.path())).into_owned();
            let width = name.chars().count();
            *place = Some(Label { name, width, ..Label::default() });
            if width <= NAME_COLUMNS.1 {
                self.name_columns = self.name_columns.max(width);
            }
        }
    }

    fn write_raw(&self, out: &mut Vec<u8>, event: &Event<'_>) {
        let (opcode, is_stored) = opcode(event);
        let implied = if is_stored { "" } else { " (implied)" };
        let processor =
            event.processor().map_or_else(|| "-".to_owned(), |number| number.to_string());
        let _ = write!(
            out,
            "{}{:12}  ticks {}  id {} v{}  level {}  keywords {}  opcode {opcode}{implied}  processor {processor}  \
             sequence {}  offset {:#x}",
            self.options.faint.on,
            "",
            event.timestamp_ticks(),
            event.id(),
            event.version(),
            event.level(),
            KeywordNames(event),
            event.sequence_number(),
            event.offset(),
        );
        for line in event.payload().chunks(32) {
            let _ = write!(out, "\n{:14}", "");
            out.hex_bytes(line);
        }
        out.raw(&self.options.faint.off);
        out.push(b'\n');
    }

    fn write_stack(&self, page: &mut Page, event: &Event<'_>) {
        if self.detail.frames {
            let mut line = page.writer(self.frame_lines.len());
            line.bytes(&self.frame_lines);
            let left = line.left();
            return page.keep(left);
        }
        let (on, off) = (&self.options.faint.on, &self.options.faint.off);
        let stack = event.stack();
        let each = on.len().saturating_add(off.len()).saturating_add(ADDRESS_LINE_BYTES);
        let mut line = page.writer(stack.len().saturating_mul(each));
        for address in stack.addresses() {
            line.bytes(on.as_bytes());
            line.text(BEFORE_ADDRESS);
            line.put(&sixteen_hex(address), 16);
            line.bytes(off.as_bytes());
            line.byte(b'\n');
        }
        let left = line.left();
        page.keep(left);
    }
}

/// Formats keywords as a hexadecimal number, with the names that the catalog has for the bits.
struct KeywordNames<'a, 'r>(&'a Event<'r>);

impl fmt::Display for KeywordNames<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keywords = self.0.keywords();
        write!(f, "{keywords:#x}")?;
        let known =
            catalog::keywords(self.0.provider()).iter().filter(|(bit, _)| keywords & bit != 0);
        for (at, (_, name)) in known.clone().enumerate() {
            write!(f, "{}{name}", if at == 0 { " (" } else { ", " })?;
        }
        if known.count() > 0 { f.write_str(")") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nettrace_parser::Reader;
    use nettrace_testdata::corpus;
    use nettrace_testdata::synth::{
        EventType, Field, FieldType, Session, SessionThread, Step, Value, Version,
    };

    /// Returns a trace as the fast path and as the slow path write it, and the percentage of events
    /// whose shapes have a fast path.
    fn written(bytes: &[u8], utc: bool) -> [(String, usize); 2] {
        // Values of this width are cut off, which only the slow path does.
        [None, Some(usize::MAX)].map(|value_columns| {
            let mut options = TextOptions { value_columns, ..TextOptions::default() };
            (options.has_processes, options.name) = (true, Paint::new("<", ">"));
            let mut lines = TextLines::new(Detail { utc, ..Detail::default() }, options);
            let (mut types, mut page) = (EventTypes::default(), Page::default());
            let (mut reader, mut events, mut fast) = (Reader::from_slice(bytes), 0, 0);
            while let Some(event) = reader.next_event().unwrap() {
                let type_index = types.index_of(&event);
                lines.write(&mut page, &event, type_index, &types, None);
                events += 1;
                fast += usize::from(lines.payloads.writer_of(type_index, &types).is_some());
            }
            (String::from_utf8(page.filled().to_vec()).unwrap(), fast * 100 / events.max(1))
        })
    }

    fn assert_equal(name: &str, [fast, slow]: [&str; 2]) {
        for (fast, slow) in fast.lines().zip(slow.lines()) {
            assert_eq!(fast, slow, "{name}");
        }
        assert_eq!(fast.len(), slow.len(), "{name}");
    }

    #[test]
    fn the_fast_path_writes_what_the_slow_path_writes() {
        for trace in corpus::traces() {
            // The largest traces take long in an unoptimised build and add nothing new.
            if std::fs::metadata(trace.path()).unwrap().len() > 1_500_000 {
                continue;
            }
            let bytes = trace.bytes();
            for utc in [false, true] {
                let [(fast, percent), (slow, _)] = written(&bytes, utc);
                assert_equal(trace.name(), [&fast, &slow]);
                assert!(
                    percent >= 90 || fast.lines().count() < 10,
                    "{}: {percent} %",
                    trace.name()
                );
            }
        }
    }

    #[test]
    fn characters_and_numbers_that_are_rare_are_written_as_the_slow_path_writes_them() {
        let texts = [
            "",
            "a\"\\\n\r\tb",
            "\u{1b}[31m",
            "a\u{200b}",
            "日本 λ 🎉",
            "\u{e0041}",
            "\u{85}\u{7f}",
        ];
        let floats = [0.0, -0.0, 1.5, 1e300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let fields = vec![
            Field::new("text", FieldType::Text),
            Field::new("float", FieldType::Double),
            Field::new("number", FieldType::Int64),
        ];
        let numbers = [0, -1, 99_999_999, 100_000_000, i64::MAX, i64::MIN, 7];
        let later = [0, 1, 999, 777_777_777, 1_000_000, 3_000_000_000, 5];
        let steps = texts.iter().zip(floats).zip(numbers).zip(later).map(
            |(((text, float), number), later)| {
                let values =
                    vec![Value::Text((*text).into()), Value::F64(float), Value::I64(number)];
                Step::event(0, 0, later, values)
            },
        );
        let session = Session {
            types: vec![EventType { name: "E".into(), fields, ..EventType::default() }],
            threads: vec![SessionThread::new(123_456_789_012)],
            steps: steps.collect(),
            ..Session::new(Version::V4)
        };
        let bytes = session.record().stream.into_bytes();
        let [(fast, percent), (slow, _)] = written(&bytes, false);
        assert_eq!(percent, 100);
        assert_equal("rare", [&fast, &slow]);
        for shown in [r#"text="\u{1b}[31m" "#, "float=NaN ", "  123456789012  "] {
            assert!(slow.contains(shown), "{shown}: {slow}");
        }
    }
}
