//! Tables of chosen event types, which have a column for each field.
//!
//! Each layout of a payload gets a file, whose columns have the names of its fields. Engines
//! combine files that have different columns by the names of these.

use crate::column::{Column, ColumnKind};
use crate::rows::{RowPrefix, ids};
use crate::schema::{PROCESS, STACK, THREAD, TIME, TIME_NS};
use crate::sheet::{Sheet, SheetColumn, SheetRow};
use crate::spill::MakeSpill;
use nettrace_analysis::model::{Model, Moment};
use nettrace_export::json::Json;
use nettrace_export::{EventPattern, EventTypes, PayloadJson, TypeIndex};
use nettrace_parser::{Event, FieldType, Value};
use std::collections::HashMap;
use std::io;

/// Maximum number of payload layouts that get files in a trace. There is a maximum because each
/// file has buffers for its columns. Events of further layouts are left out and counted.
const MAX_LAYOUTS: usize = 256;
/// Maximum number of fields that get columns. Further fields are only in the column `payload`.
const MAX_FIELD_COLUMNS: usize = 256;

/// First columns of each file.
const FIRST: &[Column] = &[
    Column::new("input_id", ColumnKind::Whole, "the trace"),
    TIME,
    TIME_NS,
    PROCESS,
    THREAD,
    Column::new("version", ColumnKind::Small, "version of the event"),
    Column::new("activity_id", ColumnKind::Text, "id of the activity").null("none"),
    STACK,
];

/// The tables of the chosen event types.
pub(crate) struct Wide {
    patterns: Vec<EventPattern>,
    /// For each pattern, whether an event matched.
    matched: Vec<bool>,
    make_spill: MakeSpill,
    types: EventTypes,
    payloads: PayloadJson,
    /// Destination of each shape's events, by
    /// [`TypeIndex::shape`](nettrace_export::TypeIndex::shape).
    layouts: HashMap<usize, Target>,
    left_out: u64,
    sheets: Vec<WideLayout>,
    text: Vec<u8>,
    fault: Option<io::Error>,
}

/// Where the events of a shape go.
#[derive(Debug, Clone, Copy)]
enum Target {
    Sheet(usize),
    NotWanted,
    /// The events are left out, because there are too many layouts.
    LeftOut,
}

/// The file for one layout of a payload.
struct WideLayout {
    folder: String,
    part: String,
    kinds: Vec<ColumnKind>,
    sheet: Sheet,
}

impl Wide {
    pub(crate) fn new(patterns: Vec<EventPattern>, make_spill: MakeSpill) -> Wide {
        Wide {
            matched: vec![false; patterns.len()],
            patterns,
            make_spill,
            types: EventTypes::default(),
            payloads: PayloadJson::new(),
            layouts: HashMap::new(),
            left_out: 0,
            sheets: Vec::new(),
            text: Vec::new(),
            fault: None,
        }
    }

    pub(crate) fn add(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        model: &mut Model,
        prefix: RowPrefix,
    ) {
        let index = self.types.index_of(event);
        let target = match self.layouts.get(&index.shape) {
            Some(target) => *target,
            None => self.learn(index),
        };
        let at = match target {
            Target::Sheet(at) => at,
            Target::NotWanted => return,
            Target::LeftOut => {
                self.left_out = self.left_out.saturating_add(1);
                return;
            }
        };
        let Some(layout) = self.sheets.get_mut(at) else { return };
        let stack = event.stack();
        let stack = (!stack.is_empty()).then(|| model.stack_of(event, moment.thread));
        let (process, thread) = ids(model, moment.thread);
        let text = &mut self.text;
        let mut row = layout.sheet.row();
        prefix.begin_row(&mut row, moment.nanos().unwrap_or(0));
        row.count(process);
        row.count(thread);
        row.small(i32::try_from(event.version()).unwrap_or(i32::MAX));
        text.clear();
        let activity = event.activity_id();
        if let Some(id) = activity {
            text.guid(id);
        }
        row.bytes(activity.map(|_| text.as_slice()));
        row.stack(stack);
        let mut fields = event.fields();
        for kind in &layout.kinds {
            let field = fields.next();
            let value = field.as_ref().and_then(|field| field.value.as_ref().ok());
            put(&mut row, *kind, value, text);
        }
        row.write(|text| self.payloads.write(text, event, index, &self.types));
        self.payloads.take_faults(&mut Vec::new());
        let bytes = row.end();
        layout.sheet.end_row(bytes);
    }

