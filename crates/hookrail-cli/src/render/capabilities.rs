//! The capabilities of modules, in words.

use std::fmt::Write as _;
use std::sync::Arc;

use hookrail::Hook;
use hookrail::module::Capabilities;
use hookrail_app::text::{one_line, short};

use super::hooks::NAME;

/// Describes the capabilities of one module. `run` includes everything else, because processes are not limited by the
/// other capabilities.
pub(crate) fn described(capabilities: &Capabilities) -> String {
    let words = capabilities.described().into_iter().map(|word| match word.as_str() {
        "run" => "run (everything the user can do)".to_owned(),
        _ => one_line(&word),
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() { "only answer events".to_owned() } else { words.join(", ") }
}

/// Returns a line for each module.
pub(crate) fn of_modules(hooks: &[Arc<Hook>]) -> String {
    let mut out = String::new();
    for hook in hooks {
        if let Some(capabilities) = &hook.capabilities {
            let start = if out.is_empty() { "\n" } else { "" };
            let _ = writeln!(out, "{start}  {} may {}", short(&hook.label, NAME), described(capabilities));
        }
    }
    out
}
