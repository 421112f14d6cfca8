//! Names the rule that a fault breaks, and its section of `FORMAT.md`.

use crate::BlockKind;
use crate::error::Fault;

/// Returns the machine-readable name of the rule that a fault breaks.
pub(super) fn kind(fault: Fault) -> &'static str {
    match fault {
        Fault::HeaderTruncated | Fault::Truncated => "truncated",
        Fault::Foreign(_) => "foreign",
        Fault::UnsupportedVersion(_) | Fault::MalformedVersion(_) => "version",
        Fault::FastSerializationHeader => "stream_header",
        Fault::FirstIsNotTrace => "first_block",
        Fault::PointerSize(_) => "pointer_size",
        Fault::VarintTooLong | Fault::VarintOverflow => "varint",
        Fault::Tag { .. } => "tag",
        Fault::NameLength(_) | Fault::TypeName => "type_name",
        Fault::BlockSize(_) => "block_size",
        Fault::BlockLimit(_) => "block_limit",
        Fault::MinimumVersion(_) => "minimum_version",
        Fault::UnknownObject | Fault::UnknownLayout | Fault::UnknownBlock(_) => "unknown_block",
        Fault::ChangedKind(_) => "changed_kind",
        Fault::TrailingBytes(_) | Fault::MoreTrailingBytes(_) => "trailing_bytes",
        Fault::SecondTrace => "second_trace",
        Fault::HeaderSize(_) => "header_size",
        Fault::RowSize(_) => "row_size",
        Fault::PayloadSize(_) => "payload_size",
        Fault::RowsInPayload(_) => "rows_in_payload",
        Fault::StackSize(_) | Fault::PartialAddress(_) => "stack_size",
        Fault::Count { .. } => "count",
        Fault::UnknownEntry(_) => "unknown_entry",
        Fault::ReservedFlag(_) => "reserved_flag",
        Fault::UndefinedMetadata(_) => "undefined_metadata",
        Fault::UndefinedStack(_) => "undefined_stack",
        Fault::UndefinedThread(_) => "undefined_thread",
        Fault::UndefinedLabels(_) => "undefined_labels",
        Fault::DefinesNothing(_) => "defines_nothing",
        Fault::Redefined(_) => "redefined",
        Fault::NumberFell(_) => "number_fell",
        Fault::TimeOutside(_) => "time_outside",
        Fault::TimeUnmet { .. } => "time_unmet",
        Fault::Zeros => "zeros",
        Fault::TimeFalls(_) => "time_falls",
        Fault::Processor(_) => "processor",
        Fault::StrayThread(_) => "stray_thread",
        Fault::NumbersJump(_) => "numbers_jump",
        Fault::TypeCode(_) => "type_code",
        Fault::TypeDepth => "type_depth",
        Fault::Padding(_) => "padding",
        Fault::FieldLimit => "field_limit",
        Fault::FieldList => "field_list",
        Fault::BothFieldLists => "two_field_lists",
        Fault::TagSize(_) => "tag_size",
        Fault::ValueLimit => "value_limit",
        Fault::Location { .. } => "location",
        Fault::Date => "date",
        Fault::Frequency(_) => "frequency",
        Fault::TableLimit => "table_limit",
        Fault::QueueLimit => "queue_limit",
        Fault::StaleTable => "stale_table",
        Fault::Refused => "refused",
    }
}

/// Returns the section with the rule that a fault breaks, for a stream of this major version.
pub(super) fn section(fault: Fault, block: Option<BlockKind>, major: u32) -> &'static str {
    let is_v6 = major >= 6;
    match fault {
        Fault::Foreign(_)
        | Fault::HeaderTruncated
        | Fault::UnsupportedVersion(_)
        | Fault::MalformedVersion(_)
        | Fault::FastSerializationHeader => "1",
        Fault::VarintTooLong | Fault::VarintOverflow => "2",
        Fault::Tag { .. } | Fault::NameLength(_) | Fault::MinimumVersion(_) => "3",
        Fault::FirstIsNotTrace | Fault::BlockSize(_) if is_v6 => "7.1",
        Fault::TrailingBytes(_) | Fault::MoreTrailingBytes(_) if is_v6 => "7.1",
        Fault::UnknownObject | Fault::UnknownLayout | Fault::UnknownBlock(_) if is_v6 => "7.1",
        Fault::ChangedKind(_) => "7.1",
        Fault::FirstIsNotTrace | Fault::BlockSize(_) => "3",
        Fault::TrailingBytes(_) | Fault::MoreTrailingBytes(_) => "3",
        Fault::UnknownObject | Fault::UnknownLayout | Fault::UnknownBlock(_) => "3",
        Fault::PointerSize(_) | Fault::SecondTrace | Fault::Date | Fault::Frequency(_) if is_v6 => {
            "7.2"
        }
        Fault::PointerSize(_) | Fault::SecondTrace | Fault::Date | Fault::Frequency(_) => "4",
        Fault::UndefinedMetadata(_) => "9.2",
        Fault::UndefinedThread(_) => "9.3",
        Fault::UndefinedLabels(_) => "9.5",
        Fault::UndefinedStack(_) => "6.8",
        Fault::NumberFell(_) => "12",
        Fault::TypeCode(_) | Fault::Location { .. } => "8",
        Fault::BothFieldLists | Fault::TagSize(_) => "6.6",
        Fault::StaleTable | Fault::Padding(_) => "13.3",
        Fault::TypeName
        | Fault::TimeOutside(_)
        | Fault::RowsInPayload(_)
        | Fault::Zeros
        | Fault::TimeFalls(_)
        | Fault::TimeUnmet { .. }
        | Fault::Processor(_)
        | Fault::StrayThread(_)
        | Fault::NumbersJump(_) => "13.6",
        Fault::BlockLimit(_)
        | Fault::TableLimit
        | Fault::QueueLimit
        | Fault::TypeDepth
        | Fault::FieldLimit
        | Fault::ValueLimit => "13.4",
        Fault::Truncated if block.is_none() => "13.3",
        Fault::Refused
        | Fault::Truncated
        | Fault::HeaderSize(_)
        | Fault::RowSize(_)
        | Fault::PayloadSize(_)
        | Fault::StackSize(_)
        | Fault::PartialAddress(_)
        | Fault::Count { .. }
        | Fault::UnknownEntry(_)
        | Fault::ReservedFlag(_)
        | Fault::DefinesNothing(_)
        | Fault::Redefined(_)
        | Fault::FieldList => block_section(block, major),
    }
}

/// Returns the section about a kind of block; without a kind, the section about framing.
fn block_section(block: Option<BlockKind>, major: u32) -> &'static str {
    let row = block.and_then(BlockKind::row);
    let object = row.and_then(|row| row.object.as_ref());
    match (row, object, major) {
        (Some(row), _, 6..) | (Some(row), None, _) => row.section_v6,
        (_, Some(object), ..=3) => object.sections[0],
        (_, Some(object), _) => object.sections[1],
        (None, None, 6..) => "7.1",
        (None, None, _) => "3",
    }
}
