//! Codex's own trust in hooks. Codex runs a hook only if the user's `config.toml` holds the hash of its entry, and
//! `codex exec` skips every other hook without a word.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The trust that Codex wants for one hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodexTrust {
    /// The key in `[hooks.state]`: file, event, position of the group, position in the group.
    pub key: String,
    /// The hash of the entry.
    pub hash: String,
}

impl CodexTrust {
    /// The lines for `config.toml`.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let key = Value::from(self.key.as_str());
        format!("\n[hooks.state.{key}]\ntrusted_hash = \"{}\"\n", self.hash)
    }
}

/// The trust that the entries of the bridge in a `hooks.json` need. The text is the one that Codex will read.
#[must_use]
pub fn codex_trust(file: &Path, hooks_json: &str) -> Vec<CodexTrust> {
    let document: Value = serde_json::from_str(hooks_json).unwrap_or_default();
    let mut trust = Vec::new();
    let events = document.get("hooks").and_then(Value::as_object).into_iter().flatten();
    for (event, groups) in events {
        for (position, group) in groups.as_array().into_iter().flatten().enumerate() {
            let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
            for (index, hook) in hooks.enumerate() {
                let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
                if !super::calls_bridge(command) {
                    continue;
                }
                let event = snake_case(event);
                trust.push(CodexTrust {
                    key: format!("{}:{event}:{position}:{index}", file.display()),
                    hash: entry_hash(&event, group, hook),
                });
            }
        }
    }
    trust
}

/// The hash of the entry as Codex normalises it: members sorted, defaults filled in, no matcher if there is none.
fn entry_hash(event: &str, group: &Value, hook: &Value) -> String {
    let timeout = hook.get("timeout").and_then(Value::as_u64).unwrap_or(600);
    let command = hook.get("command").cloned().unwrap_or_default();
    let hook = json!({ "async": false, "command": command, "timeout": timeout, "type": "command" });
    let mut normal = json!({ "event_name": event, "hooks": [hook] });
    if let (Some(matcher), Some(members)) =
        (group.get("matcher").filter(|matcher| matcher.is_string()), normal.as_object_mut())
    {
        members.insert("matcher".to_owned(), matcher.clone());
    }
    let digest = Sha256::digest(normal.to_string().as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(character.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    /// The hashes that Codex CLI 0.166.0 reports for these entries (`hooks/list` of its app server).
    #[test]
    fn the_hash_is_the_one_that_codex_computes() {
        let text = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command",
            "command":"/bin/hookrail bridge codex --event PreToolUse","timeout":60}]}]}}"#;
        let trust = codex_trust(Path::new("/home/user/.codex/hooks.json"), text);
        let expected = CodexTrust {
            key: "/home/user/.codex/hooks.json:pre_tool_use:0:0".to_owned(),
            hash: "sha256:9f087c7bb1dd6890b9963160fe1c47c10f06e6a098c3f85aa3639a19293d7c89".to_owned(),
        };
        assert_eq!(trust, [expected]);
        let group = serde_json::json!({ "matcher": "Bash" });
        let hook = serde_json::json!({ "command": "/bin/true", "timeout": 5 });
        let hash = entry_hash("post_tool_use", &group, &hook);
        assert_eq!(hash, "sha256:558659a48ec5d62bd2eb53e692b829e6fc64b0b5d4067f0bdf2d498fefed43dd");
        let plain = entry_hash("session_start", &serde_json::json!({}), &serde_json::json!({ "command": "/bin/true" }));
        assert_eq!(plain, "sha256:82903ea5f1d8e24884f563a15e3b222403cfc58863b7710c540eb2d8b99d5329");
    }

    #[test]
    fn hooks_of_others_get_no_trust() {
        let text = r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"mine"}]},{"hooks":[{"command":"hookrail bridge codex"}]}]}}"#;
        let trust = codex_trust(Path::new("/h.json"), text);
        assert_eq!(trust.iter().map(|trust| trust.key.as_str()).collect::<Vec<_>>(), ["/h.json:pre_tool_use:1:0"]);
    }
}