    #[cold]
    fn learn(&mut self, index: TypeIndex) -> Target {
        let mut is_wanted = false;
        if let Some(row) = self.types.row(index) {
            for (pattern, is_matched) in self.patterns.iter().zip(&mut self.matched) {
                if pattern.accepts(row) {
                    (is_wanted, *is_matched) = (true, true);
                }
            }
        }
        let target = if !is_wanted {
            Target::NotWanted
        } else if self.sheets.len() >= MAX_LAYOUTS {
            Target::LeftOut
        } else {
            match self.layout(index) {
                Ok(Some(layout)) => {
                    self.sheets.push(layout);
                    Target::Sheet(self.sheets.len().saturating_sub(1))
                }
                Ok(None) => Target::NotWanted,
                Err(error) => {
                    self.fault.get_or_insert(error);
                    Target::NotWanted
                }
            }
        };
        self.layouts.insert(index.shape, target);
        target
    }

    /// Returns, for each pattern, whether an event matched it.
    pub(crate) fn matched(&self) -> &[bool] {
        &self.matched
    }

    /// Returns the number of events that were left out because there are too many
    /// layouts.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }

    fn layout(&self, index: TypeIndex) -> io::Result<Option<WideLayout>> {
        let (Some(row), Some(shape), Some(names)) =
            (self.types.row(index), self.types.shapes().get(index.shape), self.types.names(index))
        else {
            return Ok(None);
        };
        let mut columns: Vec<SheetColumn> = FIRST.iter().map(SheetColumn::from_column).collect();
        let mut kinds = Vec::new();
        let fields = shape.schema.payload_fields();
        for (field, name) in fields.iter().zip(names.iter()).take(MAX_FIELD_COLUMNS) {
            let kind = kind_of(&field.kind);
            let name = free_name(&name.text, &columns);
            columns.push(SheetColumn::field(name, kind));
            kinds.push(kind);
        }
        columns.push(SheetColumn::long(free_name("payload", &columns)));
        let folder = format!("wide_{}", file_name(&row.path()));
        let of_type = self.sheets.iter().filter(|layout| layout.folder == folder).count();
        let part = format!("-{}", of_type.saturating_add(1));
        let sheet = Sheet::of_columns(&folder, columns, self.make_spill.clone())?;
        Ok(Some(WideLayout { folder, part, kinds, sheet }))
    }

    /// Returns, for each file, the table, the end of the file's name, and the rows.
    pub(crate) fn into_sheets(self) -> io::Result<Vec<(String, String, Sheet)>> {
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok(self
                .sheets
                .into_iter()
                .map(|layout| (layout.folder, layout.part, layout.sheet))
                .collect()),
        }
    }
}

/// Returns the type in which values of a field are stored. A value whose type Parquet does not have
/// becomes text, as in CSV.
fn kind_of(field: &FieldType) -> ColumnKind {
    match field {
        FieldType::Boolean32 | FieldType::Boolean8 => ColumnKind::Flag,
        FieldType::I8 | FieldType::U8 | FieldType::I16 | FieldType::U16 | FieldType::I32 => {
            ColumnKind::Small
        }
        FieldType::U32 | FieldType::I64 | FieldType::VarInt => ColumnKind::Whole,
        FieldType::U64 | FieldType::VarUInt | FieldType::Pointer => ColumnKind::Unsigned,
        FieldType::F32 | FieldType::F64 => ColumnKind::Real,
        _ => ColumnKind::Text,
    }
}

fn put(row: &mut SheetRow<'_>, kind: ColumnKind, value: Option<&Value<'_>>, text: &mut Vec<u8>) {
    match kind {
        ColumnKind::Flag => row.flag(value.and_then(Value::as_bool)),
        ColumnKind::Small => {
            let number = value.and_then(Value::as_i64);
            row.small(number.and_then(|number| i32::try_from(number).ok()));
        }
        ColumnKind::Whole => row.whole(value.and_then(Value::as_i64)),
        ColumnKind::Unsigned => row.unsigned(value.and_then(Value::as_u64)),
        ColumnKind::Real => row.real(value.and_then(Value::as_f64)),
        _ => {
            text.clear();
            match value {
                None | Some(Value::Absent) => return row.bytes(None),
                Some(Value::Guid(guid)) => text.guid(*guid),
                Some(Value::Bytes(bytes)) => text.hex_bytes(bytes),
                // The column `payload` has arrays and objects as JSON.
                Some(Value::Array(_) | Value::Object(_)) => return row.bytes(None),
                Some(value) => text.extend_from_slice(value.to_string().as_bytes()),
            }
            row.bytes(Some(text.as_slice()));
        }
    }
}

/// Returns the name, changed if another column has it. Engines compare names without regard to
/// case.
fn free_name(name: &str, columns: &[SheetColumn]) -> String {
    let is_taken = |name: &str| columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    let mut free = if name.is_empty() { "field".to_owned() } else { name.to_owned() };
    if is_taken(&free) {
        free.insert_str(0, "payload_");
    }
    let mut number = 2u32;
    let base = free.clone();
    while is_taken(&free) {
        free = format!("{base}_{number}");
        number = number.saturating_add(1);
    }
    free
}

/// Returns the name in a form that suits a folder: ASCII letters, digits, dots, dashes and
/// underscores.
fn file_name(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' }
    };
    name.chars().map(plain).take(200).collect()
}
