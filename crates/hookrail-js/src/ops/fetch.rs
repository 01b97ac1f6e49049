//! The network: off unless granted, and then through the machine's own `curl`. It knows the machine's certificates and
//! proxies, it can be ended at any moment as every process can, and nothing of it is linked here.
//!
//! What is asked goes to `curl` on its standard input, where no list of processes shows it. What it says about the
//! answer comes on standard error, so that nothing in an answer can pass for it.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use hookrail_spawn::{CancelToken, Command, End, Finished, Limits, SpawnError};
use serde_json::{Value, json};

use super::text::{bytes, latin1};
use super::{Args, Need, OpError, exec, op, require};
use crate::shared::{Op, Shared};

/// How long an answer may take.
const LONGEST: Duration = Duration::from_secs(60);

/// How large an answer may be.
const LARGEST: usize = 16 << 20;

/// What `curl` tells when it is done.
const ABOUT: &str = "%{stderr}\\n%{http_code} %{size_header} %{num_redirects} %{url_effective}";

pub(super) fn begin(shared: &Arc<Shared>, number: u32, args: &Args) -> Result<Op, OpError> {
    let request = args.value(0);
    let url = request.get("url").and_then(Value::as_str).unwrap_or_default().to_owned();
    require(shared, Need::Network, &format!("fetch(\"{url}\")"))?;
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        return Err(OpError::type_error(format!("fetch knows http and https, not `{url}`")));
    }
    let asked = asked(request, &url)?;
    let command = Command::new("curl")
        // The user's own settings for `curl` are not meant for modules.
        .args(["--disable", "--config", "-"])
        .stdin(asked)
        .env(Arc::clone(&shared.world.lock().environment))
        .timeout(LONGEST)
        .grace(Duration::ZERO)
        .limits(Limits { stdout_keep: LARGEST, ..Limits::default() })
        .marker("HOOKRAIL_RUN_ID", exec::run_id());
    let cancel = CancelToken::new();
    shared.cancels.lock().insert(number, cancel.clone());
    let processes = shared.processes.clone();
    Ok(op(async move {
        match exec::driven(&processes, command, cancel).await? {
            Some(Ok(finished)) => answer(&finished),
            Some(Err(SpawnError::ProgramNotFound { .. })) => {
                Err(failed("it needs the program `curl`, which was not found; install it or put it into PATH"))
            }
            Some(Err(error)) => Err(failed(&error.to_string())),
            None => Err(failed("it was given up")),
        }
    }))
}

fn failed(why: &str) -> OpError {
    OpError::type_error(format!("fetch failed: {why}"))
}

