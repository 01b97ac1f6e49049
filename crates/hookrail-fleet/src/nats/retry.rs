//! Trying again what servers did not do: a cluster that has lost its leader needs a few seconds for the next one.

use std::time::Duration;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::{PublishError, PublishErrorKind};

use crate::random::random_up_to;

/// The longest pause before something is tried again.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Waits before an attempt; the first one after a failure has number 1.
pub(crate) async fn pause(attempt: u32) {
    let longest = Duration::from_millis(100).saturating_mul(1 << attempt.min(8)).min(LONGEST_PAUSE);
    tokio::time::sleep(longest / 4 + random_up_to(longest * 3 / 4)).await;
}

/// Whether the stream expects another message. The second code is of servers that do not name the number that they expect.
pub(crate) fn is_wrong_sequence(error: &PublishError) -> bool {
    let source = std::error::Error::source(error);
    let code = source.and_then(|source| source.downcast_ref::<async_nats::jetstream::Error>());
    error.kind() == PublishErrorKind::WrongLastSequence
        || code.map(|error| error.error_code()) == Some(ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT)
}
