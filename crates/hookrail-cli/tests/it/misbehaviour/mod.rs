//! Every known way to misbehave, under every failure policy of its dialect.
//!
//! A row of the tables says what a hook does. Each row is run for every policy, in a process of its own, and these are
//! checked: how the run ended, what was decided, that the neighbour in the same event was not harmed, that it did not
//! hang, how much memory it took at most, and what is left running afterwards. The page
//! `docs/evidence/misbehaviour.md` is made of the same rows.
//!
//! `HOOKRAIL_ROWS=text` runs only the rows whose name contains the text.

#![cfg(target_os = "linux")]

mod answers;
mod commands;
mod ends;
mod firing;
mod handlers;
mod modules;
mod outside;
mod page;
mod poison;
mod pool;
mod relatives;
mod streams;
