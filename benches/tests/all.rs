//! All tests of the crate as one program, because each program takes seconds to build and to link.
#![allow(clippy::restriction, clippy::pedantic)]

mod make_trace;
mod passes;
