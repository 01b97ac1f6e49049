//! Loads the rules of every layer: `rules.toml` of the project, of the user, of the machine and of bundles.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail_spawn::UserFolders;

use crate::config::diagnostic::{Code, Diagnostic, Level};
use crate::config::source::{Location, Origin, SourceKind};
use crate::config::{KeptReason, Parsed, Source, SourceId, SourceReader, is_absence, not_roots_alone, same_place};
use crate::dialect::enrolment::Bundle;
use crate::dialect::{LoadContext, Loaded, MachineFile, SettingsReach, Sources, machine_files};
use crate::dialect_id::DialectId;
use crate::hook::{Action, Enablement, Enforcement, Hook, OnFailure};
use crate::rules::{
    AddedPrograms, LoadedException, Problem, ReadRule, Rule, RuleAnswer, RulesFile, broken_file, read_rules,
};
use crate::trust::OffByUser;

/// The file of the machine.
const SYSTEM_FILE: &str = "/etc/hookrail/rules.toml";
/// What of the machine decides about rules.
pub(super) const MACHINE_FILES: [&str; 2] = [SYSTEM_FILE, "/etc/hookrail/programs.toml"];
/// The file below the folder of a project, and below hookrail's folder of a user.
const PROJECT_FILE: &str = ".hookrail/rules.toml";
const FILE: &str = "rules.toml";
/// Rows for the tables of programs, beside the rules of the user and of the machine.
const PROGRAMS_FILE: &str = "programs.toml";

/// Loads every rule.
pub(super) fn load(context: &mut LoadContext<'_, '_>) -> Loaded {
    let mut loaded = Loaded::default();
    load_programs(context, &mut loaded);
    let disabled = context.sources.disabled_rules.clone();
    loaded.off_by_user.extend(disabled.iter().map(|name| OffByUser::Hook(DialectId::Rules, name.clone())));
    for RulesPlace { kind, file, .. } in files(context) {
        let mut hooks = layer(kind, &file, context, &mut loaded.diagnostics);
        for hook in &mut hooks {
            if kind != SourceKind::System && disabled.iter().any(|name| **name == *hook.label) {
                hook.enablement = Enablement::Disabled("`[rules] disabled` in the user's configuration".into());
            }
            if kind == SourceKind::Project {
                let LoadContext { sources, reading, trusted, .. } = context;
                hook.trust = trusted.judge(hook, sources, reading);
            }
        }
        loaded.hooks.append(&mut hooks);
    }
    loaded
}

/// A file with rules.
struct RulesPlace {
    kind: SourceKind,
    file: PathBuf,
    /// What the rows for programs beside it act on.
    reach: SettingsReach,
}

/// The files of all layers, the project's first.
fn files(context: &LoadContext<'_, '_>) -> Vec<RulesPlace> {
    let sources = context.sources;
    let own = |kind, file| RulesPlace { kind, file, reach: SettingsReach::Layers };
    let mut files = Vec::new();
    let user = user_folder(sources);
    let is_users = user.as_ref().is_some_and(|user| same_place(user, &sources.project.join(".hookrail")));
    if !is_users {
        files.push(own(SourceKind::Project, sources.project.join(PROJECT_FILE)));
    }
    files.extend(user.map(|folder| own(SourceKind::User, folder.join(FILE))));
    let of_machine = machine_files(SYSTEM_FILE, sources);
    files.extend(of_machine.map(|MachineFile { path: file, reach }| RulesPlace {
        kind: SourceKind::System,
        file,
        reach,
    }));
    let of_bundle =
        |bundle: &Bundle| RulesPlace { kind: bundle.kind, file: bundle.folder.join(FILE), reach: bundle.reach };
    files.extend(context.bundles.iter().map(of_bundle));
    files
}

/// Reads what the machine and the user say about programs, variables and settings. A project and a root that a variable names say
/// nothing: their rows could hide what a command does. The machine's rows are added first, so those of the user for the same
/// programs are left out.
fn load_programs(context: &mut LoadContext<'_, '_>, loaded: &mut Loaded) {
    for RulesPlace { kind, file: rules, reach } in files(context).into_iter().rev() {
        if !matches!(kind, SourceKind::System | SourceKind::User) || reach == SettingsReach::OwnHooks {
            continue;
        }
        let file = rules.with_file_name(PROGRAMS_FILE);
        let programs = context.common.programs.all.clone();
        let read = read_file(kind, &file, context.reading, &mut loaded.diagnostics, |text| {
            let mut programs = programs.clone();
            match programs.add(text) {
                Ok(left_out) => {
                    let remark = |problem| Diagnostic {
                        level: Level::Warning,
                        ..finding(Code::RuleWithoutEffect, &file, text, problem)
                    };
                    Parsed::usable(programs, left_out.iter().map(remark).collect())
                }
                Err(problem) => Parsed::broken(finding(Code::FileSyntax, &file, text, &problem)),
            }
        });
        match read {
            Source::Absent => {}
            Source::InForce(programs) | Source::Unusable(Some(programs)) => {
                if kind == SourceKind::System {
                    context.common.programs.machine = programs.clone();
                }
                context.common.programs.all = programs;
            }
            Source::Unusable(None) => loaded.hooks.extend(asks_for(kind, &file)),
        }
    }
}

