//! `hookrail try`: runs one script or module once, with a sample event and without any settings.
//!
//! The user names the file on the command line, so it needs no grant, as a module that is named with `--hook` needs none. No
//! other hook runs, and nothing is recorded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hookrail::hook::{Action, Owner};
use hookrail::sources::{Location, Origin, SourceKind};
use hookrail::{DialectId, Event, EventKind, Hook, HookSystem};
use hookrail_app::event_draft::{self, EventDraft};
use hookrail_app::failure::{Failure, Result};
use hookrail_app::project::Project;
use hookrail_app::sample;

use super::as_agent;
use super::event_options;
use super::firing::{self, Detail, FiredEvent};
use crate::args::{ProjectArgs, TryArgs};
use crate::cmd::exit::Exit;
use crate::{output, render};

/// The variables by which scripts of settings files find the project.
const PROJECT_VARIABLES: [&str; 3] = ["LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];

/// The programs that run scripts which are not executable, by the ending of their names.
const INTERPRETERS: [(&str, &str); 9] = [
    ("sh", "sh"),
    ("bash", "bash"),
    ("zsh", "zsh"),
    ("py", "python3"),
    ("rb", "ruby"),
    ("pl", "perl"),
    ("js", "node"),
    ("mjs", "node"),
    ("cjs", "node"),
];

pub(crate) fn run(args: &TryArgs) -> Result<Exit> {
    let file = args.script.canonicalize().map_err(|error| {
        Failure::new(format!("`{}` cannot be read: {error}", args.script.display()))
            .hint("give the path of a script or a module; a hook of the settings is run by `hookrail dev HOOK`")
    })?;
    if !file.is_file() {
        return Err(Failure::new(format!("`{}` is not a file", args.script.display()))
            .hint("give the script or the module itself, not its folder"));
    }
    let dialect = args.dialect.unwrap_or_else(|| usual_dialect(&file));
    let of_agent = args.agent.and_then(|agent| agent.find_event(&args.event));
    let kind = of_agent.map_or_else(|| event_draft::find_kind(&args.event), |event| Ok(event.kind))?;
    if kind.spec().column(dialect).is_none() {
        let others = DialectId::CONFIGURED.into_iter().filter_map(|other| {
            let column = kind.spec().column(other)?;
            Some(format!("`{}` with `--dialect {other}`", column.name))
        });
        let others: Vec<String> = others.collect();
        return Err(Failure::new(format!("hooks of {dialect} have no event {kind}"))
            .hint(format!("it is {}; `hookrail reference events` lists all", others.join(", or "))));
    }
    let sample = sample::fields(kind, args.sample.tool.as_deref()).to_json();
    let options = ProjectArgs {
        project: args.project.clone(),
        trust_project: false,
        modules: if dialect == DialectId::Xcsh { vec![file.clone()] } else { Vec::new() },
        no_plugins: true,
    };
    let project = Project::open(&options)?;
    let event = args.sample.to_event(kind.name(), sample.text());
    let EventDraft { event, fields } = event_options::build_event(&event, project.root())?;
    let asked = args.agent.map(|agent| as_agent::request_of(agent, &event)).transpose()?;
    let mut builder = project.builder(&options)?.only_named_hooks().lend_runtime();
    builder = as_agent::host(builder, args.agent);
    if dialect != DialectId::Xcsh {
        builder = builder.hook(script_hook(kind, dialect, &args.script, &file)?);
    }
    let system = builder.build();
    Project::require_modules(&system)?;
    let runtime = hookrail_app::runtime::runtime()?;
    let exit = runtime.block_on(async {
        let mut interrupts = firing::listen()?;
        let (mut fired, told) = match asked {
            Some(mut asked) => {
                asked.events = asked.events.into_iter().map(|event| with_project(event, project.root())).collect();
                firing::fire_as_agent(&system, &asked, &mut interrupts, Detail::Everything).await
            }
            None => {
                let event = with_project(event, project.root());
                (firing::fire(&system, event, &mut interrupts, Detail::Everything).await, None)
            }
        };
        fired.explain(&system, fields);
        fired.advise(&system);
        let report = format!("{}{}", fired.report(&system, &project.places), unasked(&fired, &system, dialect));
        let report = report + &told.map(|told| told.report()).unwrap_or_default();
        let printed = output::text(&report);
        let findings = system.shutdown().await;
        output::warnings(&render::diagnostic::all(&findings, &project.places));
        printed?;
        Ok(fired.exit())
    });
    std::mem::forget((system, runtime));
    exit
}

fn with_project(event: Event, project: &Path) -> Event {
    let root = project.to_string_lossy();
    PROJECT_VARIABLES.into_iter().fold(event, |event, name| event.variable(name, &*root))
}

/// A file with the ending of a module is one, unless its first line names an interpreter.
fn usual_dialect(file: &Path) -> DialectId {
    let is_module = ["ts", "mts", "js", "mjs"].iter().any(|ending| file.extension().is_some_and(|own| own == *ending));
    if is_module && !begins_with_interpreter(file) { DialectId::Xcsh } else { DialectId::Llxprt }
}

fn begins_with_interpreter(file: &Path) -> bool {
    use std::io::Read as _;
    let mut first = [0; 2];
    std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut first)).is_ok() && &first == b"#!"
}

/// Returns the hook that runs a script.
fn script_hook(kind: EventKind, dialect: DialectId, named: &Path, file: &Path) -> Result<Hook> {
    let path = file.to_string_lossy().into_owned();
    let words: Vec<String> = match interpreter(file) {
        _ if is_executable(file) => vec![path],
        Some(interpreter) => vec![interpreter.to_owned(), path],
        None => {
            return Err(Failure::new(format!("`{}` is not executable", named.display())).hint(format!(
                "run `chmod +x {}`, and begin the file with a line such as `#!/bin/sh`",
                named.display()
            )));
        }
    };
    let origin = Origin { kind: SourceKind::Option, location: Location::whole_file(file) };
    let label = named.to_string_lossy().into_owned();
    let mut hook = Hook::new(kind, dialect, label, Action::Program(words.into()), origin);
    if dialect == DialectId::Xcode {
        let dir: PathBuf = file.parent().map(Path::to_owned).unwrap_or_default();
        hook.owner = Some(Arc::new(Owner { id: "try@local".to_owned(), dir, data_dir: None }));
    }
    Ok(hook)
}

fn interpreter(file: &Path) -> Option<&'static str> {
    let ending = file.extension()?.to_str()?;
    INTERPRETERS.into_iter().find(|(own, _)| *own == ending).map(|(_, program)| program)
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|about| about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "exe" || ending == "cmd" || ending == "bat")
}

/// Says for which events a module has handlers if it has none for this one.
fn unasked(fired: &FiredEvent, system: &HookSystem, dialect: DialectId) -> String {
    let outcome = &fired.outcome;
    if !outcome.runs.is_empty() || !outcome.shadow.is_empty() {
        return String::new();
    }
    let snapshot = system.snapshot();
    let name = |kind: EventKind| kind.spec().column(dialect).map_or(kind.name(), |column| column.name);
    let mut handled: Vec<String> =
        snapshot.hooks().iter().filter_map(|hook| hook.known_event()).map(|kind| format!("`{}`", name(kind))).collect();
    handled.dedup();
    let asked = name(outcome.event);
    render::hooks::hint(&match handled.is_empty() {
        true => format!("it has no handler: register one with `pi.on(\"{asked}\", …)`"),
        false => format!("it has no handler for `{asked}`, only for {}; choose one with `--event`", handled.join(", ")),
    })
}
