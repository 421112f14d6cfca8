//! What the sub-events of the async profiler say.

use nettrace_parser::view::{AsyncDetail, AsyncEvent};

/// What a sub-event says. Numbers are ids of dispatchers, which are 0 for none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AsyncStep {
    Created {
        parent: u64,
        dispatcher: u64,
    },
    Resumed(u64),
    /// The thread leaves its innermost context: `is_over` if that is complete.
    Left {
        is_over: bool,
    },
    /// The innermost context goes on with the method this many frames further.
    MethodsEnd(u64),
    Stack {
        dispatcher: u64,
        of: StackMoment,
        /// Whether it is code of a state machine, whose tasks write events of their own.
        is_of_task: bool,
        addresses: Vec<u64>,
        hidden: HiddenFrames,
    },
    /// What was known about the thread is over.
    Reset,
}

/// Frames of a stack without code, which are left out of its addresses: bits from the leaf on. Methods that
/// end are counted with them. Those beyond 64 are not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct HiddenFrames(u64);

impl HiddenFrames {
    /// Collects the frames of which the iterator says that they have no code.
    pub(super) fn from_code(has_code: impl Iterator<Item = bool>) -> HiddenFrames {
        let bits = (0..u64::BITS).zip(has_code).filter(|(_, has_code)| !has_code);
        HiddenFrames(bits.fold(0, |all, (at, _)| all | 1 << at))
    }

    /// Returns how many of the first frames have code.
    pub(super) fn shown_of(self, first: u64) -> u64 {
        let beyond = u32::try_from(first).ok().and_then(|first| u64::MAX.checked_shl(first));
        let within = self.0 & !beyond.unwrap_or(0);
        first.saturating_sub(u64::from(within.count_ones()))
    }
}

/// What happens to a dispatcher whose stack comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StackMoment {
    Created,
    Resumed,
    Suspended,
    /// The frames are further callers.
    Appended,
}

impl AsyncStep {
    pub(super) fn of_event(event: &AsyncEvent<'_>) -> Option<AsyncStep> {
        Some(match (event.detail, event.id) {
            (AsyncDetail::Created { parent, dispatcher }, _) => {
                AsyncStep::Created { parent, dispatcher }
            }
            (AsyncDetail::Resumed { dispatcher }, _) => AsyncStep::Resumed(dispatcher),
            (AsyncDetail::Unwound { frames }, _) => AsyncStep::MethodsEnd(frames),
            (AsyncDetail::Stack(stack), id) => {
                // The start of a method is no return address. A library's awaiter has no code.
                let shown = |address: u64, is_start| {
                    (address != 0).then(|| address.saturating_add(u64::from(is_start)))
                };
                let has_code = stack.frames().map(|frame| frame.address != 0);
                AsyncStep::Stack {
                    hidden: HiddenFrames::from_code(has_code),
                    dispatcher: stack.dispatcher,
                    of: match id {
                        7 | 16 => StackMoment::Resumed,
                        8 => StackMoment::Suspended,
                        19 => StackMoment::Appended,
                        _ => StackMoment::Created,
                    },
                    is_of_task: matches!(id, 16 | 19),
                    addresses: (stack.frames())
                        .filter_map(|frame| shown(frame.address, frame.state.is_some()))
                        .collect(),
                }
            }
            (_, 3 | 13) => AsyncStep::Left { is_over: false },
            (_, 4 | 14) => AsyncStep::Left { is_over: true },
            (_, 10 | 18) => AsyncStep::MethodsEnd(1),
            (_, 20) => AsyncStep::Reset,
            _ => return None,
        })
    }
}
