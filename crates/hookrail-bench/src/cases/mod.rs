//! The cases of the benchmark.

mod bridge;
mod bus;
mod dialects;
mod fire;
mod host;
mod journal;
mod lanes;
mod many;
mod missing_guard;
mod mixed;
mod module;
mod off;
mod one;
mod payload;
mod plan;
mod replay;
mod rules;
mod support;

pub(crate) use journal::{append, append_bare};

use crate::BenchResult;
use crate::harness::PreparedCase;
use crate::lab::Lab;

/// One case of the benchmark.
pub(crate) struct BenchCase {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) prepare: fn(&Lab) -> BenchResult<PreparedCase>,
}

/// Every case, in the order in which they are measured.
pub(crate) fn all_cases() -> Vec<BenchCase> {
    let groups = [
        off::cases(),
        plan::cases(),
        missing_guard::cases(),
        rules::cases(),
        one::cases(),
        dialects::cases(),
        many::cases(),
        payload::cases(),
        lanes::cases(),
        mixed::cases(),
        module::cases(),
        bus::cases(),
        fire::cases(),
        bridge::cases(),
        journal::cases(),
        replay::cases(),
        host::cases(),
    ];
    groups.into_iter().flatten().collect()
}
