//! Instruments that share a name.
//!
//! A program may have several instruments of one name in meters of one name: meters that differ in
//! tags or versions, or one for each part of the program. The runtime publishes each separately.
//! Rates could be added, but not gauges and quantiles, so all are kept apart, in the order of first
//! publication.
//!
//! | runtime | how they differ |
//! |---|---|
//! | .NET 9 and later | `instrumentId` of each value |
//! | before | the same tags come twice in a collection |

use super::series::SeriesKey;
use crate::hash::HashMap;

/// Maximum number of intervals without a value; after it an instrument is gone, and the next one of
/// its name continues its series.
const SILENT_INTERVALS: f64 = 3.0;
/// Maximum number of instruments of one name with series of their own.
const MAX_OF_A_NAME: usize = 1000;
/// Maximum number of names, and of series in a collection, that are remembered.
const MAX_NAMES: usize = 10_000;
/// Nanoseconds per second.
const SECOND: f64 = 1e9;

/// Publication that a value belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Publication {
    pub(crate) ts_ns: i64,
    /// Number of the publication in the session; 0 if the stream does not say.
    pub(crate) collection: u64,
    /// Time between publications; 0 if unknown.
    pub(crate) interval_seconds: f64,
}

impl Publication {
    /// Returns the time between publications in nanoseconds; one second, as most sessions request,
    /// if unknown.
    fn interval_nanos(self) -> f64 {
        SECOND * if self.interval_seconds > 0.0 { self.interval_seconds } else { 1.0 }
    }
}

/// Tells instruments of one name apart.
#[derive(Debug, Default)]
pub(crate) struct SameNames {
    /// Instruments of a name. The key has only the instrument's own tags.
    numbered: HashMap<SeriesKey, Vec<NumberedInstruments>>,
    /// Number of values that a series had in its newest publication.
    repeated: HashMap<SeriesKey, Repeated>,
}

#[derive(Debug)]
struct NumberedInstruments {
    id: i64,
    last_ns: i64,
}

#[derive(Debug)]
struct Repeated {
    collection: u64,
    first_ns: i64,
    times: usize,
}

impl SameNames {
    /// Returns the tag for the series of a value; `None` for the first instrument of its name.
    /// `own_tags`: tags of the instrument and its meter.
    pub(crate) fn tag(
        &mut self,
        key: &SeriesKey,
        own_tags: &[(String, String)],
        instrument_id: Option<i64>,
        publication: Publication,
    ) -> Option<(String, String)> {
        let place = match instrument_id {
            Some(id) => {
                let name = SeriesKey { tags: own_tags.to_vec(), ..key.clone() };
                self.by_id(name, id, publication)
            }
            None => self.by_repetition(key, publication),
        };
        let number = place.saturating_add(1);
        (place > 0).then(|| ("instrument".to_owned(), format!("#{number}")))
    }

    fn by_id(&mut self, name: SeriesKey, id: i64, publication: Publication) -> usize {
        if self.numbered.len() >= MAX_NAMES && !self.numbered.contains_key(&name) {
            return 0;
        }
        let instruments = self.numbered.entry(name).or_default();
        let now_ns = publication.ts_ns;
        let silence = publication.interval_nanos() * SILENT_INTERVALS;
        let is_gone =
            |other: &NumberedInstruments| now_ns.saturating_sub(other.last_ns) as f64 > silence;
        let its = instruments.iter().position(|other| other.id == id);
        let place = its
            .or_else(|| instruments.iter().position(is_gone))
            .unwrap_or(instruments.len().min(MAX_OF_A_NAME.saturating_sub(1)));
        let now = NumberedInstruments { id, last_ns: now_ns };
        match instruments.get_mut(place) {
            Some(instrument) => *instrument = now,
            None => instruments.push(now),
        }
        place
    }

    /// Returns the index of an instrument by counting the values of its name in a publication. The
    /// event that begins a publication may be lost, so a value that comes half an interval later
    /// counts as the next publication.
    fn by_repetition(&mut self, key: &SeriesKey, publication: Publication) -> usize {
        let Publication { ts_ns, collection, .. } = publication;
        if collection == 0 {
            return 0;
        }
        if self.repeated.len() >= MAX_NAMES && !self.repeated.contains_key(key) {
            self.repeated.clear();
        }
        let first = Repeated { collection, first_ns: ts_ns, times: 0 };
        let Some(known) = self.repeated.get_mut(key) else {
            self.repeated.insert(key.clone(), first);
            return 0;
        };
        let passed = ts_ns.saturating_sub(known.first_ns) as f64;
        if known.collection != collection || passed > publication.interval_nanos() / 2.0 {
            *known = first;
            return 0;
        }
        known.times = known.times.saturating_add(1).min(MAX_OF_A_NAME.saturating_sub(1));
        known.times
    }
}
