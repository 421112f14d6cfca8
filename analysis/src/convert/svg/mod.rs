//! A flame graph: one SVG file that holds all it needs.
//!
//! | | |
//! |---|---|
//! | opened by | any browser; without its script (as an image in a page) it still shows the whole graph |
//! | width | weight in the kind's unit (CPU: wall time, or CPU time where an operating system took the samples), of all threads together |
//! | rows | callers above whom they called; with `is_by_thread` threads are the first row |
//! | waiting | frames below which all samples waited have a colour of their own. If there are others, those are shown first and alone; a click at the legend shows both |
//! | order | by name, so that two graphs can be laid side by side |
//! | colours | by what a frame is: managed, native, kernel, unknown; shades by module and type |
//! | types | what was allocated or thrown stands below its stack |
//! | script | a click zooms, Escape or a click at the top goes back; the field at the top searches by regular expression (`/` goes there), marks what matches, and tells its part of the whole; what is none is said and searched as text |
//! | scheme | light or dark, as the reader prefers |
//! | kinds | the first of those asked for that the trace has |
//! | left out | frames below 1/10,000 of the width; how many is said under the title |
//!
//! Nothing is fetched: no fonts, no scripts. All texts are escaped; characters that XML does not
//! allow become spaces.

use super::{Convert, ConvertError, ConvertOptions, Output};
use crate::model::{
    Call, CallNode, CallNodes, FrameKind, Kind, Profile, ProfileKey, Resolved, SampleClock, ThreadState, Unit,
};
use nettrace_export::units;
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
const HEAD: usize = 94;
const ROW_HEIGHT: usize = 18;
/// Room below the last row, for what the pointer is at.
const FOOT: usize = 28;
/// A frame's width is given in parts of the whole: this many are all of it.
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
    pub fn new(out: Box<dyn Write + Send + 'o>, options: &ConvertOptions) -> Svg<'o> {
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
        let graph = Graph::new(resolved, profile, kind, options.is_by_thread);
        if graph.calls.node(0).total_weight == 0 {
            return Err(ConvertError::NothingToShow { wanted: kind.name() });
        }
        let names = Names::new(resolved);
        let boxes = boxes(&graph, &names);
        let mut page = Page { out, kind, clock: profile.clock(), graph: &graph, line: String::new() };
        page.head(&options.title, &boxes, resolved)?;
        for placed in &boxes.placed {
            page.frame(placed, &names)?;
        }
        page.out.write_all(b"</svg>\n</svg>\n")?;
        Ok(page.out.finish()?)
    }
}

/// What is drawn: all calls, and how much of each waited.
struct Graph {
    calls: CallNodes,
    waiting_weights: Vec<u64>,
    waiting_samples: Vec<u64>,
    has_labels: bool,
}

/// Weight and samples.
type Sums = (u64, u64);

impl Graph {
    fn new(resolved: &Resolved<'_>, profile: &Profile, kind: Kind, is_by_thread: bool) -> Graph {
        let rows = profile.rows();
        let path = |key: &ProfileKey| {
            let frames = resolved.selected(key.stack, key.mode)?;
            let thread = is_by_thread.then_some(Call::Thread(key.thread));
            Some(thread.into_iter().chain(super::labelled(key, frames)))
        };
        let mut calls = CallNodes::for_paths(|| {
            rows.iter().filter(|(key, _)| key.kind == kind).filter_map(|(key, _)| path(key))
        });
        let (mut weights, mut samples) = (Vec::new(), Vec::new());
        let mut has_labels = false;
        let add = |list: &mut Vec<u64>, place: usize, number: u64| {
            if list.len() <= place {
                list.resize(place.saturating_add(1), 0);
            }
            if let Some(sum) = list.get_mut(place) {
                *sum = sum.saturating_add(number);
            }
        };
        for (key, totals) in rows.iter().filter(|(key, _)| key.kind == kind) {
            let Some(path) = path(key) else { continue };
            let leaf = calls.add(path, totals);
            has_labels |= key.label.is_some();
            if kind == Kind::Cpu && resolved.state(key.stack, key.mode) == ThreadState::Waiting {
                add(&mut weights, leaf, totals.weight);
                add(&mut samples, leaf, totals.samples);
            }
        }
        let [waiting_weights, waiting_samples] = [weights, samples].map(|list| calls.totals(&list));
        Graph { calls, waiting_weights, waiting_samples, has_labels }
    }

