//! Tests of the whole crate, in one program: each program of its own costs seconds to
//! build and to link.
#![allow(clippy::restriction, clippy::pedantic)]

mod make_trace;
mod passes;
