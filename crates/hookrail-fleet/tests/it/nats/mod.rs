//! Audit, announcements and bundles over a real server of NATS. Tests skip by name where it is missing, and fail with
//! `HOOKRAIL_REQUIRE_ALL=1`.

#![cfg(unix)]

mod audit;
mod bundles;
mod chaos;
mod encryption;
mod publishing;
mod support;
mod tenancy;
