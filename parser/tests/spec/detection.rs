//! Tests of the detection of formats and versions, and of the stream header (FORMAT.md 1).

use crate::snapshot::{read, refused};
use crate::streams::{EACH, begun, event, events, opened};
use nettrace_parser::{Fault, Foreign, Reader, Version};
use nettrace_testdata::synth::{self, Content, Damage, Object, Sink, Stream};

fn header_v6(major: u32, minor: u32) -> Vec<u8> {
    let mut sink = Sink::new();
    sink.raw(b"Nettrace").u32(0).u32(major).u32(minor);
    sink.into_vec()
}

fn message(bytes: &[u8]) -> String {
    Reader::from_slice(bytes).next_event().expect_err("the stream is refused").to_string()
}

#[test]
fn t001_a_stream_that_begins_with_nettrace_and_a_zero_word_is_version_6_or_later() {
    let mut stream = begun(synth::Version::V6);
    events(&mut stream, [event(1, 5)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.version, Some(Version::V6 { minor: 0 }));
    assert_eq!(outcome.version.map(|version| (version.major(), version.minor())), Some((6, 0)));
    assert_eq!(outcome.numbers(), [1]);
    assert!(outcome.is_flawless());
    // Later than 6: the same first twelve bytes.
    assert_eq!(refused(&header_v6(9, 0)), (12, Fault::UnsupportedVersion(9)));
}

#[test]
fn t002_a_stream_that_begins_with_nettrace_and_fastserialization_is_version_4() {
    for version in [synth::Version::V4, synth::Version::V5] {
        let mut stream = begun(version);
        assert_eq!(stream.bytes[..12], *b"Nettrace\x14\0\0\0");
        events(&mut stream, [event(1, 5)]);
        stream.end();
        let outcome = read(&stream.bytes);
        assert_eq!(outcome.version, Some(Version::V4));
        assert_eq!(outcome.version.map(|version| (version.major(), version.minor())), Some((4, 0)));
        assert_eq!(outcome.numbers(), [1]);
        assert!(outcome.is_flawless());
    }
}

#[test]
fn t003_a_stream_that_begins_with_fastserialization_alone_is_netperf_version_3() {
    let mut stream = begun(synth::Version::V3);
    assert_eq!(stream.bytes[..24], *b"\x14\0\0\0!FastSerialization.1");
    events(&mut stream, [event(1, 5)]);
    stream.end();
    let outcome = read(&stream.bytes);
    assert_eq!(outcome.version, Some(Version::V3));
    assert_eq!(outcome.version.map(|version| (version.major(), version.minor())), Some((3, 0)));
    assert_eq!(outcome.ticks(), [1_000_005]);
    assert!(outcome.is_flawless());
}

#[test]
fn t004_netperf_versions_1_and_2_are_refused_with_their_number() {
    for version in [1, 2] {
        let name = "Microsoft.DotNet.Runtime.EventPipeFile";
        let mut stream = Stream::new(synth::Version::V3);
        stream.object(&Object {
            version,
            minimum_version: 0,
            ..Object::new(synth::Version::V3, name, Content::raw(vec![0; 48]))
        });
        let version = version as u32;
        assert_eq!(refused(&stream.bytes), (24, Fault::UnsupportedVersion(version)));
        let text = message(&stream.bytes);
        assert!(
            text.contains(&format!("version {version} ")) && text.contains("supported: 3"),
            "{text}"
        );
    }
}

#[test]
fn t005_major_version_7_is_refused_with_its_number_and_the_highest_known_one() {
    assert_eq!(refused(&header_v6(7, 1)), (12, Fault::UnsupportedVersion(7)));
    let text = message(&header_v6(7, 1));
    assert!(text.contains("version 7 ") && text.contains("6)"), "{text}");
}

#[test]
fn t006_a_minor_version_of_25_is_read_like_0() {
    let bytes = synth::tiny_v6().bytes;
    let outcome = read(&bytes);
    let mut later = read(&Damage::u32(16, 25).applied(&bytes));
    assert_eq!(later.version, Some(Version::V6 { minor: 25 }));
    later.version = outcome.version;
    assert_eq!(later, outcome);
    assert_eq!(outcome.events.len(), 2);
}

#[test]
fn t007_a_zero_word_followed_by_major_version_4_is_malformed() {
    assert_eq!(refused(&header_v6(4, 0)), (12, Fault::MalformedVersion(4)));
    for major in [0, 1, 2, 3, 5] {
        assert_eq!(refused(&header_v6(major, 0)), (12, Fault::MalformedVersion(major)));
    }
}

#[test]
fn t008_other_first_bytes_are_not_a_nettrace_stream_and_the_error_says_what_was_found() {
    let mut etl = vec![0; 80];
    etl[..4].copy_from_slice(&0x1_0000_u32.to_le_bytes());
    etl[74..76].copy_from_slice(&[2, 0xc0]);
    let cases: [(&[u8], Foreign, &str); 8] = [
        (b"\x1f\x8b\x08\0\0\0\0\0\0\x03", Foreign::Gzip, "gzip"),
        (b"PK\x03\x04\x14\0\0\0\x08\0", Foreign::Zip, "zip"),
        (b"\x28\xb5\x2f\xfd\x24\0\0\0\0", Foreign::Zstd, "zstd"),
        (b"PERFILE2\x68\0\0\0", Foreign::PerfData, "perf.data"),
        (&etl, Foreign::Etl, "ETL"),
        (
            b"{\"exporter\":\"x\",\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"}",
            Foreign::Speedscope,
            "speedscope",
        ),
        (b"{\"traceEvents\":[]}", Foreign::Json, "JSON"),
        (b"hello, world", Foreign::Unknown(*b"hello, w"), "68 65 6c 6c 6f 2c 20 77 (\"hello, w\")"),
    ];
    for (bytes, foreign, words) in cases {
        assert_eq!(refused(bytes), (0, Fault::Foreign(foreign)));
        let text = message(bytes);
        assert!(text.contains("not a nettrace stream") && text.contains(words), "{text}");
    }
    // Streams of objects whose first is that of another tool.
    for (name, foreign, words) in [
        (&b"GCHeapDump"[..], Foreign::GcDump, ".gcdump"),
        (b"Microsoft.Diagnostics.Tracing.Etlx.TraceLog", Foreign::Etlx, "ETLX"),
    ] {
        let mut bytes = b"\x14\0\0\0!FastSerialization.1\x04\x04\x01\x0a\0\0\0\x08\0\0\0".to_vec();
        bytes.extend(u32::try_from(name.len()).unwrap().to_le_bytes());
        bytes.extend(name);
        bytes.extend([6, 4, 4, 1, 0, 0]);
        assert_eq!(refused(&bytes), (24, Fault::Foreign(foreign)));
        assert!(message(&bytes).contains(words), "{}", message(&bytes));
    }
    // A stream whose beginning was cut off.
    let cut = &synth::tiny_v4().bytes[0x66..];
    assert_eq!(refused(cut), (0, Fault::Foreign(Foreign::Unknown([5, 5, 1, 2, 0, 0, 0, 2]))));
}

