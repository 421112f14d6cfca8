//! What is known about a trace or a comparison, as enums with numbers: thresholds and order are
//! decided on these. They hold no sentences; [`words`](crate::words) has these.

#[cfg(feature = "page")]
pub(crate) mod comparison;
