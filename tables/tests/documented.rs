//! Compares `docs/tables.md` with the tables. This command writes the page:
//! `UPDATE_EXPECT=1 cargo test -p nettrace-tables documented`.

use nettrace_tables::schema::TABLES;
use std::fmt::Write;
use std::path::Path;

const BEGIN: &str = "<!-- The tables below are written by a test of nettrace-tables. -->\n";

#[test]
fn the_page_of_tables_has_every_column_as_files_have_it() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tables.md");
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    let (before, _) = page.split_once(BEGIN).unwrap_or((&page, ""));
    let expected = format!("{before}{BEGIN}{}", tables());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    assert!(page == expected, "docs/tables.md is not of these tables; UPDATE_EXPECT=1 writes it");
}

fn tables() -> String {
    let mut page = String::new();
    for table in TABLES {
        let _ =
            write!(page, "\n## {}\n\n{}\n\nSource: {}.\n\n", table.name, table.about, table.source);
        page.push_str("| column | type | unit | what | null if |\n|---|---|---|---|---|\n");
        for column in table.columns {
            let (name, kind, unit) = (column.name, column.kind.name(), column.unit);
            let null = column.null.unwrap_or("never");
            let _ = writeln!(page, "| `{name}` | {kind} | {unit} | {} | {null} |", column.about);
        }
    }
    page
}

#[test]
fn every_column_has_a_unique_name_and_a_description() {
    for table in TABLES {
        for (at, column) in table.columns.iter().enumerate() {
            assert!(!column.about.is_empty());
            assert!(table.columns[..at].iter().all(|other| other.name != column.name));
            if column.name.ends_with("_ns") {
                assert_eq!(column.unit, "ns", "{}.{}", table.name, column.name);
            }
            if column.name.ends_with("_bytes") {
                assert_eq!(column.unit, "bytes", "{}.{}", table.name, column.name);
            }
        }
    }
}
