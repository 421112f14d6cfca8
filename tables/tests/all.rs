//! Tests of the whole crate, in one program: each program of its own costs seconds to
//! build and to link.
#![allow(clippy::restriction, clippy::pedantic)]

mod agreement;
mod documented;
mod ids;
mod large;
mod layers;
mod memory_files;
mod threads;
