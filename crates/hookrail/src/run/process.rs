//! Running a command hook on the lane it asked for.

use hookrail_spawn::{CancelToken, Ladder};

use super::command::{ProcessWorld, Wait, run_command};
use super::end::RunEnd;
use super::kept::Kept;
use super::request::RunRequest;
use super::{spare, worker};
use crate::lane::Life;

/// Runs a command hook to its end. What is still to be done to end processes comes back beside the end, so that nobody
/// has to wait for it.
pub(crate) async fn run_process(
    world: &ProcessWorld,
    kept: &Kept,
    request: &RunRequest,
    run_id: impl FnOnce() -> String,
    (wait, cancel): (Wait, &CancelToken),
) -> (RunEnd, Vec<Ladder>) {
    for folder in &request.folders {
        if let Err(error) = std::fs::create_dir_all(folder) {
            tracing::warn!(target: "hookrail::runner", hook = %request.hook, folder = %folder.display(), %error, "a folder the hook needs cannot be made");
        }
    }
    let (end, ladder) = match request.hook.lane.life {
        Life::Once => {
            let (end, ladder) = run_command(world, request, &run_id(), (wait, cancel)).await;
            return (end, ladder.into_iter().collect());
        }
        Life::Worker => worker::ask(world, &kept.pools, request, (wait, cancel)).await,
        Life::Prewarmed(_) => spare::run(world, kept, request, run_id, (wait, cancel)).await,
    };
    (end, ladder.into_iter().chain(kept.pools.ladders()).collect())
}
