//! What `hookrail demo` plays: coding agents ask a hook through `hookrail bridge`, as they do after `hookrail install`, and then the
//! reference agent works in the same project, which has hooks of every dialect. Both compare what happened with what must
//! happen, so the demonstration is also a test of an installation.

mod calls;
mod project;
mod tour;

pub use calls::{Call, DemoStep, STEPS, Told};
pub use project::SampleProject;
pub use tour::{PROMPT, Row, play_tour, write_script};

/// What became of something that an agent wanted to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Allowed,
    Denied,
    Asked,
    Rewritten,
    Added,
    Hidden,
    Stopped,
    Failed,
}
