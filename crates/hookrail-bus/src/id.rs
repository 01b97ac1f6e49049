//! Generates correlation ids.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns a new UUID (version 4). It is a keyed hash of a counter from the standard library, which is as unique as its
/// random keys. It need not be secret.
pub(crate) fn new_correlation_id() -> String {
    static KEYS: OnceLock<(RandomState, RandomState)> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let (one, two) = KEYS.get_or_init(|| (RandomState::new(), RandomState::new()));
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let high = one.hash_one(count);
    let low = two.hash_one((count, std::process::id()));
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        ((low >> 48) & 0x3fff) | 0x8000,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_are_uuids_and_differ() {
        let (one, two) = (super::new_correlation_id(), super::new_correlation_id());
        assert_ne!(one, two);
        for id in [one, two] {
            let lengths: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
            assert!(id[14..].starts_with('4') && "89ab".contains(&id[19..20]), "{id}");
        }
    }
}
