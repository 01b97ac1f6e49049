//! The hookrail command line.
fn main() {}
