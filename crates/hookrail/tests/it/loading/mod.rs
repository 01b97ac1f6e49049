//! A guard never vanishes because of how configuration is loaded.

#![cfg(unix)]

mod enrolment;
mod policy;
mod resources;
mod running;
mod system_layer;
mod watched;
mod world;
