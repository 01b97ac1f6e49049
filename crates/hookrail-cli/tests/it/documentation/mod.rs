//! The documents under `docs/` are true: every script, settings file, command, table and example in them is executed
//! with the binary of this build. One module for each kind of thing that a document can claim.

#![cfg(unix)]

mod console;
mod cookbook;
mod embedding;
mod index;
mod links;
mod markdown;
mod questions;
mod sandbox;
mod scripts;
mod settings;
mod tables;
mod words;
