//! Reads the fields of starts and stops of EventSources. What each field tells is decided once for a
//! type.

use super::edge_keys::EdgeKeys;
use super::http_facts::{HttpDirection, HttpFacts, HttpField, RecentFacts, direction_of};
use crate::hash::hash_of;
use crate::model::short;
use nettrace_parser::{Event, Value};

/// Maximum length of a field's text that is compared, in bytes.
const MAX_KEY_BYTES: usize = 128;

/// What the fields of a type of events tell about activities.
#[derive(Debug)]
pub(super) struct EdgeFields {
    /// Uses of the fields up to the last one that is used.
    rows: Vec<FieldUse>,
    /// Direction and recent facts, if the activities may be HTTP requests.
    http: Option<(Option<HttpDirection>, RecentFacts)>,
}

/// Uses of a field.
#[derive(Debug)]
struct FieldUse {
    /// Hash of the name, if the values of start and stop are compared.
    key: Option<u64>,
    http: Option<HttpField>,
}

impl EdgeFields {
    /// Decides what the fields of an event's type are for. `name`: name of the activities; `chosen`:
    /// the fields that are compared, or `None` for all.
    pub(super) fn new(event: &Event<'_>, name: &str, chosen: Option<&[&str]>) -> EdgeFields {
        let http = direction_of(name, false).map(|it| (it, RecentFacts::default()));
        let fields = event.schema().map_or(&[][..], |schema| schema.payload_fields());
        let use_of = |name: &str| FieldUse {
            key: chosen.is_none_or(|it| it.contains(&name)).then(|| hash_of(short(name))),
            http: HttpField::of_name(name).filter(|_| http.is_some()),
        };
        let mut rows: Vec<FieldUse> = fields.iter().map(|field| use_of(&field.name)).collect();
        let is_used = |row: &FieldUse| row.key.is_some() || row.http.is_some();
        rows.truncate(rows.iter().rposition(is_used).map_or(0, |last| last.saturating_add(1)));
        EdgeFields { rows, http }
    }

    /// Adds hashes of the names and values of the fields to compare to `keys`, and returns the facts
    /// about the HTTP request that starts or stops.
    pub(super) fn read(
        &self,
        event: &Event<'_>,
        is_start: bool,
        keys: &mut EdgeKeys,
    ) -> Option<HttpFacts> {
        let (mut asked, mut status) = (0, None);
        let mut fields = event.fields();
        for row in &self.rows {
            let Some(Ok(value)) = fields.next().map(|field| field.value) else { break };
            if value.is_absent() && fields.rest().is_empty() {
                // The payload has ended, so the remaining fields are absent, too.
                break;
            }
            let text = match value {
                Value::Utf16(text) => Some(text.bytes()),
                Value::Utf8(text) => Some(text.bytes()),
                _ => None,
            };
            let is_short = text.is_none_or(|text| text.len() <= MAX_KEY_BYTES);
            let key = row.key.filter(|_| is_short && !keys.is_full());
            if key.is_none() && row.http.is_none() {
                continue;
            }
            let hash = match (text, value) {
                (Some(text), _) => hash_of(text),
                (None, Value::Guid(id)) => hash_of(&id),
                (None, value) => match (value.as_i64(), value.as_u64()) {
                    (Some(number), _) => hash_of(&number),
                    (None, Some(number)) => hash_of(&number),
                    (None, None) => continue,
                },
            };
            if let Some(name) = key {
                keys.push((name, hash));
            }
            match row.http {
                Some(HttpField::Status) => status = value.as_i64(),
                Some(field) => asked = hash_of(&(asked, field, hash)),
                None => {}
            }
        }
        let facts = self.http.as_ref().map(|(direction, recent)| {
            let mut facts = recent.look_up(asked, event, *direction);
            facts.status = status;
            facts
        });
        facts.filter(|facts| facts.is_known(is_start))
    }
}
