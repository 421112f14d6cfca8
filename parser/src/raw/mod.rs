//! The format's parts as functions of [nom](https://docs.rs/nom/8)'s shape, for those who read a part of a stream, in
//! an order of their own, or with kinds of blocks that are their own.
//!
//! To get at events, a [`Reader`](crate::Reader) is the better way: it knows what ids stand for, and goes on behind
//! damage. The functions here know nothing of each other. They are the careful way that a reader takes too, wherever a
//! part is small, and wherever it has to say what is wrong. It decodes most headers of events by another, faster one;
//! tests hold that both give the same rows, or refuse them at the same place for the same reason.
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
//! # A kind of block that is yours
//!
//! Readers skip blocks of kinds that are not known, so a writer may add some. Here those of kind 200 hold a time and a
//! text each:
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
//! # What there is
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
//! Texts in UTF-8 are given as bytes, for nothing promises that they are UTF-8.
//!
//! # Errors
//!
//! All functions are generic over the error type: see [`FromFault`]. [`FaultAt`] says what is wrong and where, and nom's
//! own `Error` will do as well. All errors are recoverable (`nom::Err::Error`), so that `alt`, `many0` and `opt` go on
//! from them.
//!
//! # Whole input, or more to come
//!
//! What reads framing is *streaming*: where the input ends too early it gives `nom::Err::Incomplete`, and can be called
//! again with more. These functions have a paragraph *Streaming*. [`nom::combinator::complete`] makes errors of it.
//!
//! All others are *complete*: they are given a block's content, or a part of it, whose end framing has found. If it ends
//! too early, that is the error [`Fault::Truncated`](crate::Fault::Truncated).
//!
//! # Hostile input
//!
//! Nothing panics, whatever the bytes are. No count or size that was read decides how much memory is taken. Only field
//! lists and the pairs of a Trace block are collected, one by one, field lists within the limits of FORMAT.md 13.4; all
//! else borrows from the input. There is nothing that takes a number of rows from a header: read rows to the end of the
//! block with `many0`, as readers do, and compare.

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
/// nom, so that versions agree.
pub use nom;
pub use primitive::{
    guid, le_i16, le_i32, le_i64, le_u8, le_u16, le_u32, le_u64, sized_row, string_v6, utf16z, varint64,
    varuint32, varuint64,
};
pub use row::{
    LabelList, ThreadRow, label, label_list, sequence_entry_v4, sequence_entry_v6, stack_row, thread_entry,
    thread_row,
};
