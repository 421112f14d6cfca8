//! The `nettrace` command.
fn main() {}
