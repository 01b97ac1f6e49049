//! The network: off unless granted, and then through the machine's own `curl`, so that nothing of it is linked here.

use std::sync::Arc;
use std::time::Duration;

use hookrail_spawn::{CancelToken, Command, End};
use serde_json::{Value, json};

use super::text::latin1;
use super::{Args, Need, OpError, op, require};
use crate::shared::{Op, Shared};

pub(super) fn begin(shared: &Arc<Shared>, number: u32, args: &Args) -> Result<Op, OpError> {
    let request = args.value(0);
    let url = request.get("url").and_then(Value::as_str).unwrap_or_default().to_owned();
    require(shared, Need::Network, &format!("fetch(\"{url}\")"))?;
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        return Err(OpError::type_error(format!("fetch knows http and https, not `{url}`")));
    }
    let method = request.get("method").and_then(Value::as_str).unwrap_or("GET").to_uppercase();
    let mut command = Command::new("curl")
        .args(["--silent", "--show-error", "--include", "--location", "--proto", "=http,https", "--request", &method])
        .env(Arc::clone(&shared.world.lock().environment))
        .timeout(Duration::from_secs(60))
        .grace(Duration::ZERO);
    for header in request.get("headers").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default() {
        let part = |at: usize| header.get(at).and_then(Value::as_str).unwrap_or_default();
        let line = format!("{}: {}", part(0), part(1));
        if line.contains(['\r', '\n']) {
            return Err(OpError::type_error("a header must not contain a line break"));
        }
        command = command.args(["--header", &line]);
    }
    if let Some(body) = request.get("body").and_then(Value::as_str) {
        command = command.args(["--data-binary", "@-"]).stdin(body.as_bytes());
    }
    let command = command.args(["--url", &url]);
    let cancel = CancelToken::new();
    shared.cancels.lock().insert(number, cancel.clone());
    Ok(op(async move {
        let failed = |why: &str| OpError::type_error(format!("fetch failed: {why}"));
        let finished = hookrail_spawn::run(&command, &cancel).await.map_err(|error| failed(&error.to_string()))?;
        match finished.end {
            End::Exited(0) => response(&finished.stdout.bytes).ok_or_else(|| failed("the answer is not HTTP")),
            End::Cancelled => Err(failed("it was aborted")),
            End::TimedOut => Err(failed("it took longer than 60 s")),
            _ => Err(failed(finished.stderr.text_lossy().trim())),
        }
    }))
}

/// The last answer of a chain of redirections, taken apart.
fn response(bytes: &[u8]) -> Option<Value> {
    let mut rest = bytes;
    loop {
        let end = rest.windows(4).position(|window| window == b"\r\n\r\n")?;
        let (head, body) = rest.split_at(end);
        let body = body.get(4..).unwrap_or_default();
        let head = String::from_utf8_lossy(head).into_owned();
        let mut lines = head.lines();
        let mut status = lines.next()?.splitn(3, ' ');
        let _version = status.next()?;
        let code: u16 = status.next()?.parse().ok()?;
        let is_followed = body.starts_with(b"HTTP/") && (code < 200 || (300..400).contains(&code));
        if is_followed {
            rest = body;
            continue;
        }
        let headers: Vec<Value> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| json!([name.trim(), value.trim()]))
            .collect();
        return Some(json!({
            "status": code,
            "statusText": status.next().unwrap_or_default(),
            "headers": headers,
            "body": latin1(body),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::response;

    #[test]
    fn redirections_are_passed_over() {
        let text =
            b"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello";
        let answer = response(text).unwrap();
        assert_eq!(answer["status"], 200);
        assert_eq!(answer["body"], "hello");
        assert_eq!(answer["headers"][0][0], "Content-Type");
    }
}
