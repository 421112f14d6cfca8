//! Parsers of the format as [nom](https://docs.rs/nom/8) functions, for reading a part of a
//! stream, or streams with custom kinds of blocks.
//!
//! To read events, use a [`Reader`](crate::Reader) instead: it resolves ids, and continues
//! after damage. A reader is made of these functions, except for a faster way to decode event
//! headers; tests verify that both ways give equal rows, or the same fault at the same offset.
//!
//! # The blobs of a block
//!
//! ```
//! # let written = nettrace_testdata::synth::tiny_v4();
//! # let part = written.nth(nettrace_testdata::synth::PartKind::Event, 0);
//! # let content = &written.bytes[part.content.clone()];
//! use nettrace_parser::Version;
//! use nettrace_parser::raw::nom::{Parser, combinator::all_consuming, multi::many0};
//! use nettrace_parser::raw::{self, Blob, BlobEncoding, BlobHeader, Parsed};
//!
//! fn blobs(version: Version, content: &[u8]) -> Parsed<'_, Vec<Blob<'_>>> {
//!     let (rest, header) = raw::event_block_header(content)?;
//!     let encoding = BlobEncoding::new(version, header.is_compressed);
//!     // A compressed header inherits fields from the previous blob.
//!     let mut running = BlobHeader::default();
//!     all_consuming(many0(raw::blob(encoding, &mut running))).parse(rest)
//! }
//!
//! let (_, blobs) = blobs(Version::V4, content).unwrap();
//! assert_eq!((blobs.len(), blobs[1].header.timestamp), (4, 1_000_110));
//! ```
//!
//! # Custom kinds of blocks
//!
//! Readers skip blocks of unknown kinds, so a writer may add its own. In this example,
//! blocks of kind 200 contain pairs of a time and a text:
//!
//! ```
//! # use nettrace_testdata::synth::{Content, Stream, Trace, Version};
//! # let mut written = Stream::new(Version::V6);
//! # let content = Content::raw(*b"\x64\x05begin\xc8\x01\x03end");
//! # let stream = &written.trace(&Trace::default()).block(&nettrace_testdata::synth::Block::new(200, content)).end().bytes;
//! use nettrace_parser::raw::nom::{Parser, bytes::take, combinator::all_consuming, multi::many0};
//! use nettrace_parser::raw;
//!
//! let (mut rest, _) = raw::stream_header(stream).unwrap();
//! let mut remarks = Vec::new();
//! loop {
//!     let (content, (kind, size)) = raw::block_header_v6(rest).unwrap();
//!     let (after, content) = take::<_, _, raw::FaultAt<'_>>(size).parse(content).unwrap();
//!     match kind {
//!         0 => break,
//!         200 => {
//!             let mut pairs = all_consuming(many0((raw::varuint64, raw::string_v6)));
//!             remarks.extend(pairs.parse(content).unwrap().1);
//!         }
//!         _ => {}
//!     }
//!     rest = after;
//! }
//! assert_eq!(remarks, [(100, &b"begin"[..]), (200, b"end")]);
//! ```
//!
//! # Overview
//!
//! | part | functions | FORMAT.md |
//! |---|---|---|
//! | numbers, texts | [nom's](nom::number::complete), [`varuint32`], [`varuint64`], [`utf16z`], [`string_v6`] | 2 |
//! | rows with a size | [`sized_row`] | 7.3, 7.6 |
//! | the stream | [`stream_header`] | 1 |
//! | framing | [`object_header`], [`block_header_v6`] | 3, 7.1 |
//! | the session | [`trace_object`], [`trace_block_v6`] | 4, 7.2 |
//! | headers of blocks | [`event_block_header`], [`metadata_block_header_v6`], [`id_range`] | 6.1, 6.8, 7.3, 7.8 |
//! | blobs | [`blob`] | 5, 6.2, 6.3, 7.4 |
//! | event types | [`metadata_payload`], [`metadata_tag`]; [`metadata_row_v6`], [`optional_metadata`] | 6.4, 6.6, 7.3 |
//! | field lists | [`field_list_v1`], [`field_list_v2`], [`field_list_v6`] | 6.5, 6.7, 7.3 |
//! | stacks | [`stack_row`] | 6.8, 7.5 |
//! | sequence points | [`sequence_point_v4`], [`sequence_entry_v4`]; [`sequence_point_v6`], [`sequence_entry_v6`] | 6.9, 7.7, 7.9 |
//! | threads | [`thread_entry`] | 7.6 |
//! | labels | [`label`], [`label_list`] | 7.8 |
//!
//! UTF-8 texts are returned as bytes, because they may be ill-formed.
//!
//! # Errors
//!
//! The error type is [`FaultAt`]: the fault and its offset. All errors are recoverable
//! (`nom::Err::Error`), so `alt`, `many0` and `opt` continue after them. If the input ends too
//! early, the fault is [`Fault::Truncated`](crate::Fault::Truncated), even if more of the
//! stream will come.
//!
//! # Hostile input
//!
//! No input makes a function panic, and no count or size in it decides how much memory is
//! allocated. Only field lists, within the limits of FORMAT.md 13.4, and the pairs of a Trace
//! block are collected, one by one; everything else borrows from the input. Do not rely on the
//! number of rows in a header either: read rows up to the end of the block with `many0`.

pub use crate::blob::{Blob, BlobEncoding, BlobHeader, OwnedBlob, blob};
pub use crate::block::event::{EventBlockHeader, header as event_block_header};
pub use crate::block::label_list::{label, list as label_list};
pub use crate::block::metadata::field_list::{
    whole_v1 as field_list_v1, whole_v2 as field_list_v2, whole_v6 as field_list_v6,
};
pub use crate::block::metadata::{
    MetadataPayload, MetadataRow, MetadataTag, OptionalMetadata,
    header_v6 as metadata_block_header_v6, optional_entry as optional_metadata,
    payload as metadata_payload, row_begin_v6 as metadata_row_v6, tag as metadata_tag,
};
pub use crate::block::sequence_point::{
    SequencePoint, entry_v4 as sequence_entry_v4, entry_v6 as sequence_entry_v6,
    header_v4 as sequence_point_v4, header_v6 as sequence_point_v6,
};
pub use crate::block::stack::{header as id_range, row as stack_row};
pub use crate::block::thread::{ThreadEntry, entry as thread_entry};
pub use crate::block::trace::{object as trace_object, whole_v6 as trace_block_v6};
pub use crate::bytes::{Parsed, sized_row, string_v6, utf16z, varuint32, varuint64};
pub use crate::error::FaultAt;
pub use crate::format::fastserial::{ObjectType, object_header};
pub use crate::format::stream_header;
pub use crate::format::v6::header as block_header_v6;
/// Re-exported, so that your version of nom matches.
pub use nom;
