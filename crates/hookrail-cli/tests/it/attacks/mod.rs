//! Strangers' repositories. Every attack is a small repository that tries to run something, to be imported, to reach git,
//! or to turn off what guards its user. Each is probed with every command of the real binary; `lab.rs` holds what must be
//! true of all of them, and each attack adds what is special about it.
//!
//! `data.rs` runs the attacks that are data, in `conformance/attacks`; a new attack belongs there if its form can express it.
//!
//! `docs/evidence/attacks.md` is generated from the table: `HOOKRAIL_BLESS=1 cargo test -p hookrail-cli --test it attacks::`.

#![cfg(unix)]

mod cases;
mod commands;
mod data;
mod documentation;
mod entry;
mod environment;
mod files;
mod granted;
mod guards;
mod hosts;
mod lab;
mod layers;
mod links;
mod modules;
mod names;
mod places;
mod programs;
mod race;
#[cfg(target_os = "linux")]
mod sandbox;
mod table;
