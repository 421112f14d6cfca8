//! Encoders for the notations that formats use. Small, and fast enough for the hot path.

mod json;
#[cfg_attr(not(feature = "gzip"), allow(dead_code, reason = "some of it is for pprof alone"))]
mod protobuf;

pub(super) use json::Json;
pub(super) use protobuf::Message;
