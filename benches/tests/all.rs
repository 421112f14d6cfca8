//! Tests of the whole crate, in one program, because each program costs seconds to build and to
//! link.
#![allow(clippy::restriction, clippy::pedantic)]

mod make_trace;
mod passes;
