//! The settings file of a project, with new groups of hooks. Everything else in it stays byte for byte.

use std::path::Path;

use crate::failure::{Excerpt, Failure, Result};
use hookrail_bridge::install::{EditError, HookGroup, SettingsSyntax, insert_groups, insert_member, read_settings};
use serde_json::{Value, json};

use super::files::read_below;

/// The settings file, from the project's directory on.
pub(super) const PATH: &str = ".llxprt/settings.json";

/// What a file has that does not exist yet.
const NEW_FILE: &str = "\
{
  // Hooks run only if a settings file enables them.
  \"hooksConfig\": { \"enabled\": true }
}
";

/// A settings file with new groups.
pub(crate) struct MergedSettings {
    pub(crate) text: String,
    /// Why the hooks do not run although they are in the file.
    pub(crate) warning: Option<String>,
}

/// Adds groups to the settings of a project and switches hooks on, unless the file says something else.
pub(super) fn merge(root: &Path, groups: &[HookGroup]) -> Result<MergedSettings> {
    merge_text(read_below(root, PATH)?, PATH, groups)
}

/// Adds groups to the text of a settings file, which is called `name` in messages, and switches hooks on.
pub(crate) fn merge_text(existing: Option<String>, name: &str, groups: &[HookGroup]) -> Result<MergedSettings> {
    let whole = existing.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| NEW_FILE.to_owned());
    let (mark, text) = whole.strip_prefix('\u{feff}').map_or(("", whole.as_str()), |text| ("\u{feff}", text));
    let refused = |error: EditError| refusal(name, text, &error);
    let mut new = insert_groups(text, groups).map_err(refused)?;
    let settings = read_settings(text, SettingsSyntax::LenientJson).map_err(refused)?;
    let warning = match switch_of(&settings) {
        None => {
            new = insert_member(&new, Some("hooksConfig"), "enabled", &json!(true)).map_err(refused)?;
            None
        }
        Some((_, true)) => None,
        Some((key, false)) => Some(format!("`{key}` in `{name}` switches hooks off; set it to true to let them run")),
    };
    Ok(MergedSettings { text: format!("{mark}{new}"), warning })
}

/// Adds groups to the text of an agent's own settings file, which is called `name` in messages.
pub(crate) fn merge_agent_text(existing: Option<String>, name: &str, groups: &[HookGroup]) -> Result<MergedSettings> {
    let whole = existing.unwrap_or_default();
    let (mark, text) = whole.strip_prefix('\u{feff}').map_or(("", whole.as_str()), |text| ("\u{feff}", text));
    let new = insert_groups(text, groups).map_err(|error| refusal(name, text, &error))?;
    let warning = switch_of(&serde_json::from_str(&new).unwrap_or_default()).filter(|(_, is_on)| !is_on);
    let warning = warning.map(|(key, _)| format!("`{key}` in `{name}` switches hooks off"));
    Ok(MergedSettings { text: format!("{mark}{new}"), warning })
}

/// Returns the switch of the file, by its key, and what it says.
fn switch_of(settings: &Value) -> Option<(&'static str, bool)> {
    let switches = [
        ("hooksConfig.enabled", "/hooksConfig/enabled"),
        ("enableHooks", "/enableHooks"),
        ("tools.enableHooks", "/tools/enableHooks"),
    ];
    switches.into_iter().find_map(|(key, pointer)| Some((key, settings.pointer(pointer)?.as_bool()?)))
}

fn refusal(file: &str, text: &str, error: &EditError) -> Failure {
    match error {
        EditError::Syntax { line, message } => {
            let offset = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum::<usize>();
            let blanks = text.get(offset..).map_or(0, |rest| rest.len() - rest.trim_start().len());
            Failure::new(format!("`{file}` is not valid JSON, line {line}: {message}; nothing was written"))
                .excerpt(Excerpt::Place { name: file.to_owned(), text: text.to_owned(), offset: offset + blanks })
                .hint("repair the file (`hookrail check` shows every problem), then run the command again")
        }
        EditError::ByteOrderMark => Failure::new(format!("`{file}` cannot be edited: {error}; nothing was written"))
            .hint("save it as UTF-8 without a byte order mark, then run the command again"),
        EditError::Shape { key, expected } => {
            let name = key.rsplit('.').next().unwrap_or(key);
            let line = text.lines().position(|line| line.contains(&format!("\"{name}\""))).map_or(1, |at| at + 1);
            Failure::new(format!("`{key}` in `{file}`, line {line}, is not {expected}; nothing was written"))
                .hint("repair the file (`hookrail check` shows every problem), then run the command again")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group() -> HookGroup {
        let text = "{\n  \"hooks\": [\n    { \"type\": \"command\", \"command\": \"c\" }\n  ]\n}";
        HookGroup { event: "BeforeTool".to_owned(), text: text.to_owned() }
    }

    fn merged(text: &str) -> Result<MergedSettings> {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join(".llxprt")).unwrap();
        std::fs::write(root.path().join(PATH), text).unwrap();
        merge(root.path(), &[group()])
    }

    #[test]
    fn a_file_keeps_what_it_has() {
        let text = "\u{feff}{\n\t// mine\n\t\"theme\": \"dark\", // really\n\t\"hooks\": {\n\t\t\"AfterTool\": [] // none yet\n\t}\n}\n";
        let merged = merged(text).unwrap();
        insta::assert_snapshot!(merged.text.trim_start_matches('\u{feff}').replace('\t', "→"), @r#"
        {
        →// mine
        →"theme": "dark", // really
        →"hooks": {
        →→"AfterTool": [], // none yet
        →→"BeforeTool": [
        →→→{
        →→→→"hooks": [
        →→→→→{ "type": "command", "command": "c" }
        →→→→]
        →→→}
        →→]
        →},
        →"hooksConfig": { "enabled": true }
        }
        "#);
        assert!(merged.text.starts_with('\u{feff}') && merged.warning.is_none());
    }

    #[test]
    fn a_switch_that_is_there_stays_as_it_is() {
        for on in [
            "{\"hooksConfig\": {\"enabled\": true}}",
            "{\"enableHooks\": true}",
            "{\"tools\": {\"enableHooks\": true}}",
        ] {
            let merged = merged(on).unwrap();
            assert!(merged.warning.is_none() && merged.text.matches("nable").count() == 1, "{}", merged.text);
        }
        let off = merged("{\"hooksConfig\": {\"enabled\": false}}").unwrap();
        assert!(off.text.starts_with("{\"hooksConfig\": {\"enabled\": false},"), "{}", off.text);
        let warning =
            "`hooksConfig.enabled` in `.llxprt/settings.json` switches hooks off; set it to true to let them run";
        assert_eq!(off.warning.as_deref(), Some(warning));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_refused_with_its_line() {
        for (text, why) in [
            ("{\n  \"a\": \n}", "`.llxprt/settings.json` is not valid JSON, line "),
            ("{\n  \"hooks\": []\n}", "`hooks` in `.llxprt/settings.json`, line 2, is not an object"),
            ("{\n  \"hooks\": {\"BeforeTool\": 1}\n}", "`hooks.BeforeTool` in `.llxprt/settings.json`"),
            ("[]", "`the file` in `.llxprt/settings.json`, line 1, is not an object"),
        ] {
            let failure = merged(text).map(|merged| merged.text).unwrap_err();
            assert!(failure.message().starts_with(why), "{}", failure.message());
            assert!(failure.message().ends_with("nothing was written"), "{}", failure.message());
        }
    }
}