    fn all(&self, node: usize) -> Sums {
        let row = self.calls.node(node);
        (row.total_weight, row.total_samples)
    }

    fn waiting(&self, node: usize) -> Sums {
        let of = |list: &[u64]| list.get(node).copied().unwrap_or(0);
        (of(&self.waiting_weights), of(&self.waiting_samples))
    }

    fn running(&self, node: usize) -> Sums {
        let ((weight, samples), (waiting, waiting_samples)) = (self.all(node), self.waiting(node));
        (weight.saturating_sub(waiting), samples.saturating_sub(waiting_samples))
    }

    /// What is shown first: what ran, if anything did.
    fn first(&self, node: usize) -> Sums {
        if self.running(0).0 > 0 { self.running(node) } else { self.all(node) }
    }

    /// Whether there is more to show than what is shown first.
    fn has_more(&self) -> bool {
        self.running(0).0 > 0 && self.waiting(0).0 > 0
    }

    /// Whether all there is of a node waited.
    fn only_waits(&self, node: usize) -> bool {
        self.waiting(node).0 > 0 && self.running(node).0 == 0
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
            Some(Call::Label(kind, label)) => {
                super::label_text(kind, self.resolved.model().texts().get(label)).into()
            }
            Some(Call::Deeper) => Call::DEEPER.into(),
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
            Some(Call::Label(..)) => "l s0",
            Some(Call::Deeper) => "u s0",
            None => "a s0",
        }
    }
}

/// Where something stands, in parts of the whole.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    start: u64,
    width: u64,
}

impl Extent {
    fn is_shown(self) -> bool {
        self.width >= FEWEST_PARTS
    }
}

/// A frame at its place.
struct Placed {
    node: usize,
    row: usize,
    first: Extent,
    all: Extent,
}

struct Boxes {
    placed: Vec<Placed>,
    rows: usize,
    left_out: u64,
}

/// Where frames stand: each within its caller, side by side in the order of their names.
fn boxes(graph: &Graph, names: &Names<'_, '_>) -> Boxes {
    let below = graph.calls.below(|a, b| names.text(a).cmp(&names.text(b)));
    let extent = |left: u64, (weight, _): Sums, (whole, _): Sums| {
        let part = |weight: u64| {
            let part = u128::from(weight).saturating_mul(u128::from(PARTS)).checked_div(u128::from(whole));
            part.and_then(|part| u64::try_from(part).ok()).unwrap_or(0)
        };
        let start = part(left);
        Extent { start, width: part(left.saturating_add(weight)).saturating_sub(start) }
    };
    let wholes = (graph.first(0), graph.all(0));
    let mut boxes = Boxes { placed: Vec::new(), rows: 0, left_out: 0 };
    // Node, row, and the weights that stand on its left.
    let mut waiting = vec![(0usize, 0usize, (0u64, 0u64))];
    while let Some((node, row, left)) = waiting.pop() {
        let first = extent(left.0, graph.first(node), wholes.0);
        let all = extent(left.1, graph.all(node), wholes.1);
        if !first.is_shown() && !all.is_shown() {
            boxes.left_out = boxes.left_out.saturating_add(1);
            continue;
        }
        boxes.placed.push(Placed { node, row, first, all });
        boxes.rows = boxes.rows.max(row.saturating_add(1));
        let mut at = left;
        for child in below.get(node).into_iter().flatten() {
            waiting.push((*child, row.saturating_add(1), at));
            at.0 = at.0.saturating_add(graph.first(*child).0);
            at.1 = at.1.saturating_add(graph.all(*child).0);
        }
    }
    boxes
}

/// The file while it is written.
struct Page<'g, 'o> {
    out: Output<'o>,
    kind: Kind,
    clock: SampleClock,
    graph: &'g Graph,
    line: String,
}

