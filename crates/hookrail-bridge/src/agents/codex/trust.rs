//! Codex CLI's own trust in hooks. It runs a hook only if the user's `config.toml` holds the hash of its entry, and
//! `codex exec` skips every other hook without a word.

use std::collections::BTreeMap;
use std::path::Path;

use hookrail::trust::Digest;
use serde::Deserialize;
use serde_json::{Value, json};
use toml::Spanned;

use crate::doctor::{DoctorCheck, DoctorScene};
use crate::settings::{AgentFile, EditError, Insertion, record_replacement};
use crate::spec::{ExtendedTrust, HookConsent, TrustScene};

pub(super) static STORE: HookConsent = HookConsent {
    // Codex CLI looks for trust in the user's configuration, also for the hooks of a project.
    file: |agent_folders| super::user_folder(agent_folders).join(CONFIG),
    file_name: CONFIG,
    extend,
    hint: "review the hooks in `codex` instead of using `--trust`",
    advice: "Codex CLI runs a hook only after a review: start `codex` and accept \"Hooks need review\", or run \
             `hookrail install codex --trust`. Until then `codex exec` skips the hooks without a word.",
    moved: "hooks that stood behind those of hookrail have a new position: Codex CLI asks to review them again",
    summary: ["Codex CLI trusts these hooks", "Codex CLI's trust in these hooks goes too"],
};

const CONFIG: &str = "config.toml";

/// The trust that Codex wants for one hook.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EntryTrust {
    /// The key in `[hooks.state]`: file, event, position of the group, position in the group.
    key: String,
    /// The hash of the entry.
    hash: String,
}

impl EntryTrust {
    /// The lines for `config.toml`.
    fn to_toml(&self) -> String {
        let key = Value::from(self.key.as_str());
        format!("\n[hooks.state.{key}]\ntrusted_hash = \"{}\"\n", self.hash)
    }
}

/// The trust that the entries of the bridge in a `hooks.json` need. The text is the one that Codex will read.
fn needed_trust(file: &Path, hooks_json: &str, calls_bridge: impl Fn(&str) -> bool) -> Vec<EntryTrust> {
    let document: Value = serde_json::from_str(hooks_json).unwrap_or_default();
    let mut trust = Vec::new();
    let events = document.get("hooks").and_then(Value::as_object).into_iter().flatten();
    for (event, groups) in events {
        for (position, group) in groups.as_array().into_iter().flatten().enumerate() {
            let hooks = group.get("hooks").and_then(Value::as_array).into_iter().flatten();
            for (index, hook) in hooks.enumerate() {
                let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
                if !calls_bridge(command) {
                    continue;
                }
                let event = snake_case(event);
                trust.push(EntryTrust {
                    key: format!("{}:{event}:{position}:{index}", file.display()),
                    hash: entry_hash(&event, group, hook),
                });
            }
        }
    }
    trust
}

/// What Codex's `config.toml` says about a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrustState {
    /// The hook runs.
    Trusted,
    /// The hook was trusted with another command or with other options, and does not run.
    Changed,
    /// The hook was never reviewed, and does not run.
    Unknown,
    /// The user turned the hook off.
    TurnedOff,
}

/// The part of `config.toml` that matters here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Config {
    hooks: HookTable,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HookTable {
    state: BTreeMap<String, HookState>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HookState {
    enabled: Option<bool>,
    trusted_hash: Option<Spanned<String>>,
}

fn read_config(config: &str) -> Result<Config, EditError> {
    toml::from_str(config).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let line = config.get(..at).unwrap_or_default().matches('\n').count() + 1;
        EditError::Syntax { line, message: error.message().to_owned() }
    })
}

/// Whether Codex runs a hook with this `config.toml`. Codex looks for the key and then compares the hash, so a hash under
/// another key counts for nothing.
fn trust_state(config: &str, trust: &EntryTrust) -> TrustState {
    let config = read_config(config).unwrap_or_default();
    let Some(state) = config.hooks.state.get(&trust.key) else { return TrustState::Unknown };
    if state.enabled == Some(false) {
        return TrustState::TurnedOff;
    }
    match &state.trusted_hash {
        Some(hash) if *hash.get_ref() == trust.hash => TrustState::Trusted,
        Some(_) => TrustState::Changed,
        None => TrustState::Unknown,
    }
}

