//! Encoders for the notations that formats are written in. Small, and as fast as the hot path asks.

mod json;
mod protobuf;

pub use json::Json;
pub use protobuf::Message;
