//! `hookrail install` and `hookrail uninstall`: make an agent call the bridge, and take that back.
//!
//! The change is shown first. A settings file that other programs write too only ever gets text inserted; what was inserted
//! is recorded, so that an uninstallation leaves every other byte as it is.

mod record;
mod unrecorded;
mod write;

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use hookrail::EventKind;
use hookrail::hook::Enablement;
use hookrail_bridge::Agent;
use hookrail_bridge::install::{
    EditError, Insertion, InstallOptions, Locations, Scope, SettingsFile, SettingsSyntax, bridge_calls, codex_trust,
    insert_entries, read_settings, remove_entries, settings_files, take_back, trust_codex_hooks,
};

use crate::args::{InstallArgs, ProjectArgs, ScopeArg, UninstallArgs};
use crate::errors::{Exit, Failure, Result};
use crate::output;
use crate::project::{Project, home};
use crate::project_search::find_project;
use crate::render::text::visible;
use crate::style::{BAD, GOOD, HEADING, paint};

use record::{InstalledFile, Record};
use write::SettingsRefusal;
pub(crate) use write::write_atomically;

/// The events that the bridge always takes part in. Guards of any project can want each of these, so a narrower choice could
/// lose one. The others cost a process for every model call or turn and are added when a hook at hand wants them.
const EVENTS: [EventKind; 7] = [
    EventKind::SessionStart,
    EventKind::SessionEnd,
    EventKind::Prompt,
    EventKind::BeforeTool,
    EventKind::AfterTool,
    EventKind::AgentEnd,
    EventKind::BeforeCompact,
];

/// A change of one file.
struct Change {
    path: PathBuf,
    /// The text before the change; none if the file does not exist.
    before: Option<String>,
    /// The text after the change; none if the file is removed.
    after: Option<String>,
    insertions: Vec<Insertion>,
    /// Whether the whole file belongs to hookrail.
    own: bool,
    /// The folders that are created for the file.
    folders: Vec<PathBuf>,
}

impl Change {
    fn is_needed(&self) -> bool {
        self.before != self.after
    }
}

pub(crate) fn install(args: &InstallArgs) -> Result<Exit> {
    let home = home_folder()?;
    let state = super::bridge::state_folder().ok_or_else(no_home)?;
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let project = args.project.clone().unwrap_or_else(|| find_project(&here, Some(&home)));
    let scope = match args.scope {
        ScopeArg::User => Scope::User,
        ScopeArg::Project => Scope::Project,
        ScopeArg::System => Scope::System,
    };
    let locations = Locations { home: &home, project: &project, variable: &|name| std::env::var(name).ok() };
    let wanted = wanted_events(&project);
    let mut events = EVENTS.to_vec();
    events.extend(wanted.iter().map(|(kind, _)| *kind));
    if let Ok(path) = locations.settings_path(args.agent, scope) {
        events.extend(registered_events(args.agent, &path));
    }
    let options = InstallOptions { program: program()?, scope, events, timeout_seconds: args.timeout };
    let mut record = Record::load(&state).map_err(|error| unusable_record(&error))?;
    let files = settings_files(args.agent, &options, &locations)
        .map_err(|error| Failure::new(error.to_string()).hint("use `--scope user` or `--scope project`"))?;
    let known = |path: &Path| record.find(args.agent.name(), path);
    let mut changes = files.iter().map(|file| planned(file, known(file.path()))).collect::<Result<Vec<_>>>()?;
    let trust = codex_changes(args, &changes, &locations, &known)?;
    changes.extend(trust);
    changes.retain(Change::is_needed);
    if changes.is_empty() {
        output::text(&format!("{} already calls this hookrail; nothing to change\n", args.agent.title()))?;
        return advise(args, &files, &wanted);
    }
    show(&changes)?;
    if args.dry_run {
        return Ok(Exit::Fine);
    }
    if !confirmed(args.yes, "write this?")? {
        output::text("nothing was changed\n")?;
        return Ok(Exit::Failed);
    }
    let before = record.clone();
    for change in &changes {
        record.put(InstalledFile {
            agent: args.agent.name().to_owned(),
            scope: options.scope.name().to_owned(),
            path: change.path.clone(),
            insertions: change.insertions.clone(),
            existed: change.before.is_some(),
            own: change.own,
            // A file of this name that mentions hookrail was left by an installation whose record is gone.
            original: change.before.clone().filter(|text| change.own && !text.contains("hookrail")),
            folders: change.folders.clone(),
        });
    }
    // Recorded first: an interruption must not leave a change that cannot be taken back.
    record.save(&state).map_err(|error| unusable_record(&error))?;
    if let Err(failure) = apply_all(&changes) {
        before.save(&state).map_err(|error| unusable_record(&error))?;
        return Err(failure);
    }
    let calls = format!("{} now calls hookrail", args.agent.title());
    output::text(&format!("{}: {} written\n", paint(GOOD, calls), crate::render::counted(changes.len(), "file")))?;
    advise(args, &files, &wanted)
}

