//! `hookrail rules`: lists, checks and compares rules.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use hookrail::plan::Snapshot;
use hookrail::rules::{CallPlaces, RuleBook, RuleMatch, TriedExample};
use hookrail::sources::SourceKind;
use hookrail::{Code, Diagnostic, DialectId, HookSystem, Json, Level};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::folders;
use hookrail_app::project::Project;
use hookrail_app::records::{self, RecordSelection};
use hookrail_app::replay::event_of;
use hookrail_app::text::{counted, one_line};
use hookrail_journal::Record;
use serde_json::json;

use crate::args::{ProjectArgs, RulesArgs, RulesCommand, RulesDiffArgs, RulesListArgs};
use crate::cmd::exit::Exit;
use crate::cmd::new;
use crate::render::style::{BAD, GOOD, HEADING, QUIET, paint};
use crate::render::table::{Cell, Table};
use crate::{output, render};

pub(crate) fn run(args: &RulesArgs) -> Result<Exit> {
    match &args.command {
        None => list(&RulesListArgs::default()),
        Some(RulesCommand::List(args)) => list(args),
        Some(RulesCommand::Check(args)) => check(args),
        Some(RulesCommand::Test(args)) => test(args),
        Some(RulesCommand::Diff(args)) => diff(args),
        Some(RulesCommand::Add(args)) => new::add(args),
    }
}

fn system(args: &ProjectArgs) -> Result<(Project, HookSystem)> {
    let project = Project::open(args)?;
    let system = project.builder(args)?.build();
    Ok((project, system))
}

/// What is wrong with rules and their files.
fn findings(system: &HookSystem) -> Vec<Diagnostic> {
    let is_about_rules = |finding: &&Diagnostic| {
        let is_of_file = || {
            let location = finding.location.as_ref();
            location.is_some_and(|location| location.file.file_name().is_some_and(|name| name == "rules.toml"))
        };
        matches!(finding.code, Code::RuleInvalid | Code::ExceptionExpired) || is_of_file()
    };
    system.snapshot().diagnostics().iter().filter(is_about_rules).cloned().collect()
}

fn list(args: &RulesListArgs) -> Result<Exit> {
    let (project, system) = system(&args.project)?;
    let snapshot = system.snapshot();
    let rules = || snapshot.hooks().iter().filter(|hook| hook.dialect == DialectId::Rules);
    if args.json {
        let document = rules().map(|hook| {
            json!({
                "rule": &*hook.label, "event": hook.event.name(), "answer": hook.on_failure.name(),
                "source": { "kind": hook.origin.kind.name(), "file": hook.origin.location.file.display().to_string(), "line": hook.origin.location.line },
                "enabled": hook.is_enabled(), "trusted": hook.trust.allows(), "enforced": !hook.is_shadow(),
            })
        });
        output::json(&Json::from(json!({ "rules": document.collect::<Vec<_>>() })))?;
        return Ok(Exit::Fine);
    }
    let mut table = Table::default();
    for hook in rules() {
        let state = match (hook.is_enabled(), hook.trust.allows(), hook.is_shadow()) {
            (false, _, _) => "switched off",
            (_, false, _) => "not granted",
            (_, _, true) => "not enforced",
            _ => "",
        };
        let about = hook.description.as_deref().unwrap_or_default();
        table.row([
            Cell::new(&*hook.label, HEADING),
            Cell::plain(hook.origin.kind.name()),
            Cell::plain(state),
            Cell::quiet(one_line(about)),
        ]);
    }
    let listed = table.render(0);
    output::text(if listed.is_empty() { NO_RULES } else { &listed })?;
    let found = findings(&system);
    if !found.is_empty() {
        output::text(&render::diagnostic::all(&found, &project.places))?;
    }
    Ok(Exit::Fine)
}

