//! Sentences of a page about its incomplete parts.

use crate::fact::thinned::{PagePart, Thinned, Thinning};
use crate::model::Call;
use nettrace_export::units::count;

/// Name of the frame that replaces stacks for which a page has no room.
pub(crate) const REST: &str = "(rest)";
/// Text that replaces types and messages for which a page has no room.
pub(crate) const MANY_MORE: &str = "(one of many more)";

impl Thinned {
    /// Returns the sentence about the incomplete part.
    pub(crate) fn text(&self) -> String {
        let name = match self.about {
            PagePart::Report(name) => name,
            PagePart::Samples(kind) => kind.name(),
            PagePart::Spans(category) => category.name(),
            PagePart::Events => "events",
            PagePart::Stacks => "stacks",
            PagePart::Triggers => "triggers",
        };
        format!("{name}: {}", thinning(self.how))
    }
}

/// Writes how rows were reduced.
fn thinning(how: Thinning) -> String {
    let first =
        |kept, all, what| format!("the first {} of {} {what} are listed", count(kept), count(all));
    let many = |exceptions, kept, what| {
        let (exceptions, kept) = (count(exceptions), count(kept));
        format!(
            "{what} of {exceptions} are shown as {MANY_MORE}: there are more than {kept} different ones"
        )
    };
    match how {
        Thinning::OneOf { list, kept, all, step } => {
            format!("{} of {} {list} are listed, one of {step}", count(kept), count(all))
        }
        Thinning::FirstTypes { kept, all } => first(kept, all, "types"),
        Thinning::FirstStatics { kept, all } => first(kept, all, "static variables"),
        Thinning::RareTypes { kept, all } => format!(
            "{} of {} are listed, all of rare types and some of frequent ones; the others are \
             counted by type and thread; nettrace events prints all",
            count(kept),
            count(all)
        ),
        Thinning::Longest { kept, left_out } => {
            let (kept, left_out) = (count(kept), count(left_out));
            format!("the longest {kept} are listed; {left_out} shorter ones are only counted")
        }
        Thinning::Until { nanos } => {
            format!("what triggered collections is shown until {} ms", nanos / 1_000_000)
        }
        Thinning::Joined { step } => format!("{step} values of each are joined to one point"),
        Thinning::AddedUp { bin_nanos, left_out } => {
            let rest = match left_out {
                0 => "the sums are exact".to_owned(),
                _ => format!("without {} for which there was no room", count(left_out)),
            };
            format!("added up over {} ms, {rest}", count(bin_nanos / 1_000_000))
        }
        Thinning::WithoutStack { samples } => format!(
            "{} of the rarest stacks are shown as {REST}, there are too many different ones",
            count(samples)
        ),
        Thinning::Deeper { max_calls } => format!(
            "innermost calls, where there are more than {} different ones, are shown as {}",
            count(max_calls),
            Call::DEEPER
        ),
        Thinning::ManyTypes { exceptions, kept } => many(exceptions, kept, "types"),
        Thinning::ManyMessages { exceptions, kept } => many(exceptions, kept, "messages"),
        Thinning::WithoutEndpoint { requests } => {
            format!("samples of the last {} requests are not shown by endpoint", count(requests))
        }
        Thinning::ByType { exceptions } => format!(
            "messages and stacks of {} are not kept, which are counted by type",
            count(exceptions)
        ),
    }
}
