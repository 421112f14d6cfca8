//! The fast way through a block of events.

use super::context::Context;
use super::cursor::Encoding;
use super::state::State;
use crate::blob::{BlobHeader, Extent, compressed_v4, compressed_v6, quick_v4, quick_v6};

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

/// One way to write blobs.
trait Decode {
    const HAS_THREAD_ROWS: bool;
    /// The blob at the beginning of `rest`, if it is whole within `limit` bytes. `header` is left
    /// alone where `rest` is too short to decide.
    fn decode(header: &mut BlobHeader, rest: &[u8], limit: usize) -> Option<Extent>;
}

macro_rules! compressed {
    ($name:ident, $decode:path, $has_thread_rows:literal) => {
        struct $name;
        impl Decode for $name {
            const HAS_THREAD_ROWS: bool = $has_thread_rows;
            #[inline(always)]
            fn decode(header: &mut BlobHeader, rest: &[u8], limit: usize) -> Option<Extent> {
                let payload_at = $decode(header, rest.first_chunk()?);
                // A wrong header's size is far beyond any block; in 64 bits the sum cannot overflow.
                let next_at = payload_at as u64 + u64::from(header.payload_size);
                header.header_size = payload_at as u32;
                (next_at <= limit as u64).then_some(Extent { payload_at, next_at: next_at as usize })
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
            fn decode(header: &mut BlobHeader, rest: &[u8], limit: usize) -> Option<Extent> {
                $decode(header, rest.get(..limit)?)
            }
        }
    };
}

compressed!(CompressedV4, compressed_v4, false);
compressed!(CompressedV6, compressed_v6, true);
fixed!(FixedV4, quick_v4, false);
fixed!(FixedV6, quick_v6, true);

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
        let covered = self.context.tables.covered;
        // Runs of one capture thread are long: its thread row and its next number are settled here.
        let Some((run_thread, mut run_next)) = self.losses.run() else { return RunEnd::Between };
        if D::HAS_THREAD_ROWS && !covered.threads.contains(run_thread) {
            return RunEnd::Between;
        }
        let mut header = self.cursor.header;
        let mut at = (self.cursor.at - start) as usize;
        let end = (self.cursor.end - start) as usize;
        let mut count = 0u64;
        let mut run_end = RunEnd::Between;
        while at < end {
            // A blob that is broken spoils `header`; it is decoded again, carefully, and its block
            // ends with it.
            let blob = window.get(at..).and_then(|rest| D::decode(&mut header, rest, end - at));
            let Some(blob) = blob else { break };
            let payload_at = start + (at + blob.payload_at) as u64;
            let is_usual = covered.metadata.contains(u64::from(header.metadata_id))
                && covered.stacks.contains(u64::from(header.stack))
                && header.capture_thread == run_thread
                && header.sequence == run_next
                && (!D::HAS_THREAD_ROWS
                    || !header.has_reserved_flag
                        && (header.thread == run_thread || covered.threads.contains(header.thread))
                        && covered.labels.contains(u64::from(header.label_list)));
            if !is_usual {
                self.cursor.blob = start + at as u64;
                self.cursor.payload_at = payload_at;
                at += blob.next_at;
                run_end = RunEnd::OnBlob;
                break;
            }
            run_next = run_next.wrapping_add(1);
            count += 1;
            at += blob.next_at;
            if !take.take(&self.context, &header, payload_at) {
                break;
            }
        }
        self.losses.advance_run(run_next);
        self.statistics.events += count;
        self.cursor.header = header;
        self.cursor.at = start + at as u64;
        run_end
    }
}
