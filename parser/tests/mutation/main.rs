//! Tests with recorded traces to which random damage is done. No damage may cause a panic, and all
//! events outside of the damaged block must be delivered.
#![allow(clippy::restriction, clippy::pedantic)]

#[path = "../allocation/mod.rs"]
mod allocation;
#[path = "../invariants/mod.rs"]
mod invariants;
#[path = "../splitmix/mod.rs"]
mod splitmix;

mod change;
mod content;
mod delivered;
mod differential;
mod excerpt;
mod figures;
mod framing;
mod lies;
mod order;
mod random;
mod time_order;
mod towers;