/// The request as a configuration of `curl`.
fn asked(request: &Value, url: &str) -> Result<Vec<u8>, OpError> {
    let text = |name: &str| request.get(name).and_then(Value::as_str);
    let method = text("method").unwrap_or("GET").to_uppercase();
    let mut lines = String::from("silent\nshow-error\ninclude\nsuppress-connect-headers\ngloboff\nmax-redirs = 20\n");
    lines.push_str("proto = \"=http,https\"\nproto-redir = \"=http,https\"\n");
    let mut set = |name: &str, value: &str| {
        let _ = writeln!(lines, "{name} = {}", quoted(value));
    };
    set("url", url);
    set("write-out", ABOUT);
    for header in request.get("headers").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default() {
        let part = |at: usize| header.get(at).and_then(Value::as_str).unwrap_or_default();
        let (name, value) = (part(0), part(1));
        if format!("{name}{value}").contains(['\r', '\n', '\0']) || name.is_empty() || name.contains([':', ' ']) {
            return Err(OpError::type_error(format!("`{name}` cannot be a header with that value")));
        }
        // A header without a value is one that is left out, unless it says that it is meant to be empty.
        set("header", &if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") });
    }
    // After a redirection a POST becomes a GET where the standard wants that, but only if it is not forced.
    match method.as_str() {
        "GET" | "POST" => {}
        "HEAD" => lines.push_str("head\n"),
        other if other.chars().all(|letter| letter.is_ascii_alphabetic()) => set("request", other),
        other => return Err(OpError::type_error(format!("`{other}` is not a method"))),
    }
    if text("redirect").unwrap_or("follow") == "follow" {
        lines.push_str("location\n");
    }
    let body = text("body").map(bytes).transpose()?;
    let mut asked = lines.into_bytes();
    if let Some(body) = body.or_else(|| (method == "POST").then(Vec::new)) {
        if body.contains(&0) {
            return Err(OpError::type_error("fetch cannot send a body with NUL bytes"));
        }
        asked.extend(b"data-raw = \"");
        for byte in body {
            match byte {
                b'\\' | b'"' => asked.extend([b'\\', byte]),
                b'\n' => asked.extend(b"\\n"),
                b'\r' => asked.extend(b"\\r"),
                other => asked.push(other),
            }
        }
        asked.extend(b"\"\n");
    }
    Ok(asked)
}

/// A value as the configuration of `curl` wants it.
fn quoted(value: &str) -> String {
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\r', "\\r");
    format!("\"{escaped}\"")
}

fn answer(finished: &Finished) -> Result<Value, OpError> {
    let told = finished.stderr.text_lossy();
    let (complaint, about) = told.trim_end().rsplit_once('\n').unwrap_or((&told, ""));
    match finished.end {
        End::Exited(0) => response(&finished.stdout.bytes, about).ok_or_else(|| failed("the answer is not HTTP")),
        End::Cancelled => Err(failed("it was aborted")),
        End::TimedOut => Err(failed(&format!("it took longer than {} s", LONGEST.as_secs()))),
        End::OutputLimit => Err(failed(&format!("the answer is larger than {} MiB", LARGEST >> 20))),
        _ => Err(failed(complaint.trim().trim_start_matches("curl: "))),
    }
}

/// The answer, taken apart: all headers on the way come first, and how long they are was told.
fn response(bytes: &[u8], about: &str) -> Option<Value> {
    let mut about = about.splitn(4, ' ');
    let status: u16 = about.next()?.parse().ok()?;
    let length: usize = about.next()?.parse().ok()?;
    let redirections: u32 = about.next()?.parse().ok()?;
    let url = about.next()?;
    let (heads, body) = bytes.split_at_checked(length)?;
    let heads = String::from_utf8_lossy(heads);
    let last = heads.trim_end().rsplit("\r\n\r\n").next()?;
    let mut lines = last.lines();
    let reason = lines.next()?.splitn(3, ' ').nth(2).unwrap_or_default().to_owned();
    let headers: Vec<Value> =
        lines.filter_map(|line| line.split_once(':')).map(|(name, value)| json!([name.trim(), value.trim()])).collect();
    Some(json!({
        "status": status,
        "statusText": reason,
        "headers": headers,
        "url": url,
        "redirected": redirections > 0,
        "body": latin1(body),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirections_are_passed_over_and_a_body_is_only_a_body() {
        let heads = "HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
        let body = "HTTP/1.1 500 No\r\n\r\nhello";
        let about = format!("200 {} 1 http://h/x", heads.len());
        let answer = response(format!("{heads}{body}").as_bytes(), &about).unwrap();
        assert_eq!(
            (&answer["status"], &answer["statusText"], &answer["body"]),
            (&json!(200), &json!("OK"), &json!(body))
        );
        assert_eq!(answer["headers"], json!([["Content-Type", "text/plain"]]));
        assert_eq!((&answer["url"], &answer["redirected"]), (&json!("http://h/x"), &json!(true)));
    }

    #[test]
    fn nothing_breaks_out_of_the_configuration() {
        let request = json!({"method": "post", "headers": [["X", "a\"\\"]], "body": "one\n\"two\"\\"});
        let asked = String::from_utf8(asked(&request, "http://h/\"\nfile = x").unwrap()).unwrap();
        assert!(asked.contains(r#"url = "http://h/\"\nfile = x""#), "{asked}");
        assert!(
            asked.contains(r#"header = "X: a\"\\""#) && asked.contains(r#"data-raw = "one\n\"two\"\\""#),
            "{asked}"
        );
        for bad in
            [json!({"headers": [["X", "a\r\nb"]]}), json!({"headers": [["X: y", "a"]]}), json!({"method": "A B"})]
        {
            assert!(super::asked(&bad, "http://h/").is_err(), "{bad}");
        }
    }
}
