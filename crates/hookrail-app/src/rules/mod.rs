//! Ready rules, and files of rules.

use std::path::{Path, PathBuf};

use hookrail::rules::RuleBook;
use hookrail_spawn::{Replace, replace_file};

use crate::config::user_file;
use crate::failure::{Failure, Result};
use crate::folders::refuse_links;

/// A rule that is ready to be used, with its examples.
#[derive(Clone, Copy, Debug)]
pub struct ReadyRule {
    pub name: &'static str,
    /// What it is about, in one line.
    pub about: &'static str,
    /// Its text for `rules.toml`.
    pub text: &'static str,
}

macro_rules! ready {
    ($($name:literal, $about:literal;)+) => {
        &[$(ReadyRule { name: $name, about: $about, text: include_str!(concat!("ready/", $name, ".toml")) }),+]
    };
}

/// Every ready rule.
pub const READY: &[ReadyRule] = ready! {
    "secrets", "denies touching files with secrets, asks before all variables are printed";
    "git-history", "asks before commits or changes are lost, and before checks are skipped";
    "stay-in-project", "asks before something outside of the project is written or deleted";
    "pipe-to-shell", "denies running what comes from the network, unseen";
    "exfiltration", "denies sending secrets, asks before any connection";
    "publish", "asks before packages, images, releases and commits are published";
    "persistence", "asks before something is changed that runs by itself later";
    "own-guards", "denies changing what decides which hooks run";
    "infrastructure", "asks before clusters, clouds and services are changed";
    "databases", "asks before data of a database is dropped or deleted";
    "privileges", "asks before the rights of another user are used or given";
    "packages", "asks before packages are installed or run from a registry";
};

/// The file of a project.
pub const PROJECT_FILE: &str = ".hookrail/rules.toml";

/// Names of hooks that searched the text of a command, and the ready rules that took their place.
pub const REPLACED: &[(&str, &[&str])] = &[
    ("ask-network", &["exfiltration"]),
    ("dangerous-commands", &["stay-in-project", "git-history", "pipe-to-shell"]),
    ("no-force-push", &["git-history"]),
    ("protected-paths", &["secrets", "stay-in-project"]),
];

/// The ready rules that a name means: its own, or those that took its place. There are none for a name that means something else.
pub fn ready(name: &str) -> Vec<ReadyRule> {
    let replaced = REPLACED.iter().find(|(old, _)| *old == name).map(|(_, rules)| *rules);
    let is_meant = |rule: &&ReadyRule| replaced.map_or(rule.name == name, |rules| rules.contains(&rule.name));
    READY.iter().filter(is_meant).copied().collect()
}

/// Which file rules are written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleScope {
    /// That of the user: it counts in every project and needs no grant.
    User,
    /// That of the project: it needs a grant.
    Project,
}

/// What was written.
#[derive(Debug)]
pub struct Added {
    pub file: PathBuf,
    /// The names of the ready rules that were added.
    pub added: Vec<&'static str>,
    /// The names of those that the file had already.
    pub known: Vec<&'static str>,
}

/// Returns the file of a scope.
fn rules_file(scope: RuleScope, project: &Path) -> Result<PathBuf> {
    match scope {
        RuleScope::Project => Ok(project.join(PROJECT_FILE)),
        RuleScope::User => user_file().map(|file| file.with_file_name("rules.toml")).ok_or_else(|| {
            Failure::new("the user's rules have no place: neither `HOME` nor `XDG_CONFIG_HOME` is set")
                .hint("set `HOME` to your home directory, or use `--scope project`")
        }),
    }
}

/// Adds ready rules to a file of rules, behind what it has. A rule that the file has already is left as it is.
pub fn add(rules: &[ReadyRule], scope: RuleScope, project: &Path) -> Result<Added> {
    let file = &rules_file(scope, project)?;
    match scope {
        RuleScope::Project => refuse_links(project, file)?,
        RuleScope::User => {}
    }
    let before = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unwritable(file, &error)),
    };
    let book = RuleBook::read(&before).map_err(|problem| {
        Failure::new(format!("`{}` cannot be read: {}", file.display(), problem.message))
            .hint("`hookrail rules check` shows the place")
    })?;
    let mut text = before;
    let mut added = Added { file: file.to_owned(), added: Vec::new(), known: Vec::new() };
    for rule in rules {
        if book.rules().any(|known| known.name() == rule.name) {
            added.known.push(rule.name);
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(rule.text);
        added.added.push(rule.name);
    }
    if added.added.is_empty() {
        return Ok(added);
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| unwritable(file, &error))?;
    replace_file(file, text.as_bytes(), &Replace::KEPT).map_err(|error| unwritable(file, &error))?;
    Ok(added)
}

fn unwritable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!("`{}` cannot be written: {error}", file.display())).hint("check the permissions of its folder")
}

#[cfg(test)]
#[path = "ready_tests.rs"]
mod tests;
