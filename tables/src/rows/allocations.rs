//! Makes the rows of the table of allocations.

use super::marks::SharedTables;
use super::{RowPrefix, ids};
use crate::sheet::Sheet;
use nettrace_analysis::Kind;
use nettrace_analysis::model::Model;
use nettrace_parser::view::View;
use nettrace_parser::{Event, view};

/// Adds a row for the allocation that an event describes. The weight comes from the analysis.
pub(crate) fn add_allocation(
    sheet: &mut Sheet,
    event: &Event<'_>,
    shared: &SharedTables,
    model: &Model,
    prefix: RowPrefix,
) {
    let Some(sample) = shared.take_allocation() else { return };
    let allocation = view::Allocation::from_event(event);
    let heap = match allocation.as_ref().map(|allocation| allocation.kind) {
        Some(0) | None => "small".to_owned(),
        Some(1) => "large".to_owned(),
        Some(2) => "pinned".to_owned(),
        Some(other) => other.to_string(),
    };
    let (process, thread) = ids(model, sample.thread);
    let mut row = sheet.row();
    prefix.begin_row(&mut row, sample.nanos);
    row.count(process);
    row.count(thread);
    row.text(if sample.kind == Kind::AllocationSamples { "sample" } else { "tick" });
    row.text(&*heap);
    row.text(sample.label.map(|label| model.text(label)));
    row.count(sample.count);
    row.count(sample.weight);
    row.count(allocation.as_ref().and_then(|allocation| allocation.object_bytes));
    row.unsigned(allocation.as_ref().and_then(|allocation| allocation.address));
    row.stack(Some(sample.stack));
    let bytes = row.end();
    sheet.end_row(bytes);
}
