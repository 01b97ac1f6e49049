//! `hookrail install` and `hookrail uninstall`: make an agent call the bridge, and take that back.
//!
//! The change is shown first. A settings file that other programs write too only ever gets text inserted; what was inserted
//! is recorded, so that an uninstallation leaves every other byte as it is.

mod change;
mod events;
mod record;
mod summary;
mod uninstall;
mod unrecorded;
mod write;

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use hookrail::EventKind;
use hookrail_app::failure::{Failure, Result};
use hookrail_app::folders::home;
use hookrail_app::project::search::find_project;
use hookrail_app::text::visible;
use hookrail_bridge::Agent;
use hookrail_bridge::install::{
    BridgeOption, EditError, FileAuthor, InstallOptions, Locations, Scope, SettingsFile, codex_trust, insert_entries,
    own_file_author, read_settings, remove_entries, settings_files, trust_codex_hooks,
};

use crate::args::{InstallArgs, PassedOptions, ScopeArg};
use crate::consent::no_terminal;
use crate::exit::Exit;
use crate::output;
use crate::style::{BAD, GOOD, paint};

use change::{Backup, Change, apply_all};
use record::{InstalledFile, Record};
use summary::{Direction, Summary};
pub(crate) use uninstall::uninstall;
use write::SettingsRefusal;

/// Codex CLI trusts a hook by its position.
const MOVED_HOOKS: &str =
    "hooks that stood behind those of hookrail have a new position: Codex CLI asks to review them again\n";

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
    let wanted = events::wanted_by_hooks(&project);
    let registered = match locations.settings_path(args.agent, scope) {
        Ok(path) => events::registered(args.agent, &path),
        Err(_) => Vec::new(),
    };
    let events = events::choose(args, &wanted, &registered)?;
    let surplus = registered.iter().any(|kind| *kind != EventKind::SessionStart && !events.contains(kind));
    let surplus = if surplus { SurplusEntries::Removed } else { SurplusEntries::None };
    let bridge = passed_options(&args.bridge);
    let options = InstallOptions { program: program()?, scope, events, timeout_seconds: args.timeout, bridge };
    let mut record = Record::load(&state).map_err(|error| unusable_record(&error))?;
    let files = settings_files(args.agent, &options, &locations)
        .map_err(|error| Failure::new(error.to_string()).hint("use `--scope user` or `--scope project`"))?;
    let known = |path: &Path| record.find(args.agent.name(), path);
    let plan = |file: &SettingsFile| planned(args.agent, scope, file, known(file.path()), surplus);
    let mut changes = files.iter().map(plan).collect::<Result<Vec<_>>>()?;
    let trust = codex_changes(args, &changes, &locations, &known)?;
    changes.extend(trust);
    let summary = Summary::new(args.agent, Direction::Install, &changes, &home, &project);
    changes.retain(Change::is_needed);
    if changes.is_empty() {
        output::text(&format!("{} already calls this hookrail; nothing to change\n", args.agent.title()))?;
        return advise(args, &files, &wanted);
    }
    summary.show(&changes, args.yes)?;
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
            original: change.original.clone(),
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
    output::text(&format!("{}: {} written\n", paint(GOOD, calls), hookrail_app::text::counted(changes.len(), "file")))?;
    if args.agent == Agent::Codex && surplus == SurplusEntries::Removed {
        output::text(MOVED_HOOKS)?;
    }
    advise(args, &files, &wanted)
}

