//! `nettrace export parquet`: inputs, files, and inputs that fail.

use crate::common;

use common::{file, nettrace, nettrace_with_input};
use nettrace_testdata::{corpus, synth};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Creates a folder with a trace, and another trace in a folder below.
fn traces() -> PathBuf {
    let first = PathBuf::from(file("a.nettrace", &synth::tiny_v4().bytes));
    // As Windows separates folders, so that names of files are as patterns give them.
    let folder: PathBuf = first.parent().unwrap().components().collect();
    let real = corpus::trace("net10-linux-x64/samples-only.nettrace").bytes();
    fs::create_dir_all(folder.join("below")).unwrap();
    fs::write(folder.join("below/b.nettrace.gz"), common::gzip(&real)).unwrap();
    folder
}

fn export(words: &[&str], out: &Path) -> common::Ran {
    let mut all = vec!["export", "parquet", "-o", out.to_str().unwrap()];
    all.extend(words);
    nettrace(&all)
}

/// Returns all files below a folder, by their paths relative to it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(top: &Path, folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(top, &path, found);
            } else {
                let name = path.strip_prefix(top).unwrap().display().to_string();
                found.insert(name.replace('\\', "/"), fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}

/// Returns the number of files below a folder, which another process may be changing.
#[cfg(unix)]
fn file_count(folder: &Path) -> usize {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.map(|path| if path.is_dir() { file_count(&path) } else { 1 }).sum()
}

/// Returns the rows of all files of a table, as values by column.
fn rows(folder: &Path, table: &str) -> Vec<BTreeMap<String, Field>> {
    let of_table = |name: &&String| name.starts_with(&format!("{table}/"));
    let found = files(folder);
    let mut rows = Vec::new();
    for name in found.keys().filter(of_table) {
        let reader = SerializedFileReader::new(File::open(folder.join(name)).unwrap()).unwrap();
        for row in reader.get_row_iter(None).unwrap() {
            let row = row.unwrap();
            rows.push(
                row.get_column_iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            );
        }
    }
    rows
}

fn text(value: &Field) -> &str {
    match value {
        Field::Str(text) => text,
        other => panic!("{other:?} is no text"),
    }
}

#[test]
fn a_folder_a_pattern_and_standard_input_give_the_same_bytes() {
    let folder = traces();
    let in_folder = |name: &str| folder.join(name).display().to_string();
    let (one, two, three) = (folder.join("1"), folder.join("2"), folder.join("3"));
    assert_eq!(export(&[folder.to_str().unwrap()], &one).code, Some(0));
    assert_eq!(export(&[&in_folder("**/*.nettrace*"), "--threads", "1"], &two).code, Some(0));
    let (first, second) = (files(&one), files(&two));
    assert!(first.len() > 20 && first == second, "{:?}", first.keys());
    assert!(!one.join("_parts").exists());
    let input = fs::read(folder.join("a.nettrace")).unwrap();
    let words = ["export", "parquet", "-", "-o", three.to_str().unwrap()];
    let ran = nettrace_with_input(&words, &input);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for (name, bytes) in files(&three) {
        if !name.starts_with("inputs/") && !name.ends_with("empty.parquet") {
            assert!(first.get(&name) == Some(&bytes), "{name}");
        }
    }
}

#[test]
fn inputs_that_fail_are_rows_with_a_reason_and_the_others_are_exported() {
    let folder = traces();
    let real = corpus::trace("net10-linux-x64/samples-only.nettrace").bytes();
    fs::write(folder.join("cut.nettrace"), &real[..real.len() / 2]).unwrap();
    fs::write(folder.join("empty.nettrace"), b"").unwrap();
    fs::write(folder.join("foreign.nettrace"), b"PK\x03\x04 this is something else").unwrap();
    let missing = folder.join("missing.nettrace").display().to_string();
    let out = folder.join("out");
    let ran = export(&[folder.to_str().unwrap(), &missing, "--partition-by", "process,date"], &out);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("3 traces exported") && ran.stderr.contains("3 unreadable"),
        "{}",
        ran.stderr
    );
    let rows = rows(&out, "inputs");
    let mut statuses: Vec<(String, String)> = rows
        .iter()
        .map(|row| {
            let name = text(&row["path"]).rsplit(['/', '\\']).next().unwrap().to_owned();
            assert_eq!(row["reason"] == Field::Null, text(&row["status"]) == "ok");
            (name, text(&row["status"]).to_owned())
        })
        .collect();
    statuses.sort();
    let expected = [
        ("a.nettrace", "ok"),
        ("b.nettrace.gz", "ok"),
        ("cut.nettrace", "damaged"),
        ("empty.nettrace", "failed"),
        ("foreign.nettrace", "failed"),
        ("missing.nettrace", "failed"),
    ];
    assert_eq!(statuses, expected.map(|(name, status)| (name.to_owned(), status.to_owned())));
}

