//! Folded stacks: one line per distinct stack, with its frames root first, separated by
//! `;`, then a number.
//!
//! ```text
//! app!Program.Main(string[]);app!Program.Work(int) 12000000
//! ```
//!
//! | | |
//! |---|---|
//! | opened by | flamegraph.pl, inferno, speedscope, FlameScope |
//! | number | weight in the kind's unit (CPU: ns); with `counts_samples` the number of samples |
//! | threads | with `is_by_thread`, the thread is the first frame |
//! | waits | samples of threads that waited have the first frame `(waiting)`, and come last; with readings, there is `(ready)` for what threads could have run and did not |
//! | kinds | the first of the requested kinds that the trace has |
//! | omitted | stacks without frames, unless they have a thread |
//!
//! In names, `:` replaces `;`, and spaces replace control characters. Lines are sorted, lines of
//! threads that ran first.

use super::{Convert, ConvertError, ConvertOptions, Output};
use crate::hash::HashMap;
use crate::model::{Call, Kind, Profile, Resolved, StackHandle, TextHandle, Texts};
use std::cmp::Ordering;
use std::io::Write;

pub(super) const KINDS: &[Kind] = &[Kind::Cpu];

/// What distinguishes an output line: texts of the waiting root and of the thread, the stack, and
/// the text of the label.
type Line = (Option<TextHandle>, Option<TextHandle>, StackHandle, Option<TextHandle>);

#[derive(Debug)]
pub(crate) struct Folded<'o> {
    out: Output<'o>,
    options: ConvertOptions,
}

impl<'o> Folded<'o> {
    pub(crate) fn new(out: Box<dyn Write + Send + 'o>, options: &ConvertOptions) -> Folded<'o> {
        let out = Output::new(out, options.is_gzip);
        Folded { out, options: options.clone() }
    }
}

impl Convert for Folded<'_> {
    fn wants_samples(&self) -> bool {
        false
    }

    fn finish(
        mut self: Box<Self>,
        resolved: &Resolved<'_>,
        profile: &Profile,
    ) -> Result<(), ConvertError> {
        let kind = super::first_kind(&self.options.kinds_or(KINDS), profile)?;
        let mut names = Names::default();
        let of_frame: Vec<TextHandle> =
            resolved.all_frames().iter().map(|frame| names.number(&frame.text)).collect();
        let unknown = names.number("?");
        // Lines refer to stacks instead of copying frames, of which there may be many millions.
        let mut sums: HashMap<Line, u64> = HashMap::default();
        for (key, totals) in profile.rows() {
            if key.kind != kind || !resolved.admits(key.stack, key.mode) {
                continue;
            }
            let thread = match self.options.is_by_thread {
                true => Some(names.number(&resolved.model().thread_label(key.thread))),
                false => None,
            };
            let number = if self.options.counts_samples { totals.samples } else { totals.weight };
            let stack = resolved.sample_stack(key.stack, key.mode);
            // An exception says little without its type, and an open wait is longer than its weight
            // says.
            let is_shown = matches!(kind, Kind::Exceptions | Kind::Contention | Kind::Waits);
            let label = key.label.filter(|_| is_shown);
            let label = label.map(|label| resolved.model().text(label));
            let label = label.map(|label| names.number(&super::label_text(kind, label)));
            let root = resolved.state_root(kind, key.stack, key.mode);
            let root = root.and_then(Call::fixed_text).map(|text| names.number(text));
            let sum = sums.entry((root, thread, stack, label)).or_default();
            *sum = sum.saturating_add(number);
        }
        // Empty names at the beginning get no separator.
        let numbers = |&(root, thread, stack, label): &Line| {
            let frames = resolved.frames(stack).iter().rev();
            let frames = frames.map(|frame| of_frame.get(frame.index()).copied());
            let frames = frames.map(|known| known.unwrap_or(unknown));
            let all = root.into_iter().chain(thread).chain(frames).chain(label);
            all.skip_while(|number| names.0.get(*number).is_empty())
        };
        let mut lines: Vec<(Line, u64)> = sums
            .into_iter()
            .filter(|(line, sum)| *sum > 0 && numbers(line).next().is_some())
            .collect();
        if lines.is_empty() {
            // An empty file would look like a program that did nothing.
            return Err(ConvertError::NothingToShow {
                wanted: "stacks of this kind, or none that passes the filters",
            });
        }
        lines.sort_unstable_by(|(one, _), (other, _)| {
            let is_waiting = |line: &Line| line.0.is_some();
            is_waiting(one)
                .cmp(&is_waiting(other))
                .then_with(|| names.order(numbers(one), numbers(other)))
        });
        // Different stacks may have the same names.
        for same in lines.chunk_by(|(one, _), (other, _)| numbers(one).eq(numbers(other))) {
            let Some((line, _)) = same.first() else { continue };
            for (place, name) in numbers(line).enumerate() {
                if place > 0 {
                    self.out.write_all(b";")?;
                }
                self.out.write_all(names.0.get(name).as_bytes())?;
            }
            let sum = same.iter().fold(0u64, |sum, (_, number)| sum.saturating_add(*number));
            writeln!(self.out, " {sum}")?;
        }
        Ok(self.out.finish()?)
    }
}

/// Names in the form of the format. Lines refer to them by handles, because each name is in many
/// lines.
#[derive(Debug, Default)]
struct Names(Texts);

impl Names {
    fn number(&mut self, name: &str) -> TextHandle {
        self.0.intern(&clean(name))
    }

    /// Compares two lines as texts. The names that they have in common at the beginning are
    /// recognised by their handles.
    fn order(
        &self,
        one: impl Iterator<Item = TextHandle>,
        other: impl Iterator<Item = TextHandle>,
    ) -> Ordering {
        let (mut one, mut other) = (one.peekable(), other.peekable());
        while one.peek().is_some() && one.peek() == other.peek() {
            one.next();
            other.next();
        }
        self.bytes(one).cmp(self.bytes(other))
    }

    fn bytes(&self, line: impl Iterator<Item = TextHandle>) -> impl Iterator<Item = u8> {
        line.enumerate().flat_map(|(place, name)| {
            let between = if place > 0 { ";" } else { "" };
            between.bytes().chain(self.0.get(name).bytes())
        })
    }
}

/// Returns a name without those characters that have a meaning in the format.
fn clean(name: &str) -> String {
    name.chars()
        .map(|c| match c {
            ';' => ':',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_in_the_order_of_their_texts() {
        let mut names = Names::default();
        let all =
            ["a", "a b", "ab", "", "z", "a:", "\u{1}", "B", "!"].map(|name| names.number(name));
        let mut lines: Vec<Vec<TextHandle>> = all.iter().map(|name| vec![*name]).collect();
        for length in 0..2 {
            let longer: Vec<Vec<TextHandle>> = lines
                .iter()
                .filter(|line| line.len() == length + 1)
                .flat_map(|line| all.iter().map(|name| [line.as_slice(), &[*name]].concat()))
                .collect();
            lines.extend(longer);
        }
        let text = |line: &[TextHandle]| {
            line.iter().map(|name| names.0.get(*name)).collect::<Vec<_>>().join(";")
        };
        lines.sort_by(|one, other| names.order(one.iter().copied(), other.iter().copied()));
        assert!(lines.len() > 800 && lines.is_sorted_by_key(|line| text(line)));
    }
}