fn check(args: &RulesListArgs) -> Result<Exit> {
    let (project, system) = system(&args.project)?;
    let found = findings(&system);
    let is_bad = found.iter().any(|finding| finding.level == Level::Error);
    if args.json {
        output::json(&hookrail::document::diagnostics_document(&found))?;
    } else {
        let verdict = match is_bad {
            true => paint(BAD, "not every rule can be used\n"),
            false => usable(&system.snapshot())?,
        };
        output::text(&format!("{}{verdict}", render::diagnostic::all(&found, &project.places)))?;
    }
    Ok(if is_bad { Exit::Failed } else { Exit::Fine })
}

const NO_RULES: &str = "there are no rules; `hookrail add` lists ready ones\n";

/// Says that all rules can be used, and whether that was tried with examples.
fn usable(snapshot: &Snapshot) -> Result<String> {
    let count = snapshot.hooks().iter().filter(|hook| hook.dialect == DialectId::Rules).count();
    let mut examples = 0;
    for (file, layer) in files(snapshot) {
        examples += book(snapshot, &file, layer)?.examples().map(|(_, examples)| examples.len()).sum::<usize>();
    }
    let rules = counted(count, "rule");
    Ok(match (count, examples) {
        (0, _) => NO_RULES.to_owned(),
        (_, 0) => paint(GOOD, format!("{rules} can be used; there are no examples (`match`, `no-match`)\n")),
        (_, _) => paint(GOOD, format!("{rules} can be used, and their examples hold\n")),
    })
}

