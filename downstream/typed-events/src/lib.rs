//! Events of an EventSource of one's own as structs, without a derive macro: a struct for each event,
//! a function that reads its fields by name, and an enum of all.

use nettrace_parser::{Error, Event, FieldError, Guid, Reader};
use std::time::Duration;

/// `[Event(1)] void Sold(string article, int pieces, Guid customer)` of the EventSource `Shop`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sold {
    pub article: String,
    pub pieces: u32,
    pub customer: Guid,
}

/// `[Event(2)] void Paid(double seconds, bool byCard)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Paid {
    pub took: Duration,
    pub by_card: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ShopEvent {
    Sold(Sold),
    Paid(Paid),
}

impl ShopEvent {
    /// Reads an event; `None` if it is another EventSource's, or of a type that is not known here.
    pub fn from_event(event: &Event<'_>) -> Option<Result<ShopEvent, FieldError>> {
        if event.provider() != "Shop" {
            return None;
        }
        match event.id() {
            1 => Some(Sold::from_event(event).map(ShopEvent::Sold)),
            2 => Some(Paid::from_event(event).map(ShopEvent::Paid)),
            _ => None,
        }
    }
}

impl Sold {
    fn from_event(event: &Event<'_>) -> Result<Sold, FieldError> {
        Ok(Sold {
            article: event.get("article")?,
            // An `int` that is negative, or a field of another type, is an error that says so.
            pieces: event.get("pieces")?,
            customer: event.get("customer")?,
        })
    }
}

impl Paid {
    fn from_event(event: &Event<'_>) -> Result<Paid, FieldError> {
        let took = Duration::try_from_secs_f64(event.get("seconds")?).unwrap_or_default();
        // A field that version 1 of the event did not have.
        let by_card = match event.get("byCard") {
            Err(FieldError::Missing { .. }) => false,
            by_card => by_card?,
        };
        Ok(Paid { took, by_card })
    }
}

/// Reads the events of the shop, in time order, each with its nanoseconds since the session's start.
pub fn read(trace: &[u8]) -> Result<Vec<(i64, ShopEvent)>, Box<dyn std::error::Error>> {
    let mut events = Reader::from_slice(trace).time_ordered();
    let mut read = Vec::new();
    while let Some(event) = events.next_event().map_err(Box::<Error>::new)? {
        if let Some(shop) = ShopEvent::from_event(&event) {
            read.push((event.nanos().unwrap_or(0), shop?));
        }
    }
    Ok(read)
}
