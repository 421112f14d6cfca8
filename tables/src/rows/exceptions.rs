//! Makes the rows of the table of exceptions.

use super::{RowPrefix, ids};
use crate::sheet::Sheet;
use nettrace_analysis::NameOptions;
use nettrace_analysis::model::{Model, Moment};
use nettrace_parser::Event;
use nettrace_parser::view::{self, KnownProvider, View};

pub(crate) fn add_exception(
    sheet: &mut Sheet,
    event: &Event<'_>,
    moment: &Moment,
    model: &mut Model,
    prefix: RowPrefix,
) {
    if event.known_provider() != KnownProvider::Runtime || event.id() != 80 {
        return;
    }
    let thrown = view::Exception::from_event(event);
    let stack = model.stack_of(event, moment.thread);
    let type_name =
        thrown.as_ref().map(|thrown| model.intern_type(thrown.type_name, NameOptions::default()));
    let message = thrown.as_ref().map(|thrown| thrown.message.to_string());
    let (process, thread) = ids(model, moment.thread);
    let mut row = sheet.row();
    prefix.begin_row(&mut row, moment.nanos().unwrap_or(0));
    row.count(process);
    row.count(thread);
    // The report of exceptions has this text for an unknown type, too.
    row.text(type_name.map_or("(unknown type)", |name| model.text(name)));
    // .NET 6 and later write NULL if there is no message.
    row.text(message.as_deref().filter(|text| !text.is_empty() && *text != "NULL"));
    row.small(thrown.as_ref().map(|thrown| thrown.hresult.cast_signed()));
    row.unsigned(thrown.as_ref().map(|thrown| thrown.address));
    row.flag(thrown.as_ref().map(view::Exception::is_rethrown));
    row.flag(thrown.as_ref().map(view::Exception::is_nested));
    row.flag(thrown.as_ref().map(view::Exception::has_inner));
    row.stack(Some(stack));
    let bytes = row.end();
    sheet.end_row(bytes);
}
