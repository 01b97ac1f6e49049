//! Where telemetry is sent, with which headers, and how much of it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hookrail::sources::{ReadProblem, read_file};

/// The options of [`Telemetry`](crate::Telemetry).
#[derive(Clone, Debug)]
pub struct TelemetryOptions {
    pub(crate) endpoint: CollectorEndpoint,
    pub(crate) headers: CollectorHeaders,
    pub(crate) signals: Signals,
    pub(crate) inputs: InputExport,
    pub(crate) sample_percent: u8,
    pub(crate) queue: usize,
    pub(crate) interval: Duration,
    pub(crate) request_timeout: Duration,
    pub(crate) resource: Vec<(String, String)>,
}

/// Whether telemetry contains what events are about: inputs, prompts, reasons and the project's directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InputExport {
    /// It does not. Names of events, tools, hooks and sessions are exported, decisions and times.
    #[default]
    Off,
    /// It does, and nothing is removed.
    On,
}

/// A kind of telemetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Traces,
    Logs,
    Metrics,
}

impl Signal {
    /// Returns the last part of its address.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Logs => "logs",
            Self::Metrics => "metrics",
        }
    }
}

/// The kinds of telemetry that are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signals {
    /// Spans of events and hooks.
    pub traces: bool,
    /// A log record for each decision.
    pub logs: bool,
    /// Durations, decisions and losses as numbers.
    pub metrics: bool,
}

impl Default for Signals {
    fn default() -> Self {
        Self { traces: true, logs: true, metrics: true }
    }
}

impl Signals {
    /// Returns whether this kind is exported.
    pub(crate) fn has(self, signal: Signal) -> bool {
        match signal {
            Signal::Traces => self.traces,
            Signal::Logs => self.logs,
            Signal::Metrics => self.metrics,
        }
    }
}

impl TelemetryOptions {
    /// Options for a collector, with inputs off, every trace sampled, room for 2048 events, an export every 5 s and 10 s for
    /// each request.
    #[must_use]
    pub fn new(endpoint: CollectorEndpoint) -> Self {
        Self {
            endpoint,
            headers: CollectorHeaders::default(),
            signals: Signals::default(),
            inputs: InputExport::Off,
            sample_percent: 100,
            queue: 2048,
            interval: Duration::from_secs(5),
            request_timeout: Duration::from_secs(10),
            resource: vec![
                ("service.name".to_owned(), "hookrail".to_owned()),
                ("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ],
        }
    }

    /// Sends these headers with every request.
    #[must_use]
    pub fn headers(mut self, headers: CollectorHeaders) -> Self {
        self.headers = headers;
        self
    }

    /// Exports these kinds of telemetry. A collector that takes only one of them refuses the others.
    #[must_use]
    pub fn signals(mut self, signals: Signals) -> Self {
        self.signals = signals;
        self
    }

    /// Says whether inputs, prompts and reasons are exported.
    #[must_use]
    pub fn inputs(mut self, inputs: InputExport) -> Self {
        self.inputs = inputs;
        self
    }

    /// Exports the spans of that many of a hundred traces, at most 100. It applies to traces that begin here; under a
    /// trace of the host, the host's decision counts. Logs and metrics always cover all events.
    #[must_use]
    pub fn sample_percent(mut self, percent: u8) -> Self {
        self.sample_percent = percent.min(100);
        self
    }

    /// Lets that many events wait for their export; further ones are dropped and counted.
    #[must_use]
    pub fn queue(mut self, events: usize) -> Self {
        self.queue = events.max(1);
        self
    }

    /// Exports in this interval, and earlier when half of the queue is used.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// Ends a request to the collector after this time.
    #[must_use]
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
        self
    }

    /// Describes the program with one more attribute of the resource, such as `host.name`. A later value replaces an
    /// earlier one.
    #[must_use]
    pub fn resource(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let (name, value) = (name.into(), value.into());
        self.resource.retain(|(known, _)| *known != name);
        self.resource.push((name, value));
        self
    }
}

/// The base address of a collector that speaks OTLP over HTTP, such as `http://127.0.0.1:4318`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectorEndpoint(String);

/// Why a text is not the address of a collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointProblem {
    /// It begins neither with `http://` nor with `https://`.
    #[error("it begins neither with `http://` nor with `https://`")]
    Scheme,
    /// It names no host, or a port that is none.
    #[error("it names no valid host and port")]
    Host,
    /// It holds a user name or a password, which belong into the file of headers.
    #[error("it holds a user name or a password, which belong into the file of headers")]
    Credentials,
    /// It has a query or a fragment.
    #[error("it has a query or a fragment")]
    Query,
}

impl CollectorEndpoint {
    /// Parses the base address, to which `/v1/traces`, `/v1/logs` and `/v1/metrics` are appended.
    ///
    /// ```
    /// use hookrail_otel::{CollectorEndpoint, EndpointProblem};
    ///
    /// assert!(CollectorEndpoint::parse("https://collector.example.com/otlp").is_ok());
    /// assert_eq!(CollectorEndpoint::parse("collector:4318"), Err(EndpointProblem::Scheme));
    /// ```
    ///
    /// # Errors
    /// If the text is no such address.
    pub fn parse(text: &str) -> Result<Self, EndpointProblem> {
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        let rest = rest.ok_or(EndpointProblem::Scheme)?;
        if text.contains(['?', '#']) {
            return Err(EndpointProblem::Query);
        }
        let authority = rest.split('/').next().unwrap_or_default();
        if authority.contains('@') {
            return Err(EndpointProblem::Credentials);
        }
        let uri: ureq::http::Uri = text.parse().map_err(|_| EndpointProblem::Host)?;
        // `Uri` accepts a port that is too large. What follows the brackets of an IPv6 address is the port.
        let port = authority.rsplit(']').next().and_then(|end| end.split_once(':')).map(|(_, port)| port);
        let has_valid_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
        if !has_valid_port || uri.host().is_none_or(str::is_empty) {
            return Err(EndpointProblem::Host);
        }
        Ok(Self(text.trim_end_matches('/').to_owned()))
    }

