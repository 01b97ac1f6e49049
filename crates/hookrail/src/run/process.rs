//! Runs a command hook with the execution options that it asked for, in a directory that exists.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use super::command::{ProcessResult, ProcessRun, run_command};
use super::end::{ProcessEnd, RawEnd, Relocation, RelocationReason, SpawnFailure};
use super::pool::{FileStamps, worker};
use super::request::PlannedRun;
use crate::hook::Trust;
use crate::hook::exec_options::ProcessLifetime;
use crate::text::log::log;

/// Runs a command hook to its end.
///
/// A hook whose working directory is gone runs in another one, because a guard must be asked even then. Another
/// directory is tried after the start has failed, so that a normal start does not check directories.
pub(crate) async fn run_process(context: ProcessRun<'_>, request: &PlannedRun) -> ProcessResult {
    let world = context.world;
    match world.sandboxes.sandbox_for(&request.hook, world.sandbox_place()) {
        Ok(None) => run_in_project(context, request).await,
        Ok(Some(sandbox)) => {
            let unenforced = sandbox.missing().to_vec();
            let inside = PlannedRun { sandbox: Some(sandbox), ..request.clone() };
            let mut result = run_in_project(context, &inside).await;
            result.end.surroundings.unenforced = unenforced;
            result
        }
        Err(why) => ProcessEnd::new(RawEnd::SpawnFailed(why), Duration::ZERO).into(),
    }
}

async fn run_in_project(context: ProcessRun<'_>, request: &PlannedRun) -> ProcessResult {
    let project = &context.world.project;
    if let Some(why) = request.reason_to_run_at_root(project) {
        return run_in(context, request, project.to_path_buf(), why).await;
    }
    let first = run_where_asked(context, request).await;
    let RawEnd::SpawnFailed(SpawnFailure::MissingDirectory(_) | SpawnFailure::UnusableDirectory(_)) = first.end.how
    else {
        return first;
    };
    let used = existing_directory(&request.cwd, project);
    let mut result = run_in(context, request, used, RelocationReason::Unusable).await;
    result.terminations.extend(first.terminations);
    result
}

/// Runs a command hook in another directory than that of its event.
async fn run_in(context: ProcessRun<'_>, request: &PlannedRun, used: PathBuf, why: RelocationReason) -> ProcessResult {
    let mut elsewhere = PlannedRun { cwd: used.clone(), ..request.clone() };
    // A hook of the embedding program is told this directory in a variable, and no program can be given a NUL byte.
    if elsewhere.variables.iter().any(|(_, value)| value.contains('\0')) {
        let named = request.cwd.to_string_lossy();
        let told = |(name, value): &(String, String)| {
            let value = if *value == named { used.to_string_lossy().into_owned() } else { value.clone() };
            (name.clone(), value)
        };
        elsewhere.variables = request.variables.iter().map(told).collect();
    }
    let mut result = run_where_asked(context, &elsewhere).await;
    result.end.surroundings.relocated = Some(Relocation { why, unusable: request.cwd.clone(), used });
    result
}

async fn run_where_asked(context: ProcessRun<'_>, request: &PlannedRun) -> ProcessResult {
    // The files are inspected before they are read, so that a change from here on is noticed.
    let covered = match &request.hook.trust {
        Trust::Granted(taken) => Some(FileStamps::covered_by(taken)),
        Trust::NotNeeded | Trust::ForThisRun(_) | Trust::Never(_) | Trust::Changed(_) => None,
    };
    // In another directory the same words may name other files.
    if !request.hook.trust.still_holds(&request.cwd) {
        context.pool.remove_hook(&request.hook);
        return ProcessEnd::new(RawEnd::ContentChanged, Duration::ZERO).into();
    }
    for folder in &request.folders {
        if let Err(error) = std::fs::create_dir_all(folder) {
            log!(warn, target: "hookrail::runner", hook = %request.hook, folder = %folder.display(), %error, "a folder the hook needs cannot be made");
        }
    }
    let mut result = match request.hook.lifetime {
        ProcessLifetime::Once => {
            let ended = unless_changed(run_command(context, request), covered).await;
            return ended.unwrap_or_else(|| ProcessEnd::new(RawEnd::ContentChanged, Duration::ZERO).into());
        }
        ProcessLifetime::Worker => worker::ask(context, request).await,
    };
    result.terminations.extend(context.pool.end_discarded());
    result
}

/// The shortest and the longest pause between two checks of a running hook's files.
const FIRST_LOOK: Duration = Duration::from_millis(2);
const LAST_LOOK: Duration = Duration::from_millis(500);

/// The end of a run whose files stayed as they were verified; nothing if one changed, and then the run is killed.
///
/// An interpreter opens its script some time after it was started, and a script cannot be handed over by a descriptor
/// without it noticing. So between the verification and that moment the file could be replaced, and be put back
/// afterwards. Both change what the system keeps about the file, which is compared while the hook runs and when it has
/// ended, before its answer is used.
async fn unless_changed<T>(running: impl Future<Output = T>, covered: Option<FileStamps>) -> Option<T> {
    let Some(covered) = covered else { return Some(running.await) };
    let mut running = pin!(running);
    let mut pause = FIRST_LOOK;
    loop {
        match tokio::time::timeout(pause, running.as_mut()).await {
            Ok(ended) => return covered.is_unchanged().then_some(ended),
            Err(_) if !covered.is_unchanged() => return None,
            Err(_) => pause = (pause * 2).min(LAST_LOOK),
        }
    }
}

/// The nearest parent directory that exists inside the project, else the project, else the root.
pub(crate) fn existing_directory(gone: &Path, project: &Path) -> PathBuf {
    let above = gone.ancestors().take_while(|above| above.starts_with(project));
    let candidates = above.chain([project]);
    // It must be possible to enter the directory: reading the metadata of `.` inside it fails otherwise.
    let can_be_entered = |directory: &&Path| directory.is_dir() && directory.join(".").symlink_metadata().is_ok();
    candidates.into_iter().find(can_be_entered).unwrap_or(Path::new("/")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::existing_directory;

    #[test]
    fn a_directory_that_is_gone_has_its_nearest_ancestor_inside_the_project_the_project_or_the_root() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        std::fs::create_dir_all(project.join("a/b")).unwrap();
        std::fs::write(project.join("file"), "").unwrap();
        let of = |path: &std::path::Path| existing_directory(path, &project);
        assert_eq!(of(&project.join("a/b/c/d")), project.join("a/b"));
        assert_eq!(of(&project.join("file")), project);
        assert_eq!(of(&dir.path().join("elsewhere/x")), project, "never a directory outside of the project");
        assert_eq!(existing_directory(&dir.path().join("gone/x"), &dir.path().join("gone")), std::path::Path::new("/"));
    }
}
