//! Encoders for the notations that formats are written in. Small, and as fast as the hot path asks.

mod json;
mod protobuf;

pub(super) use json::Json;
pub(super) use protobuf::Message;
