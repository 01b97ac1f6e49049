//! The engine, through its public interface.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

mod carried_calls;
mod changed_guards;
mod closures;
mod common;
mod decision_table;
mod determinism;
mod duplicate_keys;
mod example_plugins;
mod granting;
mod guards;
mod host_runtime;
mod http_hooks;
mod lanes;
mod layers;
mod lent_runtime;
mod live;
mod loading;
mod mixed_event;
mod no_dialect_in_the_core;
mod patches;
mod plans;
mod plugins;
mod properties;
mod recorder;
mod remote;
mod sandboxed;
mod schemas;
mod settings;
mod shadow;
mod starting;
mod system_floor;
mod tool_names;
mod tool_table;
mod translator;
mod trust;
mod trusted_for_this_run;
mod user_guards;
mod verdicts;

hookrail_testkit::start_with_default_signals!();
