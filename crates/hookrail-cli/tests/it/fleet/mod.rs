//! `hookrail bundle`: the real binary as a publisher and as machines, and what a bundle in force does to events.

#![cfg(unix)]

mod bundles;
mod killed;
mod nats;
mod offline;
mod serving;
mod support;
mod web;
