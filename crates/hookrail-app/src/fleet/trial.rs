//! Loads the content of a bundle once, as a machine would, to find out whether the engine can use it. A bundle that it cannot
//! use would deny every event that can be denied, on every machine.

use std::path::Path;

use crate::lint::find_unstartable;
use crate::project::{Project, ProjectChoice};
use hookrail::sources::SourceKind;
use hookrail::{Builder, Code, Diagnostic, Environment, EventKind, Hook, Level, OnFailure};
use hookrail_fleet::ArchiveDigest;
use hookrail_fleet::archive::{self, ArchiveLimits};
use serde_json::json;

/// Who wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trial<'t> {
    /// The publisher, who packed this folder and can still correct it: a guard that could never be started is a mistake too.
    OfPublisher(&'t Path),
    /// A machine, which takes what was signed.
    OfMachine,
}

/// Returns what is wrong with the content of an archive. No hook runs; modules are loaded without capabilities, to learn what
/// they register.
pub(super) fn check_content(bytes: &[u8], trial: Trial<'_>) -> Result<(), String> {
    let folder = tempfile::Builder::new().prefix("hookrail-trial-").tempdir().map_err(|error| error.to_string())?;
    // The path that the engine reports is the one without links.
    let base = folder.path().canonicalize().map_err(|error| error.to_string())?;
    let content = lay_out(&base, bytes).map_err(|error| error.to_string())?;
    let project = base.join("project");
    std::fs::create_dir(&project).map_err(|error| error.to_string())?;
    let choice = ProjectChoice { project: Some(&project), ..ProjectChoice::default() };
    let builder = Project::open(choice).and_then(|project| project.builder(choice));
    let builder = builder.map_err(|failure| failure.message().to_owned())?;
    let system = builder_for_trial(builder, &base).build();
    let snapshot = system.snapshot();
    let in_content =
        |finding: &&Diagnostic| finding.location.as_ref().is_some_and(|location| location.file.starts_with(&content));
    let counts = |finding: &&Diagnostic| finding.level == Level::Error || finding.code == Code::HooksNeverOn;
    let found = snapshot.diagnostics().iter().filter(in_content).filter(counts);
    let mut problems: Vec<String> = found.map(|finding| sentence(finding, &content)).collect();
    match trial {
        Trial::OfMachine => {}
        Trial::OfPublisher(packed) => {
            let is_meant = |hook: &Hook| hook.origin.location.file.starts_with(&content) && is_guard(hook);
            let in_folder = |text: &str| text.replace(&*content.to_string_lossy(), &packed.to_string_lossy());
            let unstartable = find_unstartable(&system, is_meant);
            problems.extend(unstartable.iter().map(|finding| {
                let fix = finding.hint.as_deref().map(|hint| format!("; {}", in_folder(hint)));
                format!("{}{}", in_folder(&sentence(finding, &content)), fix.unwrap_or_default())
            }));
        }
    }
    let unusable = snapshot.configuration().unusable;
    let unusable = unusable.iter().filter(|source| source.kind == SourceKind::System && source.path.starts_with(&base));
    match (problems.is_empty(), unusable.map(|source| source.problem.clone()).next()) {
        (false, _) => Err(problems.join("; ")),
        (true, Some(problem)) => Err(problem),
        (true, None) => Ok(()),
    }
}

/// Whether a machine relies on a hook: one whose failure has an effect, or one of the system layer that is asked about tool calls.
fn is_guard(hook: &Hook) -> bool {
    hook.on_failure != OnFailure::Allow || hook.event == EventKind::BeforeTool
}

/// System settings that say nothing, in the place of the machine's own.
const SYSTEM_SETTINGS: &str = "system.json";

/// Unpacks the archive where a machine would have it. Returns its folder.
fn lay_out(base: &Path, bytes: &[u8]) -> Result<std::path::PathBuf, hookrail_fleet::BundleError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| hookrail_fleet::BundleError::Io { path, source }
    };
    let digest = ArchiveDigest::of(bytes);
    let state = base.join("root/var/lib/hookrail");
    let content = state.join("bundles").join(digest.to_string());
    std::fs::create_dir_all(&content).map_err(io(&content))?;
    archive::unpack(bytes, &content, &ArchiveLimits::DEFAULT)?;
    let configuration = base.join("root/etc/hookrail/fleet.toml");
    let folder = configuration.parent().unwrap_or(base);
    std::fs::create_dir_all(folder).map_err(io(folder))?;
    std::fs::write(&configuration, "# a trial\n").map_err(io(&configuration))?;
    let system = base.join(SYSTEM_SETTINGS);
    std::fs::write(&system, "{}").map_err(io(&system))?;
    let now = hookrail_fleet::Timestamp::now().seconds();
    let pointer = json!({
        "format": 1,
        "bundles": [{"digest": digest, "channel": "trial", "version": 1, "shadow": false, "applied": now}],
        "stale_after": 86_400,
        "expired": "block",
    });
    let file = state.join("current.json");
    std::fs::write(&file, pointer.to_string()).map_err(io(&file))?;
    Ok(content)
}

fn builder_for_trial(builder: Builder, base: &Path) -> Builder {
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    let environment = Environment::new()
        .with("PATH", search_path)
        .with("HOME", base.join("home"))
        .with("HOOKRAIL_FLEET_ROOT", base.join("root"))
        .with("LLXPRT_SYSTEM_SETTINGS_PATH", base.join(SYSTEM_SETTINGS));
    builder.environment(environment)
}

fn sentence(finding: &Diagnostic, content: &Path) -> String {
    let place = finding.location.as_ref().map(|location| {
        let file = location.file.strip_prefix(content).unwrap_or(&location.file);
        format!("{}:{}: ", file.display(), location.line)
    });
    format!("{}{}", place.unwrap_or_default(), finding.message)
}
