//! A flame graph: one SVG file that holds all it needs.
//!
//! | | |
//! |---|---|
//! | opened by | any browser; without its script (as an image in a page) it still shows the whole graph |
//! | width | weight in the kind's unit (CPU: wall time, or CPU time where an operating system took the samples), of all threads together |
//! | rows | callers above whom they called; with `is_by_thread` threads are the first row |
//! | order | by name, so that two graphs can be laid side by side |
//! | colours | by what a frame is: managed, native, kernel, unknown; shades by module and type |
//! | script | a click zooms, Escape or a click at the top goes back; the field at the top searches by regular expression (`/` goes there), marks what matches, and tells its part of the whole |
//! | kinds | the first of those asked for that the trace has |
//! | left out | frames below 1/10,000 of the width; how many is said under the title |
//!
//! Nothing is fetched: no fonts, no scripts. All texts are escaped; characters that XML does not
//! allow become spaces.

use super::{Convert, ConvertError, ConvertOptions, Output};
use crate::model::{Call, CallNode, CallNodes, FrameKind, Kind, Profile, Resolved, SampleClock, Unit};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// What is shown when nothing else is asked for.
pub(super) const KINDS: &[Kind] = &[Kind::Cpu];

const STYLE: &str = include_str!("flame.css");
const SCRIPT: &str = include_str!("flame.js");

/// Width of the file as an image, in pixels; a browser's window decides otherwise.
const WIDTH: u64 = 1200;
/// Room above the first row.
const HEAD: usize = 64;
const ROW_HEIGHT: usize = 18;
/// Room below the last row, for what the pointer is at.
const FOOT: usize = 28;
/// A frame's width is told in so many parts of the whole.
const PARTS: u64 = 1_000_000;
/// Frames with fewer parts are left out.
const FEWEST_PARTS: u64 = PARTS / 10_000;
/// Letters that fit in a row of 1,200 pixels.
const LETTERS: u64 = 166;

/// Writes a flame graph.
#[derive(Debug)]
pub struct Svg<'o> {
    out: Output<'o>,
    options: ConvertOptions,
}

impl<'o> Svg<'o> {
    /// Writes to `out`.
    pub fn new(out: Box<dyn Write + 'o>, options: &ConvertOptions) -> Svg<'o> {
        let out = Output::new(out, options.is_gzip);
        Svg { out, options: options.clone() }
    }
}

impl Convert for Svg<'_> {
    fn wants_samples(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>, resolved: &Resolved<'_>, profile: &Profile) -> Result<(), ConvertError> {
        let Svg { out, options } = *self;
        let kind = super::first_kind(&options.kinds_or(KINDS), profile)?;
        let mut calls = CallNodes::new();
        for (key, totals) in profile.rows().iter().filter(|(key, _)| key.kind == kind) {
            let Some(frames) = resolved.selected(key.stack, key.mode) else { continue };
            let thread = options.is_by_thread.then_some(Call::Thread(key.thread));
            let frames = frames.iter().rev().map(|frame| Call::Frame(*frame));
            calls.add(thread.into_iter().chain(frames), totals);
        }
        if calls.node(0).total_weight == 0 {
            return Err(ConvertError::NothingToShow { wanted: kind.name() });
        }
        let names = Names::new(resolved);
        let boxes = boxes(&calls, &names);
        let mut page = Page { out, kind, clock: profile.clock(), whole: calls.node(0), line: String::new() };
        page.head(&options.title, &boxes, resolved)?;
        for placed in &boxes.placed {
            page.frame(placed, &calls.node(placed.node), &names)?;
        }
        page.out.write_all(b"</svg>\n</svg>\n")?;
        Ok(page.out.finish()?)
    }
}

