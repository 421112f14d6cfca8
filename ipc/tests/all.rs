//! Tests of the whole crate, in one program: each program of its own costs seconds to
//! build and to link. A file of `tests` that is not named here has its own row in
//! `Cargo.toml`: it counts what its process holds, or needs real runtimes.
#![allow(clippy::restriction, clippy::pedantic)]

mod discovery;
mod fake_runtime;
mod layers;
mod ports;
mod threads;
mod transcripts;
