//! The fast way through a block of events.

use super::apply::State;
use super::context::Context;
use super::cursor::Encoding;
use crate::blob::{BlobHeader, WINDOW, compressed_v4, compressed_v6, fixed_v4, fixed_v6};

/// Receives events. Methods are inlined into the loop over a block, which closures passed through
/// several layers would not be.
pub(crate) trait Take {
    /// An event, by its header and the stream position of its payload. `false`: no more for now.
    fn take(&mut self, context: &Context, header: &BlobHeader, payload_at: u64) -> bool;
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// The cursor is behind the last event that was given.
    Between,
    /// The cursor is on a blob that was not given, because something about it is unusual.
    OnBlob,
}

/// Where the parts of a blob lie, in bytes from its beginning.
struct Blob {
    payload_at: usize,
    next_at: usize,
}

/// One way to write blobs.
trait Decode {
    const HAS_THREAD_ROWS: bool;
    /// Whether a blob's header can be decoded here at all.
    fn is_ready(rest: &[u8]) -> bool;
    /// The blob at the beginning of `rest`, if it is whole within `limit` bytes.
    fn decode(header: &mut BlobHeader, rest: &[u8], limit: usize) -> Option<Blob>;
}

macro_rules! compressed {
    ($name:ident, $decode:path, $has_thread_rows:literal) => {
        struct $name;
        impl Decode for $name {
            const HAS_THREAD_ROWS: bool = $has_thread_rows;
            #[inline(always)]
            fn is_ready(rest: &[u8]) -> bool {
                rest.len() >= WINDOW
            }
            #[inline(always)]
            fn decode(header: &mut BlobHeader, rest: &[u8], limit: usize) -> Option<Blob> {
                let payload_at = $decode(header, rest.first_chunk()?);
                let next_at = payload_at.checked_add(header.payload_size as usize)?;
                header.header_size = payload_at as u32;
                (next_at <= limit).then_some(Blob { payload_at, next_at })
            }
        }
    };
}

macro_rules! fixed {
    ($name:ident, $decode:path, $has_thread_rows:literal) => {
        struct $name;
        impl Decode for $name {
            const HAS_THREAD_ROWS: bool = $has_thread_rows;
            #[inline(always)]
            fn is_ready(_rest: &[u8]) -> bool {
                true
            }
            #[inline(always)]
            fn decode(header: &mut BlobHeader, rest: &[u8], limit: usize) -> Option<Blob> {
                let (_, extent) = $decode(header, rest.get(..limit)?).ok()?;
                Some(Blob { payload_at: extent.payload_at, next_at: extent.next_at })
            }
        }
    };
}

compressed!(CompressedV4, compressed_v4, false);
compressed!(CompressedV6, compressed_v6, true);
fixed!(FixedV4, fixed_v4, false);
fixed!(FixedV6, fixed_v6, true);

impl State {
    /// Gives the events ahead to `take` for as long as nothing about them is unusual and `take` says
    /// to go on.
    ///
    /// This is the way most events go. The block's running header is a local here, so that it stays
    /// in registers, and nothing is looked up that `take` does not ask for.
    #[inline(always)]
    pub(crate) fn run(&mut self, window: &[u8], start: u64, take: &mut impl Take) -> RunEnd {
        match self.cursor.encoding {
            Encoding::CompressedV4 => self.run_blobs::<CompressedV4>(window, start, take),
            Encoding::CompressedV6 => self.run_blobs::<CompressedV6>(window, start, take),
            Encoding::FixedV4 => self.run_blobs::<FixedV4>(window, start, take),
            Encoding::FixedV6 => self.run_blobs::<FixedV6>(window, start, take),
            Encoding::FixedV3 => RunEnd::Between,
        }
    }

    #[inline(always)]
    fn run_blobs<D: Decode>(&mut self, window: &[u8], start: u64, take: &mut impl Take) -> RunEnd {
        let mut header = self.cursor.header;
        let mut at = (self.cursor.at - start) as usize;
        let end = (self.cursor.end - start) as usize;
        let mut count = 0u64;
        let mut run_end = RunEnd::Between;
        while at < end {
            let rest = window.get(at..).unwrap_or_default();
            if !D::is_ready(rest) {
                break;
            }
            // A blob that is broken spoils `header`; it is decoded again, carefully, and its block
            // ends with it.
            let Some(blob) = D::decode(&mut header, rest, end - at) else { break };
            let payload_at = start + (at + blob.payload_at) as u64;
            let is_usual = header.metadata_id != 0
                && !header.has_reserved_flag
                && self.context.tables.cover(&header, D::HAS_THREAD_ROWS)
                && self.losses.is_next(header.capture_thread, header.sequence);
            if !is_usual {
                self.cursor.blob = start + at as u64;
                self.cursor.payload_at = payload_at;
                at += blob.next_at;
                run_end = RunEnd::OnBlob;
                break;
            }
            count += 1;
            at += blob.next_at;
            if !take.take(&self.context, &header, payload_at) {
                break;
            }
        }
        self.statistics.events += count;
        self.cursor.header = header;
        self.cursor.at = start + at as u64;
        run_end
    }
}
