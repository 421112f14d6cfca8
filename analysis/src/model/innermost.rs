//! Decides what reports show in place of a stack's innermost frames: frames of the runtime are left
//! out, and a call of native code is named by the method that makes it.

use super::endpoints::{HandlerRole, called_handler};
use super::folding::Folding;
use super::names::{Frame, FrameCall, FrameKind};
use super::role::{Passage, WaitChain};
use super::waits::Wait;
use std::ops::Range;

/// What reports show in place of the innermost frames of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Innermost {
    /// Number of innermost frames that are left out.
    pub(crate) left_out: usize,
    /// Frames in which a poll may have caught the thread, all of them left out. They lie below the
    /// nearest method of the user, without the poll itself and the method that polled.
    pub(crate) caught: Range<usize>,
    /// Call that stands on top of the other frames; `None` if there is none.
    pub(crate) call: Option<InnermostCall>,
}

/// Call of native code, or of the runtime's code that takes a lock, as the innermost frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InnermostCall {
    pub(crate) what: FrameCall,
    /// Place of the calling method among all frames of the stack, innermost first.
    pub(crate) caller: usize,
    /// Number of frames without a name that the call replaces, after those left out.
    pub(crate) unnamed: usize,
    /// Whether only samples of running threads show the call.
    pub(crate) is_of_running: bool,
}

impl Innermost {
    /// Decides from the frames of a stack, innermost first. `is_returning`: whether the innermost
    /// frame is certainly native code that managed code has called.
    pub(crate) fn new<'f>(
        frames: impl Iterator<Item = (&'f Frame, Passage)> + Clone,
        chain: WaitChain,
        is_returning: bool,
    ) -> Innermost {
        let is_caught = chain.is_at_poll && chain.wait == Wait::No;
        let own = || {
            let own = frames.clone().position(|(frame, _)| Folding::is_own(frame));
            own.or_else(|| {
                // The handler of an endpoint stands in for own code that was inlined into it.
                let roles = frames.clone().map(|(frame, _)| HandlerRole::from_frame(frame));
                called_handler(roles.collect::<Vec<_>>().into_iter())
            })
        };
        let (left_out, caught) = match is_caught.then(own).flatten() {
            // That a poll caught the thread somewhere says only that the thread passed by.
            Some(own) => {
                let polls = |passage| matches!(passage, Passage::Plumbing | Passage::GcPoll);
                let polled = frames.clone().position(|(_, passage)| !polls(passage));
                (own, polled.unwrap_or(own).saturating_add(1).min(own)..own)
            }
            // A thread that waits for a collection, or throws, is in the method that called the
            // runtime.
            None => {
                let is_left_out = |passage| {
                    matches!(passage, Passage::Plumbing | Passage::GcPoll | Passage::Spin)
                };
                let kept = frames.clone().position(|(_, passage)| !is_left_out(passage));
                (kept.unwrap_or(0), 0..0)
            }
        };
        let call = call(frames, left_out, chain, is_returning);
        Innermost { left_out, caught, call }
    }
}

fn call<'f>(
    frames: impl Iterator<Item = (&'f Frame, Passage)> + Clone,
    left_out: usize,
    chain: WaitChain,
    is_returning: bool,
) -> Option<InnermostCall> {
    let method =
        |at: usize| frames.clone().nth(at).filter(|(frame, _)| frame.kind == FrameKind::Managed);
    if chain.wait == Wait::Lock {
        let caller = chain.length.max(left_out);
        let what = FrameCall::TakingLock;
        return method(caller).map(|_| InnermostCall {
            what,
            caller,
            unnamed: 0,
            is_of_running: true,
        });
    }
    let rest = frames.clone().skip(left_out);
    let unnamed = rest.take_while(|(frame, _)| frame.has_no_place()).count();
    let caller = left_out.saturating_add(unnamed);
    let is_call = match unnamed {
        0 => matches!(chain.wait, Wait::No | Wait::Computes),
        _ => is_returning,
    };
    let (_, passage) = method(caller).filter(|_| is_call)?;
    // The name of a method that only calls native code says which call it is.
    let what = FrameCall::Native;
    (unnamed > 0 || passage != Passage::Native).then_some(InnermostCall {
        what,
        caller,
        unnamed,
        is_of_running: unnamed == 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many frames are left out of a stack that a poll caught, innermost first.
    fn left_out(stack: &[&str]) -> usize {
        let frame = |text: &&str| {
            let (module, name) = text.split_once('!').unwrap();
            let (type_name, method) = name.rsplit_once("::").unwrap();
            let passage = if method == "PollGC" { Passage::GcPoll } else { Passage::No };
            (Frame::from_names(module, type_name, method, "void ()"), passage)
        };
        let frames: Vec<_> = stack.iter().map(frame).collect();
        let mut chain = WaitChain::NEW;
        chain.is_at_poll = true;
        let frames = frames.iter().map(|(frame, passage)| (frame, *passage));
        Innermost::new(frames, chain, false).left_out
    }

    #[test]
    fn the_handler_of_an_endpoint_stands_in_for_own_code_that_a_poll_caught() {
        let poll = "System.Private.CoreLib!System.Threading.Thread::PollGC";
        let clock = "System.Private.CoreLib!System.Diagnostics.Stopwatch::GetTimestamp";
        let handler = "Anonymously Hosted DynamicMethods Assembly!dynamicClass::lambda_method7";
        let middleware =
            "Microsoft.AspNetCore.Routing!Microsoft.AspNetCore.Routing.EndpointMiddleware::Invoke";
        assert_eq!(left_out(&[poll, clock, handler, middleware]), 2);
        assert_eq!(left_out(&[poll, clock, "shop!Shop.Cart::Add", handler, middleware]), 2);
        // Without the program's code and without a handler, the thread is where the poll was.
        assert_eq!(left_out(&[poll, clock, middleware]), 1);
    }
}
