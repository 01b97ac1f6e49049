//! What a grant leaves a module: what `--allow` says, else nothing if the module uses nothing that needs a capability.

use std::path::Path;

use hookrail::Hook;
use hookrail::hook::Action;
use hookrail::sources::read_file;

/// What a module cannot use without one of these words: other files, processes, the network, the environment.
const WORDS: [&str; 11] =
    ["Bun", "Function", "Reflect", "WebSocket", "eval", "exec", "fetch", "globalThis", "import", "process", "require"];

/// Returns the capabilities that a grant leaves the hook; none if it leaves all that the configuration gives. A module that gets at
/// something in a way that is not seen here is refused it when it runs.
pub(super) fn left_by_grant(hook: &Hook, allowed: Option<&[String]>) -> Option<Vec<String>> {
    let Action::Module(module) = &hook.action else { return None };
    match allowed {
        Some(allowed) => Some(allowed.to_vec()),
        None => needs_nothing(module).then(Vec::new),
    }
}

/// Whether the module at this path can be read, as configuration is, and uses none of the words. Types vanish, so importing them uses nothing.
fn needs_nothing(module: &Path) -> bool {
    read_file(module).is_ok_and(|text| text.is_some_and(|text| !has_word(&text)))
}

fn has_word(text: &str) -> bool {
    let words = text.split(|character: char| !character.is_alphanumeric() && !matches!(character, '_' | '$'));
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    while let Some(word) = words.next() {
        let is_type = word == "import" && words.peek() == Some(&"type");
        if WORDS.contains(&word) && !is_type {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::has_word;

    #[test]
    fn a_module_that_only_answers_uses_no_word() {
        for text in [
            "export default function (pi) { pi.on('tool_call', (event) => ({ block: true, reason: 'no' })) }",
            "import type { HookAPI } from '@f5xc-salesdemos/xcsh'\nexport default (pi: HookAPI) => pi.on('context', () => {})",
            "const important = 1, executed = 2, processes = 3",
        ] {
            assert!(!has_word(text), "{text}");
        }
        for text in [
            "import fs from 'node:fs'",
            "import { isToolCallEventType } from '@f5xc-salesdemos/xcsh'",
            "const fs = require('fs')",
            "await import('node:fs')",
            "pi.exec('ls', [])",
            "process.env.HOME",
            "await fetch('https://example.com')",
            "Bun.file('x')",
            "globalThis['pro' + 'cess']",
        ] {
            assert!(has_word(text), "{text}");
        }
    }
}
