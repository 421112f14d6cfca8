//! Measures how often `nettrace diff` is right. Runs of one program are drawn at random and
//! compared with each other, where any finding is a false alarm, and with runs of its variants,
//! where the change should be found. `docs/diff.md` has the table.
//!
//! ```sh
//! cargo xtask ab ../shared/ab
//! ```
//!
//! Traces are named after their variant: `base1.nettrace.gz`, `slow1.2-3.nettrace`. All variants are
//! compared with `base`.
#![allow(clippy::restriction, clippy::pedantic)]

use nettrace_analysis::AnalysisOptions;
use nettrace_analysis::diff::{self, DiffReport, MeasuredTrace};
use nettrace_benches::make::repeat::unpacked;
use nettrace_benches::random::Random;
use nettrace_parser::Reader;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::{env, fs};

/// Variant of the program with which all others are compared.
const BASE: &str = "base";
/// Numbers of runs on each side of a comparison that are tried.
const SIDES: [usize; 4] = [1, 2, 3, 5];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let folder = arguments.next().ok_or("usage: ab DIR [DRAWS]")?;
    let draws: u32 = match arguments.next() {
        Some(text) => text.to_string_lossy().parse()?,
        None => 100,
    };
    let variants = read(Path::new(&folder))?;
    let mut random = Random::new(1);
    println!("| compared | runs | with a finding | most often |");
    println!("|---|---|---|---|");
    for (name, runs) in &variants {
        for side in SIDES.into_iter().filter(|side| side * 2 <= runs.len()) {
            let mut found = Found::default();
            for _ in 0..draws {
                let drawn = draw(runs, side * 2, &mut random);
                let (old, new) = drawn.split_at(side);
                found.add(&DiffReport::new(old, new, diff::DiffOptions::default()));
            }
            found.print(&format!("{name} with itself"), side, draws);
        }
    }
    let base = variants.get(BASE).ok_or("there is no trace base1.nettrace")?;
    for (name, runs) in variants.iter().filter(|(name, _)| *name != BASE) {
        for side in SIDES.into_iter().filter(|side| *side <= runs.len().min(base.len())) {
            let mut found = Found::default();
            for _ in 0..draws {
                let (old, new) = (draw(base, side, &mut random), draw(runs, side, &mut random));
                found.add(&DiffReport::new(&old, &new, diff::DiffOptions::default()));
            }
            found.print(&format!("{BASE} with {name}"), side, draws);
        }
    }
    Ok(())
}

/// Reads the runs of all variants.
fn read(folder: &Path) -> Result<BTreeMap<String, Vec<MeasuredTrace>>, Box<dyn Error>> {
    let mut variants: BTreeMap<String, Vec<MeasuredTrace>> = BTreeMap::new();
    let mut files = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    for file in files {
        let name = file.file_name().to_string_lossy().into_owned();
        let Some((name, _)) = name.split_once(".nettrace") else { continue };
        let variant = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let bytes = unpacked(fs::read(file.path())?)?;
        let mut pass = diff::pass(AnalysisOptions::default());
        let _outcome = pass.read(&mut Reader::from_slice(&bytes).time_ordered())?;
        let variant = variant.trim_end_matches('-').to_owned();
        variants.entry(variant).or_default().push(pass.finish().output);
    }
    Ok(variants)
}

/// Draws `count` runs at random, each at most once.
fn draw(runs: &[MeasuredTrace], count: usize, random: &mut Random) -> Vec<MeasuredTrace> {
    let mut left: Vec<&MeasuredTrace> = runs.iter().collect();
    let mut drawn = Vec::with_capacity(count);
    for _ in 0..count {
        let at = random.below(left.len() as u64) as usize;
        drawn.push(left.swap_remove(at).clone());
    }
    drawn
}

/// Numbers of comparisons that found a difference.
#[derive(Default)]
struct Found {
    any: u32,
    rows: BTreeMap<String, u32>,
}

impl Found {
    fn add(&mut self, report: &DiffReport) {
        self.any += u32::from(report.significant > 0);
        for row in report.rows.iter().filter(|row| row.is_significant) {
            *self.rows.entry(row.key.to_string()).or_default() += 1;
        }
    }

    fn print(self, compared: &str, side: usize, draws: u32) {
        let mut rows: Vec<(String, u32)> = self.rows.into_iter().collect();
        rows.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let rows = rows.iter().take(3).map(|(what, count)| format!("{what} {count}"));
        let rows = rows.collect::<Vec<_>>().join(", ");
        println!("| {compared} | {side}:{side} | {} of {draws} | {rows} |", self.any);
    }
}
