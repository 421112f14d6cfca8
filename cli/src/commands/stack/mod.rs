//! `nettrace stack`: shows the current stacks of all threads of a process.

mod document;
mod natives;
mod seen;
mod take;
mod text;
mod threads;
mod verdict;

use super::attached::{Attached, with_process};
use crate::args::StackArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::target::Reached;
use document::StackReport;
use nettrace_analysis::NameOptions;
use seen::{Merge, Seen};
use std::time::Instant;
use take::{Taken, Taking};

pub(super) fn run(args: &StackArgs, context: &mut Context<'_>) -> Result<Exit, Failure> {
    with_process((&args.target, &args.talk), None, context, |attached, context| {
        let taken = take(args, attached, context)?;
        taken.map_or(Ok(Exit::Failed), |taken| show(args, &attached.reached, taken, context))
    })
}

fn show(
    args: &StackArgs,
    reached: &Reached,
    taken: Taken,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let merge = merges(args, context).then_some(Merge { has_ended: args.all || args.json });
    let seen = Seen::new(reached, taken, NameOptions::default(), merge);
    if args.json {
        context.write_json(&StackReport::new(&seen))?;
    } else {
        text::write(context, &seen, args.all)?;
    }
    context.out.finish()?;
    if !seen.is_complete {
        let text = "time was up before it was certain that each thread was seen (--timeout)";
        context.messages.warning(&format!("{}: {text}", reached.label()));
    }
    Ok(Exit::Fine)
}

/// Returns whether identical stacks are merged.
fn merges(args: &StackArgs, context: &Context<'_>) -> bool {
    let is_default = !args.json && (context.stdout_is_terminal || args.every.is_some());
    args.merge || (is_default && !args.no_merge)
}

/// Takes stacks `--count` times. Returns `None` if a signal came before any stack was seen.
fn take(
    args: &StackArgs,
    attached: &Attached,
    context: &mut Context<'_>,
) -> Result<Option<Taken>, Failure> {
    let count = match (args.every, args.count) {
        (None, _) => 1,
        (Some(_), None) => 10,
        (Some(_), Some(count)) => count.get(),
    };
    attached.reached.refuse_stopped(&attached.end)?;
    let mut taking = Taking::new(attached, args);
    let mut next = Instant::now();
    for number in 1..=count {
        if number > 1 {
            next += args.every.map_or(std::time::Duration::ZERO, |every| every.0);
            // After a late round, the next keeps its whole interval.
            next = next.max(Instant::now());
            if !attached.end.sleep_until(next) {
                break;
            }
            taking.begin_again();
        }
        let goes_on = taking.session(number == count, context)?;
        if !goes_on {
            break;
        }
    }
    taking.finish(context)
}
