//! `extension-enablement.json`: which extensions are disabled in which folders.
//!
//! The file maps the name of an extension to `overrides`, a list of folders. An extension is enabled unless a rule says
//! otherwise; the last rule that matches the project applies. A rule that begins with `!` disables; `*` means
//! everything below a folder.

use std::path::Path;

use crate::config::diagnostic::Code;
use crate::config::{Document, Parsed, PlacedValue, Usability};
use crate::matcher::{Language, MatchScope, Matcher, OnInvalid};

/// The rules of every extension that the file names.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExtensionEnablement(Vec<(String, Vec<EnablementRule>)>);

/// One rule: where it applies, and what it says.
#[derive(Clone, Debug)]
struct EnablementRule {
    folders: Matcher,
    says: EnablementWord,
}

/// The effect of a rule on its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EnablementWord {
    Enable,
    Disable,
}

impl ExtensionEnablement {
    /// Reads the file. What is wrong in it is reported and disables nothing.
    pub(crate) fn read(document: &Document) -> Parsed<Self> {
        let mut problems = Vec::new();
        let mut rules = Vec::new();
        match document.root().map(|root| (root, root.members())) {
            Some((_, Some(members))) => {
                for (key, value) in members {
                    let overrides = value.get("overrides").unwrap_or(value);
                    match overrides.elements() {
                        Some(elements) => {
                            let read = elements.iter().filter_map(PlacedValue::text).map(EnablementRule::read);
                            rules.push((key.name.clone(), read.collect()));
                        }
                        None if value.members().is_some_and(<[_]>::is_empty) => {}
                        None => {
                            let message = "`overrides` must be a list of folders; the extension stays enabled";
                            problems.push(document.mismatch(Code::SettingType, overrides, message));
                        }
                    }
                }
            }
            Some((root, None)) => {
                let message = "the file must hold an object; every extension stays enabled";
                problems.push(document.mismatch(Code::FileShape, root, message));
            }
            None => {}
        }
        Parsed { value: Some(Self(rules)), problems, verdict: Usability::Usable }
    }

    /// Whether the extension is disabled for a project.
    pub(crate) fn disables(&self, extension: &str, project: &Path) -> bool {
        let mut folder = project.to_string_lossy().into_owned();
        if !folder.ends_with('/') {
            folder.push('/');
        }
        let mut rules = self.0.iter().filter(|(name, _)| name == extension).flat_map(|(_, rules)| rules);
        let last = rules.rfind(|rule| rule.folders.test(&folder).is_match());
        last.is_some_and(|rule| rule.says == EnablementWord::Disable)
    }
}

/// Whether the text of an `extension-enablement.json` disables an extension for a project. Gemini CLI has the same file. A text
/// that cannot be read disables nothing.
#[must_use]
pub fn is_extension_disabled(enablement: &str, extension: &str, project: &Path) -> bool {
    let document = Document::parse(Path::new("extension-enablement.json"), enablement.to_owned());
    let rules = document.ok().and_then(|document| ExtensionEnablement::read(&document).value);
    rules.is_some_and(|rules| rules.disables(extension, project))
}

impl EnablementRule {
    fn read(text: &str) -> Self {
        let (says, folders) = match text.strip_prefix('!') {
            Some(folders) => (EnablementWord::Disable, folders),
            None => (EnablementWord::Enable, text),
        };
        let compiled = Matcher::compile(&pattern(folders), Language::Regex, MatchScope::Whole, OnInvalid::Literal);
        Self { folders: compiled.matcher, says }
    }
}

/// The regular expression of a rule's folders: `/work/*` is the folder and everything below it, `/work/` the folder
/// alone. The subject is a path with a `/` at its end.
fn pattern(folders: &str) -> String {
    let mut pattern = String::from("^");
    for character in folders.chars() {
        match character {
            '*' if pattern.ends_with('/') => {
                pattern.pop();
                pattern.push_str("(/.*)?");
            }
            '*' => pattern.push_str("(.*)?"),
            '.' | '+' | '?' | '^' | '$' | '{' | '}' | '(' | ')' | '|' | '[' | ']' | '\\' => {
                pattern.push('\\');
                pattern.push(character);
            }
            other => pattern.push(other),
        }
    }
    if !folders.ends_with(['/', '*']) {
        pattern.push('/');
    }
    pattern.push('$');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disables(rules: &str, project: &str) -> bool {
        let text = format!(r#"{{"ext": {{"overrides": {rules}}}}}"#);
        is_extension_disabled(&text, "ext", Path::new(project))
    }

    #[test]
    fn the_last_rule_that_matches_the_project_counts() {
        for (rules, project, expected) in [
            ("[]", "/work/a", false),
            (r#"["!/*"]"#, "/work/a", true),
            (r#"["!/*", "/work/*"]"#, "/work/a", false),
            (r#"["!/*", "/work/*"]"#, "/work", false),
            (r#"["!/*", "/work/*"]"#, "/workshop", true),
            (r#"["/work/*", "!/*"]"#, "/work/a", true),
            (r#"["!/work/a/"]"#, "/work/a", true),
            (r#"["!/work/a"]"#, "/work/a", true),
            (r#"["!/work/a/"]"#, "/work/a/b", false),
            (r#"["!/work/a.b/*"]"#, "/work/aXb", false),
        ] {
            assert_eq!(disables(rules, project), expected, "{rules} {project}");
        }
    }

    #[test]
    fn an_extension_that_the_file_does_not_name_is_enabled() {
        for text in [r#"{"other": {"overrides": ["!/*"]}}"#, "{", ""] {
            assert!(!is_extension_disabled(text, "ext", Path::new("/work")), "{text}");
        }
    }
}
