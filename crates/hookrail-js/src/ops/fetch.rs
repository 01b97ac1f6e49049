//! The operation `fetch`: denied unless the network was granted, and then done by the `curl` that is installed. `curl`
//! knows the system's certificates and proxies and can be ended as every process can, and no HTTP library is linked.
//!
//! The request goes to `curl` on standard input, because other users can read the command lines of processes. Only a
//! body with NUL bytes, which a configuration of `curl` cannot hold, is written to a file; only the owner can read it,
//! and it is removed with the request. What `curl` reports about the answer comes on standard error, so that no answer
//! can imitate it.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use hookrail_spawn::{CaptureLimits, ChildCommand, ChildEnd, ChildResult, SpawnError, run_id};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use tempfile::NamedTempFile;

use super::permission::{RedirectPolicy, require_network};
use super::text::bytes;
use super::{OpAnswer, OpError, PendingOp, decode, exec};
use crate::op_answer::Bytes;
use crate::processes::{ProcessRequest, WhenFull};
use crate::shared::Shared;

/// The timeout of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The number of bytes that an answer may have.
const ANSWER_LIMIT: usize = 16 << 20;

/// What `curl` writes to stderr when it is done: the status, the size of the headers, the redirections and the final URL.
const WRITE_OUT_FORMAT: &str = "%{stderr}\\n%{http_code} %{size_header} %{num_redirects} %{url_effective}";

impl FetchRequest {
    pub(super) fn begin(&self, shared: &Shared, number: u32) -> Result<PendingOp, OpError> {
        let url = &self.url;
        let redirections = require_network(shared, url)?;
        if !(url.starts_with("https://") || url.starts_with("http://")) {
            return Err(OpError::type_error(format!("fetch knows http and https, not `{url}`")));
        }
        let owner = shared.owner()?;
        let curl = curl_request(self, redirections)?;
        let command = ChildCommand::new("curl")
            // The user's `.curlrc` is not meant for modules.
            .args(["--disable", "--config", "-"])
            .stdin(curl.configuration)
            .timeout(REQUEST_TIMEOUT)
            .grace(Duration::ZERO)
            .limits(CaptureLimits { stdout_keep: ANSWER_LIMIT, ..CaptureLimits::default() })
            .marker("HOOKRAIL_RUN_ID", run_id());
        let world = shared.world();
        let command = world.sandbox.iter().cloned().fold(command, ChildCommand::sandbox);
        let environment = Arc::clone(&world.environment);
        // The output may be twice as large as that of another process, so the request takes two places.
        let wanted = ProcessRequest { command, environment, owner, places: 2, when_full: WhenFull::Wait };
        let driven = exec::driven(shared, wanted, "curl", number);
        let (body, most) = (curl.body, shared.account.most);
        let stops_at_redirection = self.follows() && redirections == RedirectPolicy::Refused;
        Ok(Box::pin(async move {
            // The file exists until the request has ended.
            let _body = body;
            let ended = driven.await?.ok_or_else(|| failed("it was given up"))?;
            match &ended.how {
                Ok(finished) => answer(finished, most, stops_at_redirection),
                Err(SpawnError::ProgramNotFound { .. }) => {
                    Err(failed("it needs the program `curl`, which was not found; install it or put it into PATH"))
                }
                Err(error) => Err(failed(&error.to_string())),
            }
        }))
    }

    fn follows(&self) -> bool {
        self.redirect.as_deref().unwrap_or("follow") == "follow"
    }
}

fn failed(why: &str) -> OpError {
    OpError::type_error(format!("fetch failed: {why}"))
}

/// A request as the prelude describes it. Members that can be large stay text.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct FetchRequest {
    url: String,
    method: Option<String>,
    redirect: Option<String>,
    headers: Option<Box<RawValue>>,
    body: Option<String>,
}

/// A request as `curl` takes it.
struct CurlRequest {
    configuration: Vec<u8>,
    /// The file with the body, if a configuration cannot hold it.
    body: Option<NamedTempFile>,
}

