//! A flame graph in a single, self-contained SVG file.
//!
//! | | |
//! |---|---|
//! | opened by | any browser; without its script (as an image in a page) it still shows the whole graph |
//! | width | weight in the kind's unit, summed over all threads (CPU: wall time, or CPU time if an operating system took the samples) |
//! | rows | callees below their callers; with `is_by_thread`, threads are the first row |
//! | waiting | frames in which all samples were waiting have a colour of their own. If there are others, only those are shown at first; a click on the legend shows both |
//! | order | by name, so that two graphs can be compared side by side |
//! | colours | by type of frame: managed, native, kernel, unknown; shades by module and type |
//! | types | the allocated or thrown type is shown below its stack |
//! | script | a click zooms; Escape or a click at the top resets. The field at the top (also `/`) searches by regular expression, highlights matches, and shows their share; an invalid expression is reported and searched for as text |
//! | scheme | light or dark, following the user's preference |
//! | kinds | the first of the requested kinds that the trace has |
//! | omitted | frames below 1/10,000 of the width; their number is shown below the title |
//!
//! The file refers to no external fonts or scripts. All texts are escaped. U+FFFD replaces hidden
//! characters and characters that XML does not allow.

mod graph;

use super::{Convert, ConvertError, ConvertOptions, Output};
use crate::model::{Call, FrameKind, Kind, Profile, Resolved, SampleClock, WeightUnit};
use graph::{Boxes, Extent, Graph, Placed, Sums};
use nettrace_export::hidden::is_hidden;
use nettrace_export::units;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

pub(super) const KINDS: &[Kind] = &[Kind::Cpu];

const STYLE: &str = include_str!("flame.css");
const SCRIPT: &str = include_str!("flame.js");

/// Width of the file when it is used as an image, in pixels. In a browser it fits the window.
const WIDTH: u64 = 1200;
/// Height of the header, in pixels.
const HEAD: usize = 94;
const ROW_HEIGHT: usize = 18;
/// Height of the footer, in pixels. It shows details of the frame under the pointer.
const FOOT: usize = 28;
/// Number of parts into which the width of the whole is divided. A part is the unit of widths.
const PARTS: u64 = 1_000_000;
/// Minimum width of a frame to be shown, in parts.
const MIN_PARTS: u64 = PARTS / 10_000;
/// Number of characters that fit in a row of 1,200 pixels.
const LETTERS: u64 = 166;

#[derive(Debug)]
pub(crate) struct Svg<'o> {
    out: Output<'o>,
    options: ConvertOptions,
}

impl<'o> Svg<'o> {
    pub(crate) fn new(out: Box<dyn Write + Send + 'o>, options: &ConvertOptions) -> Svg<'o> {
        let out = Output::new(out, options.is_gzip);
        Svg { out, options: options.clone() }
    }
}

impl Convert for Svg<'_> {
    fn wants_samples(&self) -> bool {
        false
    }

    fn finish(
        self: Box<Self>,
        resolved: &Resolved<'_>,
        profile: &Profile,
    ) -> Result<(), ConvertError> {
        let Svg { out, options } = *self;
        let kind = super::first_kind(&options.kinds_or(KINDS), profile)?;
        let graph = Graph::new(resolved, profile, kind, options.is_by_thread);
        if graph.whole.all.0 == 0 {
            return Err(ConvertError::NothingToShow { wanted: kind.name() });
        }
        let names = Names::new(resolved);
        let boxes = graph.boxes(&names);
        let mut page =
            Page { out, kind, clock: profile.clock(), graph: &graph, line: String::new() };
        page.head(&options.title, &boxes, resolved)?;
        for placed in &boxes.placed {
            page.frame(placed, &names)?;
        }
        page.out.write_all(b"</svg>\n</svg>\n")?;
        Ok(page.out.finish()?)
    }
}

/// Texts and CSS classes for all calls.
struct Names<'r, 'm> {
    resolved: &'r Resolved<'m>,
    classes: Vec<String>,
}

