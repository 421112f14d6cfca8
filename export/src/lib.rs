#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::restriction, clippy::pedantic))]

mod async_events;
mod compiled;
mod csv;
mod detail;
mod escape;
mod event_types;
mod expression;
mod filter;
mod glob;
pub mod hidden;
pub mod json;
mod labels;
mod line;
pub mod long;
mod ndjson;
pub mod nearest;
mod page;
mod parts;
mod pattern;
mod payload;
mod plain;
mod predicate;
mod selection;
mod shape;
mod tags;
mod text;
mod text_value;
mod time_range;
pub mod units;
mod utf16;
mod writer;

pub use csv::{write_csv_value, write_csv_value_safe};
pub use detail::Detail;
pub use event_types::{EventType, EventTypes, Shape, TypeIndex};
pub use filter::{Filter, FilterOptions, accepts_type, unmatched_types};
pub use glob::Glob;
pub use ndjson::PayloadJson;
pub use page::Page;
pub use parts::{EventPart, EventParts};
pub use pattern::{EventPattern, ProviderPattern};
pub use predicate::{
    Answers, COUNTER_GRAMMAR, CounterName, Fact, GRAMMAR, Predicate, PredicateError, Quantity,
    QuantityError, Trigger,
};
pub use shape::{Name, Names, Path};
pub use tags::tags_of;
pub use text::{Paint, TextOptions};
pub use text_value::TextValues;
pub use time_range::{TimeRange, TimeRangeError, parse_nanos};
pub use writer::{EventForm, EventWriter, WriteOptions};
