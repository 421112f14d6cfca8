//! Facts: what a trace shows, as data. A fact has a kind, numbers and methods, and no sentence:
//! thresholds, order and severity are decided on facts, and only `words` turns them into English.

#[macro_use]
mod kinds;

mod advice;
mod cause;
mod collection;
pub(crate) mod comparison;
mod finding;
mod number;
mod place;
mod seen;
mod subject;
#[cfg(feature = "page")]
pub(crate) mod thinned;
mod told;

pub use advice::Advice;
pub use cause::{
    ActivityFailures, HolderState, HotCall, LockHolder, LockOwner, MethodCaller, ProcessEnd,
    ProcessorTaker, ThrowCall, ThrownBy, WaitCall, WaitingProducers,
};
pub use collection::{AllocatedType, CollectionPlace, CollectionReason, LargeObjects};
pub use finding::{Fact, FindingKind};
#[cfg(feature = "serde")]
pub(crate) use number::ReportedNumber;
pub use number::{Base, Certainty, Number, Unit};
pub use place::Place;
pub use seen::{SeenFact, Verdicts};
pub(crate) use subject::{Subjects, TraceSubject};