impl<'r, 'm> Names<'r, 'm> {
    fn new(resolved: &'r Resolved<'m>) -> Self {
        let classes = resolved.all_frames().iter().map(|frame| {
            let letter = match frame.kind {
                FrameKind::Managed => 'm',
                FrameKind::Native => 'n',
                FrameKind::Kernel => 'k',
                FrameKind::Unknown => 'u',
            };
            let sum = frame
                .module
                .bytes()
                .fold(7u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
            format!("{letter} s{}", sum % 6)
        });
        Names { resolved, classes: classes.collect() }
    }

    fn text(&self, call: Option<Call>) -> Cow<'_, str> {
        match call {
            Some(Call::Frame(frame)) => self.resolved.text(frame).into(),
            Some(Call::Thread(thread)) => self.resolved.model().thread_label(thread).into(),
            Some(Call::Label(kind, label)) => {
                super::label_text(kind, self.resolved.model().text(label)).into()
            }
            Some(call) => call.fixed_text().unwrap_or_default().into(),
            None => "all".into(),
        }
    }

    /// Returns the short form `Type.Method` of a call's name, for frames that have not enough room
    /// for the full name.
    fn short(&self, call: Option<Call>) -> Option<String> {
        let Some(Call::Frame(frame)) = call else { return None };
        let frame = self.resolved.frame(frame)?;
        Some(match frame.type_name.is_empty() {
            true => frame.method.clone(),
            false => format!("{}.{}", frame.type_name, frame.method),
        })
    }

    fn class(&self, call: Option<Call>) -> &str {
        match call {
            Some(Call::Frame(frame)) => {
                self.classes.get(frame.index()).map_or("u s0", |class| class)
            }
            Some(Call::Thread(_)) => "t s0",
            Some(Call::Label(..)) => "l s0",
            Some(_) => "u s0",
            None => "a s0",
        }
    }
}

/// The file while it is written.
struct Page<'g, 'o> {
    out: Output<'o>,
    kind: Kind,
    clock: SampleClock,
    graph: &'g Graph<'g>,
    line: String,
}