/// Texts and classes of all calls.
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

    fn text(&self, node: &CallNode) -> Cow<'_, str> {
        match node.call {
            Some(Call::Frame(frame)) => self.resolved.text(frame).into(),
            Some(Call::Thread(thread)) => self.resolved.model().thread_label(thread).into(),
            None => "all".into(),
        }
    }

    /// `Type.Method`, for where there is no room for more.
    fn short(&self, node: &CallNode) -> Option<String> {
        let Some(Call::Frame(frame)) = node.call else { return None };
        let frame = self.resolved.frame(frame)?;
        Some(match frame.type_name.is_empty() {
            true => frame.method.clone(),
            false => format!("{}.{}", frame.type_name, frame.method),
        })
    }

    fn class(&self, node: &CallNode) -> &str {
        match node.call {
            Some(Call::Frame(frame)) => self.classes.get(frame.index()).map_or("u s0", |class| class),
            Some(Call::Thread(_)) => "t s0",
            None => "a s0",
        }
    }
}

/// A frame at its place: all in parts of the whole.
struct Placed {
    node: usize,
    row: usize,
    start: u64,
    width: u64,
}

struct Boxes {
    placed: Vec<Placed>,
    rows: usize,
    left_out: u64,
}

/// Where frames stand: each within its caller, side by side in the order of their names.
fn boxes(calls: &CallNodes, names: &Names<'_, '_>) -> Boxes {
    let below = calls.below(|a, b| names.text(a).cmp(&names.text(b)));
    let whole = calls.node(0).total_weight;
    let part = |weight: u64| {
        let part = u128::from(weight).saturating_mul(u128::from(PARTS)).checked_div(u128::from(whole));
        part.and_then(|part| u64::try_from(part).ok()).unwrap_or(0)
    };
    let mut boxes = Boxes { placed: Vec::new(), rows: 0, left_out: 0 };
    // Node, row, and the weight that stands on its left.
    let mut waiting = vec![(0usize, 0usize, 0u64)];
    while let Some((node, row, left)) = waiting.pop() {
        let end = left.saturating_add(calls.node(node).total_weight);
        let width = part(end).saturating_sub(part(left));
        if width < FEWEST_PARTS {
            boxes.left_out = boxes.left_out.saturating_add(1);
            continue;
        }
        boxes.placed.push(Placed { node, row, start: part(left), width });
        boxes.rows = boxes.rows.max(row.saturating_add(1));
        let mut at = left;
        for child in below.get(node).into_iter().flatten() {
            waiting.push((*child, row.saturating_add(1), at));
            at = at.saturating_add(calls.node(*child).total_weight);
        }
    }
    boxes
}

/// The file while it is written.
struct Page<'o> {
    out: Output<'o>,
    kind: Kind,
    clock: SampleClock,
    whole: CallNode,
    line: String,
}