/// The events that hooks at hand wait for, each with a hook that does. Configuration that cannot be read wants nothing: it is
/// reported when it is used.
fn wanted_events(root: &Path) -> Vec<(EventKind, String)> {
    let args =
        ProjectArgs { project: Some(root.to_owned()), trust_project: false, modules: Vec::new(), no_plugins: false };
    let Ok(builder) = Project::open(&args).and_then(|project| project.builder(&args)) else { return Vec::new() };
    let snapshot = builder.build().snapshot();
    let hooks = snapshot.hooks().iter().filter(|hook| hook.enablement != Enablement::OwnBridge);
    let mut wanted: Vec<(EventKind, String)> =
        hooks.filter_map(|hook| Some((hook.known_event()?, hook.label.to_string()))).collect();
    wanted.sort_by_key(|(kind, _)| *kind as usize);
    wanted.dedup_by_key(|(kind, _)| *kind);
    wanted
}

/// The events for which a file calls the bridge already. They stay: another project may have hooks for them.
fn registered_events(agent: Agent, path: &Path) -> Vec<EventKind> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let settings = read_settings(&text, SettingsSyntax::LenientJson).unwrap_or_default();
    let calls = bridge_calls(agent, &settings);
    calls.iter().filter_map(|call| agent.find_event(&call.event)).map(|event| event.kind).collect()
}

/// Says what is left to do.
fn advise(args: &InstallArgs, files: &[SettingsFile], wanted: &[(EventKind, String)]) -> Result<Exit> {
    let agent = args.agent;
    let mut text = String::new();
    for (kind, hook) in wanted.iter().filter(|(kind, _)| !agent.fires(*kind)) {
        text.push_str(&format!(
            "{}: hook `{}` waits for {kind}, which {} does not fire; it never runs there\n",
            paint(BAD, "warning"),
            visible(hook),
            agent.title(),
        ));
    }
    if agent == Agent::Codex && !args.trust {
        text.push_str(
            "Codex CLI runs a hook only after a review: start `codex` and accept \"Hooks need review\", or run \
             `hookrail install codex --trust`. Until then `codex exec` skips the hooks without a word.\n",
        );
    }
    if agent == Agent::Copilot && files.iter().any(|file| file.path().to_string_lossy().contains("/.github/")) {
        text.push_str(
            "Copilot CLI runs hooks of a project only in a trusted folder: start it with `--trust-folder`.\n",
        );
    }
    text.push_str(&format!(
        "check it with `hookrail doctor {agent}`; take it back with `hookrail uninstall {agent}`\n"
    ));
    output::text(&text)?;
    Ok(Exit::Fine)
}

/// Computes the change of one file and writes nothing.
fn planned(file: &SettingsFile, known: Option<&InstalledFile>) -> Result<Change> {
    let path = file.path().to_owned();
    let before = write::read_settings(&path).map_err(|refusal| refusal_failure(&path, &refusal))?;
    let folders = write::missing_parents(&path);
    match file {
        SettingsFile::Own { text, .. } => {
            Ok(Change { path, before, after: Some(text.clone()), insertions: Vec::new(), own: true, folders })
        }
        SettingsFile::Shared { entries, syntax, .. } => {
            let text = before.clone().unwrap_or_default();
            let recorded = known.map(|known| known.insertions.as_slice()).unwrap_or_default();
            let (after, insertions) = insert_entries(&text, entries, *syntax, recorded).map_err(|error| {
                let hint = match error {
                    EditError::ByteOrderMark => "save it as UTF-8 without a byte order mark, then try again",
                    EditError::Syntax { .. } | EditError::Shape { .. } => {
                        "the agent cannot read this file either, and ignores all hooks in it; repair it first"
                    }
                };
                Failure::new(format!("`{}` cannot be edited: {error}", path.display())).hint(hint)
            })?;
            Ok(Change { path, before, after: Some(after), insertions, own: false, folders })
        }
    }
}

