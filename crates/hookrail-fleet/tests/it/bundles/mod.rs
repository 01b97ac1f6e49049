//! Bundles from the publisher to the machine, with hostile archives, sources and files in between.

#![cfg(unix)]

mod archive;
mod install;
mod minisign;
mod sources;
mod support;
