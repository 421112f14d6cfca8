//! Generates the source files of the catalog from the table of native events.
//!
//! The table is `parser/catalog/clr-events.json`: an extract of the runtime's manifest
//! (ClrEtwAll.man), with names from TraceEvent's parsers.

use serde_json::{Map, Value};
use std::fmt::Write;

/// Maximum length of a line of a generated file, in characters.
const MAX_WIDTH: usize = 110;

/// Name of a generated file in `parser/src/catalog/generated`, and its text.
pub(super) type GeneratedFile = (String, String);

/// Providers in the order of the table, each with the name of its generated file.
const FILES: &[(&str, &str)] = &[
    ("Microsoft-Windows-DotNETRuntime", "runtime"),
    ("Microsoft-Windows-DotNETRuntimeRundown", "rundown"),
    ("Microsoft-Windows-DotNETRuntimeStress", "stress"),
    ("Microsoft-Windows-DotNETRuntimePrivate", "private"),
    ("Microsoft-DotNETRuntimeMonoProfiler", "mono_profiler"),
    ("Microsoft-DotNETCore-SampleProfiler", "sample_profiler"),
    ("Microsoft-DotNETCore-EventPipe", "event_pipe"),
];

/// Function that returns whether an event id belongs to a part.
type TakesId = fn(u64) -> bool;

/// Parts into which the events of the runtime provider are split, each with the name of its file.
/// An event goes into the first part that takes its id.
const RUNTIME_PARTS: &[(&str, TakesId)] = &[
    ("runtime_gc", |id| id < 40 || (200..=209).contains(&id)),
    ("runtime_threads", |id| (40..=71).contains(&id) || matches!(id, 81 | 90 | 91 | 301 | 302)),
    ("runtime_code", |_| true),
];

/// Returns the names and texts of all generated files.
pub(super) fn files(table: &Value) -> Vec<GeneratedFile> {
    let providers = array(table, "providers");
    assert_eq!(providers.len(), FILES.len(), "providers of the table");
    let mut files = Vec::new();
    let mut modules = vec!["gc_dynamic".to_owned()];
    for (provider, (name, file)) in providers.iter().zip(FILES) {
        assert_eq!(text(provider, "name"), *name);
        modules.push((*file).to_owned());
        let events: Vec<&Value> = sorted_events(provider);
        if *file == "runtime" {
            let mut parts: Vec<Vec<&Value>> = vec![Vec::new(); RUNTIME_PARTS.len()];
            for event in events {
                let part = RUNTIME_PARTS.iter().position(|(_, takes)| takes(number(event, "id")));
                parts[part.expect("the last part takes all")].push(event);
            }
            let names: Vec<String> =
                RUNTIME_PARTS.iter().map(|(part, _)| (*part).to_owned()).collect();
            for (part, events) in names.iter().zip(&parts) {
                files.push((format!("{part}.rs"), events_file(provider, events, "super::runtime")));
            }
            files.push((format!("{file}.rs"), provider_file(provider, &names, &[])));
            modules.extend(names);
        } else {
            files.push((format!("{file}.rs"), provider_file(provider, &[], &events)));
        }
    }
    files.push(("gc_dynamic.rs".to_owned(), gc_dynamic_file(table)));
    modules.sort();
    files.push(("mod.rs".to_owned(), module_file(&modules)));
    files
}

fn head(about: &str) -> String {
    format!(
        "//! {about}\n//!\n\
         //! Generated from `parser/catalog/clr-events.json`, the extract of the runtime's manifest, by\n\
         //! `cargo xtask catalog`; do not edit. After each event: the earliest manifest that has it, and the runtimes\n\
         //! whose payloads were read by this row.\n\n"
    )
}

fn module_file(modules: &[String]) -> String {
    let mut out = head("Events of the native runtime, a file a provider.");
    for module in modules {
        let visible = if module == "gc_dynamic" { "pub(super) " } else { "" };
        writeln!(out, "{visible}mod {module};").unwrap();
    }
    out.push_str("\nuse super::provider::CatalogProvider;\n\n");
    writeln!(out, "pub(super) static PROVIDERS: [&CatalogProvider; {}] = [", FILES.len()).unwrap();
    for (_, file) in FILES {
        writeln!(out, "    &{file}::PROVIDER,").unwrap();
    }
    out.push_str("];\n");
    out
}