/// Whether the text is a token of RFC 9110, as names of headers and methods are. `curl` would read a header that begins
/// with `@` from a file.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn curl_request(request: &FetchRequest, redirections: RedirectPolicy) -> Result<CurlRequest, OpError> {
    let method = request.method.as_deref().unwrap_or("GET").to_uppercase();
    let mut lines = b"silent\nshow-error\ninclude\nsuppress-connect-headers\ngloboff\nmax-redirs = 20\n".to_vec();
    lines.extend(b"proto = \"=http,https\"\nproto-redir = \"=http,https\"\n");
    set_option(&mut lines, "url", request.url.as_bytes());
    set_option(&mut lines, "write-out", WRITE_OUT_FORMAT.as_bytes());
    let headers = request.headers.as_deref().map_or("null", RawValue::get);
    for header in &decode::<Vec<Value>>(headers, "the list of headers")? {
        let part = |at: usize| header.get(at).and_then(Value::as_str).unwrap_or_default();
        let (name, value) = (part(0), part(1));
        if !is_token(name) || value.contains(['\r', '\n', '\0']) {
            return Err(OpError::type_error(format!("`{name}` cannot be a header with that value")));
        }
        // `curl` removes a header that is written `name:`; an empty one is written `name;`.
        let header = if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") };
        set_option(&mut lines, "header", header.as_bytes());
    }
    // `request` is not set for a POST: `curl` would keep the method after a redirection that turns a POST into a GET.
    match method.as_str() {
        "GET" | "POST" => {}
        "HEAD" => lines.extend(b"head\n"),
        other if other.chars().all(|letter| letter.is_ascii_alphabetic()) => {
            set_option(&mut lines, "request", other.as_bytes());
        }
        other => return Err(OpError::type_error(format!("`{other}` is not a method"))),
    }
    if request.follows() && redirections == RedirectPolicy::Free {
        lines.extend(b"location\n");
    }
    let body = request.body.as_deref().map(bytes).transpose()?.or_else(|| (method == "POST").then(Vec::new));
    let mut file = None;
    match body {
        Some(body) if body.contains(&0) => {
            let kept = body_file(&body).map_err(|error| failed(&format!("its body cannot be kept: {error}")))?;
            set_option(&mut lines, "data-binary", format!("@{}", kept.path().display()).as_bytes());
            file = Some(kept);
        }
        Some(body) => set_option(&mut lines, "data-raw", &body),
        None => {}
    }
    Ok(CurlRequest { configuration: lines, body: file })
}

/// Writes a body to a temporary file.
fn body_file(body: &[u8]) -> std::io::Result<NamedTempFile> {
    let mut file = NamedTempFile::with_prefix("hookrail-body-")?;
    file.write_all(body)?;
    Ok(file)
}

/// Adds an option to a configuration of `curl`, with its value quoted.
fn set_option(lines: &mut Vec<u8>, name: &str, value: &[u8]) {
    lines.extend(name.bytes());
    lines.extend(b" = \"");
    for byte in value {
        match byte {
            b'\\' | b'"' => lines.extend([b'\\', *byte]),
            b'\n' => lines.extend(b"\\n"),
            b'\r' => lines.extend(b"\\r"),
            other => lines.push(*other),
        }
    }
    lines.extend(b"\"\n");
}

