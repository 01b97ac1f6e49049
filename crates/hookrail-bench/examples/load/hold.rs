//! Holds a number of requests in flight over one connection and accounts for every answer.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

/// How long the last answers may take before they count as lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// How many requests were sent.
    pub(crate) sent: usize,
    /// How many were answered, once or more.
    pub(crate) answered: usize,
    /// How many answers came for a request that had one already.
    pub(crate) duplicated: usize,
    /// How many answers belong to no request, or are no success.
    pub(crate) wrong: usize,
    /// How many requests were in flight, at most.
    pub(crate) most: usize,
    /// From a request's sending to its answer, sorted.
    pub(crate) times: Vec<Duration>,
    /// How long it all took.
    pub(crate) took: Duration,
}

impl Held {
    /// How many requests have no answer.
    pub(crate) fn lost(&self) -> usize {
        self.sent - self.answered
    }

    /// The time that this part of the requests stayed under.
    pub(crate) fn percentile(&self, part: f64) -> Duration {
        let at = (self.times.len() as f64 * part) as usize;
        self.times.get(at.min(self.times.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

/// Keeps so many requests in flight for so long: every answer is followed by another request.
pub(crate) async fn hold(socket: &Path, in_flight: usize, duration: Duration) -> std::io::Result<Held> {
    let (reader, mut writer) = UnixStream::connect(socket).await?.into_split();
    let mut lines = BufReader::with_capacity(256 * 1024, reader).lines();
    let began = Instant::now();
    let mut held = Held::default();
    // The time each request was sent; none when it is answered.
    let mut requests: Vec<Option<Instant>> = Vec::new();
    let mut batch = String::new();
    loop {
        let ends = began.elapsed() >= duration;
        while !ends && held.sent - held.answered < in_flight {
            batch.push_str(&request(held.sent));
            requests.push(Some(Instant::now()));
            held.sent += 1;
        }
        held.most = held.most.max(held.sent - held.answered);
        if !batch.is_empty() {
            writer.write_all(batch.as_bytes()).await?;
            batch.clear();
        }
        if held.sent == held.answered {
            break;
        }
        let Ok(Ok(Some(line))) = tokio::time::timeout(PATIENCE, lines.next_line()).await else { break };
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        let payload = message.get("payload").cloned().unwrap_or_default();
        let name = payload.get("correlationId").and_then(Value::as_str).and_then(|name| name.parse::<usize>().ok());
        let success = payload.get("success") == Some(&Value::Bool(true));
        match name.and_then(|name| requests.get_mut(name)) {
            Some(sent) if success => match sent.take() {
                Some(sent) => {
                    held.answered += 1;
                    held.times.push(sent.elapsed());
                }
                None => held.duplicated += 1,
            },
            _ => held.wrong += 1,
        }
    }
    // An answer too many would come after the last one.
    writer.shutdown().await?;
    while let Ok(Ok(Some(_))) = tokio::time::timeout(PATIENCE, lines.next_line()).await {
        held.duplicated += 1;
    }
    held.took = began.elapsed();
    held.times.sort_unstable();
    Ok(held)
}

fn request(name: usize) -> String {
    let session = name % 7;
    format!(
        "{{\"type\":\"HOOK_EXECUTION_REQUEST\",\"payload\":{{\"correlationId\":\"{name}\",\"eventName\":\"BeforeTool\",\
         \"input\":{{\"session_id\":\"s{session}\",\"tool_name\":\"quick\",\"tool_input\":{{\"n\":{name}}}}}}}}}\n"
    )
}
