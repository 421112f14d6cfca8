//! The parts of the format as [nom](https://docs.rs/nom/8) parsers: for reading a part of
//! a stream, for reading it in another order, or for streams with custom kinds of blocks.
//!
//! To read events, use a [`Reader`](crate::Reader) instead: it resolves ids, and
//! continues after damage. The functions here are independent of each other. They are the
//! careful path that a reader uses for small parts, and to find out what is wrong. A
//! reader decodes most event headers on a faster path; tests verify that both produce the
//! same rows, or reject them at the same offset for the same reason.
//!
//! # The blobs of a block
//!
//! ```
//! # let written = nettrace_testdata::synth::tiny_v4();
//! # let part = written.nth(nettrace_testdata::synth::PartKind::Event, 0);
//! # let content = &written.bytes[part.content.clone()];
//! use nettrace_parser::Version;
//! use nettrace_parser::raw::nom::{IResult, Parser, combinator::all_consuming, multi::many0};
//! use nettrace_parser::raw::{self, Blob, BlobHeader, FaultAt};
//!
//! fn blobs(version: Version, content: &[u8]) -> IResult<&[u8], Vec<Blob<'_>>, FaultAt<'_>> {
//!     let (rest, encoding) = raw::blob_encoding(version)(content)?;
//!     // What a compressed header does not say is as in the blob before.
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
//! use nettrace_parser::raw::nom::combinator::{all_consuming, complete, map, map_parser, verify};
//! use nettrace_parser::raw::nom::{Parser, branch::alt, multi::many0, sequence::terminated};
//! use nettrace_parser::raw::{self, Origin};
//! use nettrace_parser::{Block, BlockKind};
//!
//! let (rest, version) = raw::stream_header::<()>(stream)?;
//! let block = raw::block::<()>(version, Origin::of(stream));
//! let is_ours = |block: &Block<'_>| block.kind() == BlockKind::Unknown(200);
//! let remarks = all_consuming(many0((raw::varuint64, raw::string_v6)));
//! let ours = map_parser(map(verify(block.clone(), is_ours), |block| block.content()), remarks);
//! let others = map(block, |_| Vec::new());
//! let blocks = many0(complete(alt((ours, others))));
//! let (_, blocks) = terminated(blocks, raw::end_of_stream(version)).parse(rest)?;
//! assert_eq!(blocks.concat(), [(100, &b"begin"[..]), (200, b"end")]);
//! # Ok::<(), raw::nom::Err<()>>(())
//! ```
//!
//! # Overview
//!
//! | part | functions | FORMAT.md |
//! |---|---|---|
//! | numbers, texts | [`le_u32`] and others, [`varuint32`], [`varuint64`], [`varint64`], [`utf16z`], [`string_v6`], [`guid`] | 2 |
//! | rows with a size | [`sized_row`] | 7.3, 7.6 |
//! | the stream | [`stream_header`], [`end_of_stream`] | 1, 3, 7.1 |
//! | framing | [`object_type`], [`object`], [`block_v6`]; [`block`] of any version | 3, 7.1 |
//! | the session | [`trace_object`], [`trace_block_v6`] | 4, 7.2 |
//! | headers of blocks | [`event_block_header`], [`metadata_block_header_v6`], [`id_range`] | 6.1, 6.8, 7.3, 7.8 |
//! | blobs | [`blob_v3`], [`blob_v4`], [`compressed_blob_v4`], [`blob_v6`], [`compressed_blob_v6`]; [`blob_encoding`] and [`blob`] of any | 5, 6.2, 6.3, 7.4 |
//! | event types | [`metadata_payload`], [`metadata_tag`]; [`metadata_row_v6`], [`optional_metadata`] | 6.4, 6.6, 7.3 |
//! | field lists | [`field_list_v1`], [`field_list_v2`], [`field_list_v6`] | 6.5, 6.7, 7.3 |
//! | stacks | [`stack_row`] | 6.8, 7.5 |
//! | sequence points | [`sequence_point_v4`], [`sequence_entry_v4`]; [`sequence_point_v6`], [`sequence_entry_v6`] | 6.9, 7.7, 7.9 |
//! | threads | [`thread_row`], [`thread_entry`] | 7.6 |
//! | labels | [`label`], [`label_list`] | 7.8 |
//!
//! UTF-8 texts are returned as bytes, because they may be ill-formed.
//!
//! # Errors
//!
//! All functions are generic over the error type: see [`FromFault`]. [`FaultAt`] has the
//! fault and its offset; nom's own `Error` works too. All errors are recoverable
//! (`nom::Err::Error`), so `alt`, `many0` and `opt` continue after them.
//!
//! # Streaming and complete parsers
//!
//! Parsers of framing are *streaming*: if the input ends too early, they return
//! `nom::Err::Incomplete` and can be called again with more. Their documentation has a
//! section *Streaming*. [`nom::combinator::complete`] turns `Incomplete` into an error.
//!
//! All others are *complete*: their input is a block's content or a part of it, whose end
//! framing has found. If it ends too early, they return
//! [`Fault::Truncated`](crate::Fault::Truncated).
//!
//! # Hostile input
//!
//! Nothing panics, whatever the bytes are, and no count or size in the input decides how
//! much memory is allocated. Only field lists and the pairs of a Trace block are
//! collected, one by one, and field lists within the limits of FORMAT.md 13.4; everything
//! else borrows from the input. No function relies on the number of rows in a header:
//! read rows up to the end of the block with `many0`, as readers do, and compare.

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
pub use framing::{
    Object, Origin, block, block_v6, end_of_stream, object, object_type, stream_header,
};
pub use header::{
    IdRange, event_block_header, id_range, metadata_block_header_v6, sequence_point_v4,
    sequence_point_v6, trace_block_v6, trace_object,
};
pub use metadata::{
    field_list_v1, field_list_v2, field_list_v6, metadata_payload, metadata_row_v6, metadata_tag,
    optional_metadata,
};
/// Re-exported, so that your version of nom matches.
pub use nom;
pub use primitive::{
    guid, le_i16, le_i32, le_i64, le_u8, le_u16, le_u32, le_u64, sized_row, string_v6, utf16z,
    varint64, varuint32, varuint64,
};
pub use row::{
    LabelList, ThreadRow, label, label_list, sequence_entry_v4, sequence_entry_v6, stack_row,
    thread_entry, thread_row,
};
