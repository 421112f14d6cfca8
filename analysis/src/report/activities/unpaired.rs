//! Activities whose own stop is not known: it is missing, or one of several that cannot be told
//! apart.

use super::view::ActivitySite;
use super::{Activities, BegunActivity};
use crate::model::intervals::{ActivityInterval, Bounds, Interval, OpenActivity, SharedTime};
use crate::report::contract::Moment;
use crate::report::counts::increase;
use crate::report::occurrence::Lasted;
use nettrace_parser::Event;

impl Activities {
    /// Counts activities that have stopped, each at one of several stops that cannot be told apart.
    pub(super) fn ended_unclearly(
        &mut self,
        stopped: Vec<ActivityInterval<BegunActivity>>,
        shared: Option<SharedTime>,
        event: &Event<'_>,
        moment: &Moment,
    ) {
        let (mut of_all, mut of_http) = (Vec::new(), Vec::new());
        let mut is_complete = true;
        for Interval { start, what: activity, .. } in stopped {
            let (name, number, begun) = (activity.name, activity.number, activity.what);
            if let Some(chosen) = &mut self.chosen {
                chosen.has_stopped((name, number));
            }
            if let (Some(parts), Some(part)) = (&mut self.parts, begun.part) {
                parts.stop(part, event, moment);
                parts.take_threads();
            }
            if let Some(spans) = &mut self.chosen_spans {
                spans.has_no_end(&begun, name);
            }
            is_complete &= begun.is_selected;
            if !begun.is_selected {
                continue;
            }
            let stack = begun.stack;
            if let Some(mut request) = begun.request {
                let outgoing = request.outgoing.take();
                outgoing.map(|it| self.outgoing_stopped(it, moment.nanos));
                let label = request.label.unwrap_or(name);
                let is_nested = request.layer_of.is_none() && self.is_nested(&request, label);
                let site = request.site(label, is_nested, stack);
                if let Some(http) = &mut self.http {
                    http.note(site, start.nanos, Lasted::Unknown, request.is_error);
                    let stats = http.count(site, request.facts.direction(), request.is_error);
                    increase(&mut stats.unpaired, 1);
                    stats.calls.merge(&request.calls);
                    of_http.push(site);
                }
            }
            if let Some(all) = &mut self.all {
                let (node, label) = (begun.node, name);
                let site = ActivitySite { node, label, is_layer: false, is_nested: false, stack };
                all.note(site, start.nanos, Lasted::Unknown, begun.is_error);
                increase(&mut all.count(site, None, begun.is_error).unpaired, 1);
                of_all.push(site);
            }
        }
        // A sum is that of all of them or of none.
        let Some(shared) = shared.filter(|_| is_complete) else { return };
        for (view, sites) in [(&mut self.all, of_all), (&mut self.http, of_http)] {
            if let Some(view) = view {
                view.share(sites, shared);
            }
        }
    }

    /// Counts an activity whose stop is missing, or is one of several that cannot be told apart.
    pub(super) fn never_stopped(&mut self, open: &ActivityInterval<BegunActivity>) {
        let (unpaired, lasted) = match open.bounds {
            Bounds::StopShared => (1, Lasted::Unknown),
            _ => (0, Lasted::Open),
        };
        let OpenActivity { name, at, what: begun, .. } = &*open.what;
        if let Some(spans) = &mut self.chosen_spans {
            spans.has_no_end(begun, *name);
        }
        if !begun.is_selected {
            return;
        }
        let stack = begun.stack;
        if let Some(all) = &mut self.all {
            let site = ActivitySite {
                node: begun.node,
                label: *name,
                is_layer: false,
                is_nested: false,
                stack,
            };
            all.note(site, at.nanos, lasted, begun.is_error);
            increase(&mut all.count(site, None, begun.is_error).unpaired, unpaired);
        }
        if let Some((http, request)) = self.http.as_mut().zip(begun.request.as_ref()) {
            let site = request.site(request.label.unwrap_or(*name), false, stack);
            http.note(site, at.nanos, lasted, request.is_error);
            let stats = http.count(site, request.facts.direction(), request.is_error);
            increase(&mut stats.unpaired, unpaired);
        }
    }
}
