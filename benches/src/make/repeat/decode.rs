//! Decoders of event rows and sequence points, made of the parser's `raw` functions.

use nettrace_parser::raw::{self, BlobEncoding, BlobHeader};
use nettrace_testdata::synth::{Blob, SequencePoint, Version};

/// Decodes the ticks, flags and listed threads of a sequence point.
pub(super) fn sequence_point(version: Version, content: &[u8]) -> Option<(u64, u32, Vec<u64>)> {
    let is_v6 = version == Version::V6;
    let header = if is_v6 { raw::sequence_point_v6 } else { raw::sequence_point_v4 };
    let entry = if is_v6 { raw::sequence_entry_v6 } else { raw::sequence_entry_v4 };
    let (mut rest, point) = header(content).ok()?;
    let mut threads = Vec::new();
    for _ in 0..point.thread_count {
        let (after, (thread, _)) = entry(rest).ok()?;
        threads.push(thread);
        rest = after;
    }
    let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
    let flags = flag(point.forgets_threads, SequencePoint::FORGET_THREADS)
        | flag(point.forgets_metadata, SequencePoint::FORGET_METADATA);
    Some((point.timestamp, flags, threads))
}

/// Iterator over the rows of an event block.
#[derive(Debug)]
pub(super) struct RowReader<'a> {
    encoding: BlobEncoding,
    header: BlobHeader,
    rest: &'a [u8],
}

impl<'a> RowReader<'a> {
    /// Reads the header of a block's content, and returns the rows after it; `None` if the header
    /// is cut off.
    pub(super) fn new(version: Version, content: &'a [u8]) -> Option<RowReader<'a>> {
        let (mut is_compressed, mut rest) = (false, content);
        if version != Version::V3 {
            let (_, header) = raw::event_block_header(content).ok()?;
            is_compressed = header.is_compressed;
            rest = content.get(usize::from(header.size)..)?;
        }
        let encoding = match (version, is_compressed) {
            (Version::V3, _) => BlobEncoding::FixedV3,
            (Version::V6, true) => BlobEncoding::CompressedV6,
            (Version::V6, false) => BlobEncoding::FixedV6,
            (_, true) => BlobEncoding::CompressedV4,
            (_, false) => BlobEncoding::FixedV4,
        };
        Some(RowReader { encoding, header: BlobHeader::default(), rest })
    }

    pub(super) fn is_compressed(&self) -> bool {
        matches!(self.encoding, BlobEncoding::CompressedV4 | BlobEncoding::CompressedV6)
    }

    pub(super) fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the next row, with its flags as stored.
    pub(super) fn next(&mut self) -> Option<Blob> {
        let flags = self.rest.first().copied().filter(|_| self.is_compressed());
        let (rest, row) = raw::blob(self.encoding, &mut self.header)(self.rest).ok()?;
        self.rest = rest;
        let header = &row.header;
        Some(Blob {
            metadata_id: header.metadata_id,
            sequence_number: header.sequence,
            thread_id: header.thread,
            capture_thread_id: header.capture_thread,
            processor: header.processor,
            stack_id: header.stack,
            ticks: header.timestamp,
            activity_id: header.activity.to_bytes(),
            related_activity_id: header.related_activity.to_bytes(),
            label_list_id: header.label_list,
            is_sorted: header.is_sorted,
            payload: row.payload().to_vec(),
            stack: row.stack().to_vec(),
            flags,
            ..Blob::default()
        })
    }
}
