//! A guard never vanishes because of how configuration is loaded.

#![cfg(unix)]

mod enrolment;
mod missing_guards;
mod policy;
mod resources;
mod running;
mod store;
mod system_layer;
mod user_folders;
mod watched;
mod world;
