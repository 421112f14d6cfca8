//! The functions of `raw` from outside: they give what a reader gives, bear any bytes,
//! and work together with other combinators and error types.
#![allow(clippy::restriction, clippy::pedantic)]

#[path = "../allocation/mod.rs"]
mod allocation;
#[path = "../invariants/mod.rs"]
mod invariants;

mod downstream;
mod hostile;
mod rows;
