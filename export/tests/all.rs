//! All tests of the crate as one program, because each program takes seconds to build and to link.
#![allow(clippy::restriction, clippy::pedantic)]

mod async_events;
mod csv;
mod layers;
mod predicates;
mod serde;
mod threads;
