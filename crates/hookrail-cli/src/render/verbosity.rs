//! How much the program says: the options `-q` and `-v` of every command.

use std::sync::OnceLock;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Results and errors.
    Quiet,
    /// Hints, warnings and progress as well.
    Normal,
    /// Everything that is known about each hook as well.
    Detailed,
    /// The log of the engine on standard error as well.
    Logged,
}

static CHOSEN: OnceLock<Verbosity> = OnceLock::new();

/// Sets how much is shown, once, before a command runs.
pub(crate) fn choose(verbosity: Verbosity) {
    // Only `main` calls this, so a second value cannot be lost.
    let _ = CHOSEN.set(verbosity);
}

/// Returns how much is shown.
pub(crate) fn chosen() -> Verbosity {
    CHOSEN.get().copied().unwrap_or(Verbosity::Normal)
}

/// Returns whether hints, warnings and progress are left out.
pub(crate) fn is_quiet() -> bool {
    chosen() == Verbosity::Quiet
}

/// Returns whether everything about each hook is shown.
pub(crate) fn is_detailed() -> bool {
    chosen() >= Verbosity::Detailed
}
