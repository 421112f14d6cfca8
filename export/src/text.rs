//! Writes events as text for people: aligned lines, one for each event.

use crate::detail::{Detail, opcode};
use crate::event_types::{EventType, EventTypes, TypeIndex};
use crate::hidden::printable;
use crate::json::Json;
use crate::long::cut;
use crate::selection::Selection;
use crate::text_value::TextValues;
use crate::units::Digits;
use nettrace_parser::{Event, catalog, utc_text};
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
    /// Display names without control characters and their widths, by [`TypeIndex::number`].
    names: Vec<Option<(String, usize)>>,
    values: TextValues,
    /// Names of the frames in the next event's stack. Successive events often have equal stacks, so
    /// `frame_lines` keeps the lines for these names.
    frames: Vec<String>,
    frame_lines: Vec<u8>,
}

impl TextLines {
    pub(crate) fn new(detail: Detail, options: TextOptions) -> TextLines {
        TextLines {
            detail,
            name_columns: NAME_COLUMNS.0,
            names: Vec::new(),
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
        let (width, name_columns) = (self.time_columns(), self.name_columns);
        let line = format!("{time:>width$}{process}   THREAD  {EVENT:<name_columns$}  PAYLOAD");
        let _ = writeln!(out, "{}", self.options.faint.over(line));
    }

    /// Appends one event.
    pub(crate) fn write(
        &mut self,
        out: &mut Vec<u8>,
        event: &Event<'_>,
        type_index: TypeIndex,
        types: &EventTypes,
        selection: Option<&mut Selection>,
    ) {
        let Some(row) = types.row(type_index) else { return };
        let name_columns = self.name_columns_for(type_index.number, row);
        let (name, name_width) = match self.names.get(type_index.number) {
            Some(Some((name, width))) => (name.as_str(), *width),
            _ => ("", 0),
        };
        let width = self.time_columns();
        match (self.detail.utc, event.unix_nanos(), event.nanos()) {
            (true, Some(nanos), _) => out.raw(&utc_text(nanos, 6)),
            (false, _, Some(nanos)) => right(out, width, Digits::from_milliseconds(nanos).text()),
            _ => right(out, width, "?"),
        }
        let id = |out: &mut Vec<u8>, id: Option<u64>| {
            out.raw("  ");
            match id {
                Some(id) => right(out, ID_COLUMNS, itoa::Buffer::new().format(id)),
                None => right(out, ID_COLUMNS, "-"),
            }
        };
        if self.options.has_processes {
            id(out, event.process_id());
        }
        id(out, event.thread_id());
        let paint = match event.level() {
            1 | 2 => &self.options.bad,
            3 => &self.options.warning,
            _ => &self.options.name,
        };
        out.raw("  ");
        out.raw(&paint.on);
        out.raw(name);
        out.raw(&paint.off);
        let end = out.len();
        out.extend(std::iter::repeat_n(b' ', name_columns.saturating_sub(name_width)));
        out.raw("  ");
        let at = out.len();
        match (selection, types.names(type_index)) {
            (None, Some(names)) => self.values.write_payload(out, event, names),
            (Some(selection), Some(names)) => {
                for chosen in selection.of_shape(type_index.shape, names).iter().flatten() {
                    if let Some(field) = chosen.path.field(event) {
                        if out.len() > at {
                            out.push(b' ');
                        }
                        self.values.write_pair(out, &field, &chosen.name);
                    }
                }
            }
            (_, None) => {}
        }
        if out.len() == at {
            // Nothing to align.
            out.truncate(end);
        }
        out.push(b'\n');
        if self.detail.raw {
            self.write_raw(out, event);
        }
        if self.detail.stacks {
            self.write_stack(out, event);
        }
    }

    fn time_columns(&self) -> usize {
        if self.detail.utc { TIME_COLUMNS.1 } else { TIME_COLUMNS.0 }
    }

    /// Returns the width of the column of names in the next line.
    fn name_columns_for(&mut self, number: usize, row: &EventType) -> usize {
        if number >= self.names.len() {
            self.names.resize(number.saturating_add(1), None);
        }
        if let Some(entry @ None) = self.names.get_mut(number) {
            let name = printable(&cut(&row.path())).into_owned();
            let width = name.chars().count();
            *entry = Some((name, width));
            if width <= NAME_COLUMNS.1 {
                self.name_columns = self.name_columns.max(width);
            }
        }
        self.name_columns
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

    fn write_stack(&self, out: &mut Vec<u8>, event: &Event<'_>) {
        if self.detail.frames {
            return out.extend_from_slice(&self.frame_lines);
        }
        for address in event.stack().addresses() {
            let _ = writeln!(
                out,
                "{}{:12}  at {address:#018x}{}",
                self.options.faint.on, "", self.options.faint.off
            );
        }
    }
}

/// Appends a text of ASCII at the right of a column of this width.
fn right(out: &mut Vec<u8>, width: usize, text: &str) {
    out.extend(std::iter::repeat_n(b' ', width.saturating_sub(text.len())));
    out.raw(text);
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