/// Returns the file of a provider: its maps, and its events unless they are split into `parts`.
fn provider_file(provider: &Value, parts: &[String], events: &[&Value]) -> String {
    let name = text(provider, "name");
    let mut out = head(&format!(
        "{name}: provider, value names{}.",
        if parts.is_empty() { ", events" } else { "" }
    ));
    let maps = object(provider, "maps");
    let mut body = String::new();
    provider_item(&mut body, provider, parts);
    for (map_name, map) in maps {
        map_item(&mut body, map_name, map, if parts.is_empty() { "" } else { "pub(super) " });
    }
    if parts.is_empty() {
        events_item(&mut body, events);
    }
    if parts.is_empty() {
        writeln!(out, "use crate::catalog::event::{{CatalogEvent, event, sent}};").unwrap();
    }
    out.push_str("use crate::catalog::provider::{CatalogProvider, Key, Use};\n");
    if parts.is_empty() {
        row_import(&mut out, events);
    }
    if !maps.is_empty() {
        out.push_str("use crate::schema::ValueMap;\n");
    }
    out.push_str("use nettrace_guid::Guid;\n");
    writeln!(out, "\npub(super) const NAME: &str = {name:?};\n").unwrap();
    out + &body
}

/// Returns the file of some events of a provider whose maps are in the file `maps`.
fn events_file(provider: &Value, events: &[&Value], maps: &str) -> String {
    let name = text(provider, "name");
    let mut out = head(&format!("{name}: a part of its events."));
    let mut used = vec!["NAME".to_owned()];
    for event in events {
        map_names(array(event, "fields"), &mut used);
    }
    used.sort();
    used.dedup();
    out.push_str("use crate::catalog::event::{CatalogEvent, event, sent};\n");
    row_import(&mut out, events);
    let names = wrapped(&used, "    ");
    writeln!(out, "use {maps}::{{\n{names}}};\n").unwrap();
    events_item(&mut out, events);
    out
}

/// Writes the import of the functions that the rows of `events` call.
fn row_import(out: &mut String, events: &[&Value]) {
    let mut functions = Vec::new();
    for event in events {
        function_names(array(event, "fields"), &mut functions);
    }
    functions.sort();
    functions.dedup();
    if !functions.is_empty() {
        writeln!(out, "use crate::catalog::row::{{{}}};", functions.join(", ")).unwrap();
    }
}

fn function_names(fields: &[Value], names: &mut Vec<String>) {
    for field in fields {
        names.push(function(field).to_owned());
        if let Some(inner) = field.get("struct") {
            function_names(inner.as_array().unwrap(), names);
        }
    }
}

fn map_names(fields: &[Value], names: &mut Vec<String>) {
    for field in fields {
        if let Some(map) = field.get("map") {
            names.push(constant(map.as_str().unwrap()));
        }
        if let Some(inner) = field.get("struct") {
            map_names(inner.as_array().unwrap(), names);
        }
    }
}

fn provider_item(out: &mut String, provider: &Value, parts: &[String]) {
    let guid = text(provider, "guid");
    writeln!(out, "pub(super) static PROVIDER: CatalogProvider = CatalogProvider {{").unwrap();
    writeln!(out, "    name: NAME,\n    // {guid}").unwrap();
    writeln!(out, "    guid: Some(Guid::from_bytes([\n        {},\n    ])),", guid_bytes(guid))
        .unwrap();
    let mut keywords: Vec<(u64, &str)> = array(provider, "keywords")
        .iter()
        .map(|keyword| (hex(text(keyword, "mask")), text(keyword, "name")))
        .collect();
    keywords.sort();
    out.push_str("    keywords: &[\n");
    for (mask, name) in keywords {
        writeln!(out, "        ({mask:#x}, {name:?}),").unwrap();
    }
    out.push_str("    ],\n    key: Key::Id,\n    used: Use::WithoutName,\n");
    let groups: Vec<String> = match parts {
        [] => vec!["&EVENTS".to_owned()],
        parts => parts.iter().map(|part| format!("&super::{part}::EVENTS")).collect(),
    };
    writeln!(out, "    groups: &[{}],\n    others: None,\n}};\n", groups.join(", ")).unwrap();
}