impl Page<'_, '_> {
    fn head(&mut self, title: &str, boxes: &Boxes, resolved: &Resolved<'_>) -> io::Result<()> {
        let height =
            HEAD.saturating_add(boxes.rows.saturating_mul(ROW_HEIGHT)).saturating_add(FOOT);
        let title = if title.is_empty() { "trace" } else { title };
        let mut text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"page\" \
             width=\"{WIDTH}\" height=\"{height}\" font-family=\"Verdana, DejaVu Sans, sans-serif\" \
             font-size=\"12\">\n<title>"
        );
        escape(&mut text, title);
        let _ = write!(
            text,
            "</title>\n<style>\n{STYLE}</style>\n<script><![CDATA[\n{SCRIPT}]]></script>\n\
             <rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n<text class=\"title\" x=\"8\" y=\"20\">"
        );
        escape(&mut text, title);
        let left_out = match boxes.left_out {
            0 => String::new(),
            1 => "; 1 frame below 0.01 % is left out".to_owned(),
            count => format!("; {} frames below 0.01 % are left out", units::count(count)),
        };
        text.push_str("</text>\n<text class=\"about\" id=\"about\" x=\"8\" y=\"38\"");
        if self.graph.has_more() {
            let _ =
                write!(text, " data-all=\"{}{left_out}\"", self.about(self.graph.whole.all, ""));
        }
        let what = if self.graph.has_more() { " of what ran" } else { "" };
        let _ = writeln!(
            text,
            ">{}{left_out}</text>",
            self.about(self.graph.first(self.graph.whole), what)
        );
        self.legend(&mut text, resolved);
        text.push_str(
            "<foreignObject id=\"tools\" x=\"0\" y=\"62\" width=\"100%\" height=\"26\"><div \
             xmlns=\"http://www.w3.org/1999/xhtml\"><input id=\"search\" type=\"search\" placeholder=\"Search \
             (regular expression)\" aria-label=\"Search\"/> <button id=\"reset\" type=\"button\" \
             hidden=\"hidden\">Reset zoom</button> <span id=\"matched\"></span></div></foreignObject>\n",
        );
        let _ = writeln!(
            text,
            "<text id=\"detail\" x=\"8\" y=\"{}\"> </text>",
            height.saturating_sub(9)
        );
        let _ = writeln!(text, "<svg id=\"frames\" x=\"0\" y=\"{HEAD}\" width=\"100%\">");
        self.out.write_all(text.as_bytes())
    }

    /// Returns a line that says what the widths of frames mean.
    fn about(&self, (weight, samples): Sums, what: &str) -> String {
        let weight = self.weight(weight);
        match self.kind {
            Kind::Cpu => {
                let clock = self.clock.name();
                let samples = units::counted(samples, "CPU sample");
                format!("{samples}{what}, {weight} of {clock} summed over threads")
            }
            Kind::Heap => {
                let objects = units::counted(samples, "object");
                format!("Kept alive by what stands above: {objects}, {weight}")
            }
            kind => format!("{}: {}, {weight}", kind.name(), units::counted(samples, "sample")),
        }
    }

    /// Writes the colours in use and their meaning, and the switch that shows waiting samples.
    fn legend(&self, text: &mut String, resolved: &Resolved<'_>) {
        let has = |kind| resolved.all_frames().iter().any(|frame| frame.kind == kind);
        let is_heap = self.kind == Kind::Heap;
        let kinds = [
            (has(FrameKind::Managed), "m s0", if is_heap { "objects" } else { "managed" }),
            (has(FrameKind::Native), "n s0", "native"),
            (has(FrameKind::Kernel), "k s0", "kernel"),
            (has(FrameKind::Unknown), "u s0", if is_heap { "roots" } else { "unknown" }),
            (self.graph.has_labels, "l s0", "type"),
        ];
        let mut x = 8usize;
        for (_, class, name) in kinds.into_iter().filter(|(is_used, ..)| *is_used) {
            let _ = writeln!(
                text,
                "<rect class=\"{class}\" x=\"{x}\" y=\"46\" width=\"12\" height=\"12\"/><text class=\"about\" x=\"{}\" y=\"56\">{name}</text>",
                x.saturating_add(17),
            );
            x = x.saturating_add(90);
        }
        let (weight, samples) = self.graph.whole.waiting;
        if samples == 0 {
            return;
        }
        let waiting =
            format!("waiting: {}, {}", self.weight(weight), units::counted(samples, "sample"));
        let (switch, hidden) = match self.graph.has_more() {
            true => (
                " id=\"waiting\" role=\"switch\" tabindex=\"0\" aria-checked=\"false\"",
                ", not shown",
            ),
            false => ("", ""),
        };
        let _ = writeln!(
            text,
            "<g{switch}><rect class=\"w\" x=\"{x}\" y=\"46\" width=\"12\" height=\"12\"/><text class=\"about\" x=\"{}\" y=\"56\" data-what=\"{waiting}\">{waiting}{hidden}</text></g>",
            x.saturating_add(17),
        );
    }

    fn weight(&self, weight: u64) -> String {
        match self.kind.unit() {
            WeightUnit::Nanoseconds => format!("{} ms", units::duration_in_ms(weight)),
            WeightUnit::Bytes => units::counted(weight, "byte"),
            WeightUnit::Count => units::count(weight),
        }
    }

    /// Returns the sums of a frame as text: `(12.000 ms, 3.40 %, 12 samples)`.
    fn sums(&self, (weight, samples): Sums, (whole, _): Sums) -> String {
        let whole = u128::from(whole);
        let share = u128::from(weight).saturating_mul(20_000).saturating_add(whole);
        let share = share.checked_div(whole.saturating_mul(2)).unwrap_or(0);
        let what = if self.kind == Kind::Heap { "object" } else { "sample" };
        let (weight, samples) = (self.weight(weight), units::counted(samples, what));
        format!("({weight}, {}.{:02} %, {samples})", share / 100, share % 100)
    }

    fn frame(&mut self, placed: &Placed, names: &Names<'_, '_>) -> io::Result<()> {
        let graph = self.graph;
        let text = names.text(placed.call);
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        let y = placed.row.saturating_mul(ROW_HEIGHT);
        line.push_str("<g");
        let short = names.short(placed.call);
        if let Some(short) = short.as_deref().filter(|short| *short != text) {
            line.push_str(" data-short=\"");
            escape(&mut line, short);
            line.push('"');
        }
        if graph.has_more() {
            let sums = self.sums(placed.share.all, graph.whole.all);
            let Extent { start, width } = placed.all;
            let width = if placed.all.is_shown() { width } else { 0 };
            let _ = write!(line, " data-all=\"{} {} {sums}\"", percent(start), percent(width));
        }
        if !placed.first.is_shown() {
            line.push_str(" style=\"display:none\"");
        }
        line.push_str("><title>");
        escape(&mut line, &text);
        let (x, width) = (percent(placed.first.start), percent(placed.first.width));
        let _ = write!(
            line,
            " {}</title><rect class=\"{}\" x=\"{x}%\" y=\"{y}\" width=\"{width}%\" height=\"{}\"/>",
            self.sums(graph.first(placed.share), graph.first(graph.whole)),
            if placed.share.only_waits() { "w" } else { names.class(placed.call) },
            ROW_HEIGHT.saturating_sub(1),
        );
        if let Some(fitting) = fitting(&text, short, placed.first.width) {
            let _ = write!(line, "<text x=\"{x}%\" dx=\"3\" y=\"{}\">", y.saturating_add(13));
            escape(&mut line, &fitting);
            line.push_str("</text>");
        }
        line.push_str("</g>\n");
        self.out.write_all(line.as_bytes())?;
        self.line = line;
        Ok(())
    }
}

