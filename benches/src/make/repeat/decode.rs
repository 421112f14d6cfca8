//! Event rows and sequence points as plain values, read without care for speed.

use nettrace_testdata::synth::{Blob, Version, flag};

/// Bytes that are taken from the front.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes(bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(super) fn varuint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let [part] = self.array()?;
            value |= u64::from(part & 0x7f) << shift;
            if part < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn varuint32(&mut self) -> Option<u32> {
        Some(self.varuint()? as u32)
    }
}

/// Ticks, flags and listed threads of a sequence point.
pub(super) fn sequence_point(version: Version, content: &[u8]) -> Option<(u64, u32, Vec<u64>)> {
    let mut bytes = Bytes::new(content);
    let ticks = bytes.u64()?;
    let is_v6 = version == Version::V6;
    let flags = if is_v6 { bytes.u32()? } else { 0 };
    let count = bytes.u32()?;
    let mut threads = Vec::new();
    for _ in 0..count {
        let thread = if is_v6 { bytes.varuint()? } else { bytes.u64()? };
        let _ = if is_v6 { bytes.varuint()? } else { u64::from(bytes.u32()?) };
        threads.push(thread);
    }
    Some((ticks, flags, threads))
}

/// The rows of an event block.
#[derive(Debug)]
pub(super) struct RowReader<'a> {
    version: Version,
    is_compressed: bool,
    bytes: Bytes<'a>,
    payload_size: u32,
    /// Of the row before; the caller may change the blob's.
    ticks: u64,
}

/// High bit of an uncompressed metadata id.
const NOT_SORTED: u32 = 0x8000_0000;

impl<'a> RowReader<'a> {
    /// The rows of a block's content; `None` if not even its header is there.
    pub(super) fn new(version: Version, content: &'a [u8]) -> Option<RowReader<'a>> {
        let mut bytes = Bytes::new(content);
        let mut is_compressed = false;
        if version != Version::V3 {
            let header = bytes.u16()?;
            is_compressed = bytes.u16()? & 1 != 0;
            bytes.take(usize::from(header).checked_sub(4)?)?;
        }
        Some(RowReader { version, is_compressed, bytes, payload_size: 0, ticks: 0 })
    }

    pub(super) fn is_compressed(&self) -> bool {
        self.is_compressed
    }

    pub(super) fn is_done(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Reads the next row into `blob`, which must hold the row before, or the default at
    /// first. Its flags are those that were stored.
    pub(super) fn next(&mut self, blob: &mut Blob) -> Option<()> {
        if self.is_compressed {
            return self.compressed(blob);
        }
        let size = self.bytes.u32()?;
        let mut row = Bytes::new(self.bytes.take(size as usize)?);
        let metadata_id = row.u32()?;
        if self.version == Version::V3 {
            *blob = Blob {
                metadata_id,
                thread_id: u64::from(row.u32()?),
                ticks: row.u64()?,
                ..Blob::default()
            };
            blob.activity_id = row.array()?;
            blob.related_activity_id = row.array()?;
            let payload = row.u32()?;
            blob.payload = row.take(payload as usize)?.to_vec();
            let stack = row.u32()?;
            blob.stack = row.take(stack as usize)?.to_vec();
            return Some(());
        }
        *blob = Blob {
            metadata_id: metadata_id & !NOT_SORTED,
            is_sorted: metadata_id & NOT_SORTED == 0,
            sequence_number: row.u32()?,
            thread_id: row.u64()?,
            capture_thread_id: row.u64()?,
            processor: row.u32()?,
            stack_id: row.u32()?,
            ticks: row.u64()?,
            ..Blob::default()
        };
        if self.version == Version::V6 {
            blob.label_list_id = row.u32()?;
        } else {
            blob.activity_id = row.array()?;
            blob.related_activity_id = row.array()?;
        }
        let payload = row.u32()?;
        blob.payload = row.take(payload as usize)?.to_vec();
        Some(())
    }

    fn compressed(&mut self, blob: &mut Blob) -> Option<()> {
        if blob.flags.is_none() {
            // Before a block's first row everything is zero.
            *blob = Blob { processor: 0, ..Blob::default() };
        }
        let bytes = &mut self.bytes;
        let [flags] = bytes.array()?;
        let has = |flag: u8| flags & flag != 0;
        let is_v6 = self.version == Version::V6;
        if has(flag::METADATA_ID) {
            blob.metadata_id = bytes.varuint32()?;
        }
        if has(flag::CAPTURE) {
            // The number itself is given out anew.
            bytes.varuint32()?;
            blob.capture_thread_id = bytes.varuint()?;
            blob.processor = bytes.varuint32()?;
        }
        if has(flag::THREAD) {
            blob.thread_id = bytes.varuint()?;
        }
        if has(flag::STACK) {
            blob.stack_id = bytes.varuint32()?;
        }
        self.ticks = self.ticks.wrapping_add(bytes.varuint()?);
        blob.ticks = self.ticks;
        if has(flag::ACTIVITY) && is_v6 {
            blob.label_list_id = bytes.varuint32()?;
        } else if has(flag::ACTIVITY) {
            blob.activity_id = bytes.array()?;
        }
        if has(flag::RELATED_ACTIVITY) && !is_v6 {
            blob.related_activity_id = bytes.array()?;
        }
        blob.is_sorted = has(flag::SORTED);
        if has(flag::PAYLOAD_SIZE) {
            self.payload_size = bytes.varuint32()?;
        }
        blob.payload.clear();
        blob.payload.extend_from_slice(bytes.take(self.payload_size as usize)?);
        blob.flags = Some(flags);
        Some(())
    }
}