/// Says what is left to do.
fn advise(args: &InstallArgs, files: &[SettingsFile], wanted: &[(EventKind, String)]) -> Result<Exit> {
    let agent = args.agent;
    let mut text = String::new();
    for (kind, hook) in wanted {
        let why = if !agent.fires(*kind) {
            format!("which {} does not fire; it never runs there", agent.title())
        } else if agent.is_filtered(*kind) && !args.bridge.noisy {
            format!("which {} fires before every model call; it runs there only with `--noisy`", agent.title())
        } else {
            continue;
        };
        text.push_str(&format!("{}: hook `{}` waits for {kind}, {why}\n", paint(BAD, "warning"), visible(hook)));
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

/// Whether a file has entries for events that are no longer registered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SurplusEntries {
    /// It has none.
    None,
    /// It has some, and they are taken out.
    Removed,
}

fn passed_options(args: &PassedOptions) -> Vec<BridgeOption> {
    let options = [
        (args.allow_skips_prompt, BridgeOption::AllowSkipsPrompt),
        (args.attended, BridgeOption::Attended),
        (args.strict_trust, BridgeOption::StrictTrust),
        (args.noisy, BridgeOption::Noisy),
    ];
    options.into_iter().filter(|(is_given, _)| *is_given).map(|(_, option)| option).collect()
}

/// Computes the change of one file and writes nothing.
fn planned(
    agent: Agent,
    scope: Scope,
    file: &SettingsFile,
    known: Option<&InstalledFile>,
    surplus: SurplusEntries,
) -> Result<Change> {
    let path = file.path().to_owned();
    let before = read_in_scope(agent, scope, &path)?;
    let folders = write::missing_parents(&path);
    match file {
        SettingsFile::Own { text, .. } => {
            let (after, insertions) = (Some(text.clone()), Vec::new());
            let foreign = before.clone().filter(|found| own_file_author(agent, &path, found) == FileAuthor::Other);
            let backup = if foreign.is_some() { Backup::Made } else { Backup::NotNeeded };
            // What the user made of a file of an earlier installation is kept as a copy, and is not what was there before.
            let original = foreign.filter(|_| known.is_none());
            Ok(Change { path, before, after, insertions, own: true, original, folders, backup })
        }
        SettingsFile::Shared { entries, syntax, .. } => {
            let mut text = before.clone().unwrap_or_default();
            let mut recorded = known.map(|known| known.insertions.clone()).unwrap_or_default();
            let refused = |error: EditError| {
                let hint = match error {
                    EditError::ByteOrderMark => "save it as UTF-8 without a byte order mark, then try again",
                    EditError::Syntax { .. } | EditError::Shape { .. } => {
                        "the agent cannot read this file either, and ignores all hooks in it; repair it first"
                    }
                };
                Failure::new(format!("`{}` cannot be edited: {error}", path.display())).hint(hint)
            };
            if surplus == SurplusEntries::Removed {
                // All entries are taken out and the wanted ones added again: what is recorded must describe the file as a
                // whole, so that an uninstallation gives every byte back.
                if recorded.is_empty() {
                    recorded = unrecorded::insertions(agent, &read_settings(&text, *syntax).map_err(refused)?);
                }
                text = remove_entries(agent, &text, &recorded).map_err(refused)?;
                recorded = Vec::new();
            }
            let (after, insertions) = insert_entries(&text, entries, *syntax, &recorded).map_err(refused)?;
            let backup = if known.is_none() { Backup::Made } else { Backup::NotNeeded };
            Ok(Change { path, before, after: Some(after), insertions, own: false, original: None, folders, backup })
        }
    }
}

/// Reads a settings file that will be changed, or returns `None` if it does not exist.
fn read_in_scope(agent: Agent, scope: Scope, path: &Path) -> Result<Option<String>> {
    let no_folder = Path::new("");
    let inside =
        Locations { home: no_folder, project: no_folder, variable: &|_| None }.settings_path(agent, scope).ok();
    let read = match inside.filter(|_| scope == Scope::Project) {
        Some(inside) => write::read_in_project(path, &inside),
        None => write::read_settings(path),
    };
    read.map_err(|refusal| refusal_failure(path, &refusal))
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
    let known = known(&path);
    let recorded = known.map(|known| known.insertions.as_slice()).unwrap_or_default();
    let config = before.clone().unwrap_or_default();
    let (after, insertions) = trust_codex_hooks(&config, &wanted, recorded).map_err(|error| {
        Failure::new(format!("`{}` cannot be extended: {error}", path.display()))
            .hint("review the hooks in `codex` instead of using `--trust`")
    })?;
    let folders = write::missing_parents(&path);
    let backup = if known.is_none() { Backup::Made } else { Backup::NotNeeded };
    Ok(vec![Change { path, before, after: Some(after), insertions, own: false, original: None, folders, backup }])
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
        SettingsRefusal::LinkedFolder(folder) => {
            Failure::new(format!("`{}` is a symbolic link; nothing is written through it", folder.display()))
                .hint("replace the link by a folder, or install for the user: `--scope user`")
        }
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
        return Err(no_terminal("there is no terminal to ask on", "look at `--dry-run`, then give `--yes`"));
    }
    let mut stderr = anstream::stderr().lock();
    let _ = write!(stderr, "{question} [y/N] ");
    let _ = stderr.flush();
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    Ok(read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes"))
}