/// Returns a number of parts as a percentage of the whole.
fn percent(parts: u64) -> String {
    format!("{}.{:04}", parts / (PARTS / 100), parts % (PARTS / 100))
}

/// Returns the text that fits into a frame of the image: the full text, the short form, or the
/// beginning of the short form. The script in the file uses the same rule for the browser's window.
fn fitting(text: &str, short: Option<String>, parts: u64) -> Option<String> {
    let room = usize::try_from(parts.saturating_mul(LETTERS) / PARTS).ok()?;
    if room < 3 {
        return None;
    }
    if text.chars().count() <= room {
        return Some(text.to_owned());
    }
    let short = short.unwrap_or_else(|| text.to_owned());
    if short.chars().count() <= room {
        return Some(short);
    }
    let mut cut: String = short.chars().take(room.saturating_sub(1)).collect();
    cut.push('…');
    Some(cut)
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            // XML does not allow U+FFFE and U+FFFF, nor most control characters.
            c if is_hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                out.push(char::REPLACEMENT_CHARACTER);
            }
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_cut_where_they_end() {
        let mut out = String::new();
        escape(&mut out, "A<B>&\"\u{1}\n]]>é");
        assert_eq!(out, "A&lt;B&gt;&amp;&quot;\u{fffd}\u{fffd}]]&gt;é");
        let name = "gpj.\u{202e}exe\u{200b}\u{feff}\u{3164}\u{9b}\u{ffff}日";
        out.clear();
        escape(&mut out, name);
        // As everywhere else, but for what XML does not allow.
        assert_eq!(out, nettrace_export::hidden::printable(name).replace('\u{ffff}', "\u{fffd}"));
        assert_eq!(out, "gpj.\u{fffd}exe\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}日");
        let fits = |text, short: &str, parts| fitting(text, Some(short.to_owned()), parts);
        assert_eq!(fits("abcdef", "def", PARTS).as_deref(), Some("abcdef"));
        assert_eq!(fits("abcdef", "def", PARTS / 40).as_deref(), Some("def"));
        assert_eq!(fits("abcééééééé", "ééééééé", PARTS / 40).as_deref(), Some("ééé…"));
        assert_eq!(fits("abcdef", "def", PARTS / 100), None);
        assert_eq!(
            (units::count(1_234_567), units::count(12)),
            ("1,234,567".to_owned(), "12".to_owned())
        );
        assert_eq!(percent(123_456), "12.3456");
    }
}
