//! HTTP requests for several reports: facts in their events ([`HttpFacts`]), and the request that
//! an event belongs to ([`OpenRequests`]).

mod connections;
mod facts;
mod open;
mod phases;

pub(crate) use connections::{ConnectionUse, Connections};
pub(crate) use facts::{HttpFacts, MaybeRequest, label_of, request_of, requests_around};
pub(crate) use open::{LayerStops, OpenRequests};
pub use phases::{HttpPhase, HttpPhases};
pub(crate) use phases::{PhaseClock, PhaseMark, PhaseMarks};