impl Page<'_, '_> {
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
        let left_out = match boxes.left_out {
            0 => String::new(),
            count => format!("; {} frames below 0.01 % are left out", units::count(count)),
        };
        text.push_str("</text>\n<text class=\"about\" id=\"about\" x=\"8\" y=\"38\"");
        if self.graph.has_more() {
            let _ = write!(text, " data-all=\"{}{left_out}\"", self.about(self.graph.all(0), ""));
        }
        let what = if self.graph.has_more() { " of what ran" } else { "" };
        let _ = writeln!(text, ">{}{left_out}</text>", self.about(self.graph.first(0), what));
        self.legend(&mut text, resolved);
        text.push_str(
            "<foreignObject id=\"tools\" x=\"0\" y=\"62\" width=\"100%\" height=\"26\"><div \
             xmlns=\"http://www.w3.org/1999/xhtml\"><input id=\"search\" type=\"search\" placeholder=\"Search \
             (regular expression)\" aria-label=\"Search\"/> <button id=\"reset\" type=\"button\" \
             hidden=\"hidden\">Reset zoom</button> <span id=\"matched\"></span></div></foreignObject>\n",
        );
        let _ = writeln!(text, "<text id=\"detail\" x=\"8\" y=\"{}\"> </text>", height.saturating_sub(9));
        let _ = writeln!(text, "<svg id=\"frames\" x=\"0\" y=\"{HEAD}\" width=\"100%\">");
        self.out.write_all(text.as_bytes())
    }

    /// What widths mean, in a line.
    fn about(&self, (weight, samples): Sums, what: &str) -> String {
        let (weight, samples) = (self.weight(weight), units::count(samples));
        match self.kind {
            Kind::Cpu => {
                let clock = self.clock.name();
                format!("{samples} CPU samples{what}, {weight} of {clock} summed over threads")
            }
            Kind::Heap => format!("Kept alive by what stands above: {samples} objects, {weight}"),
            kind => format!("{}: {samples} samples, {weight}", kind.name()),
        }
    }

    /// The colours that are in use, and what they mean; the switch that shows what waited.
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
        let (weight, samples) = self.graph.waiting(0);
        if samples == 0 {
            return;
        }
        let waiting = format!("waiting: {}, {} samples", self.weight(weight), units::count(samples));
        let (switch, hidden) = match self.graph.has_more() {
            true => (" id=\"waiting\" role=\"switch\" tabindex=\"0\" aria-checked=\"false\"", ", not shown"),
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
            Unit::Nanoseconds => {
                let micros = weight / 1000;
                format!("{}.{:03} ms", units::count(micros / 1000), micros % 1000)
            }
            Unit::Bytes => format!("{} bytes", units::count(weight)),
            Unit::Count => units::count(weight),
        }
    }

    /// `(12.000 ms, 3.40 %, 12 samples)`.
    fn sums(&self, (weight, samples): Sums, (whole, _): Sums) -> String {
        let whole = u128::from(whole);
        let share = u128::from(weight).saturating_mul(20_000).saturating_add(whole);
        let share = share.checked_div(whole.saturating_mul(2)).unwrap_or(0);
        let (weight, samples) = (self.weight(weight), units::count(samples));
        let what = if self.kind == Kind::Heap { "objects" } else { "samples" };
        format!("({weight}, {}.{:02} %, {samples} {what})", share / 100, share % 100)
    }

    fn frame(&mut self, placed: &Placed, names: &Names<'_, '_>) -> io::Result<()> {
        let (graph, node) = (self.graph, self.graph.calls.node(placed.node));
        let text = names.text(&node);
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        let y = placed.row.saturating_mul(ROW_HEIGHT);
        line.push_str("<g");
        let short = names.short(&node);
        if let Some(short) = short.as_deref().filter(|short| *short != text) {
            line.push_str(" data-short=\"");
            escape(&mut line, short);
            line.push('"');
        }
        if graph.has_more() {
            let sums = self.sums(graph.all(placed.node), graph.all(0));
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
            self.sums(graph.first(placed.node), graph.first(0)),
            if graph.only_waits(placed.node) { "w" } else { names.class(&node) },
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
        assert_eq!((units::count(1_234_567), units::count(12)), ("1,234,567".to_owned(), "12".to_owned()));
        assert_eq!(percent(123_456), "12.3456");
    }
}
