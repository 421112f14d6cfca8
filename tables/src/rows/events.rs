//! Makes the rows of the table of events.

use super::{RowPrefix, ids};
use crate::sheet::Sheet;
use nettrace_analysis::model::{Model, Moment};
use nettrace_export::json::Json;
use nettrace_export::{EventTypes, PayloadJson};
use nettrace_parser::Event;

/// The table of events, and what its rows need.
pub(crate) struct EventRows {
    sheet: Sheet,
    types: EventTypes,
    /// Names of each event type, by [`TypeIndex::number`](nettrace_export::TypeIndex::number).
    names: Vec<TypeNames>,
    payloads: Option<PayloadJson>,
    activity: Vec<u8>,
    rest: Vec<u8>,
    faults: Vec<u8>,
}

#[derive(Debug)]
struct TypeNames {
    provider: Box<str>,
    event: Box<str>,
    id: i32,
    version: i32,
    is_defined: bool,
}

impl EventRows {
    pub(crate) fn new(sheet: Sheet, has_payload: bool) -> EventRows {
        EventRows {
            sheet,
            types: EventTypes::default(),
            names: Vec::new(),
            payloads: has_payload.then(PayloadJson::new),
            activity: Vec::new(),
            rest: Vec::new(),
            faults: Vec::new(),
        }
    }

    pub(crate) fn into_sheet(self) -> Sheet {
        self.sheet
    }

    pub(crate) fn add(
        &mut self,
        event: &Event<'_>,
        moment: &Moment,
        model: &mut Model,
        prefix: RowPrefix,
    ) {
        let index = self.types.index_of(event);
        if index.number >= self.names.len() {
            self.learn();
        }
        let stack = event.stack();
        let stack = (!stack.is_empty()).then(|| model.stack_of(event, moment.thread));
        let (process, thread) = ids(model, moment.thread);
        let Some(names) = self.names.get(index.number) else { return };
        let mut row = self.sheet.row();
        prefix.begin_row(&mut row, moment.nanos().unwrap_or(0));
        row.count(process);
        row.count(thread);
        row.named(index.number, &names.provider);
        row.named(index.number, &names.event);
        row.small(names.id);
        row.small(names.version);
        row.small(i32::try_from(event.level()).unwrap_or(i32::MAX));
        for id in [event.activity_id(), event.related_activity_id()] {
            self.activity.clear();
            if let Some(id) = id {
                self.activity.guid(id);
            }
            row.bytes(id.map(|_| self.activity.as_slice()));
        }
        self.rest.clear();
        self.faults.clear();
        match self.payloads.as_mut().filter(|_| names.is_defined) {
            Some(payloads) => {
                let types = &self.types;
                let rest = row.write(|text| payloads.write(text, event, index, types));
                self.rest.hex_bytes(rest);
                payloads.take_faults(&mut self.faults);
            }
            None => row.bytes(None),
        }
        row.bytes(Some(self.rest.as_slice()).filter(|rest| !rest.is_empty()));
        row.bytes(Some(self.faults.as_slice()).filter(|faults| !faults.is_empty()));
        row.stack(stack);
        let bytes = row.end();
        self.sheet.end_row(bytes);
    }

    #[cold]
    fn learn(&mut self) {
        let new = self.types.rows().iter().skip(self.names.len()).map(|row| TypeNames {
            provider: row.provider.clone(),
            event: row.event_name().into(),
            id: i32::try_from(row.id).unwrap_or(i32::MAX),
            version: i32::try_from(row.version).unwrap_or(i32::MAX),
            is_defined: row.is_defined,
        });
        self.names.extend(new);
    }
}