#[test]
fn exported_traces_are_skipped_unless_other_tables_are_requested() {
    let folder = traces();
    let (input, out) = (folder.to_str().unwrap(), folder.join("out"));
    let few = ["--tables", "samples", "--skip-existing"];
    assert_eq!(export(&[&[input], &few[..]].concat(), &out).code, Some(0));
    let before = files(&out);
    assert!(
        before
            .keys()
            .all(|name| ["inputs/", "samples/", "_nettrace"].iter().any(|of| name.starts_with(of)))
    );
    let ran = export(&[&[input], &few[..]].concat(), &out);
    assert!(
        ran.stderr.contains("0 traces exported") && ran.stderr.contains("2 skipped"),
        "{}",
        ran.stderr
    );
    assert!(files(&out) == before);
    let ran = export(&[input, "--skip-existing"], &out);
    ran.assert_message("2 traces exported");
    assert!(files(&out).keys().any(|name| name.starts_with("stacks/")));
    // Fewer tables than there are need no export; other columns do.
    export(&[&[input], &few[..]].concat(), &out).assert_message("2 skipped");
    export(&[input, "--no-payload", "--skip-existing"], &out).assert_message("2 traces exported");
    let ran = export(&[input, "--partition-by", "date"], &out);
    assert_eq!(ran.code, Some(1));
    ran.assert_message("another layout");
}

