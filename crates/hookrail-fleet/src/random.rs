//! Random times, so that many machines do not do the same thing in the same moment.

use std::time::Duration;

/// Returns a time from nothing up to a limit. Without random bytes from the system it is half of the limit.
pub(crate) fn random_up_to(limit: Duration) -> Duration {
    let number = getrandom::u32().unwrap_or(u32::MAX / 2);
    limit.mul_f64(f64::from(number) / f64::from(u32::MAX))
}
