//! Folded stacks: one line a distinct stack, root first, frames with `;` between, then a number.
//!
//! ```text
//! app!Program.Main(string[]);app!Program.Work(int) 12000000
//! ```
//!
//! | | |
//! |---|---|
//! | opened by | flamegraph.pl, inferno, speedscope, FlameScope |
//! | number | weight in the kind's unit (CPU: ns); with `counts_samples` the number of samples |
//! | threads | with `is_by_thread` the first frame |
//! | kinds | the first of those asked for that the trace has |
//! | left out | stacks without frames, unless a thread stands in front |
//!
//! `;` in a name becomes `:`, control characters become spaces. Lines are sorted.

use super::{Convert, ConvertError, ConvertOptions, Output};
use crate::model::{Kind, Profile, Resolved};
use std::collections::BTreeMap;
use std::io::Write;

/// What is shown when nothing else is asked for.
pub(super) const KINDS: &[Kind] = &[Kind::Cpu];

/// Writes folded stacks.
#[derive(Debug)]
pub struct Folded<'o> {
    out: Output<'o>,
    options: ConvertOptions,
}

impl<'o> Folded<'o> {
    /// Writes to `out`.
    pub fn new(out: Box<dyn Write + 'o>, options: &ConvertOptions) -> Folded<'o> {
        let out = Output::new(out, options.is_gzip);
        Folded { out, options: options.clone() }
    }
}

impl Convert for Folded<'_> {
    fn wants_samples(&self) -> bool {
        false
    }

    fn finish(mut self: Box<Self>, resolved: &Resolved<'_>, profile: &Profile) -> Result<(), ConvertError> {
        let kind = super::first_kind(&self.options.kinds_or(KINDS), profile)?;
        let names: Vec<String> = resolved.all_frames().iter().map(|frame| clean(&frame.text)).collect();
        let mut lines: BTreeMap<String, u64> = BTreeMap::new();
        let mut line = String::new();
        for (key, totals) in profile.rows() {
            let Some(frames) = resolved.selected(key.stack, key.mode).filter(|_| key.kind == kind) else {
                continue;
            };
            line.clear();
            if self.options.is_by_thread {
                line.push_str(&clean(&resolved.model().thread_label(key.thread)));
            }
            for frame in frames.iter().rev() {
                if !line.is_empty() {
                    line.push(';');
                }
                line.push_str(names.get(frame.index()).map_or("?", |name| name));
            }
            let number = if self.options.counts_samples { totals.samples } else { totals.weight };
            if line.is_empty() || number == 0 {
                continue;
            }
            match lines.get_mut(&line) {
                Some(sum) => *sum = sum.saturating_add(number),
                None => {
                    lines.insert(line.clone(), number);
                }
            }
        }
        if lines.is_empty() {
            // An empty file would look like a program that did nothing.
            return Err(ConvertError::NothingToShow {
                wanted: "stacks of this kind, or none that pass the filters",
            });
        }
        for (line, number) in &lines {
            writeln!(self.out, "{line} {number}")?;
        }
        Ok(self.out.finish()?)
    }
}

/// A name without what has a meaning in the format.
fn clean(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            ';' => ':',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect()
}