#[test]
fn t009_an_empty_input_and_one_of_fewer_than_eight_bytes_is_truncated_before_the_header() {
    for bytes in [&b"Nettrac"[..], b"abcdefg", &[0x14, 0, 0, 0, b'!', b'F', b'a']] {
        for length in 0..=7 {
            assert_eq!(refused(&bytes[..length]), (length as u64, Fault::HeaderTruncated));
        }
    }
    // A header that begins right and is not finished is truncated, too.
    for version in EACH {
        let header = Stream::new(version).bytes;
        for length in 8..=header.len() {
            assert_eq!(refused(&header[..length]), (length as u64, Fault::HeaderTruncated));
        }
    }
}

#[test]
fn t010_a_wrong_fastserialization_length_or_text_is_refused_at_its_offset() {
    let v4 = opened(synth::Version::V4).bytes;
    for wrong in [Damage::u32(8, 21), Damage::u32(8, 0x1400), Damage::Flip { at: 12, mask: 1 }] {
        assert_eq!(refused(&wrong.applied(&v4)), (8, Fault::FastSerializationHeader), "{wrong:?}");
    }
    for at in 12..32 {
        let wrong = Damage::Flip { at, mask: 0x20 };
        assert_eq!(refused(&wrong.applied(&v4)), (8, Fault::FastSerializationHeader), "{wrong:?}");
    }
    // Also when the input ends before the text does.
    for length in 13..32 {
        let mut cut = v4[..length].to_vec();
        cut[length - 1] ^= 0x20;
        assert_eq!(refused(&cut), (8, Fault::FastSerializationHeader), "{length} bytes");
    }
    let v3 = opened(synth::Version::V3).bytes;
    for at in 5..24 {
        let wrong = Damage::Flip { at, mask: 0x20 };
        assert_eq!(refused(&wrong.applied(&v3)), (0, Fault::FastSerializationHeader), "{wrong:?}");
    }
    // Without a magic in front nothing but the length and the text tells the format.
    let unknown = Fault::Foreign(Foreign::Unknown(*b"\x15\0\0\0!Fas"));
    assert_eq!(refused(&Damage::u32(0, 21).applied(&v3)), (0, unknown));
}

#[test]
fn t011_the_magic_is_compared_with_case() {
    for magic in [b"nettrace", b"NETTRACE", b"NetTrace"] {
        let mut bytes = synth::tiny_v4().bytes;
        bytes[..8].copy_from_slice(magic);
        assert_eq!(refused(&bytes), (0, Fault::Foreign(Foreign::Unknown(*magic))));
    }
}
