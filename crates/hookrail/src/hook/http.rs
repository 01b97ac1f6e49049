//! Hooks that are answered by a web server: where the event is sent, and what of the environment goes with it.
//!
//! Nothing here knows a network. The embedding program names another program that sends the event, so that limits, cancelling and
//! ends are those of processes: see [`Builder::http_program`](crate::Builder::http_program).

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

/// The argument with which the program is started that sends an event. The event is its standard input, and the body of the reply
/// its standard output.
pub const COMMAND: &str = "post-event";

/// The variable with the target, as [`HttpTarget::to_json`] writes it. Arguments can be read by other users of the machine, and a
/// header may be a secret.
pub const TARGET_VARIABLE: &str = "HOOKRAIL_HTTP_TARGET";

/// Where a hook sends its events.
///
/// ```
/// use hookrail::http::HttpTarget;
///
/// let target = HttpTarget {
///     url: "http://127.0.0.1:8080/guard".into(),
///     headers: [("Authorization".to_owned(), "Bearer $TOKEN".to_owned())].into(),
///     variables: ["TOKEN".to_owned()].into(),
/// };
/// assert_eq!(HttpTarget::from_json(&target.to_json()), Some(target.clone()));
/// // A description has no values of headers.
/// let described = target.to_string();
/// assert_eq!(described, "http://127.0.0.1:8080/guard, with the header `Authorization` and the variable `TOKEN`");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpTarget {
    /// The address, which begins with `http://` or `https://`.
    pub url: Arc<str>,
    /// The names and values of headers. A value may name variables, as in `$NAME` or `${NAME}`.
    pub headers: Arc<[(String, String)]>,
    /// The variables that values of headers may name. Any other is empty there.
    pub variables: Arc<[String]>,
}

impl HttpTarget {
    /// The target as a JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        json!({"url": *self.url, "headers": *self.headers, "variables": *self.variables}).to_string()
    }

    /// Reads what [`Self::to_json`] wrote; none if it is anything else.
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let header = |pair: &Value| Some((text(pair.get(0)?)?, text(pair.get(1)?)?));
        Some(Self {
            url: value.get("url")?.as_str()?.into(),
            headers: value.get("headers")?.as_array()?.iter().map(header).collect::<Option<_>>()?,
            variables: value.get("variables")?.as_array()?.iter().map(text).collect::<Option<_>>()?,
        })
    }
}

impl fmt::Display for HttpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |kind: &str, names: Vec<&str>| {
            let plural = if names.len() == 1 { "" } else { "s" };
            let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            (!names.is_empty()).then(|| format!("the {kind}{plural} {names}"))
        };
        let headers = named("header", self.headers.iter().map(|(name, _)| name.as_str()).collect());
        let variables = named("variable", self.variables.iter().map(String::as_str).collect());
        let with = headers.into_iter().chain(variables).collect::<Vec<_>>().join(" and ");
        let joint = if with.is_empty() { "" } else { ", with " };
        write!(f, "{}{joint}{with}", self.url)
    }
}
