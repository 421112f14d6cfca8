//! HTTP requests, as several reports need them: what events say about them ([`HttpFacts`]),
//! and which are open when something else happens ([`OpenRequests`]).

mod facts;
mod open;

pub(crate) use facts::{HttpFacts, MaybeRequest, label_of, request_of, requests_around};
pub(crate) use open::{LayerStops, OpenRequests};
