//! Features that a build can lack: what says how to get them.

/// The advice how to get a program with a feature.
pub fn how_to_get(feature: &str) -> String {
    format!("install one that has it: `cargo install --profile dist --path crates/hookrail-cli --features {feature}`")
}
