//! Gives an event to a prestarted process.
//!
//! The process differs from any other only in when it was started: it reads its input and exits as always. If none is
//! ready, one is started as always.

use std::sync::Arc;

use crate::run::command::{ProcessResult, ProcessRun, ended, run_command, use_of_a_process};
use crate::run::request::PlannedRun;

/// Runs a hook that asks for prestarted processes, and has them replaced afterwards.
pub(in crate::run) async fn run(context: ProcessRun<'_>, request: &PlannedRun) -> ProcessResult {
    let ProcessRun { world, pool, cancel, .. } = context;
    let processes = pool.commands.pool_for(world, request);
    let finished = match processes.take_waiting(&pool.commands) {
        Some(process) => {
            let delivery = use_of_a_process(world, request).stdin(Arc::clone(request.input.shared()));
            process.parked.finish(&delivery, cancel).await.ok()
        }
        None => None,
    };
    let result = match finished {
        Some(finished) => ended(finished, request),
        None => run_command(context, request).await,
    };
    pool.refill(processes);
    result
}