impl Page<'_> {
    fn head(&mut self, title: &str, boxes: &Boxes, resolved: &Resolved<'_>) -> io::Result<()> {
        let height = HEAD.saturating_add(boxes.rows.saturating_mul(ROW_HEIGHT)).saturating_add(FOOT);
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
        let _ = write!(text, "</text>\n<text class=\"about\" x=\"8\" y=\"38\">{}", self.about());
        if boxes.left_out > 0 {
            let _ = write!(text, "; {} frames below 0.01 % are left out", grouped(boxes.left_out));
        }
        text.push_str("</text>\n");
        legend(&mut text, resolved);
        text.push_str(
            "<foreignObject id=\"tools\" x=\"100%\" y=\"6\" width=\"380\" height=\"28\" \
             transform=\"translate(-388)\"><div xmlns=\"http://www.w3.org/1999/xhtml\"><button id=\"reset\" \
             type=\"button\" hidden=\"hidden\">Reset zoom</button> <span id=\"matched\"></span> <input \
             id=\"search\" type=\"search\" placeholder=\"Search (regular expression)\" \
             aria-label=\"Search\"/></div></foreignObject>\n",
        );
        let _ = writeln!(text, "<text id=\"detail\" x=\"8\" y=\"{}\"> </text>", height.saturating_sub(9));
        let _ = writeln!(text, "<svg id=\"frames\" x=\"0\" y=\"{HEAD}\" width=\"100%\">");
        self.out.write_all(text.as_bytes())
    }

    /// What widths mean, in a line.
    fn about(&self) -> String {
        let samples = grouped(self.whole.total_samples);
        let weight = self.weight(self.whole.total_weight);
        match self.kind {
            Kind::Cpu => {
                format!("{samples} CPU samples, {weight} of {} summed over threads", self.clock.name())
            }
            kind => format!("{}: {samples} samples, {weight}", kind.name()),
        }
    }

    fn weight(&self, weight: u64) -> String {
        match self.kind.unit() {
            Unit::Nanoseconds => {
                let micros = weight / 1000;
                format!("{}.{:03} ms", grouped(micros / 1000), micros % 1000)
            }
            Unit::Bytes => format!("{} bytes", grouped(weight)),
            Unit::Count => grouped(weight),
        }
    }

    fn frame(&mut self, placed: &Placed, node: &CallNode, names: &Names<'_, '_>) -> io::Result<()> {
        let text = names.text(node);
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        let y = placed.row.saturating_mul(ROW_HEIGHT);
        let (x, width) = (percent(placed.start), percent(placed.width));
        line.push_str("<g");
        let short = names.short(node);
        if let Some(short) = short.as_deref().filter(|short| *short != text) {
            line.push_str(" data-short=\"");
            escape(&mut line, short);
            line.push('"');
        }
        line.push_str("><title>");
        escape(&mut line, &text);
        let share = u128::from(node.total_weight)
            .saturating_mul(20_000)
            .saturating_add(u128::from(self.whole.total_weight))
            .checked_div(u128::from(self.whole.total_weight).saturating_mul(2))
            .unwrap_or(0);
        let _ = write!(
            line,
            " ({}, {}.{:02} %, {} samples)</title><rect class=\"{}\" x=\"{x}%\" y=\"{y}\" width=\"{width}%\" height=\"{}\"/>",
            self.weight(node.total_weight),
            share / 100,
            share % 100,
            grouped(node.total_samples),
            names.class(node),
            ROW_HEIGHT.saturating_sub(1),
        );
        if let Some(fitting) = fitting(&text, short, placed.width) {
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

/// The colours that are in use, and what they mean.
fn legend(text: &mut String, resolved: &Resolved<'_>) {
    let kinds = [
        (FrameKind::Managed, "m", "managed"),
        (FrameKind::Native, "n", "native"),
        (FrameKind::Kernel, "k", "kernel"),
        (FrameKind::Unknown, "u", "unknown"),
    ];
    let mut x = 8usize;
    for (kind, class, name) in kinds {
        if !resolved.all_frames().iter().any(|frame| frame.kind == kind) {
            continue;
        }
        let _ = writeln!(
            text,
            "<rect class=\"{class} s0\" x=\"{x}\" y=\"46\" width=\"12\" height=\"12\"/><text class=\"about\" x=\"{}\" y=\"56\">{name}</text>",
            x.saturating_add(17),
        );
        x = x.saturating_add(90);
    }
}

/// Parts of the whole as percent.
fn percent(parts: u64) -> String {
    format!("{}.{:04}", parts / (PARTS / 100), parts % (PARTS / 100))
}

/// What fits into a frame of the image: the whole text, else its short form, else the short form's
/// begin. The script fits it to the window in the same way.
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

/// A number with commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len().saturating_sub(at)).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            // What XML does not allow at all.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
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
        assert_eq!(out, "A&lt;B&gt;&amp;&quot;  ]]&gt;é");
        let fits = |text, short: &str, parts| fitting(text, Some(short.to_owned()), parts);
        assert_eq!(fits("abcdef", "def", PARTS).as_deref(), Some("abcdef"));
        assert_eq!(fits("abcdef", "def", PARTS / 40).as_deref(), Some("def"));
        assert_eq!(fits("abcééééééé", "ééééééé", PARTS / 40).as_deref(), Some("ééé…"));
        assert_eq!(fits("abcdef", "def", PARTS / 100), None);
        assert_eq!((grouped(1_234_567), grouped(12)), ("1,234,567".to_owned(), "12".to_owned()));
        assert_eq!(percent(123_456), "12.3456");
    }
}
