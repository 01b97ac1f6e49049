//! `hookrail new`, `init` and `add`: hooks from templates and recipes. `init` is `new` for a project that has no hooks yet.

use std::path::PathBuf;

use hookrail_app::author::{
    FileWrite, IfExists, TemplateChoice, WrittenHooks, add_recipes, check_name, first_hook, first_rule, new_hook,
    recipes,
};
use hookrail_app::failure::Result;
use hookrail_app::foreign_hooks;
use hookrail_app::project::Project;
use hookrail_app::rules::{self, Added, READY, ReadyRule, RuleScope};

use crate::args::{AddArgs, HookLanguage, InitArgs, NewArgs, ProjectArgs, RuleScopeArg, TemplateArgs};
use crate::cmd::exit::Exit;
use crate::render::style::{CAREFUL, GOOD, HEADING, HINT, QUIET, paint};
use crate::{output, render};

pub(crate) fn run(args: &NewArgs) -> Result<Exit> {
    check_name(&args.name)?;
    let project = Project::open(&args.project)?;
    print(&new_hook(&project, &args.name, choice(&args.template), if_exists(args.force))?)
}

pub(crate) fn init(args: &InitArgs) -> Result<Exit> {
    // A new project begins here, not in a folder above.
    let here = args.project.project.clone().unwrap_or_else(|| PathBuf::from("."));
    let project = Project::open(&ProjectArgs { project: Some(here), ..args.project.clone() })?;
    // Without a word about a hook it is a rule, which needs no language.
    let written = match &args.template {
        TemplateArgs { dialect: None, lang: None, event: None } => first_rule(&project)?,
        template => first_hook(&project, choice(template))?,
    };
    let exit = print(&written)?;
    output::text(&render::foreign_hooks::closing_lines(&foreign_hooks::diagnostics(project.root())))?;
    Ok(exit)
}

pub(crate) fn add(args: &AddArgs) -> Result<Exit> {
    if args.list || args.recipes.is_empty() {
        output::text(&list())?;
        return Ok(Exit::Fine);
    }
    let project = Project::open(&args.project)?;
    let (of_rules, of_recipes): (Vec<String>, Vec<String>) =
        args.recipes.iter().cloned().partition(|name| !rules::ready(name).is_empty());
    if !of_rules.is_empty() {
        add_rules(&project, &of_rules, args.scope)?;
    }
    if of_recipes.is_empty() {
        return Ok(Exit::Fine);
    }
    print(&add_recipes(&project, &of_recipes, if_exists(args.force))?)
}

/// Writes ready rules into the file of a scope.
fn add_rules(project: &Project, names: &[String], scope: RuleScopeArg) -> Result<()> {
    let mut wanted: Vec<ReadyRule> = Vec::new();
    for rule in names.iter().flat_map(|name| rules::ready(name)) {
        if !wanted.iter().any(|known| known.name == rule.name) {
            wanted.push(rule);
        }
    }
    let scope = match scope {
        RuleScopeArg::User => RuleScope::User,
        RuleScopeArg::Project => RuleScope::Project,
    };
    let Added { file, added, known } = rules::add(&wanted, scope, project.root())?;
    let shown = project.places.path(&file);
    let mut text = String::new();
    for name in &added {
        text.push_str(&format!("{}  {}  {shown}\n", paint(GOOD, "added"), paint(HINT, name)));
    }
    for name in &known {
        text.push_str(&format!("{}   {}  {shown}\n", paint(QUIET, "kept"), paint(HINT, name)));
    }
    if scope == RuleScope::Project && !added.is_empty() {
        text.push_str(&format!("\n{}\n  hookrail trust grant\n", paint(HEADING, "next")));
    }
    output::text(&text)
}

fn choice(args: &TemplateArgs) -> TemplateChoice<'_> {
    TemplateChoice {
        dialect: args.dialect,
        language: args.lang.unwrap_or(HookLanguage::Bash).into(),
        event: args.event.as_deref().unwrap_or("before-tool"),
    }
}

fn if_exists(force: bool) -> IfExists {
    if force { IfExists::Replace } else { IfExists::Refuse }
}

/// Says what was written and what comes next.
fn print(written: &WrittenHooks) -> Result<Exit> {
    let width = written.files.iter().map(|file| file.path.len()).max().unwrap_or_default();
    let lines =
        written.files.iter().map(|file| format!("{}  {:width$}  {}\n", word(file.change), file.path, file.about));
    let mut text: String = lines.collect();
    if let Some(warning) = &written.warning {
        text.push_str(&format!("{}: {warning}\n", paint(CAREFUL, "warning")));
    }
    text.push_str(&format!("\n{}\n", paint(HEADING, "next")));
    for command in &written.next {
        text.push_str(&format!("  {command}\n"));
    }
    output::text(&text)?;
    if let Some(translated) = &written.translated {
        output::warnings(&format!("note: {translated}\n"));
    }
    Ok(Exit::Fine)
}

/// What was done with a file, in a word.
pub(super) fn word(change: FileWrite) -> String {
    match change {
        FileWrite::Created => paint(GOOD, "created"),
        FileWrite::Changed => paint(GOOD, "changed"),
        FileWrite::Kept => paint(QUIET, "kept   "),
    }
}

fn list() -> String {
    let rules = || READY.iter().map(|rule| (rule.name, rule.about));
    let width = rules().chain(recipes()).map(|(name, _)| name.len()).max().unwrap_or_default();
    let line = |(name, about): (&str, &str)| format!("{}  {about}\n", paint(HINT, format!("{name:width$}")));
    format!(
        "{}\n{}\n{}\n{}\n`hookrail add NAME...` adds some to the project; `hookrail docs how-to/recipes` describes the hooks.\n",
        paint(HEADING, "rules, which need no script"),
        rules().map(line).collect::<String>(),
        paint(HEADING, "hooks of the cookbook"),
        recipes().map(line).collect::<String>(),
    )
}
