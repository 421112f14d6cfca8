#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(feature = "mmap"), forbid(unsafe_code))]
#![cfg_attr(test, allow(clippy::restriction, clippy::pedantic))]

mod blob;
mod block;
mod bytes;
pub mod catalog;
pub mod check;
mod clock;
mod context;
mod cursor;
mod damage;
mod error;
mod event;
mod feed;
pub mod following;
mod forget;
mod format;
pub mod format_guide;
mod frame;
mod held;
mod index;
mod limits;
mod loss;
#[cfg(feature = "mmap")]
mod mapping;
mod order;
mod outcome;
mod owned_event;
pub mod parallel;
mod payload;
#[cfg(any(unix, windows))]
mod positioned;
mod progress;
pub mod raw;
mod reader;
mod resync;
mod schema;
mod serial;
#[cfg(feature = "serde")]
mod serialize;
#[cfg(feature = "serde")]
mod serialize_findings;
mod source;
mod statistics;
mod tables;
pub mod unstable;
mod version;
pub mod view;
mod work;

pub use block::Block;
pub use block::label_list::{Label, Labels, TraceId};
pub use block::metadata::{Metadata, MetadataExtra};
pub use block::stack::Stack;
pub use block::thread::Thread;
pub use block::trace::Trace;
pub use clock::{Clock, DateTimeParts, utc_text};
pub use damage::{Class, Damage, Finding};
pub use error::{Error, Fault, Foreign};
pub use event::Event;
pub use feed::Feed;
pub use frame::BlockKind;
pub use index::{Definition, Definitions, Index};
pub use limits::Limits;
pub use loss::Losses;
#[cfg(feature = "mmap")]
pub use mapping::MappedFile;
#[doc(inline)]
pub use nettrace_guid::Guid;
pub use order::TimeOrdered;
pub use outcome::Outcome;
pub use owned_event::OwnedEvent;
pub use payload::{
    Array, DateTime, Decimal, Elements, FieldError, FieldValue, Fields, FromValue, Object,
    OwnedValue, PayloadFault, Utf8, Utf16, Value, ValueName, VisitValues,
};
#[cfg(any(unix, windows))]
pub use positioned::PositionedFile;
pub use progress::{Progress, Watched};
pub use reader::{Item, Reader, Visit};
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use resync::fuzzing;
pub use schema::{Content, Count, Field, FieldType, Schema, Unit, ValueMap};
pub use source::{Buffered, Source, Span, Whole};
pub use statistics::Statistics;
pub use version::Version;
