//! Asserts that commands write a file whole or not at all, and never at the cost of another file.

use crate::common;

use common::{file, nettrace};
use nettrace_testdata::synth;
use std::fs;
use std::path::{Path, PathBuf};

const SAMPLES: &str = "testdata/traces/net10-linux-x64/samples-only.nettrace.gz";

/// Copies a trace with stacks to a folder of its own.
fn trace() -> PathBuf {
    PathBuf::from(file("samples.nettrace.gz", &fs::read(common::top().join(SAMPLES)).unwrap()))
}

/// Returns the names in the folder of a file.
fn names_beside(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_conversion_that_fails_leaves_the_old_file_as_it_was() {
    // This trace has no stacks.
    let input = file("tiny.nettrace", &synth::tiny_v4().bytes);
    let out = Path::new(&input).with_file_name("old.folded");
    fs::write(&out, "mine").unwrap();
    let ran = nettrace(&["convert", &input, "-o", text(&out), "--force"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_eq!(fs::read(&out).unwrap(), b"mine");
    assert_eq!(names_beside(&out), ["old.folded", "tiny.nettrace"]);
}

#[test]
fn of_several_outputs_all_are_written_or_none() {
    let trace = trace();
    let (one, folder) = (trace.with_file_name("one.folded"), trace.with_file_name("two.folded"));
    fs::create_dir(&folder).unwrap();
    let ran =
        nettrace(&["convert", text(&trace), "-o", text(&one), "-o", text(&folder), "--force"]);
    assert_eq!(ran.code, Some(1));
    ran.assert_message("two.folded: is a folder");
    assert_eq!(names_beside(&one), ["samples.nettrace.gz", "two.folded"]);
}

#[test]
fn one_file_is_not_two_outputs() {
    let trace = trace();
    let out = trace.with_file_name("a.folded");
    let again = trace.parent().unwrap().join(".").join("a.folded");
    let ran = nettrace(&["convert", text(&trace), "-o", text(&out), "-o", text(&again), "--force"]);
    assert_eq!(ran.code, Some(1));
    ran.assert_message("is named more than once");
    assert_eq!(names_beside(&out), ["samples.nettrace.gz"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use common::command;
    use nettrace_testdata::eventually;
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io::Write;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Stdio};

    #[test]
    fn the_input_is_never_the_output_whatever_it_is_called() {
        let trace = trace();
        let bytes = fs::read(&trace).unwrap();
        let (hard, soft) = (trace.with_file_name("hard"), trace.with_file_name("soft"));
        fs::hard_link(&trace, &hard).unwrap();
        symlink(&trace, &soft).unwrap();
        let dotted = trace.parent().unwrap().join(".").join(trace.file_name().unwrap());
        for out in [&trace, &hard, &soft, &dotted] {
            let ran = nettrace(&[
                "convert",
                text(&trace),
                "--format",
                "folded",
                "-o",
                text(out),
                "--force",
            ]);
            assert_eq!(ran.code, Some(1), "{out:?}");
            ran.assert_message("is read by this command");
            assert!(fs::read(&trace).unwrap() == bytes, "{out:?} took the trace with it");
            let mut with_input =
                command(&["convert", "-", "--format", "folded", "--force", "-o", text(out)]);
            let output = with_input.stdin(File::open(&trace).unwrap()).output().unwrap();
            assert_eq!(output.status.code(), Some(1), "{out:?} from standard input");
            assert!(fs::read(&trace).unwrap() == bytes, "{out:?} took the trace with it");
        }
        let map = trace.with_file_name("perf.map");
        fs::write(&map, "1000 10 name\n").unwrap();
        let arguments = [
            "convert",
            text(&trace),
            "--format",
            "folded",
            "--perf-map",
            text(&map),
            "-o",
            text(&map),
            "--force",
        ];
        assert_eq!(nettrace(&arguments).code, Some(1));
        assert_eq!(fs::read(&map).unwrap(), b"1000 10 name\n");
    }

    #[test]
    fn devices_are_written_directly_and_stay() {
        let empty = file("tiny.nettrace", &synth::tiny_v4().bytes);
        // The device is reached by a link, so that a wrong command does not remove the machine's
        // device.
        let null = Path::new(&empty).with_file_name("null");
        symlink("/dev/null", &null).unwrap();
        for (input, code) in [(text(&trace()), 0), (&*empty, 1)] {
            for force in [&["--force"][..], &[]] {
                let ran = nettrace(
                    &[&["convert", input, "--format", "folded", "-o", text(&null)], force].concat(),
                );
                assert_eq!(ran.code, Some(code), "{}", ran.stderr);
                assert!(fs::metadata(&null).unwrap().file_type().is_char_device());
                assert_eq!(names_beside(&null), ["null", "tiny.nettrace"]);
            }
        }
    }

    fn pipe_beside(path: &Path) -> PathBuf {
        let pipe = path.with_file_name("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        pipe
    }

    #[test]
    fn a_pipe_is_written_directly_and_stays() {
        let trace = trace();
        let pipe = pipe_beside(&trace);
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::read_to_string(pipe).unwrap())
        };
        let ran = nettrace(&["convert", text(&trace), "--format", "folded", "-o", text(&pipe)]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(reader.join().unwrap().lines().count(), 6);
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        assert_eq!(names_beside(&pipe), ["pipe", "samples.nettrace.gz"]);
    }

    #[test]
    fn what_is_written_only_its_owner_may_read() {
        let trace = trace();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        let convert = |out: &Path| {
            let ran = nettrace(&["convert", text(&trace), "-o", text(out), "--force"]);
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        };
        let out = trace.with_file_name("out.folded");
        convert(&out);
        assert_eq!(mode(&out), 0o600);
        // The new file has the stricter permissions of both.
        for (old, new) in [(0o644, 0o600), (0o660, 0o600), (0o400, 0o400)] {
            fs::set_permissions(&out, PermissionsExt::from_mode(old)).unwrap();
            convert(&out);
            assert_eq!(mode(&out), new, "{old:o}");
        }
    }

    #[test]
    fn a_link_in_a_folder_that_all_users_share_is_not_followed() {
        let trace = trace();
        let shared = trace.with_file_name("shared");
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, PermissionsExt::from_mode(0o1777)).unwrap();
        let victim = trace.with_file_name("victim");
        fs::write(&victim, "mine").unwrap();
        for (name, target) in [("old.folded", &*victim), ("new.folded", Path::new("../nothing"))] {
            let link = shared.join(name);
            symlink(target, &link).unwrap();
            let ran = nettrace(&["convert", text(&trace), "-o", text(&link), "--force"]);
            assert_eq!(ran.code, Some(1), "{}", ran.stderr);
            ran.assert_message("symbolic link in a folder where others may have placed it");
        }
        assert_eq!(fs::read(&victim).unwrap(), b"mine");
        assert_eq!(names_beside(&victim), ["samples.nettrace.gz", "shared", "victim"]);
    }

    #[test]
    fn a_link_stays_a_link_and_its_target_keeps_its_permissions() {
        let trace = trace();
        let (old, link) = (trace.with_file_name("old.folded"), trace.with_file_name("link.folded"));
        fs::write(&old, "mine").unwrap();
        fs::set_permissions(&old, PermissionsExt::from_mode(0o600)).unwrap();
        symlink("old.folded", &link).unwrap();
        let ran = nettrace(&["convert", text(&trace), "-o", text(&link), "--force"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("old.folded"));
        assert_eq!(fs::read_to_string(&old).unwrap().lines().count(), 6);
        assert_eq!(fs::metadata(&old).unwrap().mode() & 0o777, 0o600);
    }

    /// Starts a conversion that waits for the rest of the trace, with its file begun.
    fn waiting(out: &Path, more: &[&str]) -> Child {
        let arguments = [&["convert", "-", "--format", "ndjson", "-o", text(out)], more].concat();
        let mut child = command(&arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stream = synth::tiny_v4().bytes;
        // The last byte is the end mark.
        stream.pop();
        child.stdin.as_mut().unwrap().write_all(&stream).unwrap();
        let part = PathBuf::from(format!("{}.part", text(out)));
        eventually("the file that is written first", || part.exists());
        child
    }

    #[test]
    fn after_a_signal_the_old_file_is_there_and_nothing_else() {
        use rustix::process::{Pid, Signal, kill_process};
        for (signal, name) in [(Signal::INT, "int"), (Signal::TERM, "term"), (Signal::HUP, "hup")] {
            let out = PathBuf::from(file(&format!("{name}.ndjson"), b"mine"));
            let mut child = waiting(&out, &["--force"]);
            // Waiting closes what the child reads, and a trace that ends is written whole.
            let held = child.stdin.take();
            kill_process(Pid::from_child(&child), signal).unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(signal.as_raw()));
            assert_eq!(fs::read(&out).unwrap(), b"mine");
            assert_eq!(names_beside(&out), [format!("{name}.ndjson")]);
            drop(held);
        }
    }

    #[test]
    fn a_file_that_was_created_meanwhile_stays() {
        let out = PathBuf::from(file("other", b"")).with_file_name("out.ndjson");
        let mut child = waiting(&out, &[]);
        fs::write(&out, "theirs").unwrap();
        child.stdin.take().unwrap().write_all(&synth::tiny_v4().bytes[..0]).unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(
            stderr.contains("out.ndjson: already exists; use --force to overwrite"),
            "{stderr}"
        );
        assert_eq!(fs::read(&out).unwrap(), b"theirs");
        assert_eq!(names_beside(&out), ["other", "out.ndjson"]);
    }

    #[test]
    fn names_that_are_no_text_survive() {
        let trace = trace();
        let named = trace.with_file_name(OsStr::from_bytes(b"a\xff\xfe.nettrace.gz"));
        fs::rename(&trace, &named).unwrap();
        let run = |arguments: &[&str]| command(arguments).arg(&named).output().unwrap();
        assert_eq!(run(&["convert", "--format", "folded"]).status.code(), Some(0));
        let folded = trace.with_file_name(OsStr::from_bytes(b"a\xff\xfe.folded"));
        assert_eq!(fs::read_to_string(&folded).unwrap().lines().count(), 6);
        assert_eq!(run(&["info"]).status.code(), Some(0));
        let out = trace.with_file_name(OsStr::from_bytes(b"\xffb.folded"));
        let mut to = command(&["convert", "-o"]);
        assert_eq!(to.arg(&out).arg(&named).output().unwrap().status.code(), Some(0));
        assert_eq!(fs::read(&out).unwrap(), fs::read(&folded).unwrap());
        // `nettrace FILE` stands for its summary.
        assert_eq!(command(&[]).arg(&named).output().unwrap().status.code(), Some(0));
    }
}
