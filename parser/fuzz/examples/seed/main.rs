//! Writes the seeds of the corpus: every odd and malformed stream, the worked examples, small
//! traces, and parts of these for the targets that do not read streams. The name of a seed is the
//! hash of its bytes, as with libFuzzer.

mod excerpt;

use nettrace_testdata::synth::{self, PartKind, Stream, Trace, Version};
use nettrace_testdata::{corpus, crc32};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum size of a trace that becomes a seed, in bytes.
const MAX_BYTES: usize = 24 << 10;

/// First byte of an input of the target `raw`, if the rows of an event block follow.
const AS_ROWS: u8 = 0;
/// First byte of an input of the target `raw`, if a stream follows.
const AS_STREAM: u8 = 1;
const AS_ANYTHING: u8 = 2;

fn main() {
    let folder = PathBuf::from(std::env::args().nth(1).expect("the folder to write seeds into"));
    let mut streams: Vec<Vec<u8>> =
        synth::malformed().into_iter().map(|(_, bytes)| bytes).collect();
    streams.push(synth::tiny_v4().bytes);
    streams.push(synth::tiny_v6().bytes);
    for trace in corpus::all() {
        let bytes = trace.bytes();
        let length = bytes.len().min(MAX_BYTES);
        streams.push(bytes[..length].to_vec());
        for excerpt in excerpt::excerpts(&bytes) {
            write(&folder, "convert", &excerpt);
        }
    }
    for version in Version::ALL {
        let mut stream = Stream::new(version);
        stream.trace(&Trace::default()).end();
        streams.push(stream.bytes);
    }
    for bytes in &streams {
        write(&folder, "stream", bytes);
        write(&folder, "ordered", bytes);
        write(&folder, "convert", bytes);
        write(&folder, "raw", &[&[AS_STREAM], &bytes[..]].concat());
    }
    for (name, bytes) in synth::malformed() {
        parts(&folder, &name, &bytes);
    }
    for number in 0u8..=255 {
        let seed: Vec<u8> = (0..64u8)
            .map(|at| at.wrapping_mul(number) ^ number.rotate_left(u32::from(at % 8)))
            .collect();
        write(&folder, "structured", &seed);
        write(&folder, "payload", &seed);
    }
}

/// Writes contents of blocks as seeds of the targets that add the framing themselves.
fn parts(folder: &Path, name: &str, bytes: &[u8]) {
    let version = match name.as_bytes().get(1) {
        Some(b'3') => 0u32,
        Some(b'4') => 1,
        Some(b'5') => 2,
        _ => 3,
    };
    let mut reader = nettrace_parser::Reader::from_slice(bytes);
    while let Ok(Some(block)) = reader.next_block() {
        let content = block.content();
        let kind = block.kind().as_str();
        let header = if version == 0 { 0 } else { 20 };
        write(folder, "raw", &[&[AS_ANYTHING], content].concat());
        if kind == PartKind::Event.object_name().unwrap_or_default().trim_end_matches("Block") {
            let rows = content.get(header..).unwrap_or_default();
            let rows = [&version.to_le_bytes()[..], &[1], rows].concat();
            write(folder, "blob", &rows);
            write(folder, "raw", &[&[AS_ROWS], &rows[..]].concat());
        }
        if kind == "Metadata" {
            let rows = if version == 3 { content.get(2..) } else { content.get(header + 20..) };
            write(
                folder,
                "metadata",
                &[&version.to_le_bytes()[..], &[0], rows.unwrap_or_default()].concat(),
            );
        }
    }
}

fn write(folder: &Path, target: &str, bytes: &[u8]) {
    let folder = folder.join(target);
    fs::create_dir_all(&folder).expect("the folder can be made");
    let name = format!("{:08x}{:06x}", crc32(bytes), bytes.len());
    fs::write(folder.join(name), bytes).expect("the seed can be written");
}
