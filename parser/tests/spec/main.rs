//! The sentences of format.md section 18, each held by the test that has its number and its words.

#[path = "../allocation/mod.rs"]
mod allocation;
#[path = "../observed/mod.rs"]
mod observed;

mod sentences;
mod streams;

mod blobs;
mod damage;
mod detection;
mod metadata;
mod object_framing;
mod order_and_losses;
mod payloads;
mod stacks;
mod trace_and_time;
mod v3;
mod v6_blocks;
