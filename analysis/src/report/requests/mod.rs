//! HTTP requests for several reports: facts in their events ([`HttpFacts`]), and the request that
//! an event belongs to ([`OpenRequests`]).

mod facts;
mod open;

pub(crate) use facts::{HttpFacts, MaybeRequest, label_of, request_of, requests_around};
pub(crate) use open::{LayerStops, OpenRequests};
