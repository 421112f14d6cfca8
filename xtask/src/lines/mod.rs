//! `cargo xtask lines`: counts the code of each crate of the workspace, and shows the difference
//! from a baseline.

mod code;
mod public;
mod source;

use clap::Args;
use code::Function;
use source::Tree;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

/// Maximum number of lines of a function that is not counted as long.
const MAX_FUNCTION_LINES: usize = 80;

/// The meaning of the columns, shown by `--help`.
const RULES: &str = "\
source  lines of code in src: lines with something on them that is neither a comment nor
        documentation. Without folders called `generated` and without test code, which is
        what a `cfg` leaves out when neither `test` nor `fuzzing` is set.
tests   lines of code in tests, and the test code of src.
public  items that are public and reachable from lib.rs through public modules and
        re-exports: modules, structs, enums, unions, traits, functions, constants, statics,
        type aliases and exported macros, and the public functions and constants in inherent
        impls of these types. Each counts once, under however many names. Fields, variants
        and what a trait declares do not count; an item of another crate that is exported
        again does, as does one that a macro defines and a `pub use` names. All features
        are on. A program without lib.rs has none.
long    functions of src with more than 80 lines of code, from `fn` to the closing brace.
        Functions inside of them count with them, and for themselves.
long in tests   the same of tests.

Only Rust is counted: not the scripts of the page, and not examples, benches or build files.";

#[derive(Args)]
#[command(after_help = RULES)]
pub(crate) struct Lines {
    /// List the long functions and where they are
    #[arg(long)]
    functions: bool,
    /// List the public items of CRATE
    #[arg(long, value_name = "CRATE")]
    items: Option<String>,
    /// Write today's figures to xtask/lines-baseline.txt
    #[arg(long)]
    baseline: bool,
}

/// The figures of a crate, in the order of [`COLUMNS`].
type Row = [usize; COLUMNS.len()];

const COLUMNS: [&str; 5] = ["source", "tests", "public", "long", "long in tests"];

impl Lines {
    pub(crate) fn run(self, top: &Path) -> io::Result<()> {
        let baseline = top.join("xtask/lines-baseline.txt");
        let mut rows = BTreeMap::new();
        for name in members(&fs::read_to_string(top.join("Cargo.toml"))?) {
            let tree = Tree::read(&top.join(&name))?;
            let counts = code::count(&tree);
            let public = public::items(&tree);
            if self.items.as_ref() == Some(&name) {
                public.iter().for_each(|item| println!("{item}"));
            }
            if self.functions {
                list(&name, &counts.functions);
            }
            let long = |test| {
                counts
                    .functions
                    .iter()
                    .filter(|f| f.test == test && f.lines > MAX_FUNCTION_LINES)
                    .count()
            };
            let row = [counts.source, counts.tests, public.len(), long(false), long(true)];
            rows.insert(name, row);
        }
        if self.baseline {
            fs::write(&baseline, written(&rows))?;
        }
        if self.items.is_none() && !self.functions {
            let before = parsed(&fs::read_to_string(&baseline).unwrap_or_default());
            print!("{}", table(&rows, &before));
        }
        Ok(())
    }
}

fn list(name: &str, functions: &[Function]) {
    let mut long: Vec<_> = functions.iter().filter(|f| f.lines > MAX_FUNCTION_LINES).collect();
    long.sort_by_key(|function| std::cmp::Reverse(function.lines));
    for Function { file, line, name: function, lines, .. } in long {
        println!("{lines:>4} {name}/{}:{line} {function}", file.display());
    }
}

