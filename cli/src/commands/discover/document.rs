//! Result of `nettrace discover` as a JSON document and as text.

use crate::args::DiscoverArgs;
use crate::args::profiles::{COMMON_KEYWORDS, RUNTIME, SAMPLER};
use crate::context::Context;
use crate::cut::{Text, fixed, main};
use crate::failure::Failure;
use crate::live::cost::Cost;
use crate::live::counters::METRICS;
use crate::live::target::Reached;
use crate::printable::printable;
use crate::table::{Column, Table, end_page, layout_of, left, right};
use crate::units;
use nettrace_analysis::live::{DiscoveredEvent, DiscoveredInstrument, DiscoverySnapshot};
use nettrace_parser::catalog;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

/// Level at which the default profiles of `collect` record the runtime.
const DEFAULT_LEVEL: u32 = 4;
/// Provider of events about the session itself, which every session receives.
const SESSION_PROVIDER: &str = "Microsoft-DotNETCore-EventPipe";
const TASKS: &str = "System.Threading.Tasks.TplEventSource";
/// Keywords of debug messages about activity ids. They are written only together with
/// `TASKS_FLOW_KEYWORD`, which turns tracking of activity ids on and has no events.
const TASKS_DEBUG_KEYWORDS: u64 = 0x6_0000;
const TASKS_FLOW_KEYWORD: u64 = 0x80;

/// JSON document of `discover`, whose keys must not change.
#[derive(Debug, Serialize)]
pub(super) struct DiscoverDocument {
    schema: u32,
    process_id: Option<u64>,
    process: String,
    duration_ns: i64,
    /// Number of events that the process lost.
    lost: u64,
    /// Overhead of the session in the process.
    cost: Cost,
    providers: Vec<ProviderRow>,
    instruments: Vec<InstrumentRow>,
}

#[derive(Debug, Serialize)]
struct ProviderRow {
    name: String,
    count: u64,
    per_second: f64,
    bytes_per_second: f64,
    /// Whether `collect` without options records all events that this provider sent.
    is_default: bool,
    /// Union of the keywords of all events that the provider sent.
    keywords: String,
    /// Highest level of an event that the provider sent.
    level: u32,
    /// Options with which `collect` records all events that the provider sent.
    record: String,
    events: Vec<EventRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    counters: Vec<CounterRow>,
}

#[derive(Debug, Serialize)]
struct EventRow {
    id: u32,
    version: u32,
    name: String,
    level: u32,
    keywords: String,
    count: u64,
    per_second: f64,
    payload_bytes: u64,
    mean_payload_bytes: f64,
    is_default: bool,
    record: String,
}

#[derive(Debug, Serialize)]
struct CounterRow {
    name: String,
    display_name: String,
    unit: String,
}

#[derive(Debug, Serialize)]
struct InstrumentRow {
    #[serde(flatten)]
    instrument: DiscoveredInstrument,
    record: String,
}

impl DiscoverDocument {
    pub(super) fn new(
        args: &DiscoverArgs,
        reached: &Reached,
        snapshot: &DiscoverySnapshot,
        lost: u64,
        cost: Cost,
    ) -> DiscoverDocument {
        let seconds = (snapshot.duration_ns as f64 / 1e9).max(1e-9);
        let mut by_provider: BTreeMap<&str, Vec<EventRow>> = BTreeMap::new();
        let shown = |event: &&DiscoveredEvent| event.provider != SESSION_PROVIDER;
        for event in snapshot.events.iter().filter(shown) {
            by_provider.entry(&event.provider).or_default().push(row(event));
        }
        for counter in &snapshot.counters {
            by_provider.entry(&counter.provider).or_default();
        }
        if args.all {
            add_known(&mut by_provider);
        }
        let providers = by_provider.into_iter().map(|(name, mut events)| {
            events.sort_by_key(|event| (std::cmp::Reverse(event.count), event.id, event.version));
            let came = || events.iter().filter(|event| event.count > 0);
            let keywords = came().fold(0, |all, event| all | number(&event.keywords));
            let level = came().map(|event| event.level).max().unwrap_or(0);
            let counters = snapshot.counters.iter().filter(|counter| counter.provider == name);
            let counters: Vec<CounterRow> = counters
                .map(|counter| CounterRow {
                    name: counter.name.clone(),
                    display_name: counter.display_name.clone(),
                    unit: counter.unit.clone(),
                })
                .collect();
            let count = came().map(|event| event.count).sum();
            let bytes: u64 = came().map(|event| event.payload_bytes).sum();
            let is_default = count > 0 && came().all(|event| event.is_default);
            let record = match counters.is_empty() {
                true => record(name, keywords, level),
                false => record_counters(name, keywords, level),
            };
            ProviderRow {
                name: name.to_owned(),
                count,
                per_second: count as f64 / seconds,
                bytes_per_second: bytes as f64 / seconds,
                is_default,
                keywords: format!("{keywords:#x}"),
                level,
                record,
                events,
                counters,
            }
        });
        let instruments = snapshot.instruments.iter().map(|instrument| InstrumentRow {
            record: format!(
                "--providers '{METRICS}:0x2:4:SessionId=SHARED;Metrics={}\\{};RefreshInterval=1;\
                 MaxTimeSeries=1000;MaxHistograms=10'",
                instrument.meter, instrument.name
            ),
            instrument: instrument.clone(),
        });
        DiscoverDocument {
            schema: 1,
            process_id: reached.pid,
            process: reached.name.clone(),
            duration_ns: snapshot.duration_ns,
            lost,
            cost,
            providers: providers.collect(),
            instruments: instruments.collect(),
        }
    }
}