    /// Returns the address of one kind of telemetry.
    pub(crate) fn of(&self, signal: &str) -> String {
        format!("{}/v1/{signal}", self.0)
    }
}

impl fmt::Display for CollectorEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The headers of every request, which may hold a secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct CollectorHeaders(pub(crate) Vec<(String, String)>);

impl fmt::Debug for CollectorHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// Why a file of headers cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HeadersError {
    /// There is no such file.
    #[error("`{}` does not exist", .0.display())]
    Missing(PathBuf),
    /// It cannot be read.
    #[error("`{}` cannot be read: {problem}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: ReadProblem,
    },
    /// Another user can read or change it.
    #[error("`{}` can be read or changed by other users", .0.display())]
    NotPrivate(PathBuf),
    /// A line is not `name: value`.
    #[error("line {line} of `{}` is not `name: value`", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
}

impl HeadersError {
    /// How the problem is solved.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Missing(path) => format!("write one header per line, `name: value`, into `{}`", path.display()),
            Self::Unreadable { .. } => "make it a text file that you can read".to_owned(),
            Self::NotPrivate(path) => format!("own the file and run `chmod 600 {}`", path.display()),
            Self::Malformed { .. } => {
                "write one header per line, such as `authorization: Bearer TOKEN`; lines that begin with `#` are left out"
                    .to_owned()
            }
        }
    }
}

impl CollectorHeaders {
    /// Reads a file with one header per line, `name: value`. Empty lines, and lines that begin with `#`, are left out. Only
    /// the user may be able to read it.
    ///
    /// # Errors
    /// If the file is missing, open to others or malformed.
    pub fn read(path: &Path) -> Result<Self, HeadersError> {
        let unreadable = |problem| HeadersError::Unreadable { path: path.to_owned(), problem };
        let text = read_file(path).map_err(unreadable)?.ok_or_else(|| HeadersError::Missing(path.to_owned()))?;
        let about = path.metadata().map_err(|error| unreadable(error.into()))?;
        if !hookrail_spawn::is_ours_alone(&about) || is_readable_by_others(&about) {
            return Err(HeadersError::NotPrivate(path.to_owned()));
        }
        let mut headers = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let header = line.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
            match header.filter(|(name, value)| is_header(name, value)) {
                Some((name, value)) => headers.push((name.to_owned(), value.to_owned())),
                None => return Err(HeadersError::Malformed { path: path.to_owned(), line: at + 1 }),
            }
        }
        Ok(Self(headers))
    }
}

fn is_header(name: &str, value: &str) -> bool {
    ureq::http::HeaderName::from_bytes(name.as_bytes()).is_ok() && ureq::http::HeaderValue::from_str(value).is_ok()
}

fn is_readable_by_others(about: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        std::os::unix::fs::MetadataExt::mode(about) & 0o077 != 0
    }
    #[cfg(not(unix))]
    {
        // The access rules of its folder decide.
        let _ = about;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_scheme_a_host_and_perhaps_a_path() {
        let parsed = |text| CollectorEndpoint::parse(text).map(|endpoint| endpoint.of("traces"));
        assert_eq!(parsed("http://127.0.0.1:4318/").as_deref(), Ok("http://127.0.0.1:4318/v1/traces"));
        assert_eq!(parsed("https://[::1]:4318/otlp").as_deref(), Ok("https://[::1]:4318/otlp/v1/traces"));
        for (bad, problem) in [
            ("", EndpointProblem::Scheme),
            ("localhost:4318", EndpointProblem::Scheme),
            ("grpc://localhost:4317", EndpointProblem::Scheme),
            ("http://", EndpointProblem::Host),
            ("http:///v1", EndpointProblem::Host),
            ("http://host:99999", EndpointProblem::Host),
            ("http://host:", EndpointProblem::Host),
            ("http://a b", EndpointProblem::Host),
            ("https://me:secret@host", EndpointProblem::Credentials),
            ("https://host/?token=secret", EndpointProblem::Query),
        ] {
            assert_eq!(parsed(bad), Err(problem), "{bad}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_headers_is_private_and_its_values_are_never_printed() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("headers");
        assert!(matches!(CollectorHeaders::read(&path), Err(HeadersError::Missing(_))));
        let write = |text: &str, mode| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            CollectorHeaders::read(&path)
        };
        let headers = write("# for the collector\n\nauthorization: Bearer a:b\nx-team: core\n", 0o600).unwrap();
        assert_eq!(headers.0[0], ("authorization".to_owned(), "Bearer a:b".to_owned()));
        assert_eq!(format!("{headers:?}"), r#"["authorization", "x-team"]"#);
        assert!(matches!(write("a: b\n", 0o640), Err(HeadersError::NotPrivate(_))));
        for (bad, line) in [("a: b\nno header\n", 2), ("na me: x\n", 1), ("a: \u{1}\n", 1)] {
            let found = write(bad, 0o600);
            assert!(matches!(&found, Err(HeadersError::Malformed { line: at, .. }) if *at == line), "{found:?}");
        }
    }
}
