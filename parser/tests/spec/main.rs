//! The sentences of FORMAT.md section 18, each held by the test that has its number and
//! its words.
#![allow(clippy::restriction, clippy::pedantic)]

#[path = "../allocation/mod.rs"]
mod allocation;
#[path = "../snapshot/mod.rs"]
mod snapshot;

mod described;
mod generated;
mod sentences;
mod streams;
mod v6;

mod blob_blocks;
mod blob_faults;
mod blob_fields;
mod blob_headers;
mod contradictions;
mod damage;
mod detection;
mod metadata_blobs;
mod metadata_opaque;
mod metadata_precedence;
mod object_framing;
mod order_and_losses;
mod payloads;
mod stacks;
mod trace_and_time;
mod v3;
mod v6_arrays;
mod v6_framing;
mod v6_labels;
mod v6_metadata;
mod v6_sequence_points;
mod v6_threads;
mod v6_types;
mod v6_universal;
