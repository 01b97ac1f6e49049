//! Entries of the type `http`: their keys.

use std::sync::Arc;

use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::{Document, PlacedKey, PlacedValue};
use crate::hook::http::HttpTarget;

/// The value of `type`.
pub(super) const TYPE: &str = "http";

/// Reads where an entry sends its events. The problem of an entry that cannot be used is among the findings too.
pub(super) fn read(document: &Document, node: &PlacedValue) -> (Result<HttpTarget, String>, Vec<Diagnostic>) {
    let target = url(node).and_then(|url| Ok(HttpTarget { url, headers: headers(node)?, variables: variables(node)? }));
    let found = target.as_ref().err().map(|message| {
        let finding = document.finding(Code::HookCommand, &node.span, message.clone());
        finding.hint("write it as in `{\"type\": \"http\", \"url\": \"https://guard.example/hook\"}`")
    });
    (target, found.into_iter().collect())
}

fn url(node: &PlacedValue) -> Result<Arc<str>, String> {
    let value = node.get("url").ok_or("a hook of type `http` needs a `url`")?;
    let url = value.text().ok_or_else(|| format!("`url` must be a string, not {}", value.described()))?;
    let host = ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    let is_plain = url.chars().all(|letter| letter.is_ascii_graphic());
    match host {
        Some(host) if is_plain && !host.is_empty() => Ok(url.into()),
        _ => Err(format!("`url` must begin with `http://` or `https://` and have no spaces, unlike {url:?}")),
    }
}

fn headers(node: &PlacedValue) -> Result<Arc<[(String, String)]>, String> {
    let Some(value) = node.get("headers") else { return Ok(Arc::default()) };
    let members = value.members().ok_or_else(|| format!("`headers` must be an object, not {}", value.described()))?;
    let header = |(key, value): &(PlacedKey, PlacedValue)| {
        let name = key.name.to_string();
        let text = value.text().ok_or_else(|| format!("the header `{name}` must be a string"))?;
        let is_token = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
        if name.is_empty() || !name.chars().all(is_token) {
            return Err(format!("{name:?} is no name of a header"));
        }
        Ok((name, text.to_owned()))
    };
    members.iter().map(header).collect()
}

fn variables(node: &PlacedValue) -> Result<Arc<[String]>, String> {
    let Some(value) = node.get("allowedEnvVars") else { return Ok(Arc::default()) };
    let names = value.elements().and_then(|names| names.iter().map(|name| name.text().map(str::to_owned)).collect());
    names.ok_or_else(|| "`allowedEnvVars` must be a list of names of variables".to_owned())
}