/// Makes Codex CLI trust hooks. A hash that it or an earlier installation wrote under the same key is replaced.
fn extend(scene: &TrustScene<'_>) -> ExtendedTrust {
    let needed = |(file, text): &(&Path, &str)| needed_trust(file, text, scene.calls_bridge);
    extended(scene.text, &scene.hooks.iter().flat_map(needed).collect::<Vec<_>>(), scene.recorded)
}

fn extended(config: &str, wanted: &[EntryTrust], recorded: &[Insertion]) -> ExtendedTrust {
    let mut current = config.to_owned();
    let mut insertions = recorded.to_vec();
    for trust in wanted {
        let known = read_config(&current)?.hooks.state.remove(&trust.key);
        match known.map(|known| known.trusted_hash) {
            Some(Some(hash)) if *hash.get_ref() == trust.hash => {}
            Some(Some(hash)) => {
                let range = hash.span();
                let old = current.get(range.clone()).unwrap_or_default().to_owned();
                let new = format!("\"{}\"", trust.hash);
                current.replace_range(range.clone(), &new);
                record_replacement(&mut insertions, range.start, &old, &new);
            }
            Some(None) => {
                let key = format!("hooks.state.{}", Value::from(trust.key.as_str()));
                return Err(EditError::Shape { key, expected: "a table with a `trusted_hash`" });
            }
            None => {
                let text = trust.to_toml();
                insertions.push(Insertion { offset: current.len(), text: text.clone(), replaced: String::new() });
                current.push_str(&text);
            }
        }
    }
    read_config(&current)?;
    Ok((current, insertions))
}

/// Whether the entries are trusted, and the project whose hooks they are.
pub(super) fn check(scene: &DoctorScene<'_>) -> Vec<DoctorCheck> {
    let is_project = |file: &AgentFile| file.path.starts_with(scene.project.join(".codex"));
    let is_config =
        |file: &&AgentFile| file.path.ends_with(CONFIG) && !is_project(file) && !file.path.starts_with("/etc");
    let config = scene.files.iter().find(is_config);
    let is_hooks = |file: &&AgentFile| {
        file.path.ends_with("hooks.json") && !file.calls.is_empty() && !file.path.starts_with("/etc")
    };
    let is_left = |file: &&AgentFile| scene.left.contains(&file.path) && !file.path.starts_with("/etc");
    let mut checks: Vec<_> = scene.files.iter().filter(is_hooks).flat_map(|file| entry_trust(config, file)).collect();
    checks.extend(scene.files.iter().filter(is_left).filter_map(|file| left_trust(config, file)));
    let projects = config.and_then(|config| config.document.get("projects"));
    let level = projects.and_then(|projects| projects.get(scene.project.to_str()?)?.get("trust_level")?.as_str());
    let needs_trust = |file: &AgentFile| is_project(file) && (is_hooks(&file) || is_left(&file));
    if scene.files.iter().any(needs_trust) && level != Some("trusted") {
        let shown = scene.project.display();
        let text = format!("Codex CLI reads hooks of `{shown}` only if the project is trusted");
        checks.push(DoctorCheck::warning("folder-trust", text, "start `codex` in the project and trust it"));
    }
    checks
}

/// Warns about hooks of a file that hookrail leaves to Codex, and that Codex skips. No hash is compared: how Codex computes that of
/// an entry with further keys is not known.
fn left_trust(config: Option<&AgentFile>, file: &AgentFile) -> Option<DoctorCheck> {
    let text = config.map(|config| config.text.as_str()).unwrap_or_default();
    let is_call = |command: &str| file.calls.iter().any(|call| call.command == command);
    let needed = needed_trust(&file.path, &file.text, |command| !is_call(command));
    let is_skipped =
        |trust: &&EntryTrust| matches!(trust_state(text, trust), TrustState::Unknown | TrustState::TurnedOff);
    let entries = match needed.iter().filter(is_skipped).count() {
        0 => return None,
        1 => "1 entry".to_owned(),
        count => format!("{count} entries"),
    };
    let text = format!("Codex CLI skips {entries} of `{}`, which hookrail leaves to it", file.path.display());
    Some(DoctorCheck::warning("trust", text, "start `codex` and accept \"Hooks need review\""))
}

