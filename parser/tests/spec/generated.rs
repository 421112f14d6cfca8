//! Streams of several gigabytes, made while they are read.

use crate::streams::event;
use nettrace_testdata::synth::*;
use std::io::{self, Read};

/// A stream of any length that is made while it is read.
#[derive(Default)]
pub(crate) struct Generated {
    segments: Vec<Segment>,
    /// Bytes in all segments.
    pub(crate) length: u64,
    /// Where reading is: the segment, and the byte in it.
    at: (usize, u64),
}

enum Segment {
    Bytes(Vec<u8>),
    Filler(u64),
}

impl Generated {
    pub(crate) fn append(&mut self, bytes: Vec<u8>) {
        self.length += bytes.len() as u64;
        self.segments.push(Segment::Bytes(bytes));
    }

    fn filler(&mut self, count: u64) {
        self.length += count;
        self.segments.push(Segment::Filler(count));
    }

    /// Adds a block of a version 6 stream or an object, and returns where its content
    /// begins.
    pub(crate) fn part(&mut self, version: Version, kind: PartKind, content: Content) -> u64 {
        let (before, position) = (self.length, self.aligned());
        let (bytes, part) = match kind.block_kind().filter(|_| version == Version::V6) {
            Some(kind) => Block::new(kind, content).encode(position),
            None => Object::new(version, kind.object_name().unwrap(), content).encode(position),
        };
        self.append(bytes);
        before + (part.content.start - position) as u64
    }

    /// Returns a position that is aligned as the stream's end is, and fits a usize of 32 bits.
    pub(crate) fn aligned(&self) -> usize {
        (self.length % 4096) as usize
    }
}

impl Read for Generated {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (index, from) = self.at;
        let count = match self.segments.get(index) {
            None => return Ok(0),
            Some(Segment::Bytes(bytes)) => {
                let rest = &bytes[from as usize..];
                let count = rest.len().min(into.len());
                into[..count].copy_from_slice(&rest[..count]);
                count
            }
            Some(Segment::Filler(filler)) => {
                let count = into.len().min((filler - from) as usize);
                into[..count].fill(0x55);
                count
            }
        };
        self.at.1 += count as u64;
        let length = match &self.segments[index] {
            Segment::Bytes(bytes) => bytes.len() as u64,
            Segment::Filler(filler) => *filler,
        };
        if self.at.1 == length {
            self.at = (index + 1, 0);
        }
        Ok(count)
    }
}

/// Number of filler bytes in each large block.
pub(crate) const FILLER: u64 = 0xff_f000;

/// Adds more than 4 GiB of large blocks. In version 6 they are blocks of an unknown kind,
/// in version 4 event blocks with one event that has a large payload.
pub(crate) fn large_blocks(stream: &mut Generated, version: Version) -> u32 {
    let mut number = 1;
    while stream.length <= u64::from(u32::MAX) {
        number += 1;
        let position = stream.aligned();
        if version == Version::V6 {
            let block = Block { size: Some(FILLER as u32), ..Block::new(0x7f, Content::default()) };
            stream.append(block.encode(position).0);
            stream.filler(FILLER);
        } else {
            let blob =
                Blob { payload: vec![], payload_size: Some(FILLER as u32), ..event(number, 2) };
            let content = EventBlock::new([blob]).content(version);
            let size = Some(content.bytes.len() as i32 + FILLER as i32);
            let object = Object::new(version, "EventBlock", content);
            stream.append(Object { size, end_tag: None, ..object }.encode(position).0);
            stream.filler(FILLER);
            stream.append(vec![6]);
        }
    }
    number
}