fn answer(finished: &ChildResult, most: usize, stops_at_redirection: bool) -> Result<OpAnswer, OpError> {
    let told = finished.stderr.text_lossy();
    let (complaint, about) = told.trim_end().rsplit_once('\n').unwrap_or((&told, ""));
    match finished.end {
        ChildEnd::Exited(0) if stops_at_redirection && is_redirection(about) => Err(failed(
            "the answer is a redirection, which is not followed where `network` is limited to hosts; fetch with \
             `redirect: \"manual\"`",
        )),
        ChildEnd::Exited(0) => {
            response(&finished.stdout.bytes, about, most).unwrap_or_else(|| Err(failed("the answer is not HTTP")))
        }
        ChildEnd::Cancelled => Err(failed("it was aborted")),
        ChildEnd::TimedOut | ChildEnd::NotStarted => {
            Err(failed(&format!("it took longer than {} s", REQUEST_TIMEOUT.as_secs())))
        }
        ChildEnd::OutputLimit => Err(failed(&format!("the answer is larger than {} MiB", ANSWER_LIMIT >> 20))),
        // The lines after the first one are advice for using `curl` by hand.
        ChildEnd::Exited(_) | ChildEnd::Signalled(_) | ChildEnd::StatusUnknown => Err(failed(
            complaint.trim().trim_start_matches("curl: ").lines().next().unwrap_or("`curl` does not say why"),
        )),
    }
}

/// Whether the answer is a redirection.
fn is_redirection(about: &str) -> bool {
    matches!(about.split(' ').next(), Some("301" | "302" | "303" | "307" | "308"))
}

/// An answer as the prelude reads it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    status: u16,
    status_text: &'a str,
    headers: Vec<(&'a str, &'a str)>,
    url: &'a str,
    redirected: bool,
    body: Bytes<'a>,
}

/// Parses an answer. The headers of all redirections come first; `curl` reports how long they are. The result is `None`
/// if the answer is not HTTP.
fn response(bytes: &[u8], about: &str, most: usize) -> Option<Result<OpAnswer, OpError>> {
    let mut about = about.splitn(4, ' ');
    let status: u16 = about.next()?.parse().ok()?;
    let length: usize = about.next()?.parse().ok()?;
    let redirections: u32 = about.next()?.parse().ok()?;
    let url = about.next()?;
    let (heads, body) = bytes.split_at_checked(length)?;
    let heads = String::from_utf8_lossy(heads);
    let last = heads.trim_end().rsplit("\r\n\r\n").next()?;
    let mut lines = last.lines();
    let status_text = lines.next()?.splitn(3, ' ').nth(2).unwrap_or_default();
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.trim(), value.trim())).collect();
    let redirected = redirections > 0;
    Some(OpAnswer::serialize_within(
        most,
        &Response { status, status_text, headers, url, redirected, body: Bytes(body) },
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn redirections_are_passed_over_and_a_body_is_only_a_body() {
        let heads = "HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
        let body = "HTTP/1.1 500 No\r\n\r\nhello";
        let about = format!("200 {} 1 http://h/x", heads.len());
        let answer = response(format!("{heads}{body}").as_bytes(), &about, 1 << 20).unwrap().unwrap();
        let answer: Value = serde_json::from_str(answer.text()).unwrap();
        assert_eq!(
            (&answer["status"], &answer["statusText"], &answer["body"]),
            (&json!(200), &json!("OK"), &json!(body))
        );
        assert_eq!(answer["headers"], json!([["Content-Type", "text/plain"]]));
        assert_eq!((&answer["url"], &answer["redirected"]), (&json!("http://h/x"), &json!(true)));
    }

    #[test]
    fn nothing_breaks_out_of_the_configuration() {
        let request = json!({"url": "http://h/\"\nfile = x", "method": "post", "headers": [["X", "a\"\\"]], "body": "one\n\"two\"\\"});
        let curl = curl_request(&serde_json::from_str(&request.to_string()).unwrap(), RedirectPolicy::Free).unwrap();
        let written = String::from_utf8(curl.configuration).unwrap();
        assert!(written.contains(r#"url = "http://h/\"\nfile = x""#), "{written}");
        assert!(
            written.contains(r#"header = "X: a\"\\""#) && written.contains(r#"data-raw = "one\n\"two\"\\""#),
            "{written}"
        );
        for bad in
            [json!({"headers": [["X", "a\r\nb"]]}), json!({"headers": [["X: y", "a"]]}), json!({"method": "A B"})]
        {
            assert!(
                super::curl_request(&serde_json::from_str(&bad.to_string()).unwrap(), RedirectPolicy::Free).is_err(),
                "{bad}"
            );
        }
    }
}