fn entry_trust(config: Option<&AgentFile>, file: &AgentFile) -> Vec<DoctorCheck> {
    let text = config.map(|config| config.text.as_str()).unwrap_or_default();
    let is_call = |command: &str| file.calls.iter().any(|call| call.command == command);
    let needed = needed_trust(&file.path, &file.text, is_call);
    let states: Vec<_> = needed.iter().map(|trust| trust_state(text, trust)).collect();
    let shown = file.path.display();
    let mut checks = Vec::new();
    for (state, problem) in [
        (TrustState::Unknown, "Codex CLI does not trust"),
        (TrustState::Changed, "Codex CLI trusts an earlier version, and does not trust the current one, of"),
        (TrustState::TurnedOff, "the user turned off"),
    ] {
        let entries = match states.iter().filter(|found| **found == state).count() {
            0 => continue,
            1 => "1 entry".to_owned(),
            count => format!("{count} entries"),
        };
        let text = format!("{problem} {entries} in `{shown}`, which it skips without a word");
        let review = "start `codex` and accept \"Hooks need review\", or run `hookrail install codex --trust`";
        checks.push(DoctorCheck::error("trust", text, review));
    }
    if checks.is_empty() {
        checks.push(DoctorCheck::fine("trust", format!("Codex CLI trusts every entry in `{shown}`")));
    }
    checks
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
    format!("sha256:{}", Digest::of(normal.to_string().as_bytes()).hex())
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
        let trust = needed_trust(Path::new("/home/user/.codex/hooks.json"), text, is_call);
        let expected = EntryTrust {
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

    fn is_call(command: &str) -> bool {
        command.contains("hookrail bridge")
    }

    fn trust(key: &str, hash: &str) -> EntryTrust {
        EntryTrust { key: key.to_owned(), hash: hash.to_owned() }
    }

    #[test]
    fn a_hash_counts_under_its_own_key_only() {
        let config = "[hooks.state.\"/h.json:stop:0:0\"]\ntrusted_hash = \"sha256:1\"\n\n\
                      [hooks.state.\"/h.json:stop:2:0\"]\nenabled = false\ntrusted_hash = \"sha256:1\"\n";
        for (key, hash, state) in [
            ("/h.json:stop:0:0", "sha256:1", TrustState::Trusted),
            ("/h.json:stop:0:0", "sha256:2", TrustState::Changed),
            ("/h.json:stop:1:0", "sha256:1", TrustState::Unknown),
            ("/h.json:stop:2:0", "sha256:1", TrustState::TurnedOff),
        ] {
            assert_eq!(trust_state(config, &trust(key, hash)), state, "{key} {hash}");
        }
        assert_eq!(trust_state("[", &trust("a", "b")), TrustState::Unknown);
    }

    #[test]
    fn trust_is_replaced_under_its_key_and_taken_back() {
        let theirs = "model = \"x\"\n\n[hooks.state.\"/h.json:stop:0:0\"] # reviewed\ntrusted_hash = \"sha256:old\"\n";
        let wanted = |hash: &str| [trust("/h.json:stop:0:0", hash), trust("/h.json:pre_tool_use:0:0", hash)];
        for config in ["", "model = \"x\"", theirs] {
            let (first, record) = extended(config, &wanted("sha256:1"), &[]).unwrap();
            let (again, same) = extended(&first, &wanted("sha256:1"), &record).unwrap();
            assert_eq!((&again, &same), (&first, &record));
            let (second, record) = extended(&first, &wanted("sha256:2"), &record).unwrap();
            for trust in wanted("sha256:2") {
                assert_eq!(trust_state(&second, &trust), TrustState::Trusted, "{second}");
            }
            assert_eq!(crate::install::take_back(&second, &record).as_deref(), Some(config));
        }
        let error = extended("model = [", &wanted("sha256:1"), &[]).unwrap_err();
        assert!(matches!(error, EditError::Syntax { line: 1, .. }), "{error}");
    }

    #[test]
    fn hooks_of_others_get_no_trust() {
        let text = r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"mine"}]},{"hooks":[{"command":"hookrail bridge codex"}]}]}}"#;
        let trust = needed_trust(Path::new("/h.json"), text, is_call);
        assert_eq!(trust.iter().map(|trust| trust.key.as_str()).collect::<Vec<_>>(), ["/h.json:pre_tool_use:1:0"]);
    }
}