/// Returns the bytes of a guid as source text, in the order in which they are stored.
fn guid_bytes(guid: &str) -> String {
    let digits: String = guid.chars().filter(|&c| c != '-').collect();
    let mut bytes: Vec<u8> =
        (0..16).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect();
    bytes[0..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    bytes.iter().map(|byte| format!("{byte:#04x}")).collect::<Vec<_>>().join(", ")
}

fn map_item(out: &mut String, name: &str, map: &Value, visible: &str) {
    let is_bitmap = match text(map, "kind") {
        "bitmap" => true,
        "enum" => false,
        other => panic!("kind of map {other}"),
    };
    let mut entries: Vec<(u64, &str)> = ["values", "beyond_manifest"]
        .iter()
        .filter_map(|part| map.get(part))
        .flat_map(|part| part.as_object().unwrap())
        .map(|(value, name)| (value.parse().unwrap(), name.as_str().unwrap()))
        .collect();
    entries.sort();
    writeln!(out, "{visible}static {}: ValueMap = ValueMap {{", constant(name)).unwrap();
    writeln!(out, "    name: {name:?},\n    is_bitmap: {is_bitmap},\n    entries: &[").unwrap();
    for (value, name) in entries {
        let value = if is_bitmap { format!("{value:#x}") } else { value.to_string() };
        writeln!(out, "        ({value}, {name:?}),").unwrap();
    }
    out.push_str("    ],\n};\n\n");
}

fn sorted_events(provider: &Value) -> Vec<&Value> {
    let mut events: Vec<&Value> = array(provider, "events").iter().collect();
    events.sort_by_key(|event| (number(event, "id"), number(event, "version")));
    events
}

fn events_item(out: &mut String, events: &[&Value]) {
    writeln!(out, "pub(super) static EVENTS: [CatalogEvent; {}] = [", events.len()).unwrap();
    for event in events {
        event_item(out, event);
    }
    out.push_str("];\n");
}

fn event_item(out: &mut String, event: &Value) {
    let head = format!(
        "event(NAME, {}, {}, {:?}, {:?}, {}, &[",
        number(event, "id"),
        number(event, "version"),
        text(event, "symbol"),
        text(event, "name"),
        sent(event),
    );
    if let Some(note) = event.get("note") {
        writeln!(out, "    // {}", note.as_str().unwrap()).unwrap();
    }
    let seen: Vec<&str> = event.get("seen").map_or(Vec::new(), |seen| {
        let mut seen: Vec<&str> =
            seen.as_array().unwrap().iter().map(|at| at.as_str().unwrap()).collect();
        seen.sort_by_key(|version| {
            version.split('.').map(|part| part.parse::<u32>().unwrap_or(0)).collect::<Vec<_>>()
        });
        seen
    });
    let seen = if seen.is_empty() { String::new() } else { format!("; seen {}", seen.join(" ")) };
    let tail = format!("]), // since {}{seen}", text(event, "since"));
    let fields = rendered_fields(array(event, "fields"));
    if fields.is_empty() {
        writeln!(out, "    {head}{tail}").unwrap();
    } else {
        write!(out, "    {head}\n{}    {tail}\n", wrapped(&fields, "        ")).unwrap();
    }
}

fn sent(event: &Value) -> String {
    let task = if event["task"].is_null() { "" } else { text(event, "task") };
    let (opcode, level) = (number(event, "opcode"), number(event, "level"));
    format!("sent({task:?}, {opcode}, {level}, {:#x})", hex(text(event, "keywords")))
}

/// Joins items by commas, in lines of at most [`MAX_WIDTH`].
fn wrapped(items: &[String], indent: &str) -> String {
    let mut out = String::new();
    let mut line = String::new();
    for item in items {
        if !line.is_empty() && indent.len() + line.len() + 1 + item.len() + 1 > MAX_WIDTH {
            writeln!(out, "{indent}{line}").unwrap();
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        write!(line, "{item},").unwrap();
    }
    writeln!(out, "{indent}{line}").unwrap();
    out
}

/// Returns the fields of an event as source text: calls of the functions in `row.rs`.
fn rendered_fields(fields: &[Value]) -> Vec<String> {
    let registers = registers(fields);
    fields.iter().map(|field| rendered(field, &[], fields, &registers)).collect()
}

/// Path of a field that gives the number of other values: the names of the records around it, then
/// its own name.
type Path = Vec<String>;

/// Returns the registers of an event, one for each field that a later field names as its number of
/// elements. Each register is the path of its field.
fn registers(fields: &[Value]) -> Vec<Path> {
    fn walk(fields: &[Value], at: &[String], open: &mut Vec<Path>, registers: &mut Vec<Path>) {
        let first = open.len();
        for field in fields {
            if let Some(count) = field.get("count").and_then(Value::as_str) {
                let counting = open.iter().rev().find(|path| path.last().unwrap() == count);
                let counting = counting.unwrap_or_else(|| panic!("no field {count}")).clone();
                if !registers.contains(&counting) {
                    registers.push(counting);
                }
            }
            let path: Path = at.iter().cloned().chain([text(field, "name").to_owned()]).collect();
            if let Some(inner) = field.get("struct") {
                walk(inner.as_array().unwrap(), &path, open, registers);
            }
            open.push(path);
        }
        open.truncate(first);
    }
    let mut registers = Vec::new();
    walk(fields, &[], &mut Vec::new(), &mut registers);
    assert!(registers.len() <= 8, "{registers:?}");
    registers
}

/// Returns the index of the register that keeps the field named `count`. That field is in the
/// record at path `at`, or in a record around it.
fn register_of(count: &str, at: &[String], registers: &[Path]) -> usize {
    (0..=at.len())
        .rev()
        .find_map(|depth| {
            let path: Path = at[..depth].iter().cloned().chain([count.to_owned()]).collect();
            registers.iter().position(|known| *known == path)
        })
        .unwrap_or_else(|| panic!("no register for {count}"))
}

fn function(field: &Value) -> &str {
    match text(field, "type") {
        "bool32" => "boolean32",
        "ptr" => "pointer",
        "utf16z" => "utf16",
        "ansiz" => "ansi",
        "bytes" => "u8",
        "struct" => "records",
        "pad16" => "padding",
        plain @ ("u8" | "u16" | "u32" | "u64" | "i32" | "i64" | "f64" | "guid") => plain,
        other => panic!("type {other}"),
    }
}

fn rendered(field: &Value, at: &[String], siblings: &[Value], registers: &[Path]) -> String {
    let name = text(field, "name");
    let count = match field.get("count") {
        None => None,
        // A count of 1 is a single field.
        Some(Value::Number(one)) if one.as_u64() == Some(1) => None,
        Some(Value::String(count)) => Some(register_of(count, at, registers)),
        Some(other) => panic!("count {other}"),
    };
    let path: Path = at.iter().cloned().chain([name.to_owned()]).collect();
    let mut out = match text(field, "type") {
        "pad16" => "padding(2)".to_owned(),
        "struct" => {
            let inner = field["struct"].as_array().unwrap();
            let rows: Vec<String> =
                inner.iter().map(|field| rendered(field, &path, inner, registers)).collect();
            let count = count.expect("records are counted");
            format!("records({name:?}, {count}, &[\n{}        ])", wrapped(&rows, "            "))
        }
        _ => format!("{}({name:?})", function(field)),
    };
    if let (Some(count), true) = (count, text(field, "type") != "struct") {
        write!(out, ".times({count})").unwrap();
    }
    if field.get("hex") == Some(&Value::Bool(true)) {
        out.push_str(".hex()");
    }
    out.push_str(unit(field));
    if let Some(map) = field.get("map") {
        write!(out, ".named(&{})", constant(map.as_str().unwrap())).unwrap();
    }
    let same_name = siblings.iter().filter(|sibling| text(sibling, "name") == name).count();
    if let Some(register) = registers.iter().position(|known| *known == path) {
        assert_eq!(same_name, 1, "two counting fields {name}");
        write!(out, ".kept({register})").unwrap();
    }
    out
}

/// Words that occur in the names of fields that are numbers of bytes. The manifest has no units, so
/// the names decide.
const BYTES: [&str; 11] = [
    "Budget",
    "Size",
    "Bytes",
    "Length",
    "Allocated",
    "Rejected",
    "Amount",
    "Commit",
    "Committed",
    "Promoted",
    "Survived",
];
/// Words in the names of fields that are no numbers of bytes, although they contain one of
/// [`BYTES`], but counts or positions.
const NOT_BYTES: [&str; 3] = ["Count", "Offset", "ID"];

fn unit(field: &Value) -> &'static str {
    let is_number = matches!(text(field, "type"), "u32" | "u64" | "i64" | "f64" | "ptr");
    if !is_number || field.get("count").is_some() || field.get("map").is_some() {
        return "";
    }
    let name = text(field, "name");
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    match words.last() {
        Some(&"Ns") => ".nanoseconds()",
        // This is a field of the thread pool's samples, in which the runtime writes seconds.
        Some(&"Duration") => ".seconds()",
        _ if has(&BYTES) && !has(&NOT_BYTES) => ".bytes()",
        _ => "",
    }
}

/// Splits a name into words: `GenerationSize0` into `Generation`, `Size`.
fn words(name: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut begin = 0;
    let bytes = name.as_bytes();
    for at in 1..=bytes.len() {
        let begins = |at: usize| {
            let is_last_of_capitals = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            bytes[at].is_ascii_uppercase()
                && (!bytes[at - 1].is_ascii_uppercase() || is_last_of_capitals)
        };
        let is_end = at == bytes.len() || begins(at);
        if is_end {
            words.push(name[begin..at].trim_end_matches(|c: char| c.is_ascii_digit()));
            begin = at;
        }
    }
    words
}

fn gc_dynamic_file(table: &Value) -> String {
    let records = array(table, "gc_dynamic");
    let mut out = head("Records in the field Data of GCDynamicEvent.");
    out.push_str("use crate::catalog::event::{CatalogEvent, event, sent};\n");
    row_import(&mut out, &records.iter().collect::<Vec<_>>());
    out.push_str("use super::runtime::NAME;\n\n");
    writeln!(out, "pub(in crate::catalog) static RECORDS: [CatalogEvent; {}] = [", records.len())
        .unwrap();
    let carrier = array(&array(table, "providers")[0], "events");
    let carrier =
        sent(carrier.iter().find(|event| text(event, "symbol") == "GCDynamicEvent").unwrap());
    for record in records {
        let name = text(record, "name");
        let fields = wrapped(&rendered_fields(array(record, "fields")), "        ");
        let shown = format!("GC/{name}");
        writeln!(out, "    event(NAME, 39, 0, {name:?}, {shown:?}, {carrier}, &[\n{fields}    ]),")
            .unwrap();
    }
    out.push_str("];\n");
    out
}

/// Returns the name of the constant for a map: `GC_REASON_MAP` for `GCReasonMap`.
fn constant(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1);
        let starts_word = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_uppercase() && after.is_some_and(|after| after.is_lowercase())
            });
        if starts_word {
            out.push('_');
        }
        out.push(letter.to_ascii_uppercase());
    }
    out
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("no text {key} in {value}"))
}

fn number(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_else(|| panic!("no number {key} in {value}"))
}

fn array<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no list {key} in {value}"))
}

fn object<'v>(value: &'v Value, key: &str) -> &'v Map<String, Value> {
    value[key].as_object().unwrap_or_else(|| panic!("no object {key} in {value}"))
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap()
}
