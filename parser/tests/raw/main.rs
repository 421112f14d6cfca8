//! Tests of the functions of `raw`: they find the rows of a reader, do not panic on any bytes, and
//! work with other combinators and error types.
#![allow(clippy::restriction, clippy::pedantic)]

#[path = "../allocation/mod.rs"]
mod allocation;
#[path = "../invariants/mod.rs"]
mod invariants;

mod downstream;
mod hostile;
mod rows;
