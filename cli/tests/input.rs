//! Traces from files, pipes, gzip and zstd, and messages about inputs that cannot be read.

use crate::common;
use crate::common::Json;

use common::{file, gzip, nettrace, nettrace_with_input, top, zstd};
use nettrace_testdata::cases;
use nettrace_testdata::synth::{self, Damage, PartKind};
use std::path::Path;

fn tiny_v4() -> Vec<u8> {
    synth::tiny_v4().into_bytes()
}

#[test]
fn a_trace_is_the_same_as_a_file_by_pipe_and_compressed_whatever_its_name() {
    for bytes in [tiny_v4(), synth::tiny_v6().into_bytes()] {
        let (gz, zst) = (gzip(&bytes), zstd(&bytes));
        let plain_file = file("trace.nettrace.gz", &bytes);
        let (gz_file, zst_file) = (file("trace.nettrace", &gz), file("zst.nettrace.gz", &zst));
        for command in [
            &["stats", "--json"][..],
            &["events"],
            &["events", "--format", "ndjson", "--raw", "--stacks"],
        ] {
            let with = |input| [command, &[input]].concat();
            let expected = nettrace(&with(&plain_file));
            assert_eq!(expected.code, Some(0));
            assert!(expected.stdout.len() > 100);
            let others = [
                nettrace(&[&with(&plain_file)[..], &["--no-mmap"]].concat()),
                nettrace(&with(&gz_file)),
                nettrace(&with(&zst_file)),
                nettrace_with_input(&with("-"), &bytes),
                nettrace_with_input(&with("-"), &gz),
                nettrace_with_input(&with("-"), &zst),
            ];
            for other in others {
                assert_eq!(
                    (other.text(), other.code),
                    (expected.text(), expected.code),
                    "{command:?}"
                );
            }
        }
    }
}

/// A system of 32 bits cannot map such a file.
#[cfg(unix)]
#[test]
fn a_file_of_more_than_4_gib_is_read_wherever_it_cannot_be_mapped() {
    for bytes in [tiny_v4(), synth::tiny_v6().into_bytes()] {
        let path = file("large.nettrace", &bytes);
        let large = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        // Bytes that nobody has written take no place.
        large.set_len(5 << 30).unwrap();
        let [mapped, read] =
            [&["stats", "--json", &path][..], &["stats", "--json", "--no-mmap", &path]]
                .map(nettrace);
        std::fs::remove_file(&path).unwrap();
        assert_eq!((mapped.code, mapped.text()), (Some(0), read.text()));
        assert!(!mapped.json()["types"].list().is_empty(), "{}", mapped.text());
    }
}

