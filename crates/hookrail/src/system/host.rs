//! The way back from a hook to the embedding program.

/// What a hook may ask of the program it takes part in, while it runs.
///
/// No lock of the engine is held meanwhile, so a host may fire another event from here.
pub trait Host: Send + Sync {
    /// Whether there is a person who can be asked.
    fn has_user(&self) -> bool {
        false
    }
}

/// A host that offers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHost;

impl Host for NoHost {}
