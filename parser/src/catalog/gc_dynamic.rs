//! Records that GCDynamicEvent (event 39 of the runtime) carries.
//!
//! | bytes | field |
//! |---|---|
//! | text | `Name`: zero-terminated UTF-16; identifies the record |
//! | 4 | `DataSize`: size of the record in bytes |
//! | `DataSize` | `Data`: the record |
//! | 2 | `ClrInstanceID` |
//!
//! The fields of a known record replace `Data`. A record with an unknown name, or of another
//! size than expected, remains bytes, because its runtime gave it another meaning.

use super::event::{CatalogEvent, event, sent};
use super::generated;
use super::row::{FieldRow, f32, u8, u16, u32, u64};
use crate::bytes::{numbers, take_first, utf16_end};
use crate::schema::{Field, Schema};
use std::sync::OnceLock;

/// Id of GCDynamicEvent, which carries the records. Other providers use this id for other events.
pub(super) const ID: u32 = 39;
/// Symbol of GCDynamicEvent.
const CARRIER: &str = "GCDynamicEvent";
/// Name of the field that the record's fields replace.
const DATA: &str = "Data";

const fn record(
    symbol: &'static str,
    name: &'static str,
    rows: &'static [FieldRow],
) -> CatalogEvent {
    let sent = sent("GarbageCollection", 41, 4, 0x3f0_0003);
    event("Microsoft-Windows-DotNETRuntime", ID, 0, symbol, name, sent, rows)
}

/// Records that no manifest describes. .NET 10 writes them when it adapts the number of heaps
/// to the program. The collector's own analysis tools use these names; sizes and values were
/// checked against an ASP.NET Core trace.
static BY_HAND: [CatalogEvent; 3] = [
    record(
        "SizeAdaptationSample",
        "GC/SizeAdaptationSample",
        &[
            u16("Version"),
            u64("GCIndex"),
            // The four times of this record are in microseconds.
            u32("ElapsedTimeBetweenGCs"),
            u32("GCPauseTime"),
            u32("SOHMSLWaitTime"),
            u32("UOHMSLWaitTime"),
            u64("TotalSOHStableSize").bytes(),
            u32("Gen0BudgetPerHeap").bytes(),
        ],
    ),
    record(
        "SizeAdaptationTuning",
        "GC/SizeAdaptationTuning",
        &[
            u16("Version"),
            u16("NewNHeaps"),
            u16("MaxHeapCountDatas"),
            u16("MinHeapCountDatas"),
            u64("CurrentGCIndex"),
            u64("TotalSOHStableSize").bytes(),
            f32("MedianThroughputCostPercent"),
            f32("TcpToConsider"),
            f32("CurrentAroundTargetAccumulation"),
            u16("RecordedTcpCount"),
            f32("RecordedTcpSlope"),
            u32("NumGcsSinceLastChange"),
            u8("AggFactor"),
            u16("ChangeDecision"),
            u16("AdjReason"),
            u16("HcChangeFreqFactor"),
            u16("HcFreqReason"),
            // What was changed: 0 nothing, 1 the number of heaps, 2 the budget of generation 0.
            u8("AdjMetric"),
        ],
    ),
    record(
        "SizeAdaptationFullGCTuning",
        "GC/SizeAdaptationFullGCTuning",
        &[
            u16("Version"),
            // The number that the decision before this one ended with.
            u16("NewNHeaps"),
            u64("CurrentGCIndex"),
            f32("MedianGen2Tcp"),
            u32("NumGen2sSinceLastChange"),
            u32("Gen2Sample0Age"),
            f32("Gen2Sample0Percent"),
            u32("Gen2Sample1Age"),
            f32("Gen2Sample1Percent"),
            u32("Gen2Sample2Age"),
            f32("Gen2Sample2Percent"),
        ],
    ),
];

/// Returns all known records.
pub(super) fn records() -> impl Iterator<Item = &'static CatalogEvent> {
    generated::gc_dynamic::RECORDS.iter().chain(&BY_HAND)
}

/// Schemas of payloads that carry a record, in the order of [`records`].
static CARRYING: [OnceLock<Option<Schema>>; generated::gc_dynamic::RECORDS.len() + BY_HAND.len()] =
    [const { OnceLock::new() }; generated::gc_dynamic::RECORDS.len() + BY_HAND.len()];

