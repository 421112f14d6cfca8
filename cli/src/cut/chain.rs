//! Chains of names: methods and their callers, objects and their holders.

use super::name::{bare, cut_middle, ending};
use super::{LEFT_OUT, Text, cut, shares};
use crate::printable::printable;
use nettrace_analysis::SourceLine;
use unicode_width::UnicodeWidthStr;

/// Minimum columns of a name that is shown cut.
const MIN_FRAME_COLUMNS: usize = 10;

/// Names that lead to each other, such as a method and its callers.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    links: Vec<Link>,
    between: &'static str,
    /// Indices of the links, the most important first: a chain loses the last of them first.
    order: Vec<usize>,
    /// Number of links that are always shown, shortened if need be.
    needed: usize,
}

#[derive(Debug, Clone)]
struct Link {
    /// Whether frames are left out between this link and the one before it.
    follows_gap: bool,
    /// The name as it is ([`WHOLE`]), without its namespace ([`SHORT`]), and without its type where
    /// the type may be left out ([`BARE`]).
    names: [String; 3],
}

const WHOLE: usize = 0;
const SHORT: usize = 1;
const BARE: usize = 2;

/// Stands between a frame and its caller.
const CALLED_BY: &str = " ← ";
/// Stands between the holder of an object and the object.
const HOLDS: &str = " → ";

/// A frame of a chain of callers: its place on the stack, its name without module and arguments,
/// and whether it belongs to the user's own code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller<'n> {
    pub(crate) place: usize,
    pub(crate) name: &'n str,
    /// Whether the name is that of an endpoint, whose dots separate no types.
    pub(crate) is_endpoint: bool,
    pub(crate) is_own: bool,
    pub(crate) line: Option<&'n SourceLine>,
}

