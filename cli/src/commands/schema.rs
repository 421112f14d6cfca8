//! `nettrace schema`: shows the event types that a trace defines, with the fields of their
//! payloads.

use super::stats;
use crate::args::SchemaArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::ended;
use crate::printable::printable;
use crate::units;
use nettrace_export::{EventType, EventTypes, Names, Shape, accepts_type, unmatched_types};
use nettrace_parser::catalog;
use nettrace_parser::{Count, Field, FieldType, Unit, ValueMap};
use serde::Serialize;
use std::io::Write;

pub(super) fn run(args: &SchemaArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    let mut trace = context.open(&args.input)?;
    let mut types = EventTypes::default();
    // Number of events of each shape, by the shape's number.
    let mut counts: Vec<u64> = Vec::new();
    while let Some(event) = trace.next_event()? {
        let shape = types.index_of(&event).shape;
        if shape >= counts.len() {
            counts.resize(shape + 1, 0);
        }
        if let Some(count) = counts.get_mut(shape) {
            *count += 1;
        }
    }
    for metadata in trace.reader.event_types() {
        types.index_of_metadata(metadata);
    }
    let ended = ended(&trace.reader);
    counts.resize(types.shapes().len(), 0);
    let mut rows: Vec<(&EventType, &Shape, u64)> = types
        .shapes()
        .iter()
        .zip(&counts)
        .filter_map(|(shape, count)| Some((types.rows().get(shape.type_number)?, shape, *count)))
        .filter(|(row, _, _)| row.is_defined && accepts_type(&args.provider, &args.event, row))
        .collect();
    // Shapes of one type stay in the order in which they first occurred.
    rows.sort_by(|a, b| a.0.sort_key().cmp(&b.0.sort_key()));
    context.progress.end();
    if args.form.json {
        let types = rows.iter().map(|(row, shape, events)| TypeReport::new(row, shape, *events));
        let events = rows.iter().map(|(_, _, events)| events).sum();
        let report = SchemaReport { schema: 1, events, types: types.collect() };
        context.write_report(&report, &ended)?;
    } else {
        text(context, &rows)?;
    }
    context.out.finish()?;
    for message in unmatched_types(&args.provider, &args.event, types.rows()) {
        context.messages.warning(&format!("{}: {message}", trace.file));
    }
    Ok(context.conclude(&trace.file, &ended, true))
}

/// Returns the origin of a type's fields: `stream`, `catalog`, or `none` if nothing describes them.
fn source(row: &EventType, shape: &Shape) -> &'static str {
    match row.catalog {
        Some(_) => "catalog",
        None if shape.schema.fields.is_empty() && shape.schema.opaque.is_none() => "none",
        None => "stream",
    }
}

/// Document of `--json`.
#[derive(Serialize)]
struct SchemaReport<'a> {
    schema: u32,
    /// Number of events of the listed types.
    events: u64,
    types: Vec<TypeReport<'a>>,
}

#[derive(Serialize)]
struct TypeReport<'a> {
    provider: &'a str,
    id: u32,
    version: u32,
    name: String,
    /// Origin of the fields, as [`source`] returns it.
    source: &'static str,
    /// Symbol of the catalog's row, which may be older than the event's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    symbol: Option<&'static str>,
    events: u64,
    fields: Vec<FieldReport<'a>>,
    /// Reason why the bytes after the last field are not described.
    #[serde(skip_serializing_if = "Option::is_none")]
    opaque: Option<String>,
}

impl<'a> TypeReport<'a> {
    fn new(row: &'a EventType, shape: &'a Shape, events: u64) -> TypeReport<'a> {
        TypeReport {
            provider: &row.provider,
            id: row.id,
            version: row.version,
            name: row.event_name(),
            source: source(row, shape),
            symbol: row.catalog.map(|known| known.symbol).filter(|symbol| !symbol.is_empty()),
            events,
            fields: FieldReport::all(shape.schema.payload_fields(), &shape.names),
            opaque: shape.schema.opaque.map(|fault| fault.to_string()),
        }
    }
}

#[derive(Serialize)]
struct FieldReport<'a> {
    /// Name of the field, as in the `payload` of `events`.
    name: &'a str,
    #[serde(rename = "type")]
    kind: String,
    /// Whether numbers of the field are shown in hexadecimal.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hex: bool,
    /// Unit of the field's numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    /// Names of the field's values, for an enumeration or flags.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<ValuesReport>,
    /// Fields of the objects that the field holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<FieldReport<'a>>,
}

#[derive(Serialize)]
struct ValuesReport {
    name: &'static str,
    is_bitmap: bool,
    entries: Vec<ValueReport>,
}

#[derive(Serialize)]
struct ValueReport {
    value: u64,
    name: &'static str,
}

impl ValuesReport {
    fn from_map(map: &'static ValueMap) -> ValuesReport {
        let entries = map.entries.iter().map(|(value, name)| ValueReport { value: *value, name });
        ValuesReport { name: map.name, is_bitmap: map.is_bitmap, entries: entries.collect() }
    }
}

