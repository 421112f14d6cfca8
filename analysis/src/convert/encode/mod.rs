//! Encoders for the notations that formats are based on. They are small, and fast enough for every
//! event.

mod json;
#[cfg_attr(not(feature = "gzip"), allow(dead_code, reason = "some of it is for pprof alone"))]
mod protobuf;

pub(super) use json::Json;
pub(super) use protobuf::Message;
