//! Remote hooks over a real NATS server: the real binary as a worker, and as the program that asks.

#![cfg(unix)]

mod chaos;
mod ends;
mod load;
mod servers;
mod support;