#[test]
fn packed_parts_that_follow_each_other_are_one_trace() {
    let bytes = tiny_v4();
    let (a, b) = bytes.split_at(200);
    for pack in [gzip, zstd] {
        let ran = nettrace(&["info", "--json", &file("two.gz", &[pack(a), pack(b)].concat())]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        let json = ran.json();
        assert_eq!((&json["events"], &json["compressed"]), (&4.into(), &true.into()));
    }
}

#[test]
fn frames_of_the_zstd_command_are_the_trace_that_they_were_made_of() {
    let plain = "testdata/traces/net10-linux-x64/samples-only.nettrace.gz";
    let packed = "testdata/packed/samples-only.nettrace.zst";
    for command in [&["events", "--format", "ndjson"][..], &["report", "topN", "--json"]] {
        let with = |input| nettrace(&[command, &[input]].concat());
        assert_eq!((with(packed).text(), with(packed).code), (with(plain).text(), Some(0)));
    }
    assert!(nettrace(&["info", packed]).text().contains("nettrace 4, zstd, "));
    let folder = file("folder", b"");
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(top().join(packed), Path::new(&folder).join("a.nettrace.zst")).unwrap();
    let tables = format!("{folder}/tables");
    let exported = nettrace(&["export", "parquet", &folder, "-o", &tables, "--tables", "inputs"]);
    assert_eq!(exported.code, Some(0), "{}", exported.stderr);
    let compared = nettrace(&["diff", &folder, &folder]);
    assert_eq!(compared.code, Some(0), "{}", compared.stderr);
}

#[test]
fn a_packed_trace_that_is_cut_anywhere_is_read_as_far_as_it_goes() {
    let bytes = tiny_v4();
    for packed in [gzip(&bytes), zstd(&bytes)] {
        for nth in 0..cases(24) as usize {
            let cut = packed.len() * nth / cases(24) as usize;
            let ran = nettrace(&["events", &file("cut", &packed[..cut])]);
            // Some cuts leave no header.
            assert!([Some(1), Some(3)].contains(&ran.code), "{cut}: {}", ran.stderr);
            assert!(!ran.stderr.contains("panicked"), "{cut}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_compressed_file_that_is_cut_off_is_read_up_to_the_cut_and_reported() {
    let trace =
        std::fs::read(top().join("testdata/traces/net10-linux-x64/waits.nettrace.gz")).unwrap();
    let whole = std::fs::read(top().join("testdata/packed/samples-only.nettrace.zst")).unwrap();
    for (packed, name) in [(trace, "gzip"), (whole, "zstd")] {
        let cut = file("cut.nettrace.gz", &packed[..packed.len() / 2]);
        let ran = nettrace(&["info", "--json", &cut]);
        let json = ran.json();
        assert_eq!(ran.code, Some(3));
        ran.assert_message(&format!("the {name} data ends too early"));
        assert!(json["events"].int() > 500, "events before the cut are counted: {json}");
        assert_eq!(
            (&json["complete"], &json["damage"][0]["context"]),
            (&false.into(), &"compressed file".into())
        );
        let events = nettrace(&["events", "--order", "file", "--format", "ndjson", &cut]);
        assert_eq!(events.lines().len() as u64, json["events"].int());
        assert_eq!(events.code, Some(3));
    }
}

#[test]
fn what_follows_the_compressed_data_is_reported_and_costs_nothing() {
    for (packed, name) in [(gzip(&tiny_v4()), "gzip"), (zstd(&tiny_v4()), "zstd")] {
        let packed = [packed, b"something else".to_vec()].concat();
        let ran = nettrace(&["info", "--json", &file("trailing.gz", &packed)]);
        assert_eq!((ran.code, &ran.json()["events"]), (Some(0), &4.into()));
        ran.assert_message(&format!("data that is not {name} follows"));
        assert_eq!(ran.json()["notes"][0]["context"], "compressed file");
    }
}

#[test]
fn a_wrong_checksum_is_damage() {
    let checksum_bytes = [(gzip(&tiny_v4()), 8, "gzip"), (zstd(&tiny_v4()), 4, "zstd")];
    for (mut packed, from_end, name) in checksum_bytes {
        let at = packed.len() - from_end;
        packed[at] ^= 0xff;
        let ran = nettrace(&["stats", "--json", &file("checksum.gz", &packed)]);
        assert_eq!((ran.code, &ran.json()["events"]), (Some(3), &4.into()));
        ran.assert_message(&format!("the {name} data is corrupt"));
    }
}

#[test]
fn a_trace_without_its_end_is_delivered_and_reported() {
    let mut bytes = tiny_v4();
    bytes.pop();
    let ran = nettrace(&["events", "--format", "ndjson", &file("killed.nettrace", &bytes)]);
    assert_eq!((ran.lines().len(), ran.code), (4, Some(3)));
    ran.assert_message("incomplete: the stream ends at offset 0x241");
    let quiet = nettrace(&["events", "--quiet", &file("killed.nettrace", &bytes)]);
    assert_eq!((quiet.stderr.as_str(), quiet.code), ("", Some(3)));
}

#[test]
fn damage_is_listed_with_offset_block_context_and_fault() {
    let stream = synth::tiny_v4();
    let block = stream.nth(PartKind::Event, 0);
    // The third row claims a payload that leaves the block.
    let row = block.rows[2].clone();
    let bytes =
        Damage::Overwrite { at: row.start, bytes: vec![0xff; row.len()] }.applied(&stream.bytes);
    let path = file("damaged.nettrace", &bytes);
    let ran = nettrace(&["info", "--json", &path]);
    let json = ran.json();
    assert_eq!((ran.code, &json["complete"]), (Some(3), &true.into()));
    let finding = &json["damage"][0];
    assert_eq!(finding["block"], "Event");
    let offset = finding["offset"].int() as usize;
    assert!(row.contains(&offset), "{offset} lies in {row:?}");
    assert!(finding["context"].is_string() && finding["fault"].is_string());
    ran.assert_message(&format!("{offset:#x}"));
    let page = nettrace(&["info", &path]);
    assert!(page.text().contains("1 finding") && page.code == Some(3), "{}", page.text());
}

#[test]
fn bytes_after_the_end_are_a_note_and_no_damage() {
    let bytes = [tiny_v4(), b"more".to_vec()].concat();
    let ran = nettrace(&["info", "--json", &file("more.nettrace", &bytes)]);
    let json = ran.json();
    assert_eq!((ran.code, &json["damage"]), (Some(0), &serde_json::json!([])));
    assert_eq!((&json["notes"][0]["count"], &json["notes"][0]["offset"]), (&1.into(), &578.into()));
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_what_was_found_and_what_to_try() {
    let header = |bytes: &[u8]| file("header", bytes);
    let netperf = |version: u8| {
        // Changes the version of the Trace object, which follows the tags of the first object.
        let mut bytes = synth::Stream::new(synth::Version::V3);
        bytes.trace(&synth::Trace::default()).end();
        let at = bytes.nth(PartKind::Trace, 0).start + 3;
        Damage::i32(at, i32::from(version)).applied(&bytes.bytes)
    };
    let v7 = [&b"Nettrace"[..], &[0; 4], &[7, 0, 0, 0], &[0; 4]].concat();
    let cases = [
        (header(b""), "is empty; record again"),
        (header(b"hello world"), "starts with 68 65 6c 6c 6f 20 77 6f"),
        (header(b"PK\x03\x04 and so on"), "zip archive; unpack it"),
        (header(b"PERFILE2 and so on"), "perf.data file; open it with perf report"),
        (header(&gzip(&gzip(b"x"))), "gzip-compressed; it is compressed twice"),
        (header(&gzip(&zstd(b"x"))), "zstd-compressed; it is compressed twice"),
        (header(&zstd(&gzip(b"x"))), "gzip-compressed; it is compressed twice"),
        (
            header(b"\x28\xb5\x2f\xfd\x00\xa8\x11\x00\x00ab"),
            "the zstd data needs a window of more than 128 MiB, the limit (offset 0x6 of the \
             compressed file); unpack it with zstd -d --long=31",
        ),
        (
            header(b"\x28\xb5\x2f\xfd\x01\x58\x07\x11\x00\x00ab"),
            "the zstd data needs a dictionary (offset 0x7 of the compressed file); unpack it with \
             zstd -d -D DICTIONARY",
        ),
        (
            header(&gzip(&tiny_v4())[..10]),
            "the gzip data ends too early (offset 0xa of the compressed file); look for another copy",
        ),
        (
            header(&v7),
            "version 7 is not supported (supported: 3, 4, 5 and 6); look for a newer nettrace",
        ),
        (header(&netperf(2)), "version 2 is not supported (supported: 3, 4, 5 and 6); record with"),
        (header(&tiny_v4()[..60]), "ends inside the stream's header"),
        ("there/is/no/such.nettrace".to_owned(), "no such file or directory; check the path"),
        (
            "testdata/traces/tiny-v4.nettrace".to_owned(),
            "there is testdata/traces/tiny-v4.nettrace.gz",
        ),
        ("testdata/traces".to_owned(), "is a folder; give a .nettrace file in it"),
    ];
    for (path, message) in cases {
        // Without a command, the summary is written for a word that looks like a path.
        let bare = path.contains('.').then_some(&[][..]);
        let commands = [&["info"][..], &["info", "--json"], &["stats", "--json"], &["events"]];
        for command in commands.into_iter().chain(bare) {
            let ran = nettrace(&[command, &[&path]].concat());
            assert_eq!((ran.code, ran.text()), (Some(1), ""), "{path}: {message}");
            assert!(ran.stderr.contains(message), "{message}: {}", ran.stderr);
            assert!(
                ran.stderr.starts_with(&format!("nettrace: error: {path}: ")),
                "{}",
                ran.stderr
            );
            assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        }
    }
}

#[test]
fn a_reader_that_has_enough_is_no_failure() {
    use std::io::Read;
    use std::process::Stdio;
    let trace = "testdata/traces/net10-linux-x64/all.nettrace.gz";
    for args in [&["events", trace][..], &["events", trace, "--format", "ndjson", "--raw"]] {
        let mut child =
            common::command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let mut first = [0; 100];
        stdout.read_exact(&mut first).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let trace = "testdata/traces/tiny-v4.nettrace.gz";
    let output = common::command(&["info", trace]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("writing the output failed: no space left on device"), "{stderr}");
}

#[test]
#[cfg(unix)]
fn hostile_names_cannot_write_to_the_terminal() {
    let event_type = common::event_type("evil\x1b[31m\n", 1, "\"bell\x07\\", vec![]);
    let session = common::session_of(synth::Version::V4, event_type, [vec![]]);
    let path = file("evil\u{1b}.nettrace", &session.record().stream.into_bytes());
    for command in ["info", "stats", "events"] {
        let ran = nettrace(&[command, &path]);
        assert!(!ran.text().contains(['\x1b', '\x07']), "{command}: {:?}", ran.text());
        assert_eq!(ran.code, Some(0));
    }
    assert_eq!(nettrace(&["events", &path]).text().lines().count(), 2);
    let line = &nettrace(&["events", "--format", "ndjson", &path]).lines()[0];
    assert_eq!(
        (&line["provider"], &line["event"]),
        (&"evil\x1b[31m\n".into(), &"\"bell\x07\\".into())
    );
    let missing = nettrace(&["info", "no\x1b[31msuch"]);
    assert!(!missing.stderr.contains('\x1b'), "{:?}", missing.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn a_large_trace_through_a_pipe_takes_less_than_16_mib() {
    use std::io::Write;
    use std::process::Stdio;
    // The largest trace of the repository.
    let bytes = nettrace_testdata::corpus::trace("net10-linux-x64/metrics.nettrace").bytes();
    assert!(bytes.len() > 15_000_000);
    for args in [&["info", "-"][..], &["events", "-", "--format", "ndjson", "--raw", "--stacks"]] {
        let mut child = common::command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // Without the end mark, the command waits for more, so that its peak can be read.
        let (most, end) = bytes.split_at(bytes.len() - 1);
        stdin.write_all(most).unwrap();
        let status = format!("/proc/{}/status", child.id());
        let line = |name: &str| {
            let text = std::fs::read_to_string(&status).unwrap();
            text.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned()
        };
        nettrace_testdata::eventually("it waits for more", || line("State:").starts_with('S'));
        let kib = |name: &str| line(name).trim_end_matches(" kB").parse::<u64>().unwrap();
        // The peak includes the program itself, which takes 5 MiB in a release and several times as
        // much here.
        let (whole, program) = (kib("VmHWM:"), kib("RssFile:"));
        let own = whole - program;
        stdin.write_all(end).unwrap();
        drop(stdin);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}");
        assert!(own < 11 * 1024, "{args:?} took {own} KiB beside the program's {program}");
        assert!(own > 512, "{args:?}: {own} KiB is no peak");
    }
}

#[test]
fn options_may_stand_between_a_report_and_its_trace() {
    let path = file("plain.nettrace", &tiny_v4());
    let due = nettrace(&["report", "summary", &path, "--json"]);
    assert_eq!(due.code, Some(0), "{}", due.stderr);
    for args in [
        ["report", "summary", "--json", &path],
        ["report", "--json", "summary", &path],
        ["report", &path, "--json", "summary"],
    ] {
        assert_eq!(nettrace(&args).text(), due.text(), "{args:?}");
    }
    assert_eq!(nettrace(&["report", "summary"]).code, Some(2));
    assert_eq!(nettrace(&["report", "summary", &path, "--json", "more"]).code, Some(2));
}