impl<'a> FieldReport<'a> {
    fn all(fields: &'a [Field], names: &'a Names) -> Vec<FieldReport<'a>> {
        let report = |(field, name): (&'a Field, &'a nettrace_export::Name)| FieldReport {
            name: &name.text,
            kind: type_text(&field.kind),
            hex: field.is_hex,
            unit: field.unit.map(Unit::symbol),
            values: field.map.map(ValuesReport::from_map),
            fields: FieldReport::all(members(&field.kind), &name.inner),
        };
        visible(fields).zip(names.iter()).map(report).collect()
    }
}

/// Returns all fields but padding.
fn visible(fields: &[Field]) -> impl Iterator<Item = &Field> {
    fields.iter().filter(|field| !matches!(field.kind, FieldType::Padding(_)))
}

/// Returns the fields of an object, or of an array's objects.
fn members(kind: &FieldType) -> &[Field] {
    match kind {
        FieldType::Object(fields) => fields,
        FieldType::Array(element)
        | FieldType::FixedArray(element, _)
        | FieldType::RelLoc(element)
        | FieldType::DataLoc(element)
        | FieldType::Repeated(element, _) => members(element),
        _ => &[],
    }
}

/// Returns the name of a type: texts by their encoding, arrays with `[]` after their elements'
/// type.
fn type_text(kind: &FieldType) -> String {
    let simple = match kind {
        FieldType::Object(_) => "object",
        FieldType::Boolean32 => "bool32",
        FieldType::Boolean8 => "bool8",
        FieldType::Utf16CodeUnit => "char",
        FieldType::Utf8CodeUnit => "char8",
        FieldType::I8 => "int8",
        FieldType::U8 => "uint8",
        FieldType::I16 => "int16",
        FieldType::U16 => "uint16",
        FieldType::I32 => "int32",
        FieldType::U32 => "uint32",
        FieldType::I64 => "int64",
        FieldType::U64 => "uint64",
        FieldType::F32 => "float32",
        FieldType::F64 => "float64",
        FieldType::Decimal => "decimal",
        FieldType::DateTime => "datetime",
        FieldType::Guid => "guid",
        FieldType::Utf16Text => "utf16",
        FieldType::VarInt => "varint",
        FieldType::VarUInt => "varuint",
        FieldType::Pointer => "pointer",
        FieldType::AnsiText => "ansi",
        FieldType::CountedUtf8 => "utf8",
        FieldType::Array(element) => return format!("{}[]", type_text(element)),
        FieldType::RelLoc(element) => {
            return format!("{}[] (located, relative)", type_text(element));
        }
        FieldType::DataLoc(element) => return format!("{}[] (located)", type_text(element)),
        FieldType::FixedArray(element, count) => return format!("{}[{count}]", type_text(element)),
        FieldType::Repeated(element, Count::Fixed(count)) => {
            return format!("{}[{count}]", type_text(element));
        }
        FieldType::Repeated(element, _) => {
            return format!("{}[] (counted before)", type_text(element));
        }
        _ => "bytes",
    };
    simple.to_owned()
}

fn text(context: &mut Context<'_>, rows: &[(&EventType, &Shape, u64)]) -> Result<(), Failure> {
    let (faint, name, strong) =
        (context.style.faint(), context.style.name(), context.style.strong());
    let out = context.out.buffer();
    for (row, shape, events) in rows {
        let described = match (source(row, shape), row.catalog) {
            ("catalog", Some(known)) if known.symbol.is_empty() => "catalog".to_owned(),
            ("catalog", Some(known)) => {
                let is_newer = catalog::find(&row.provider, row.id, row.version).is_some()
                    && known.version < row.version;
                let note = if is_newer { ", the newest known version" } else { "" };
                format!("catalog ({}{note})", known.symbol)
            }
            ("none", _) => "not described".to_owned(),
            (source, _) => source.to_owned(),
        };
        writeln!(
            out,
            "{} {}",
            name.over(printable(&row.path())),
            faint.over(format!(
                "{}  {described}  {}",
                stats::number(row),
                units::counted(*events, "event")
            )),
        )?;
        let fields = shape.schema.payload_fields();
        write_fields(out, fields, &shape.names, 1)?;
        if let Some(fault) = shape.schema.opaque {
            writeln!(out, "    <the description ends here: {fault}>")?;
        }
    }
    let events: u64 = rows.iter().map(|(_, _, events)| events).sum();
    let summary = format!(
        "{}, {}",
        units::counted(rows.len() as u64, "type"),
        units::counted(events, "event")
    );
    writeln!(out, "{}", strong.over(summary))?;
    Ok(())
}

fn write_fields(
    out: &mut Vec<u8>,
    fields: &[Field],
    names: &Names,
    depth: usize,
) -> Result<(), Failure> {
    let width =
        names.iter().map(|name| printable(&name.text).chars().count()).max().unwrap_or(0).min(40);
    for (field, name) in visible(fields).zip(names.iter()) {
        let hex = if field.is_hex { "  hex" } else { "" };
        let unit = field.unit.map_or_else(String::new, |unit| format!("  in {}", unit.symbol()));
        let values = match field.map {
            Some(map) if map.is_bitmap => format!("  flags {}", map.name),
            Some(map) => format!("  enum {}", map.name),
            None => String::new(),
        };
        writeln!(
            out,
            "{:indent$}{:width$}  {}{hex}{unit}{values}",
            "",
            printable(&name.text),
            type_text(&field.kind),
            indent = depth * 4,
        )?;
        write_fields(out, members(&field.kind), &name.inner, depth + 1)?;
    }
    Ok(())
}
