//! `--lines`: rows are lines, from PDBs that are found by the names or the ids of modules.

use crate::common;

use common::{file, nettrace};
use nettrace_parser::Guid;
use nettrace_testdata::corpus;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Writes the trace and an empty folder, and returns their paths.
fn prepared(name: &str) -> (String, String) {
    let path = file(&format!("{name}.nettrace"), &corpus::known("LineHot").bytes());
    let folder = Path::new(&path).with_file_name(format!("{name}-symbols"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    (path, folder.to_string_lossy().into_owned())
}

/// Returns the document of `report topN`, and what the command says beside it.
fn top(path: &str, more: &[&str]) -> (Value, String) {
    let ran = nettrace(&[&["report", "topN", path, "--json", "--names", "short"], more].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    (serde_json::from_slice(&ran.stdout).unwrap(), ran.stderr)
}

#[test]
fn rows_are_lines_with_their_files() {
    let (path, folder) = prepared("lines");
    fs::write(format!("{folder}/LineHot.pdb"), corpus::known_file("LineHot.pdb")).unwrap();
    let (document, says) = top(&path, &["--lines", "--symbols", &folder]);
    let hottest = &document["methods"][0];
    assert_eq!(hottest["name"], "Program.Slow Program.cs:33");
    assert_eq!(
        (&hottest["file"], hottest["line"].as_u64()),
        (&"/src/LineHot/Program.cs".into(), Some(33))
    );
    assert_eq!((hottest.get("first_line"), says.as_str()), (None, ""));
    // The same document, but for lines.
    let (without, _) = top(&path, &[]);
    assert_eq!(without["methods"][0]["name"], "Program.Compute");
    assert!(without["methods"][0].get("line").is_none());
    assert_eq!(without["total_ns"], document["total_ns"]);
}

#[test]
fn a_pdb_beside_the_trace_is_found() {
    let (path, folder) = prepared("lines-beside");
    let beside = format!("{folder}/trace.nettrace");
    fs::rename(path, &beside).unwrap();
    fs::write(format!("{folder}/LineHot.pdb"), corpus::known_file("LineHot.pdb")).unwrap();
    let (document, says) = top(&beside, &["--lines"]);
    assert_eq!((document["methods"][0]["line"].as_u64(), says.as_str()), (Some(33), ""));
}

#[test]
fn a_pdb_of_any_name_is_found_by_its_id_and_one_of_another_build_is_refused_by_name() {
    let (path, folder) = prepared("lines-by-id");
    let pdb = corpus::known_file("LineHot.pdb");
    let (_, says) = top(&path, &["--lines", "--symbols", &folder]);
    let advice = "methods of LineHot without lines: no PDB {ac042f96-ad03-465f-bbd0-dc692317e733}; give its folder with --symbols";
    assert!(says.contains(advice), "{says}");
    fs::write(format!("{folder}/other.pdb"), &pdb).unwrap();
    let (document, says) = top(&path, &["--lines", "--symbols", &folder]);
    assert_eq!((document["methods"][0]["line"].as_u64(), says.as_str()), (Some(33), ""));
    fs::remove_file(format!("{folder}/other.pdb")).unwrap();
    let mut changed = pdb;
    let id = changed.windows(4).position(|bytes| bytes == [0x96, 0x2f, 0x04, 0xac]).unwrap();
    changed[id] ^= 1;
    fs::write(format!("{folder}/LineHot.pdb"), changed).unwrap();
    let (document, says) = top(&path, &["--lines", "--symbols", &folder]);
    assert!(document["methods"][0].get("line").is_none());
    let refused = "LineHot.pdb is not used: another build: its id is ac042f97-";
    assert!(says.contains(refused) && says.contains(advice), "{says}");
}

/// Id of the PDB of LineHot.
const ID: [u8; 16] = [
    0x96, 0x2f, 0x04, 0xac, 0x03, 0xad, 0x5f, 0x46, 0xbb, 0xd0, 0xdc, 0x69, 0x23, 0x17, 0xe7, 0x33,
];

#[test]
fn a_line_has_the_address_that_source_link_maps_its_file_to() {
    let (path, folder) = prepared("lines-linked");
    let json = r#"{"documents":{"/src/LineHot/*":"https://example.com/raw/1f/*"}}"#;
    let pdb = nettrace_testdata::portable_pdb(ID, 30, "/src/LineHot/A b.cs", Some(json));
    fs::write(format!("{folder}/LineHot.pdb"), pdb).unwrap();
    let (document, _) = top(&path, &["--lines", "--symbols", &folder]);
    let mut rows = document["methods"].as_array().unwrap().iter();
    let slow = rows.find(|row| row["name"] == "Program.Slow A b.cs:3").unwrap();
    assert_eq!(slow["source_url"], "https://example.com/raw/1f/A%20b.cs");
}

/// Counts the frames with lines in all stacks of a document.
fn lines_of_stacks(document: &Value) -> usize {
    let mut found = 0;
    if let Some(lines) = document["lines"].as_array() {
        let frames = document["frames"].as_array().unwrap();
        assert_eq!(frames.len(), lines.len());
        for (frame, line) in frames.iter().zip(lines).filter(|(_, line)| !line.is_null()) {
            let end = format!(" App.cs:{}", line["line"]);
            assert!(frame.as_str().unwrap().contains(&end), "{frame} {line}");
            assert_eq!(line["file"], "/src/App.cs");
            found += 1;
        }
    }
    found
        + match document {
            Value::Array(parts) => parts.iter().map(lines_of_stacks).sum::<usize>(),
            Value::Object(parts) => parts.values().map(lines_of_stacks).sum(),
            _ => 0,
        }
}

#[test]
fn places_in_the_text_of_a_report_are_lines() {
    let path = file("lines-of-places.nettrace", &corpus::known("LineKinds").bytes());
    let pdb = file("lines-of-places.pdb", &corpus::known_file("LineKinds.pdb"));
    let ran = nettrace(&["report", "exceptions", &path, "--lines", "--symbols", &pdb]);
    let thrown =
        "thrown in  LineKinds.Catches LineKinds.cs:143 ← LineKinds.Main LineKinds.cs:170\n";
    assert!(ran.text().contains(thrown), "{}", ran.text());
    let ran = nettrace(&["report", "exceptions", &path]);
    assert!(
        ran.text().contains("thrown in  LineKinds.Catches ← LineKinds.Main\n"),
        "{}",
        ran.text()
    );
}

#[test]
fn stacks_of_reports_have_their_lines_beside_their_frames() {
    for (report, name) in [
        ("exceptions", "Exc"),
        ("contention", "Block"),
        ("waits", "Dead-ring"),
        ("alloc", "Dead-starve"),
    ] {
        let path = file(&format!("lines-of-{report}.nettrace"), &corpus::known(name).bytes());
        let ran = nettrace(&["report", report, &path, "--lines"]);
        let id = ran.stderr.split_once("no PDB {").unwrap().1.split_once('}').unwrap().0;
        let id = id.parse::<Guid>().unwrap().to_bytes();
        let pdb = nettrace_testdata::portable_pdb(id, 200, "/src/App.cs", None);
        let pdb = file(&format!("lines-of-{report}.pdb"), &pdb);
        let ran = nettrace(&["report", report, &path, "--lines", "--symbols", &pdb, "--json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let document = serde_json::from_slice(&ran.stdout).unwrap();
        assert!(lines_of_stacks(&document) > 0, "{report}: {document}");
        let ran = nettrace(&["report", report, &path, "--lines", "--symbols", &pdb]);
        // The frames that it allocates in are deeper than text shows.
        let shown = report == "alloc" || ran.text().contains(" App.cs:");
        assert!(shown, "{report}: {}", ran.text());
        let ran = nettrace(&["report", report, &path, "--json"]);
        let document = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(lines_of_stacks(&document), 0);
    }
}