/// The trust that Codex wants, if it was asked for.
fn codex_changes<'r>(
    args: &InstallArgs,
    changes: &[Change],
    locations: &Locations<'_>,
    known: &impl Fn(&Path) -> Option<&'r InstalledFile>,
) -> Result<Vec<Change>> {
    if args.agent != Agent::Codex || !args.trust {
        return Ok(Vec::new());
    }
    // Codex CLI looks for trust in the user's configuration, also for the hooks of a project.
    let hooks = locations.settings_path(Agent::Codex, Scope::User).map_err(|error| Failure::new(error.to_string()))?;
    let path = hooks.with_file_name("config.toml");
    let before = write::read_settings(&path).map_err(|refusal| refusal_failure(&path, &refusal))?;
    let wanted: Vec<_> = changes
        .iter()
        .flat_map(|change| codex_trust(&change.path, change.after.as_deref().unwrap_or_default()))
        .collect();
    let recorded = known(&path).map(|known| known.insertions.as_slice()).unwrap_or_default();
    let config = before.clone().unwrap_or_default();
    let (after, insertions) = trust_codex_hooks(&config, &wanted, recorded).map_err(|error| {
        Failure::new(format!("`{}` cannot be extended: {error}", path.display()))
            .hint("review the hooks in `codex` instead of using `--trust`")
    })?;
    let folders = write::missing_parents(&path);
    Ok(vec![Change { path, before, after: Some(after), insertions, own: false, folders }])
}

/// Writes all files, or leaves all as they were.
fn apply_all(changes: &[Change]) -> Result<()> {
    for (index, change) in changes.iter().enumerate() {
        let Err(failure) = apply(change) else { continue };
        for done in changes.iter().take(index).rev() {
            let undone = Change {
                path: done.path.clone(),
                before: done.after.clone(),
                after: done.before.clone(),
                insertions: Vec::new(),
                own: done.own,
                folders: Vec::new(),
            };
            if let Err(second) = apply_removal(&undone) {
                return Err(failure.hint(format!("and `{}` was written: {}", done.path.display(), second.message())));
            }
        }
        write::remove_empty_folders(changes.iter().flat_map(|change| &change.folders));
        return Err(failure);
    }
    Ok(())
}

fn apply(change: &Change) -> Result<()> {
    let failed = |error: std::io::Error| {
        Failure::new(format!("`{}` cannot be written: {error}", change.path.display()))
            .hint("nothing was changed; check the permissions of the file and its folder")
    };
    match &change.after {
        Some(text) => {
            write::create_parents(&change.path).map_err(failed)?;
            if let Some(before) = change.before.as_ref().filter(|_| !change.own) {
                write::back_up(&change.path, before).map_err(failed)?;
            }
            write::write_atomically(&change.path, text, None).map_err(failed)
        }
        None => std::fs::remove_file(&change.path).map_err(failed),
    }
}

pub(crate) fn uninstall(args: &UninstallArgs) -> Result<Exit> {
    let state = super::bridge::state_folder().ok_or_else(no_home)?;
    let mut record = Record::load(&state).map_err(|error| unusable_record(&error))?;
    let (mut mine, others): (Vec<_>, Vec<_>) =
        record.files.into_iter().partition(|file| file.agent == args.agent.name());
    if mine.is_empty() {
        mine = unrecorded::files(args.agent, &home_folder()?)?;
    }
    if mine.is_empty() {
        output::text(&format!("hookrail is not installed for {}\n", args.agent.title()))?;
        return Ok(Exit::Fine);
    }
    let mut changes = Vec::new();
    for file in &mine {
        let before = write::read_settings(&file.path).map_err(|refusal| refusal_failure(&file.path, &refusal))?;
        let Some(text) = &before else { continue };
        let after = if file.own { file.original.clone() } else { Some(remove_insertions(file, text)?) };
        // A file that the installation created and that holds nothing else goes with it.
        let after = after.filter(|text| file.existed || !text.trim().is_empty());
        let (path, insertions, folders) = (file.path.clone(), Vec::new(), Vec::new());
        changes.push(Change { path, before, after, insertions, own: file.own, folders });
    }
    changes.retain(Change::is_needed);
    show(&changes)?;
    if args.dry_run {
        return Ok(Exit::Fine);
    }
    if !confirmed(args.yes, "write this?")? {
        output::text("nothing was changed\n")?;
        return Ok(Exit::Failed);
    }
    for change in &changes {
        apply_removal(change)?;
    }
    write::remove_empty_folders(mine.iter().flat_map(|file| &file.folders));
    record = Record { files: others };
    record.save(&state).map_err(|error| unusable_record(&error))?;
    output::text(&format!("{}\n", paint(GOOD, format!("{} no longer calls hookrail", args.agent.title()))))?;
    if args.agent == Agent::Codex {
        output::text(
            "hooks that stood behind those of hookrail have a new position: Codex CLI asks to review them again\n",
        )?;
    }
    Ok(Exit::Fine)
}

