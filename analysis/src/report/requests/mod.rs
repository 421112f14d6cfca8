//! HTTP requests for several reports: what a request is a layer of, and the request that an event
//! belongs to ([`OpenRequests`]).

mod connections;
mod facts;
mod open;
mod phases;

pub(crate) use connections::{ConnectionUse, Connections};
pub(crate) use facts::{
    FollowedRequests, MaybeRequest, request_of, requests_around, requests_on_path,
};
pub(crate) use open::{LayerStops, OpenRequests};
pub use phases::{HttpPhase, HttpPhases};
pub(crate) use phases::{PhaseClock, PhaseMark, PhaseMarks};