/// Returns the schema of a payload of `carrier` if the record in it is known.
#[cold]
#[inline(never)]
pub(super) fn schema(carrier: &'static CatalogEvent, payload: &[u8]) -> Option<&'static Schema> {
    if carrier.symbol != CARRIER {
        return None;
    }
    let (name, rest) = payload.split_at_checked(utf16_end(payload)?)?;
    let mut rest = rest.get(2..)?;
    let size: u32 = take_first(&mut rest)?;
    let size = usize::try_from(size).ok().filter(|size| *size <= rest.len())?;
    let is_called = |record: &CatalogEvent| numbers::<u16>(name).eq(record.symbol.encode_utf16());
    let (record, carrying) = records().zip(&CARRYING).find(|(record, _)| is_called(record))?;
    if bytes_of(record.schema()) != Some(size) {
        return None;
    }
    carrying.get_or_init(|| Some(Schema::from_catalog(joined(carrier, record)))).as_ref()
}

/// Returns the size of a record in bytes; `None` if its size is not fixed.
fn bytes_of(schema: &Schema) -> Option<usize> {
    let mut sizes = schema.fields.iter().map(|field| field.kind.fixed_size());
    sizes.try_fold(0usize, |sum, size| sum.checked_add(usize::try_from(size?).ok()?))
}

/// Returns the carrier's fields, with the fields of the record in place of `Data`.
fn joined(carrier: &CatalogEvent, record: &CatalogEvent) -> Vec<Field> {
    let mut fields = Vec::new();
    // Offsets are recomputed for the joined schema, and nothing counts elements any more.
    let placed = |field: &Field| Field { register: None, offset: None, ..field.clone() };
    for field in &carrier.schema().fields {
        if &*field.name == DATA {
            fields.extend(record.schema().fields.iter().map(placed));
        } else {
            fields.push(placed(field));
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Fields;

    fn carrier() -> &'static CatalogEvent {
        super::super::find("Microsoft-Windows-DotNETRuntime", ID, 0).unwrap()
    }

    fn payload(name: &str, record: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            name.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect();
        bytes.extend((record.len() as u32).to_le_bytes());
        bytes.extend(record);
        bytes.extend(9u16.to_le_bytes());
        bytes
    }

    fn shown(payload: &[u8]) -> Vec<String> {
        let fields = Fields::new(carrier().schema_of(payload), payload, 8);
        fields.map(|field| format!("{}={}", field.name(), field.value.unwrap())).collect()
    }

    #[test]
    fn a_record_that_is_known_has_its_fields_in_the_place_of_its_bytes() {
        let mut record = vec![1, 0];
        record.extend((1..=5u64).flat_map(u64::to_le_bytes));
        let shown_fields = shown(&payload("CommittedUsage", &record));
        assert_eq!(shown_fields[..3], ["Name=CommittedUsage", "DataSize=42", "Version=1"]);
        assert_eq!(shown_fields[3], "TotalCommittedInUse=1");
        assert_eq!(shown_fields[7..], ["TotalBookkeepingCommitted=5", "ClrInstanceID=9"]);
        let bytes = payload("CommittedUsage", &record);
        let version = crate::payload::field(carrier().schema_of(&bytes), &bytes, 8, "Version")
            .and_then(Result::ok);
        assert_eq!(version.and_then(|value| value.as_u64()), Some(1));
    }

    #[test]
    fn what_an_aspnet_server_wrote_is_read_as_the_collector_has_it() {
        let of = |text: &str| -> Vec<u8> {
            text.as_bytes()
                .chunks(2)
                .map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap())
                .collect()
        };
        let sample =
            of("01000300000000000000f39d0000340300000000000000000000fc4301000000000000002800");
        let fields = shown(&payload("SizeAdaptationSample", &sample));
        assert_eq!(fields[3..6], ["GCIndex=3", "ElapsedTimeBetweenGCs=40435", "GCPauseTime=820"]);
        assert_eq!(fields[8..10], ["TotalSOHStableSize=82940", "Gen0BudgetPerHeap=2621440"]);
        let tuning = "010001000000000004000000000000000000000000000000dec901400000000000efe43c000000000000\
                      0400000000040000000000000000";
        let fields = shown(&payload("SizeAdaptationTuning", &of(tuning)));
        assert_eq!(
            fields[3..7],
            ["NewNHeaps=1", "MaxHeapCountDatas=0", "MinHeapCountDatas=0", "CurrentGCIndex=4"]
        );
        assert!(fields[8].starts_with("MedianThroughputCostPercent=2.02"), "{fields:?}");
        assert_eq!(fields[13..16], ["NumGcsSinceLastChange=4", "AggFactor=0", "ChangeDecision=4"]);
        let full = "010001000900000000000000b81901420600000002000000b819014201000000c785d84100000000\
                    27dc7342";
        let fields = shown(&payload("SizeAdaptationFullGCTuning", &of(full)));
        assert_eq!(fields[3..5], ["NewNHeaps=1", "CurrentGCIndex=9"]);
        assert!(fields[5].starts_with("MedianGen2Tcp=32.27"), "{fields:?}");
        assert_eq!(fields[6..8], ["NumGen2sSinceLastChange=6", "Gen2Sample0Age=2"]);
    }

    #[test]
    fn a_record_of_another_name_or_size_stays_bytes() {
        for (name, size) in
            [("CommittedUsage", 41), ("CommittedUsage", 43), ("CommittedUsages", 42), ("", 42)]
        {
            let names: Vec<String> = shown(&payload(name, &vec![0; size]));
            assert_eq!(names.len(), 4, "{name} {size}");
            assert!(names[2].starts_with("Data="), "{name} {size}");
        }
        // A payload that ends within the record does not have all the fields it promises.
        let whole = payload("CommittedUsage", &[0; 42]);
        for end in 0..whole.len() - 2 {
            assert!(schema(carrier(), &whole[..end]).is_none(), "{end}");
        }
    }
}