#[test]
fn an_event_type_that_is_asked_for_has_a_column_a_field() {
    let folder = traces();
    let out = folder.join("out");
    let ran = export(
        &[folder.join("a.nettrace").to_str().unwrap(), "--wide", "*/Hi", "--tables", "inputs"],
        &out,
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let table = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .find(|name| name.starts_with("wide_"))
        .unwrap();
    let rows = rows(&out, &table);
    assert_eq!((&rows[0]["n"], text(&rows[0]["s"])), (&Field::Int(5), "hey"));
    assert_eq!(rows.len(), 3);
}

#[test]
fn equal_inputs_are_exported_once() {
    let folder = traces();
    fs::copy(folder.join("a.nettrace"), folder.join("copy.nettrace")).unwrap();
    let out = folder.join("out");
    let ran = export(&[folder.to_str().unwrap()], &out);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.assert_message("copy.nettrace: another input has the same content");
    assert_eq!(rows(&out, "inputs").len(), 2);
}

#[test]
fn wrong_tables_and_expressions_are_refused() {
    let folder = traces();
    let (input, out) = (folder.to_str().unwrap(), folder.join("out"));
    for words in
        [["--tables", "sample"], ["--partition-by", "host"], ["--partition-by", "x=path:("]]
    {
        assert_eq!(export(&[&[input], &words[..]].concat(), &out).code, Some(2), "{words:?}");
    }
}

/// Returns file name, status and reason of each row in `inputs`.
fn inputs(out: &Path) -> Vec<(String, String, String)> {
    let found = rows(out, "inputs");
    let text_of = |value: &Field| match value {
        Field::Str(text) => text.clone(),
        _ => String::new(),
    };
    let mut found: Vec<_> = found
        .iter()
        .map(|row| {
            let name = text_of(&row["path"]);
            let name = name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
            (name, text_of(&row["status"]), text_of(&row["reason"]))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn what_is_not_there_is_a_row_and_the_others_are_exported() {
    let folder = traces();
    fs::create_dir_all(folder.join("empty")).unwrap();
    let out = folder.join("out");
    let named = |name: &str| folder.join(name).display().to_string();
    let words = [named("empty"), named("*.none"), named("missing"), named("a.nettrace")];
    let ran = export(&words.iter().map(String::as_str).collect::<Vec<_>>(), &out);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let found = inputs(&out);
    let states: Vec<(&str, &str)> =
        found.iter().map(|(name, status, _)| (&**name, &**status)).collect();
    assert_eq!(
        states,
        [("*.none", "failed"), ("a.nettrace", "ok"), ("empty", "failed"), ("missing", "failed")]
    );
    assert_eq!(found[0].2, "matches no file");
    assert!(found[2].2.starts_with("has no files that end in .nettrace"), "{found:?}");
}

#[test]
fn inputs_that_fail_for_the_same_reason_have_a_row_each() {
    let folder = traces();
    let out = folder.join("out");
    for name in ["1.nettrace", "2.nettrace"] {
        fs::write(folder.join(name), []).unwrap();
    }
    let ran = export(&[folder.to_str().unwrap()], &out);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let failed =
        |out: &Path| inputs(out).iter().filter(|(_, status, _)| status == "failed").count();
    assert_eq!(failed(&out), 2);
    // One input was unfinished when the export ran, and is whole now.
    fs::write(folder.join("1.nettrace"), synth::tiny_v6().bytes).unwrap();
    let ran = export(&[folder.to_str().unwrap(), "--skip-existing"], &out);
    assert_eq!((ran.code, failed(&out)), (Some(3), 1), "{}", ran.stderr);
}

#[test]
fn a_damaged_trace_that_was_exported_before_ends_with_the_same_exit_code() {
    let folder = traces();
    let out = folder.join("out");
    let whole = synth::tiny_v4().bytes;
    fs::write(folder.join("a.nettrace"), &whole[..whole.len() - 5]).unwrap();
    for words in [&[folder.to_str().unwrap()][..], &[folder.to_str().unwrap(), "--skip-existing"]] {
        assert_eq!(export(words, &out).code, Some(3), "{words:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_pipe_by_name_is_read_like_a_file() {
    let folder = traces();
    let (pipe, out) = (folder.join("pipe"), folder.join("out"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (bytes, path) = (fs::read(folder.join("a.nettrace")).unwrap(), pipe.clone());
    let writing = std::thread::spawn(move || fs::write(path, bytes));
    let ran = export(&[pipe.to_str().unwrap()], &out);
    writing.join().unwrap().unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(inputs(&out)[0], ("pipe".to_owned(), "ok".to_owned(), String::new()));
}

#[test]
fn an_event_type_that_no_trace_has_is_named() {
    let folder = traces();
    let out = folder.join("out");
    let words = [folder.to_str().unwrap(), "--wide", "No/Such", "--wide", "*/Hi"];
    let ran = export(&words, &out);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.assert_message("--wide No/Such: no trace");
    assert!(!ran.stderr.contains("--wide */Hi:"), "{}", ran.stderr);
}

#[test]
#[cfg(unix)]
fn an_export_that_is_killed_and_run_again_gives_the_same_data_set() {
    let folder = traces();
    let (whole, killed) = (folder.join("whole"), folder.join("killed"));
    assert_eq!(export(&[folder.to_str().unwrap(), "--threads", "1"], &whole).code, Some(0));
    let all = files(&whole).len();
    for moment in 1..8 {
        let words = ["export", "parquet", folder.to_str().unwrap(), "-o", killed.to_str().unwrap()];
        let mut child = common::command(&words)
            .args(["--threads", "1", "--skip-existing"])
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        nettrace_testdata::eventually("some files", || {
            child.try_wait().unwrap().is_some() || file_count(&killed) >= all * moment / 8
        });
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let ran = export(&[folder.to_str().unwrap(), "--skip-existing"], &killed);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(files(&killed) == files(&whole), "{:?}", files(&killed).keys());
}
