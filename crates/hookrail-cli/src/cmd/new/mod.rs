//! `hookrail new` and `hookrail init`: a hook from a template, with its settings and its test cases.
//!
//! `init` is `new` for a project that has no hooks yet. `hookrail add` writes its files the same way.

mod files;
mod recipes;
mod samples;
mod settings;
mod target;
mod template;

use std::path::{Path, PathBuf};

use hookrail_app::failure::{Failure, Result};
use hookrail_app::foreign_hooks;
use hookrail_app::project::Project;

use crate::args::{InitArgs, NewArgs, ProjectArgs, TemplateArgs};
use crate::cmd::exit::Exit;
use crate::output;
use crate::render::style::{CAREFUL, GOOD, HEADING, QUIET, paint};

pub(crate) use files::{FileChange, FileMode, IfExists, NewFile, StagedFiles, read_below};
pub(crate) use recipes::{add, recipes};
use target::{TemplateDialect, TemplateEvent};
use template::{DescribedFile, HookTemplate};

/// The name of the hook that `init` writes.
const FIRST_HOOK: &str = "guard";

/// What comes after a first hook.
const INSTALL: &str = "hookrail install claude    or codex, gemini and others";

pub(crate) fn run(args: &NewArgs) -> Result<Exit> {
    check_name(&args.name)?;
    let project = Project::open(&args.project)?;
    let if_exists = if args.force { IfExists::Replace } else { IfExists::Refuse };
    write_hook(&project, &args.name, &args.template, if_exists, None)
}

pub(crate) fn init(args: &InitArgs) -> Result<Exit> {
    // A new project begins here, not in a folder above.
    let here = args.project.project.clone().unwrap_or_else(|| PathBuf::from("."));
    let project = Project::open(&ProjectArgs { project: Some(here), ..args.project.clone() })?;
    let settings = settings::PATH;
    let dialect = TemplateDialect::of_arguments(&args.template)?;
    if dialect == TemplateDialect::Settings && read_below(project.root(), settings)?.is_some() {
        return Err(Failure::new(format!("`{settings}` already exists; nothing was written"))
            .hint("run `hookrail list` to see the hooks")
            .hint("run `hookrail new NAME` to add a hook; the file keeps what it has"));
    }
    let exit = write_hook(&project, FIRST_HOOK, &args.template, IfExists::Refuse, Some(INSTALL))?;
    output::text(&crate::render::foreign_hooks::closing_lines(&foreign_hooks::diagnostics(project.root())))?;
    Ok(exit)
}

fn write_hook(
    project: &Project,
    name: &str,
    args: &TemplateArgs,
    if_exists: IfExists,
    then: Option<&str>,
) -> Result<Exit> {
    let dialect = TemplateDialect::of_arguments(args)?;
    dialect.check_language(args.lang)?;
    let TemplateEvent { kind, column, translated } = dialect.find_event(&args.event)?;
    let template = HookTemplate { name, dialect, language: args.lang, kind, column, if_exists };
    let made = template.files();
    let mut next: Vec<String> = made.build.into_iter().collect();
    next.push("hookrail trust grant".to_owned());
    next.push("hookrail test".to_owned());
    next.extend(then.map(str::to_owned));
    let groups = Vec::from_iter(made.group);
    let about = format!("one hook for {}", column.name);
    let exit = write_all(project.root(), made.files, &groups, &about, &next)?;
    if let Some(translated) = translated {
        output::warnings(&format!("note: {translated}\n"));
    }
    Ok(exit)
}

/// Writes the files, and last of all the settings that switch them on. Says what was written and what comes next.
fn write_all(
    root: &Path,
    mut described: Vec<DescribedFile>,
    groups: &[hookrail_bridge::install::HookGroup],
    about_settings: &str,
    next: &[String],
) -> Result<Exit> {
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
        described.push(DescribedFile { file, about: about_settings.to_owned() });
    }
    let (files, abouts): (Vec<NewFile>, Vec<String>) =
        described.into_iter().map(|described| (described.file, described.about)).unzip();
    let changes = StagedFiles::stage(root, &files)?.commit()?;
    let width = files.iter().map(|file| file.path.len()).max().unwrap_or_default();
    let mut text = String::new();
    for ((file, about), change) in files.iter().zip(&abouts).zip(changes) {
        let word = match change {
            FileChange::Created => paint(GOOD, "created"),
            FileChange::Changed => paint(GOOD, "changed"),
            FileChange::Kept => paint(QUIET, "kept   "),
        };
        text.push_str(&format!("{word}  {:width$}  {about}\n", file.path));
    }
    if let Some(warning) = warning {
        text.push_str(&format!("{}: {warning}\n", paint(CAREFUL, "warning")));
    }
    text.push_str(&format!("\n{}\n", paint(HEADING, "next")));
    for command in next {
        text.push_str(&format!("  {command}\n"));
    }
    output::text(&text)?;
    Ok(Exit::Fine)
}

/// Checks that a name can be that of a file, a plugin and a package, and needs no quotes in any language.
fn check_name(name: &str) -> Result<()> {
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