/// What stands for a file that cannot be used: the user's asks. The machine's denies by itself, and rules of a project that
/// were granted are missing.
fn asks_for(kind: SourceKind, file: &Path) -> Vec<Hook> {
    if kind != SourceKind::User {
        return Vec::new();
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let origin = Origin { kind, location: Location::whole_file(file) };
    let why = format!("`{}` cannot be read", file.display());
    broken_file(&name, &why).map(|(event, rule)| hook_of(event, &rule, origin.clone())).into()
}

/// hookrail's folder of the user.
fn user_folder(sources: &Sources) -> Option<PathBuf> {
    UserFolders::of(&sources.environment).configuration.map(|folder| folder.join("hookrail"))
}

/// Reads a file of a layer. The machine's can only be used if it is root's alone.
fn read_file<T>(
    kind: SourceKind,
    file: &Path,
    reading: &mut SourceReader<'_>,
    found: &mut Vec<Diagnostic>,
    parse: impl Fn(&str) -> Parsed<T>,
) -> Source<T> {
    let place = SourceId { path: file, kind, dialect: Some(DialectId::Rules) };
    if kind == SourceKind::System
        && file.parent() == Path::new(SYSTEM_FILE).parent()
        && let Some(problem) = unsafe_file(file)
    {
        let message = problem.message.clone();
        found.push(problem);
        reading.look_at(file);
        if let Some(text) = reading.last_good(file) {
            reading.keep(file, KeptReason::Unusable, found);
            return parse(&text).value.map_or(Source::Absent, Source::InForce);
        }
        reading.unusable(place, message);
        return Source::Unusable(None);
    }
    reading.read(place, found, parse)
}

fn layer(kind: SourceKind, file: &Path, context: &mut LoadContext<'_, '_>, found: &mut Vec<Diagnostic>) -> Vec<Hook> {
    let programs = context.common.programs.of_examples(kind);
    let read = read_file(kind, file, context.reading, found, |text| {
        let Parsed { value, problems, verdict } = parse(file, text, &programs);
        Parsed { value: value.map(|rules| (rules, Arc::<str>::from(text))), problems, verdict }
    });
    match read {
        Source::Absent => Vec::new(),
        Source::InForce((mut rules, text)) | Source::Unusable(Some((mut rules, text))) => {
            if kind == SourceKind::User {
                let exceptions = std::mem::take(&mut rules.exceptions);
                let loaded = exceptions.into_iter().map(|exception| {
                    let location = Location::in_text(file, &text, exception.span.clone());
                    LoadedException { exception, location }
                });
                context.common.rule_exceptions.extend(loaded);
                found.extend(context.common.rule_exceptions.iter().filter_map(LoadedException::expiry));
            } else {
                for exception in &rules.exceptions {
                    let message = "an exception counts only in the user's `rules.toml`";
                    let finding = Diagnostic::new(Code::RuleInvalid, message);
                    found.push(finding.at(Location::in_text(file, &text, exception.span.clone())));
                }
            }
            hooks_of(kind, file, &text, rules)
        }
        Source::Unusable(None) => asks_for(kind, file),
    }
}

fn parse(file: &Path, text: &str, programs: &AddedPrograms) -> Parsed<RulesFile> {
    match read_rules(text, programs) {
        Ok(rules) => {
            let wrong = rules.problems.iter().map(|problem| finding(Code::RuleInvalid, file, text, problem));
            let remark =
                |remark| Diagnostic { level: Level::Warning, ..finding(Code::RuleWithoutEffect, file, text, remark) };
            let problems = wrong.chain(rules.remarks.iter().map(remark)).collect();
            Parsed::usable(rules, problems)
        }
        Err(problem) => Parsed::broken(finding(Code::FileSyntax, file, text, &problem)),
    }
}

fn finding(code: Code, file: &Path, text: &str, problem: &Problem) -> Diagnostic {
    let finding =
        Diagnostic::new(code, problem.message.as_str()).at(Location::in_text(file, text, problem.span.clone()));
    let finding = Diagnostic { level: Level::Error, ..finding };
    match &problem.hint {
        Some(hint) => finding.hint(hint.as_str()),
        None => finding,
    }
}

fn hooks_of(kind: SourceKind, file: &Path, text: &str, rules: RulesFile) -> Vec<Hook> {
    let mut hooks = Vec::new();
    for ReadRule { rule, span, events, is_enforced, description, .. } in rules.rules {
        let origin = Origin { kind, location: Location::in_text(file, text, span) };
        for event in events {
            let mut hook = hook_of(event, &rule, origin.clone());
            hook.description = description.as_deref().map(Arc::from);
            if !is_enforced {
                hook.enforcement = Enforcement::Shadow;
            }
            hooks.push(hook);
        }
    }
    hooks
}

fn hook_of(event: crate::event::EventKind, rule: &Arc<Rule>, origin: Origin) -> Hook {
    let mut hook = Hook::new(event, DialectId::Rules, rule.name(), Action::Rule(Arc::clone(rule)), origin);
    hook.on_failure = match rule.answer() {
        RuleAnswer::Deny => OnFailure::Block,
        RuleAnswer::Ask => OnFailure::Ask,
        RuleAnswer::Allow | RuleAnswer::Context | RuleAnswer::Stop => OnFailure::Allow,
    };
    hook
}

/// Whether the machine's file can be used: it and its folders belong to root, and only root can write them.
fn unsafe_file(file: &Path) -> Option<Diagnostic> {
    if file.symlink_metadata().is_err_and(|error| is_absence(&error)) {
        return None;
    }
    let suspect = not_roots_alone(file)?;
    let message = format!("the system's rules cannot be used, because `{}` is not root's alone", suspect.display());
    let finding = Diagnostic::new(Code::SystemFileUnsafe, message).at(Location::whole_file(file));
    Some(finding.hint("make the file and its folders root's, and writable by root only"))
}