fn remove_insertions(file: &InstalledFile, text: &str) -> Result<String> {
    let is_json = file.path.extension().is_some_and(|extension| extension == "json");
    if !is_json {
        // The insertions are removed one by one, because the agent may have changed the text of one since. That one is
        // left to the agent.
        let pieces = file.insertions.iter().rev();
        return Ok(
            pieces.fold(text.to_owned(), |text, piece| take_back(&text, std::slice::from_ref(piece)).unwrap_or(text))
        );
    }
    remove_entries(text, &file.insertions).map_err(|error| {
        Failure::new(format!("`{}` cannot be edited: {error}", file.path.display())).hint("repair it, then try again")
    })
}

fn apply_removal(change: &Change) -> Result<()> {
    let failed = |error: std::io::Error| {
        Failure::new(format!("`{}` cannot be written: {error}", change.path.display()))
            .hint("nothing is forgotten: run `hookrail uninstall` again when it can be written")
    };
    match &change.after {
        Some(text) => write::write_atomically(&change.path, text, None).map_err(failed)?,
        None => std::fs::remove_file(&change.path).map_err(failed)?,
    }
    // The backup has served its purpose; if it cannot be removed it does no harm.
    let _ = std::fs::remove_file(write::backup_path(&change.path));
    Ok(())
}

/// The program that agents call: by its real path, which survives a changed `PATH`.
fn program() -> Result<PathBuf> {
    std::env::current_exe().and_then(|path| path.canonicalize()).map_err(|error| {
        Failure::new(format!("the path of this program is not known: {error}")).hint("reinstall hookrail")
    })
}

fn home_folder() -> Result<PathBuf> {
    home().ok_or_else(no_home)
}

fn no_home() -> Failure {
    Failure::new("`HOME` is not set").hint("set `HOME` to your home directory")
}

fn unusable_record(error: &std::io::Error) -> Failure {
    Failure::new(format!("the record of what was installed cannot be used: {error}"))
        .hint("it is `hookrail/bridge/installed.json` in the state directory")
}

fn refusal_failure(path: &Path, refusal: &SettingsRefusal) -> Failure {
    let shown = path.display();
    match refusal {
        SettingsRefusal::Link => Failure::new(format!("`{shown}` is a symbolic link; it is not changed"))
            .hint("edit the file it points to by hand, or replace the link by a file"),
        SettingsRefusal::ReadOnly => Failure::new(format!("`{shown}` is read-only; it is not changed"))
            .hint("make it writable with `chmod u+w`, then try again"),
        SettingsRefusal::NotAFile => Failure::new(format!("`{shown}` is not a regular file; it is not changed")),
        SettingsRefusal::Unreadable(error) => Failure::new(format!("`{shown}` cannot be read: {error}")),
    }
}

fn confirmed(yes: bool, question: &str) -> Result<bool> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(Failure::new("there is no terminal to ask on").hint("look at `--dry-run`, then give `--yes`"));
    }
    let mut stderr = anstream::stderr().lock();
    let _ = write!(stderr, "{question} [y/N] ");
    let _ = stderr.flush();
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    Ok(read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes"))
}

/// Shows what changes, line by line.
fn show(changes: &[Change]) -> Result<()> {
    let mut text = String::new();
    for change in changes {
        let verb = match (&change.before, &change.after) {
            (None, Some(_)) => "create",
            (Some(_), Some(_)) => "change",
            (_, None) => "remove",
        };
        text.push_str(&paint(HEADING, format!("{verb} {}", change.path.display())));
        text.push('\n');
        let before = change.before.as_deref().unwrap_or_default();
        let after = change.after.as_deref().unwrap_or_default();
        for (mark, line) in different_lines(before, after) {
            let (style, mark) = match mark {
                LineMark::Added => (GOOD, '+'),
                LineMark::Removed => (BAD, '-'),
            };
            text.push_str(&paint(style, format!("{mark} {}", visible(line))));
            text.push('\n');
        }
    }
    output::text(&text)
}

enum LineMark {
    Added,
    Removed,
}

/// The lines between the common beginning and the common end.
fn different_lines<'a>(before: &'a str, after: &'a str) -> Vec<(LineMark, &'a str)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = |lines: &[&'a str]| lines.get(first..).unwrap_or_default().to_vec();
    let (old, new) = (rest(&old), rest(&new));
    let last = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let old = old.iter().take(old.len() - last).map(|line| (LineMark::Removed, *line));
    let new = new.iter().take(new.len() - last).map(|line| (LineMark::Added, *line));
    old.chain(new).collect()
}
