//! Giving an event to a process that has waited for one.
//!
//! The process is like any other but for the moment of its start, so it reads its input and ends as always. Where none
//! waits, one is started as always.

use std::sync::Arc;

use hookrail_spawn::{CancelToken, Ladder};

use super::command::{ProcessWorld, Wait, ended, run_command, use_of_a_process};
use super::end::RunEnd;
use super::kept::Kept;
use super::request::RunRequest;

/// Runs a hook that wants to have processes waiting, and has them replaced afterwards.
pub(super) async fn run(
    world: &ProcessWorld,
    kept: &Kept,
    request: &RunRequest,
    (wait, cancel): (Wait, &CancelToken),
) -> (RunEnd, Option<Ladder>) {
    let pool = kept.pools.pool(world, request);
    let finished = match pool.take_waiting(&kept.pools) {
        Some(resident) => {
            let delivery = use_of_a_process(world, request).stdin(Arc::clone(request.input.shared()));
            resident.parked.finish(&delivery, cancel).await.ok()
        }
        None => None,
    };
    let end = match finished {
        Some(finished) => ended(finished, request),
        None => run_command(world, request, (wait, cancel)).await,
    };
    kept.refill(pool);
    end
}
