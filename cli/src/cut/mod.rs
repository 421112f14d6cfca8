//! Shortens text to a width; the part that identifies a row is cut last.

mod chain;
mod name;

pub(crate) use chain::{Caller, callers, way};
pub(crate) use name::cut;

use crate::printable::printable;
use chain::Chain;
use name::cut_middle;
use unicode_width::UnicodeWidthStr;

/// Mark of text that is left out.
const LEFT_OUT: &str = "…";
/// Minimum columns that a part of weight `Other` keeps when a part of weight `Main` needs its room.
const MIN_PART_COLUMNS: usize = 8;

/// A text that knows how to get shorter.
#[derive(Debug, Clone)]
pub(crate) enum Text {
    /// A name: loses its arguments first, then its beginning, then its middle. See [`cut`].
    Name(String),
    /// A chain of names: loses whole links first.
    Chain(Chain),
    /// Parts that are cut separately.
    Parts(Vec<TextPart>),
    /// A list whose items matter less the later they stand: loses its end.
    List(Vec<String>),
    /// One text in several forms, the longest first. The longest that fits is shown.
    Forms(Vec<String>),
}

/// A part of a text, with the weight that decides how it is cut.
#[derive(Debug, Clone)]
pub(crate) struct TextPart {
    text: String,
    weight: Weight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weight {
    /// Never cut.
    Fixed,
    /// Takes room from parts of weight `Other` before it is cut.
    Main,
    Other,
}

/// Returns a part that is never cut, such as a number or the text between two names.
pub(crate) fn fixed(text: &str) -> TextPart {
    TextPart { text: printable(text), weight: Weight::Fixed }
}

/// Returns a part with the most important name of a text.
pub(crate) fn main(text: &str) -> TextPart {
    TextPart { text: printable(text), weight: Weight::Main }
}

/// Returns a part with a name that matters less than the main one.
pub(crate) fn other(text: &str) -> TextPart {
    TextPart { text: printable(text), weight: Weight::Other }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::Name(printable(text))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text::from(text.as_str())
    }
}

impl Text {
    pub(crate) fn parts(parts: impl IntoIterator<Item = TextPart>) -> Text {
        Text::Parts(parts.into_iter().collect())
    }

    pub(crate) fn whole(&self) -> String {
        match self {
            Text::Name(text) => text.clone(),
            Text::Chain(chain) => chain.whole(),
            Text::Parts(parts) => parts.iter().map(|part| part.text.as_str()).collect(),
            Text::List(items) => items.join(", "),
            Text::Forms(forms) => forms.first().cloned().unwrap_or_default(),
        }
    }

    /// Returns the text in at most `most` columns.
    pub(crate) fn cut(&self, most: usize) -> String {
        let whole = self.whole();
        if whole.width() <= most {
            return whole;
        }
        match self {
            Text::Name(text) => cut(text, most),
            Text::Chain(chain) => chain.cut(most),
            Text::Parts(parts) => cut_parts(parts, most),
            Text::List(items) => cut_list(items, most),
            Text::Forms(forms) => forms
                .iter()
                .find(|form| form.width() <= most)
                .cloned()
                .unwrap_or_else(|| cut(forms.last().map_or("", |form| form), most)),
        }
    }
}

/// Cuts parts so that they fit together. Short parts leave room to long ones, and parts of weight
/// `Other` give room to parts of weight `Main`.
fn cut_parts(parts: &[TextPart], most: usize) -> String {
    let is_fixed = |part: &&TextPart| part.weight == Weight::Fixed;
    let fixed: usize = parts.iter().filter(is_fixed).map(|part| part.text.width()).sum();
    let names: Vec<&TextPart> = parts.iter().filter(|part| !is_fixed(part)).collect();
    let Some(room) = most.checked_sub(fixed).filter(|room| *room >= 4 * names.len()) else {
        return cut_middle(&parts.iter().map(|part| part.text.as_str()).collect::<String>(), most);
    };
    let widths: Vec<usize> = names.iter().map(|part| part.text.width()).collect();
    let mut rooms = shares(&widths, room);
    for main in (0..names.len()).filter(|at| names[*at].weight == Weight::Main) {
        for other in (0..names.len()).filter(|at| names[*at].weight == Weight::Other) {
            let missing = widths[main].saturating_sub(rooms[main]);
            let given = missing.min(rooms[other].saturating_sub(MIN_PART_COLUMNS));
            rooms[main] += given;
            rooms[other] -= given;
        }
    }
    let mut rooms = rooms.into_iter();
    let shown = |part: &TextPart| match part.weight {
        Weight::Fixed => part.text.clone(),
        _ => cut(&part.text, rooms.next().unwrap_or(0)),
    };
    parts.iter().map(shown).collect()
}

/// Divides room among texts of these widths, none of which gets more than it needs.
fn shares(widths: &[usize], room: usize) -> Vec<usize> {
    let mut by_width: Vec<usize> = (0..widths.len()).collect();
    by_width.sort_by_key(|at| widths[*at]);
    let (mut shares, mut room) = (vec![0; widths.len()], room);
    for (taken, at) in by_width.iter().enumerate() {
        shares[*at] = widths[*at].min(room / (widths.len() - taken));
        room -= shares[*at];
    }
    shares
}

/// Returns the first items of a list, as many as fit.
fn cut_list(items: &[String], most: usize) -> String {
    let shown =
        (1..items.len()).rev().map(|count| format!("{}, {LEFT_OUT}", items[..count].join(", ")));
    let mut shown = shown.skip_while(|text| text.width() > most);
    shown.next().unwrap_or_else(|| cut_middle(items.first().map_or("", |item| item), most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_cut_separately() {
        let name = main("System.Console");
        let text = Text::parts([name, fixed("; "), other("/usr/share/dotnet/System.Console.dll")]);
        assert_eq!(text.whole(), "System.Console; /usr/share/dotnet/System.Console.dll");
        assert_eq!(text.cut(36), "System.Console; /usr/s…m.Console.dll");
        assert_eq!(text.cut(30), "System.Console; /usr…nsole.dll");
        let text = Text::parts([main("a!N.Type.Method(int)"), fixed(" 67 %")]);
        assert_eq!(text.cut(23), "a!N.Type.Method(…) 67 %");
        assert_eq!(text.cut(21), "…Type.Method(…) 67 %");
        for most in 0..50 {
            assert!(text.cut(most).width() <= most);
        }
    }

    #[test]
    fn a_list_loses_its_end() {
        let text = Text::List(["run 9 ms", "await 6 ms", "GC 3 ms"].map(str::to_owned).to_vec());
        assert_eq!(text.cut(40), "run 9 ms, await 6 ms, GC 3 ms");
        assert_eq!(text.cut(28), "run 9 ms, await 6 ms, …");
        assert_eq!(text.cut(20), "run 9 ms, …");
        assert_eq!(text.cut(6).width(), 6);
    }
}
