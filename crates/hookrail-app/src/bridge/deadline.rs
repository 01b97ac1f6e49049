//! The time that the bridge has: until the agent must have its answer, and until the process must have ended.

use std::time::{Duration, Instant};

/// Below the shortest limit of any agent, which is Copilot's 30 s.
const DEFAULT_LIMIT: Duration = Duration::from_secs(24);

/// The shortest and the longest time after the deadline in which hooks may end by themselves.
const SHORTEST_RESERVE: Duration = Duration::from_millis(100);
const LONGEST_RESERVE: Duration = Duration::from_secs(1);

/// When the agent must have its answer.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    begin: Instant,
    limit: Duration,
}

impl Deadline {
    /// A deadline that long from now.
    pub(super) fn begin(limit: Option<Duration>) -> Self {
        Self { begin: Instant::now(), limit: limit.unwrap_or(DEFAULT_LIMIT) }
    }

    /// The whole time, for messages.
    pub fn limit(self) -> Duration {
        self.limit
    }

    /// The time that is left.
    pub fn left(self) -> Duration {
        self.limit.saturating_sub(self.begin.elapsed())
    }

    /// How long a lock is waited for. The rest of the time is for the answer that says who holds it.
    pub(super) fn lock_patience(self) -> Duration {
        self.left() / 10 * 9
    }

    /// The time after the deadline in which hooks may end by themselves, before they are killed. `install` makes the agent
    /// wait a quarter longer than the deadline; this is the half of it.
    pub(super) fn reserve(self) -> Duration {
        (self.limit / 8).clamp(SHORTEST_RESERVE, LONGEST_RESERVE)
    }

    /// The time until the process has to end, whatever is not finished. The killing of hooks takes a moment too.
    pub(super) fn left_for_all(self) -> Duration {
        let all = self.limit + self.reserve() * 7 / 4;
        all.saturating_sub(self.begin.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_ends_before_the_agent_stops_waiting() {
        for milliseconds in [800, 1_600, 4_000, 24_000, 48_000, 480_000] {
            let deadline = Deadline::begin(Some(Duration::from_millis(milliseconds)));
            let agent_waits = Duration::from_millis(milliseconds) * 5 / 4;
            assert!(deadline.left_for_all() < agent_waits, "{milliseconds}");
            assert!(deadline.lock_patience() < deadline.limit(), "{milliseconds}");
            assert!(deadline.reserve() <= LONGEST_RESERVE, "{milliseconds}");
        }
    }
}
