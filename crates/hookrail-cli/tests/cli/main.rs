//! The real binary against temporary projects: exit statuses, JSON documents, and what people see.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

mod bridge;
mod bridge_answers;
mod bridge_deadline;
mod bridge_load;
mod bridge_project;
mod bridge_shadow;
mod case_schema;
mod check;
mod ci;
mod completions;
mod config;
mod demo;
mod dev;
mod docs;
mod doctor;
mod exhausted;
mod explain;
mod fire;
#[cfg(unix)]
mod generated_plugins;
mod hook_test_problems;
mod hook_test_trust;
mod hook_tests;
mod init;
#[cfg(feature = "inspect")]
mod inspect;
mod install;
mod install_edited;
mod install_files;
mod journal;
mod journal_runs;
mod journal_segments;
mod journal_told;
mod list;
mod narrow;
mod new;
mod payloads;
mod plugin;
mod pseudo_terminal;
mod readme;
mod record_cases;
mod recording;
mod reference;
mod replay;
mod sandbox;
mod signals;
mod stopped;
mod terminal;
mod trust;
mod trust_diff;
mod try_hook;
mod types;
mod usage;
mod view;
