//! What the authors of hooks get: a hook from a template or a recipe with its settings and its test cases, types for editors,
//! and an event to fire while a hook is written.

mod chosen_event;
mod files;
mod recipes;
mod rules;
pub(crate) mod settings;
mod target;
mod template;
mod types;

use std::path::Path;

use hookrail::DialectId;
use hookrail_bridge::install::HookGroup;

use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::rules::{PROJECT_FILE, ready};
use files::{FileMode, NewFile, StagedFiles, read_below};
use target::{TemplateDialect, TemplateEvent};
use template::{DescribedFile, HookTemplate};

pub use chosen_event::{ChosenEvent, EventSource, EventWish, choose_event};
pub use files::{FileWrite, IfExists};
pub use recipes::{add_recipes, recipes};
pub use types::{TypesLanguage, TypesPlace, languages_of, write_types};

/// The name of the hook that `init` writes.
const FIRST_HOOK: &str = "guard";

/// The ready rule with which a project begins.
const FIRST_RULE: &str = "secrets";

/// What comes after a first hook.
const INSTALL: &str = "hookrail install claude    or codex, gemini and others";

/// The languages that a hook can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookLanguage {
    Bash,
    Python,
    Node,
    Typescript,
    Rust,
}

/// What a new hook is.
#[derive(Clone, Copy, Debug)]
pub struct TemplateChoice<'c> {
    /// The hook system that the hook is written for; without one, that of the language.
    pub dialect: Option<DialectId>,
    pub language: HookLanguage,
    /// The event, by its name in any dialect or agent.
    pub event: &'c str,
}

/// The files of one or more new hooks.
#[derive(Debug)]
pub struct WrittenHooks {
    pub files: Vec<WrittenFile>,
    /// Why the hooks do not run although they are in the settings.
    pub warning: Option<String>,
    /// What to tell a user who named the event as another agent does.
    pub translated: Option<String>,
    /// The commands that come next.
    pub next: Vec<String>,
}

/// A file that was written.
#[derive(Debug)]
pub struct WrittenFile {
    /// The path from the project's directory on.
    pub path: String,
    /// What the file is.
    pub about: String,
    pub change: FileWrite,
}

/// Writes a hook from a template, with its settings and its test cases.
pub fn new_hook(
    project: &Project,
    name: &str,
    choice: TemplateChoice<'_>,
    if_exists: IfExists,
) -> Result<WrittenHooks> {
    write_hook(project, name, choice, if_exists, None)
}

/// Writes the first guard of a project: a ready rule, which needs no script.
pub fn first_rule(project: &Project) -> Result<WrittenHooks> {
    let path = PROJECT_FILE;
    if read_below(project.root(), path)?.is_some() {
        return Err(Failure::new(format!("`{path}` already exists; nothing was written"))
            .hint("run `hookrail rules` to see the rules")
            .hint("run `hookrail add NAME` to add a rule; the file keeps what it has"));
    }
    let described = ready(FIRST_RULE).into_iter().map(|rule| {
        let file = NewFile {
            path: path.to_owned(),
            text: rule.text.to_owned(),
            mode: FileMode::Plain,
            if_exists: IfExists::Refuse,
        };
        DescribedFile { file, about: format!("a rule: {}", rule.about) }
    });
    let next = ["hookrail trust grant", "hookrail rules test", "hookrail add     lists more rules", INSTALL];
    write_all(project.root(), described.collect(), &[], String::new(), next.map(str::to_owned).into())
}

/// Writes the first hook of a project.
pub fn first_hook(project: &Project, choice: TemplateChoice<'_>) -> Result<WrittenHooks> {
    let settings = settings::PATH;
    let dialect = TemplateDialect::chosen(choice)?;
    if dialect == TemplateDialect::Settings && read_below(project.root(), settings)?.is_some() {
        return Err(Failure::new(format!("`{settings}` already exists; nothing was written"))
            .hint("run `hookrail list` to see the hooks")
            .hint("run `hookrail new NAME` to add a hook; the file keeps what it has"));
    }
    write_hook(project, FIRST_HOOK, choice, IfExists::Refuse, Some(INSTALL))
}

fn write_hook(
    project: &Project,
    name: &str,
    choice: TemplateChoice<'_>,
    if_exists: IfExists,
    then: Option<&str>,
) -> Result<WrittenHooks> {
    let dialect = TemplateDialect::chosen(choice)?;
    dialect.check_language(choice.language)?;
    let TemplateEvent { kind, column, translated } = dialect.find_event(choice.event)?;
    let template = HookTemplate { name, dialect, language: choice.language, kind, column, if_exists };
    let made = template.files();
    let mut next: Vec<String> = made.build.into_iter().collect();
    next.push("hookrail trust grant".to_owned());
    next.push("hookrail test".to_owned());
    next.extend(then.map(str::to_owned));
    let groups = Vec::from_iter(made.group);
    let about = format!("one hook for {}", column.name);
    let written = write_all(project.root(), made.files, &groups, about, next)?;
    Ok(WrittenHooks { translated, ..written })
}

/// Writes the files, and last of all the settings that switch them on.
fn write_all(
    root: &Path,
    mut described: Vec<DescribedFile>,
    groups: &[HookGroup],
    about_settings: String,
    next: Vec<String>,
) -> Result<WrittenHooks> {
    let mut warning = None;
    if !groups.is_empty() {
        let merged = settings::merge(root, groups)?;
        warning = merged.warning;
        let file = NewFile {
            path: settings::PATH.to_owned(),
            text: merged.text,
            mode: FileMode::Plain,
            if_exists: IfExists::Replace,
        };
        described.push(DescribedFile { file, about: about_settings });
    }
    let (files, abouts): (Vec<NewFile>, Vec<String>) =
        described.into_iter().map(|described| (described.file, described.about)).unzip();
    let changes = StagedFiles::stage(root, &files)?.commit()?;
    let written = files.into_iter().zip(abouts).zip(changes);
    let files = written.map(|((file, about), change)| WrittenFile { path: file.path, about, change }).collect();
    Ok(WrittenHooks { files, warning, translated: None, next })
}

/// Checks that a name can be that of a file, a plugin and a package, and needs no quotes in any language.
pub fn check_name(name: &str) -> Result<()> {
    let is_good = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && !name.ends_with('-')
        && name.len() <= 60;
    if is_good {
        return Ok(());
    }
    let better: String = name
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' })
        .collect();
    let better = better.trim_matches(|c: char| c == '-' || c.is_ascii_digit());
    let failure = Failure::new(format!(
        "`{name}` cannot be the name of a hook: use lower-case letters, digits and dashes, beginning with a letter, at \
         most 60"
    ));
    Err(if better.is_empty() || better.len() > 60 {
        failure.hint("for example `hookrail new protect-files`")
    } else {
        failure.hint(format!("for example `hookrail new {better}`"))
    })
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn names_cannot_leave_their_folder_and_need_no_quotes() {
        for good in ["guard", "a", "no-force-push", "v2"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "../x", "a/b", "-a", "a-", "2x", "A", "a_b", "a b", "a\"b", "é", &"a".repeat(61)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
