//! How tests build hooks in Rust.

/// Cargo's settings for a home in which hooks are built: without a network, without optimising and without warnings. All of
/// them share what is built of the dependencies, also with the next run.
pub(crate) const CARGO_CONFIG: &str = concat!(
    "[net]\noffline = true\n\n[profile.release]\nopt-level = 0\n\n[build]\nbuild-dir = \"",
    env!("CARGO_TARGET_TMPDIR"),
    "/hooks-in-rust\"\nrustflags = [\"-D\", \"warnings\"]\n"
);
