//! A writer of nettrace streams that shares no code with the parser, so that a wrong layout cannot agree
//! with itself.
//!
//! Two levels:
//!
//! - **Parts.** A [`Stream`] takes one block after the other. Every block, row and blob is a plain struct;
//!   a field of type `Option` that is `None` means "what is right", so that any legal or illegal stream can
//!   be written byte for byte. The stream keeps a map of what lies where ([`Part`]), and [`Damage`] does
//!   harm to the finished bytes.
//! - **Sessions.** A [`Session`] says what happened; it writes the stream that a runtime would have written
//!   and gives back the events that a reader has to find in it.
//!
//! ```
//! use nettrace_writer::*;
//!
//! let definition = Definition { metadata_id: 1, provider: "Demo".into(), event_id: 7, ..Definition::default() };
//! let event = Blob { metadata_id: 1, sequence_number: 1, thread_id: 11, ticks: 5, ..Blob::default() };
//! let mut stream = Stream::new(Version::V4);
//! stream
//!     .trace(&Trace::default())
//!     .metadata_blobs(&EventBlock::new([Blob::definition(11, 5, definition.encode())]))
//!     .event_block(&EventBlock::new([event]))
//!     .end();
//! // Make the size of the event block too large by one.
//! let block = stream.nth(PartKind::Event, 0);
//! let size = block.content.len() as u32 + 1;
//! let damaged = Damage::u32(block.size_field.unwrap(), size).applied(&stream.bytes);
//! assert_eq!(damaged.len(), stream.bytes.len());
//! ```

mod blob;
mod bytes;
mod damage;
mod event_block;
mod examples;
mod field;
mod label_list;
mod layout;
mod malformed;
mod metadata;
mod metadata_v6;
mod sequence_point;
mod session;
mod stack;
#[cfg(feature = "proptest")]
pub mod strategy;
mod stream;
mod thread;
mod trace;
mod value;

pub use blob::{Blob, Compressor, NO_PROCESSOR, flag};
pub use bytes::{Guid, Sink, zigzag};
pub use damage::Damage;
pub use event_block::{BlobLayout, EventBlock, Row};
pub use examples::{tiny_v4, tiny_v6};
pub use field::{Field, FieldForm, FieldType, encode_fields};
pub use label_list::{Label, LabelListBlock};
pub use layout::{Content, Part, PartKind, Version};
pub use malformed::malformed;
pub use metadata::{Definition, Tag};
pub use metadata_v6::{MetadataBlock, MetadataRow, Optional};
pub use sequence_point::SequencePoint;
pub use session::{
    BatchOrder, EventType, ExpectedEvent, Recording, Session, SessionEvent, SessionThread, SessionWriter,
    Step, Written,
};
pub use stack::{Stack, StackBlock, addresses};
pub use stream::{Block, FAST_SERIALIZATION, Object, Stream, TaggedValue};
pub use thread::{RemoveThreadBlock, ThreadBlock, ThreadEntry, ThreadRow};
pub use trace::{SysTime, Trace};
pub use value::{Decimal, Value, payload};
