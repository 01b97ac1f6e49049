//! `hookrail serve`: the real server on standard input and output and on a socket, and the reference clients.

#![cfg(unix)]

mod bridge;
mod clients;
mod left_behind;
mod limits;
mod logs;
mod manager;
mod reload;
mod sandboxed;
mod server;
mod stalled;
mod stopped;
mod support;
mod watching;
