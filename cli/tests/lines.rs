//! `--lines`: rows are lines, from PDBs that are found by the names or the ids of modules.

use crate::common;

use common::{file, nettrace};
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
