//! Recorded traces with damage done to them on purpose: a seeded random generator chooses
//! what and where. Each stream must be read calmly, and all that lies outside the damaged
//! block must be delivered.
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