/// The files with rules, and their layers.
fn files(snapshot: &Snapshot) -> Vec<(PathBuf, SourceKind)> {
    let mut files: Vec<(PathBuf, SourceKind)> = Vec::new();
    for hook in snapshot.hooks().iter().filter(|hook| hook.dialect == DialectId::Rules) {
        let file = (hook.origin.location.file.to_path_buf(), hook.origin.kind);
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// Tries every example, those of rules that cannot be used included.
fn test(args: &RulesListArgs) -> Result<Exit> {
    let (project, system) = system(&args.project)?;
    let snapshot = system.snapshot();
    let files = files(&snapshot);
    let (mut documents, mut text, mut failed, mut passed) = (Vec::new(), String::new(), 0_usize, 0_usize);
    for (file, layer) in &files {
        let book = book(&snapshot, file, *layer)?;
        let shown = project.places.path(file);
        for (rule, examples) in book.examples() {
            let wrong: Vec<&TriedExample> = examples.iter().filter(|example| example.problem.is_some()).collect();
            failed += wrong.len();
            passed += examples.len() - wrong.len();
            let (style, word) = if wrong.is_empty() { (GOOD, "PASS") } else { (BAD, "FAIL") };
            let count = counted(examples.len(), "example");
            text.push_str(&format!("{}  {}  {count}  {shown}\n", paint(style, word), paint(HEADING, rule)));
            for problem in wrong.iter().filter_map(|example| example.problem.as_deref()) {
                text.push_str(&format!("      {problem}\n"));
            }
            documents.extend(examples.iter().map(|example| {
                json!({
                    "rule": rule, "file": file.display().to_string(), "example": example.shown,
                    "matches": example.is_match, "passed": example.problem.is_none(), "problem": example.problem,
                })
            }));
        }
    }
    if args.json {
        output::json(&Json::from(json!({ "passed": passed, "failed": failed, "examples": documents })))?;
    } else {
        output::text(if text.is_empty() { NO_RULES } else { &text })?;
    }
    let found = findings(&system);
    let is_bad = failed > 0 || found.iter().any(|finding| finding.level == Level::Error);
    if is_bad && !args.json {
        output::text(&render::diagnostic::all(&found, &project.places))?;
    }
    Ok(if is_bad { Exit::Failed } else { Exit::Fine })
}

/// A call that two files of rules are asked about.
struct JudgedCall {
    shown: String,
    tool: String,
    input: Json,
}

impl JudgedCall {
    fn of_line(line: &str) -> Self {
        let input = Json::from(json!({ "command": line }));
        Self { shown: line.to_owned(), tool: "run_shell_command".to_owned(), input }
    }

    /// A call of the journal, if its input was recorded.
    fn of_record(record: &Record<'_>) -> Option<Self> {
        let event = event_of(record, PathBuf::new())?;
        let (tool, input) = (event.text("tool_name")?, event.field("tool_input")?.clone());
        let command = || input.as_object()?.get("command")?.as_str();
        let shown = command().unwrap_or_else(|| format!("{tool} {}", input.text()));
        Some(Self { shown, tool, input })
    }
}

/// The calls that two files are compared on, each once.
fn calls(args: &RulesDiffArgs) -> Result<Vec<JudgedCall>> {
    let Some(lines) = &args.lines else {
        let selection =
            RecordSelection { since: args.since.as_deref(), event: Some("before-tool"), ..RecordSelection::default() };
        let mut calls: Vec<JudgedCall> = Vec::new();
        let mut known: HashSet<String> = HashSet::new();
        for record in records::read(selection)?.flatten() {
            let call = JudgedCall::of_record(&record);
            calls.extend(call.filter(|call| known.insert(format!("{} {}", call.tool, call.input.text()))));
        }
        return Ok(calls);
    };
    Ok(read(lines)?.lines().filter(|line| !line.trim().is_empty()).map(JudgedCall::of_line).collect())
}

fn diff(args: &RulesDiffArgs) -> Result<Exit> {
    let (project, system) = system(&args.project)?;
    // What the user said about programs counts for both.
    let book = |file: &Path| book(&system.snapshot(), file, SourceKind::User);
    let (old, new) = (book(&args.old)?, book(&args.new)?);
    let home = folders::home();
    let places = CallPlaces { project: project.root(), cwd: project.root(), home: home.as_deref() };
    let calls = calls(args)?;
    let mut differing = Vec::new();
    for JudgedCall { shown, tool, input } in &calls {
        let judged = |book: &RuleBook| answer(&book.judge_call(tool, input.clone(), places));
        let (before, after) = (judged(&old), judged(&new));
        if before != after {
            differing.push((shown, before, after));
        }
    }
    if args.json {
        let lines = differing.iter().map(|(line, from, to)| json!({ "line": line, "from": from, "to": to }));
        let document = json!({ "compared": calls.len(), "different": lines.collect::<Vec<_>>() });
        output::json(&Json::from(document))?;
    } else if differing.is_empty() {
        output::text(&format!("no answer differs, about {}\n", counted(calls.len(), "call")))?;
    } else {
        let mut table = Table::default();
        for (line, from, to) in &differing {
            let line = hookrail_app::text::short(&one_line(line), 80);
            table.row([Cell::plain(line), Cell::new(from.clone(), QUIET), Cell::new(to.clone(), HEADING)]);
        }
        output::text(&table.render(0))?;
    }
    Ok(if differing.is_empty() { Exit::Fine } else { Exit::Blocked })
}

/// The strictest answer, with the rule that gives it.
fn answer(found: &[RuleMatch]) -> String {
    let strictest = found.iter().min_by_key(|found| found.answer as usize);
    strictest.map_or_else(|| "nothing".to_owned(), |found| format!("{} ({})", found.answer, found.rule))
}

fn book(snapshot: &Snapshot, file: &Path, layer: SourceKind) -> Result<RuleBook> {
    snapshot.rule_book(&read(file)?, layer).map_err(|problem| {
        Failure::new(format!("`{}` cannot be read: {}", file.display(), problem.message)).hint("repair the file")
    })
}

fn read(file: &Path) -> Result<String> {
    let mut text = String::new();
    let read = match file == Path::new("-") {
        true => std::io::stdin().lock().read_to_string(&mut text),
        false => std::fs::read_to_string(file).map(|read| {
            text = read;
            text.len()
        }),
    };
    match read {
        Ok(_) => Ok(text),
        Err(error) => {
            Err(Failure::new(format!("`{}` cannot be read: {error}", file.display())).hint("name a file with text"))
        }
    }
}