/// Returns the folders of the workspace's packages, as its manifest lists them.
fn members(manifest: &str) -> Vec<String> {
    let (_, list) = manifest.split_once("\nmembers = [").expect("a workspace has members");
    let list = list.split(']').next().unwrap_or_default();
    list.split(',')
        .map(|name| name.trim().trim_matches('"'))
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the text of the file with the baseline: a line for each crate, with its name and its
/// figures.
fn written(rows: &BTreeMap<String, Row>) -> String {
    let mut text = format!("# cargo xtask lines --baseline: {}\n", COLUMNS.join(", "));
    for (name, row) in rows {
        let figures: Vec<_> = row.iter().map(usize::to_string).collect();
        writeln!(text, "{name} {}", figures.join(" ")).expect("a String takes all");
    }
    text
}

fn parsed(text: &str) -> BTreeMap<String, Row> {
    let mut rows = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default().to_owned();
        rows.insert(
            name,
            std::array::from_fn(|_| words.next().and_then(|n| n.parse().ok()).unwrap_or(0)),
        );
    }
    rows
}

/// Returns a table of all figures, of their differences from the baseline, and of the sums. A crate
/// that exists only on one side counts as 0 on the other.
fn table(rows: &BTreeMap<String, Row>, before: &BTreeMap<String, Row>) -> String {
    let mut all: BTreeMap<&str, (Row, Row)> = BTreeMap::new();
    for (name, row) in rows {
        all.entry(name).or_default().0 = *row;
    }
    for (name, row) in before {
        all.entry(name).or_default().1 = *row;
    }
    let sum = |pick: fn(&(Row, Row)) -> &Row| -> Row {
        std::array::from_fn(|column| all.values().map(|pair| pick(pair)[column]).sum())
    };
    let sums = (sum(|pair| &pair.0), sum(|pair| &pair.1));
    let mut text = format!("{:10}", "");
    for column in COLUMNS {
        write!(text, " {column:>15}").expect("a String takes all");
    }
    text.push('\n');
    for (name, (now, then)) in
        all.iter().map(|(name, pair)| (*name, *pair)).chain([("total", sums)])
    {
        write!(text, "{name:10}").expect("a String takes all");
        for (now, then) in now.iter().zip(then) {
            let change = match now.cast_signed().checked_sub(then.cast_signed()) {
                Some(0) | None => String::new(),
                Some(change) => format!("{change:+}"),
            };
            write!(text, " {now:>8} {change:>6}").expect("a String takes all");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_baseline_is_read_as_it_was_written() {
        let rows = BTreeMap::from([("a".to_owned(), [1, 2, 3, 4, 5]), ("b".to_owned(), [0; 5])]);
        assert_eq!(parsed(&written(&rows)), rows);
    }

    #[test]
    fn the_table_has_what_changed_since_the_baseline() {
        let before = parsed("parser 100 50 7 1 0\ngone 10 0 0 0 0\n");
        let table = table(&parsed("parser 90 50 8 0 0\nnew 3 0 0 0 0\n"), &before);
        let rows: Vec<Vec<_>> = table.lines().map(|l| l.split_whitespace().collect()).collect();
        assert_eq!(rows[1], ["gone", "0", "-10", "0", "0", "0", "0"]);
        assert_eq!(rows[2], ["new", "3", "+3", "0", "0", "0", "0"]);
        assert_eq!(rows[3], ["parser", "90", "-10", "50", "8", "+1", "0", "-1", "0"]);
        assert_eq!(rows[4], ["total", "93", "-17", "50", "8", "+1", "0", "-1", "0"]);
    }

    #[test]
    fn members_are_those_of_the_manifest() {
        assert_eq!(members("[workspace]\nmembers = [\"a\",\n  \"b\",\n]\nx = []"), ["a", "b"]);
    }

    #[test]
    fn crates_of_this_workspace_can_be_counted() {
        for (name, public) in [("guid", true), ("xtask", false)] {
            let tree = Tree::read(&crate::top().join(name)).expect("its sources are Rust");
            assert!(code::count(&tree).source > 0, "{name}");
            assert_eq!(!public::items(&tree).is_empty(), public, "{name}");
        }
    }
    #[test]
    fn a_public_item_has_one_path() {
        for name in members(&fs::read_to_string(crate::top().join("Cargo.toml")).unwrap()) {
            let tree = Tree::read(&crate::top().join(&name)).expect("its sources are Rust");
            assert_eq!(public::named_twice(&tree), [], "{name}");
        }
    }
}
