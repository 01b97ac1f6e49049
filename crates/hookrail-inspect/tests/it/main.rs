//! The inspector as a browser and as an attacker see it.
//!
//! The tests of the HTTP layer need nothing. Those in a browser need `chromium` and `chromedriver` and are skipped by name
//! without them; with `HOOKRAIL_REQUIRE_ALL=1` they fail instead. `scripts/inspect.sh` runs all of them and writes the pictures of the
//! documentation.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail the test as the tests themselves do"
)]

mod attacks;
mod driver;
mod exported;
mod hostile;
mod http;
mod keyboard;
mod lab;
mod large;
mod live;
mod raw;
mod real;
mod records;
mod tester;
mod views;

hookrail_testkit::start_with_default_signals!();
