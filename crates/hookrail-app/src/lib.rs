//! What the commands of hookrail do, without arguments and without a terminal: every module gives data, and none prints.
//!
//! `hookrail-cli` parses the arguments, calls this crate, renders what it returns and ends with a status.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "the crate serves one program, and most names say what they are")]

pub mod accesses;
pub mod agent_entries;
pub mod as_agent;
pub mod author;
pub mod bridge;
pub mod cases;
pub mod config;
pub mod demo;
pub mod dialects;
pub mod doctor;
pub mod event_draft;
pub mod failure;
pub mod features;
pub mod fired_event;
#[cfg(feature = "fleet")]
pub mod fleet;
pub mod folders;
pub mod foreign_hooks;
pub mod http_hook;
pub mod install;
pub mod journal;
pub mod json_text;
pub mod lint;
pub mod pages;
pub mod path_display;
pub mod payload_shape;
pub mod plugin;
pub mod project;
pub mod records;
pub mod reference;
#[cfg(feature = "fleet")]
pub mod remote_client;
pub mod replay;
pub mod rules;
pub mod run_trace;
pub mod runtime;
pub mod sample;
pub mod schemas;
pub mod script;
pub mod serve;
pub mod signals;
pub mod telemetry;
pub mod temporary_file;
pub mod text;
pub mod text_diff;
pub mod trust;
