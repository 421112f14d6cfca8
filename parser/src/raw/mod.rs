//! The format's parts as functions of [nom](https://docs.rs/nom/8)'s shape, for those who want to read a part of a
//! stream, in an order of their own, or with blocks that are their own.
//!
//! A [`Reader`](crate::Reader) is the better way to events: it knows what ids stand for, and goes on behind damage.
//! The functions here know nothing of each other. They are the careful way that a reader takes too, at the end of its
//! input and wherever it has to say what is wrong. (Between damage it decodes the headers of blobs many bytes at a
//! time. Tests hold that both ways give the same rows, or both refuse them.)
//!
//! # Errors
//!
//! All functions are generic over the error type: see [`FromFault`]. [`FaultAt`] says what is wrong and where, and
//! nom's own `Error` will do as well. Every error is recoverable (`nom::Err::Error`), so that `alt`, `many0` and `opt`
//! can go on from it.
//!
//! # Whole input, or more to come
//!
//! What reads framing is *streaming*: where the input ends too early it gives `nom::Err::Incomplete`, and can be called
//! again with more. These functions have a paragraph *Streaming*. [`nom::combinator::complete`] makes an error of it.
//!
//! All others are *complete*: they are given a block's content, or a part of it, and framing has found its end. That it
//! ends too early is the error [`Fault::Truncated`](crate::Fault::Truncated).
//!
//! # Hostile input
//!
//! Nothing panics, whatever the bytes are. No count or size that was read decides how much memory is taken: only the
//! field lists are collected, one by one, and [within limits](crate::Limits); everything else borrows from the input.
//! Functions that take a count of rows from a header do not exist: use `many0` on what is left of the block, as readers
//! do, and compare.
//!
//! # nom
//!
//! [`nom`] is exported here, so that versions agree.

mod blob;
mod error;
mod framing;
mod header;
mod metadata;
mod primitive;
mod row;

pub use crate::blob::{BlobEncoding, BlobHeader};
pub use crate::block::metadata::{MetadataPayload, MetadataRow, MetadataTag, OptionalMetadata};
pub use crate::block::sequence_point::SequencePoint;
pub use crate::block::thread::ThreadEntry;
pub use crate::error::FaultAt;
pub use crate::format::fastserial::ObjectType;
pub use blob::{
    Blob, blob, blob_encoding, blob_v3, blob_v4, blob_v6, compressed_blob_v4, compressed_blob_v6,
};
pub use error::FromFault;
pub use framing::{Object, Origin, block, block_v6, end_of_stream, object, object_type, stream_header};
pub use header::{
    IdRange, event_block_header, id_range, metadata_block_header_v6, sequence_point_v4, sequence_point_v6,
    trace_block_v6, trace_object,
};
pub use metadata::{
    field_list_v1, field_list_v2, field_list_v6, metadata_payload, metadata_row_v6, metadata_tag,
    optional_metadata,
};
pub use nom;
pub use primitive::{guid, sized_row, string_v6, utf16z, varint64, varuint32, varuint64};
pub use row::{
    LabelList, ThreadRow, label, label_list, sequence_entry_v4, sequence_entry_v6, stack_row, thread_entry,
    thread_row,
};
