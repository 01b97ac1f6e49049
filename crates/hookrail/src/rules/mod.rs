//! Rules: guards without a program, which decide on what a tool call would do.

#[cfg(feature = "syntax")]
mod machine;

#[cfg(feature = "syntax")]
pub use machine::Machine;