/// Returns a stack as `Type.Method ← Type.Method ← …`. The innermost frame, and the first frame of
/// the user's own code, stay longest.
pub(crate) fn callers(frames: &[Caller<'_>]) -> Text {
    let links = frames.iter().enumerate().map(|(at, frame)| {
        let name = printable(frame.name);
        let short = if frame.is_endpoint { &*name } else { ending(&name, 2) }.to_owned();
        let bare = if frame.is_own { short.clone() } else { bare(&short).to_owned() };
        let before = at.checked_sub(1).map(|before| frames[before].place + 1);
        let follows_gap = before.is_some_and(|expected| expected != frame.place);
        let line = frame.line.map(|line| format!(" {}", printable(&line.to_string())));
        let with_line = |name| name + line.as_deref().unwrap_or_default();
        Link { follows_gap, names: [name, short, bare].map(with_line) }
    });
    let own = frames.iter().position(|frame| frame.is_own);
    let mut order: Vec<usize> = (0..frames.len()).collect();
    order.sort_by_key(|at| (*at > 0, Some(*at) != own, !frames[*at].is_own, *at));
    let needed = if own.is_some_and(|own| own > 0) { 2 } else { 1 };
    Text::Chain(Chain { links: links.collect(), between: CALLED_BY, order, needed })
}

/// Returns a path to an object as `static s_items → Object[] → Session`. The root and the object
/// stay longest.
pub(crate) fn way(root: &str, steps: &[String]) -> Text {
    let steps = steps.iter().map(|step| {
        let name = printable(step);
        let short = ending(&name, 1).to_owned();
        Link { follows_gap: false, names: [name, short.clone(), short] }
    });
    let root = printable(root);
    let root = Link { follows_gap: false, names: [root.clone(), root.clone(), root] };
    let links: Vec<Link> = [root].into_iter().chain(steps).collect();
    let last = links.len() - 1;
    let mut order: Vec<usize> = (0..links.len()).collect();
    order.sort_by_key(|at| (*at.min(&(last - at)), *at));
    let needed = links.len().min(2);
    Text::Chain(Chain { links, between: HOLDS, order, needed })
}

impl Chain {
    pub(super) fn whole(&self) -> String {
        let all: Vec<usize> = (0..self.links.len()).collect();
        self.shown(&all, |at| self.links[at].names[WHOLE].clone())
    }

    /// Returns the chosen links, with a mark at each place where links are left out.
    fn shown(&self, chosen: &[usize], name: impl Fn(usize) -> String) -> String {
        let mut text = String::new();
        let mut next = 0;
        for at in chosen {
            let is_gap = *at > next || self.links[*at].follows_gap;
            if *at > 0 {
                text.push_str(self.between);
            }
            if is_gap {
                text.push_str(LEFT_OUT);
                text.push_str(self.between);
            }
            text.push_str(&name(*at));
            next = at + 1;
        }
        if next < self.links.len() {
            text.push_str(self.between);
            text.push_str(LEFT_OUT);
        }
        text
    }

    /// Returns the places of the `count` most important links, in the order of the chain.
    fn chosen(&self, count: usize) -> Vec<usize> {
        let mut chosen: Vec<usize> = self.order.iter().take(count).copied().collect();
        chosen.sort_unstable();
        chosen
    }

    pub(super) fn cut(&self, most: usize) -> String {
        for form in [SHORT, BARE] {
            for count in (self.needed..=self.links.len()).rev() {
                let name = |at: usize| self.links[at].names[form].clone();
                let text = self.shown(&self.chosen(count), name);
                if text.width() <= most {
                    return self.with_next(count, form, most).unwrap_or(text);
                }
            }
        }
        let chosen = self.chosen(self.needed);
        let frame = self.shown(&chosen, |_| String::new()).width();
        let widths: Vec<usize> =
            chosen.iter().map(|at| self.links[*at].names[BARE].width()).collect();
        let rooms = shares(&widths, most.saturating_sub(frame));
        if rooms.iter().any(|room| *room < 4) {
            return cut_middle(&self.shown(&chosen, |at| self.links[at].names[BARE].clone()), most);
        }
        self.shown(&chosen, |at| {
            let room = chosen.iter().position(|one| *one == at).map_or(0, |place| rooms[place]);
            cut(&self.links[at].names[BARE], room)
        })
    }

    /// Returns the chain with the next link cut to the room that is left, because this link may be
    /// what tells the row from other rows.
    fn with_next(&self, count: usize, form: usize, most: usize) -> Option<String> {
        let next = *self.order.get(count)?;
        let chosen = self.chosen(count + 1);
        let shown = |room: usize| {
            self.shown(&chosen, |at| match &self.links[at].names[form] {
                name if at == next => cut(name, room),
                name => name.clone(),
            })
        };
        let room = most.checked_sub(shown(0).width())?;
        (room >= MIN_FRAME_COLUMNS).then(|| shown(room))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(names: &[&str]) -> Text {
        let frames = names.iter().enumerate();
        let frames: Vec<Caller<'_>> = frames
            .map(|(place, name)| Caller {
                place,
                name,
                is_endpoint: false,
                is_own: !name.starts_with("System."),
                line: None,
            })
            .collect();
        callers(&frames)
    }

    #[test]
    fn of_a_chain_of_callers_the_place_where_it_happened_stays() {
        let names = ["N.App.Save", "N.M.App.Run", "N.App..ctor"];
        let text = chain(&names);
        assert_eq!(text.cut(38), names.join(" ← "));
        assert_eq!(text.cut(37), "App.Save ← App.Run ← App..ctor");
        assert_eq!(text.cut(29), "App.Save ← App.Run ← …");
        assert_eq!(text.cut(20), "App.Save ← …");
        assert_eq!(text.cut(10), format!("{} ← …", cut("App.Save", 6)));
    }

    #[test]
    fn frames_of_the_framework_go_before_the_first_frame_of_ones_own() {
        let names = ["System.Monitor.Slow", "System.Monitor.Enter", "My.App.Work", "My.App.Main"];
        let text = chain(&names);
        assert_eq!(text.cut(60), "Monitor.Slow ← Monitor.Enter ← App.Work ← App.Main");
        assert_eq!(text.cut(46), "Monitor.Slow ← … ← App.Work ← App.Main");
        assert_eq!(text.cut(34), "Monitor.Slow ← … ← App.Work ← …");
        assert_eq!(text.cut(24), "Slow ← … ← App.Work ← …");
        let direct = chain(&["System.Monitor.Slow", "My.App.Work", "My.App.Main"]);
        assert_ne!(direct.cut(24), text.cut(24));
        for most in 24..60 {
            assert!(text.cut(most).contains("App."), "{most}: {}", text.cut(most));
            assert!(text.cut(most).width() <= most, "{most}: {}", text.cut(most));
        }
    }

    #[test]
    fn what_differs_after_a_common_beginning_is_shown_at_least_in_part() {
        let of = |caller| chain(&["My.App.Throw", caller, "System.Http.Process"]).cut(36);
        assert_eq!(
            of("System.Routing.EndpointMiddleware.Invoke"),
            "App.Throw ← Endpoi…leware.Invoke ← …"
        );
        assert_ne!(
            of("System.A.HostFilteringMiddleware.Invoke"),
            of("System.A.EndpointMiddleware.Invoke")
        );
    }

    #[test]
    fn frames_between_which_others_lie_show_it() {
        let frame =
            |place, name| Caller { place, name, is_endpoint: false, is_own: true, line: None };
        assert_eq!(callers(&[frame(0, "A.B"), frame(4, "C.D")]).whole(), "A.B ← … ← C.D");
    }

    #[test]
    fn of_a_way_to_an_object_both_ends_stay() {
        let steps = ["N.Object[]", "N.List<N.T>", "N.Session"].map(str::to_owned);
        let text = way("static N.s_items", &steps);
        assert_eq!(text.whole(), "static N.s_items → N.Object[] → N.List<N.T> → N.Session");
        assert_eq!(text.cut(54), "static N.s_items → Object[] → List<N.T> → Session");
        assert_eq!(text.cut(44), "static N.s_items → Object[] → … → Session");
        assert_eq!(text.cut(30), "static N.s_items → … → Session");
        for most in 12..60 {
            assert!(text.cut(most).width() <= most);
        }
    }
}
