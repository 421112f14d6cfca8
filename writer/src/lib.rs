#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(clippy::restriction, clippy::pedantic)]

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
#[cfg(feature = "arbitrary")]
mod unstructured;
mod value;

pub use blob::{Blob, Compressor, NO_PROCESSOR, flag};
pub use bytes::{GuidBytes, Sink, zigzag};
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
    BatchOrder, EventType, ExpectedEvent, Recording, Session, SessionEvent, SessionThread,
    SessionWriter, Step, Written,
};
pub use stack::{Stack, StackBlock, addresses};
pub use stream::{Block, FAST_SERIALIZATION, Object, Stream, TaggedValue};
pub use thread::{RemoveThreadBlock, ThreadBlock, ThreadEntry, ThreadRow};
pub use trace::{SysTime, Trace};
pub use value::{Decimal, Value, payload};