fn row(event: &DiscoveredEvent) -> EventRow {
    EventRow {
        id: event.id,
        version: event.version,
        name: event.name.clone(),
        level: event.level,
        keywords: format!("{:#x}", event.keywords),
        count: event.count,
        per_second: event.per_second,
        payload_bytes: event.payload_bytes,
        mean_payload_bytes: event.mean_payload_bytes,
        is_default: is_default(&event.provider, event.level, event.keywords),
        record: match event.name.as_str() {
            "EventCounters" => record_counters(&event.provider, event.keywords, event.level),
            _ => record(&event.provider, event.keywords, event.level),
        },
    }
}

/// Adds the newest version of each known event that the runtime did not send.
fn add_known(by_provider: &mut BTreeMap<&str, Vec<EventRow>>) {
    for known in catalog::events().filter(|known| known.provider == RUNTIME) {
        let events = by_provider.entry(RUNTIME).or_default();
        if events.iter().any(|event| event.id == known.id && event.count > 0) {
            continue;
        }
        events.retain(|event| event.id != known.id || event.version > known.version);
        if events.iter().any(|event| event.id == known.id) {
            continue;
        }
        let level = u32::from(known.level);
        events.push(EventRow {
            id: known.id,
            version: known.version,
            name: known.name.to_owned(),
            level,
            keywords: format!("{:#x}", known.keywords),
            count: 0,
            per_second: 0.0,
            payload_bytes: 0,
            mean_payload_bytes: 0.0,
            is_default: is_default(RUNTIME, level, known.keywords),
            record: record(RUNTIME, known.keywords, level),
        });
    }
}

/// Returns whether `collect` without options records an event.
fn is_default(provider: &str, level: u32, keywords: u64) -> bool {
    provider == SAMPLER
        || provider == RUNTIME
            && level <= DEFAULT_LEVEL
            && (keywords == 0 || keywords & COMMON_KEYWORDS != 0)
}

/// Returns the option with which `collect` records an event.
fn record(provider: &str, keywords: u64, level: u32) -> String {
    // Events without keywords, and events of level 0, come to every session with the provider.
    let mut keywords = if keywords == 0 { 0x1 } else { keywords };
    if provider == TASKS && keywords & TASKS_DEBUG_KEYWORDS != 0 {
        keywords |= TASKS_FLOW_KEYWORD;
    }
    format!("--providers {provider}:{keywords:#x}:{}", level.max(1))
}

/// Returns the option with which `collect` records counters once a second.
fn record_counters(provider: &str, keywords: u64, level: u32) -> String {
    format!("{}:EventCounterIntervalSec=1", record(provider, keywords, level))
}

fn number(hex: &str) -> u64 {
    u64::from_str_radix(hex.trim_start_matches("0x"), 16).unwrap_or(0)
}

const COLUMNS: &[Column] = &[
    left("", 0, 0),
    right("PER S", 9, 0),
    right("BYTES", 7, 2),
    right("LEVEL", 5, 1),
    left("KEYWORDS", 10, 1),
    left("DEFAULT", 7, 3),
    left("EVENT", 12, 0),
];

pub(super) fn write_text(
    document: &DiscoverDocument,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let (strong, faint) = (context.style.strong(), context.style.faint());
    let tables: Vec<Table> = document.providers.iter().map(events_table).collect();
    let layout = layout_of(&tables, context);
    for (provider, table) in document.providers.iter().zip(&tables) {
        let rate = rate(provider.per_second);
        let bytes = units::bytes(provider.bytes_per_second as u64);
        let name = strong.over(printable(&provider.name));
        writeln!(context.out, "{name}  {rate} events/s, {bytes}/s")?;
        table.write_in(&layout, context)?;
        if !provider.counters.is_empty() {
            let names: Vec<&str> =
                provider.counters.iter().map(|counter| counter.name.as_str()).collect();
            writeln!(context.out, "  counters: {}", printable(&names.join(", ")))?;
        }
        let record = faint.over(printable(&provider.record));
        writeln!(context.out, "  {record}\n")?;
    }
    let meters =
        document.instruments.chunk_by(|one, other| one.instrument.meter == other.instrument.meter);
    for meter in meters {
        let Some(first) = meter.first() else { continue };
        let name = strong.over(printable(&first.instrument.meter));
        writeln!(context.out, "{name}  {}", units::counted(meter.len() as u64, "instrument"))?;
        for row in meter {
            let unit = match row.instrument.unit.as_str() {
                "" => String::new(),
                unit => format!(", {unit}"),
            };
            let text = format!("{} ({}{unit})", row.instrument.name, row.instrument.kind);
            writeln!(context.out, "  {}", printable(&text))?;
        }
        let record = format!("nettrace counters --counters {}", first.instrument.meter);
        writeln!(context.out, "  {}\n", faint.over(printable(&record)))?;
    }
    writeln!(context.out, "{}", faint.over(document.cost.text()))?;
    Ok(end_page(context)?)
}

fn events_table(provider: &ProviderRow) -> Table {
    let mut table = Table::new(COLUMNS);
    for event in &provider.events {
        table.add_row([
            "".into(),
            rate(event.per_second).into(),
            units::count(event.mean_payload_bytes.round() as u64).into(),
            event.level.to_string().into(),
            event.keywords.clone().into(),
            if event.is_default { "yes" } else { "no" }.into(),
            Text::parts([main(&event.name), fixed(&format!(" #{} v{}", event.id, event.version))])
                .into(),
        ]);
    }
    table
}

/// Returns a rate, with one decimal place for small numbers.
fn rate(per_second: f64) -> String {
    if per_second >= 100.0 {
        units::count(per_second.round() as u64)
    } else {
        format!("{per_second:.1}")
    }
}
