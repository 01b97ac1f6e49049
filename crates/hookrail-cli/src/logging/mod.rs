//! The log on standard error: nothing unless `RUST_LOG`, `DEBUG`, `-vv` or `--plugin-debug` asks for it, and the warnings of a
//! server.
//!
//! `DEBUG` has the form that users of command hooks in settings files know: names with `*`, separated by commas or
//! spaces, such as `llxprt:core:hooks:*`.

mod json;
mod queue;

use std::io::{self, Write};

use hookrail_app::text::one_line;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The log targets of this program for each name of `DEBUG`.
const NAMESPACES: [(&str, &[&str]); 7] = [
    ("llxprt:core:hooks:registry", &["hookrail::registry"]),
    ("llxprt:core:hooks:planner", &["hookrail::planner"]),
    ("llxprt:core:hooks:runner", &["hookrail::runner"]),
    ("llxprt:core:hooks:aggregator", &["hookrail::aggregator"]),
    ("llxprt:core:hooks:eventHandler", &["hookrail::planner", "hookrail::aggregator"]),
    ("llxprt:core:hooks:system", &["hookrail::registry", "hookrail::planner"]),
    ("llxprt:core:hooks:trust", &["hookrail::trust"]),
];

/// The directive that logs breadcrumbs.
const BREADCRUMBS: &str = "hookrail::breadcrumb=debug";

/// The options of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogOptions {
    /// Whether the breadcrumbs of plugins and hooks are logged.
    pub(crate) breadcrumbs: bool,
    /// Whether the engine's log is written if `RUST_LOG` is not set.
    pub(crate) engine: bool,
    /// Whether warnings are logged if `RUST_LOG` is not set.
    pub(crate) warnings: bool,
    pub(crate) format: LogFormat,
}

/// The form of a log line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people
    #[default]
    Text,
    /// One JSON object per line
    Json,
}

/// Starts the log, if the options or the environment ask for one.
pub(crate) fn start(options: LogOptions) {
    let given = |name| std::env::var(name).unwrap_or_default();
    let mut directives = directives_from_debug(&given("DEBUG"));
    directives.extend(options.breadcrumbs.then(|| BREADCRUMBS.to_owned()));
    match given("RUST_LOG") {
        unset if unset.is_empty() => {
            directives.extend(options.warnings.then(|| "warn".to_owned()));
            directives.extend(options.engine.then(|| "hookrail=debug".to_owned()));
        }
        rust_log => directives.push(rust_log),
    }
    if directives.is_empty() {
        return;
    }
    let filter = EnvFilter::builder().parse_lossy(directives.join(","));
    let registry = tracing_subscriber::registry().with(filter);
    // This fails only if a log was started before, and `main` starts it once.
    let _ = match options.format {
        LogFormat::Json => registry.with(json::JsonLines).try_init(),
        LogFormat::Text => {
            let lines = tracing_subscriber::fmt::layer().with_writer(|| LogLineWriter).with_ansi(false);
            registry.with(lines.log_internal_errors(false)).try_init()
        }
    };
}

/// Writes text to standard error, in order with the log. Never blocks and never fails: a full pipe on standard error must
/// not delay or fail requests.
pub(crate) fn write_stderr(text: impl Into<String>) {
    queue::put(text.into());
}

/// Reports panics through the log's queue, because the default hook blocks on standard error.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| write_stderr(format!("{}\n", one_line(&panic.to_string())))));
}

/// Waits for a short time until everything is written.
pub(crate) fn finish() {
    queue::finish();
}

/// Writes each event as one log line. Log lines quote what hooks wrote, so control characters are escaped.
struct LogLineWriter;

impl Write for LogLineWriter {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        queue::put(format!("{}\n", one_line(text.trim_end_matches('\n'))));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the directives for a value of `DEBUG`. A name with `*` logs everything, including input and output of hooks.
fn directives_from_debug(value: &str) -> Vec<String> {
    let patterns = value.split([',', ' ']).filter(|pattern| !pattern.is_empty());
    let (without, with): (Vec<&str>, Vec<&str>) = patterns.partition(|pattern| pattern.starts_with('-'));
    let excluded = |name: &str| without.iter().any(|pattern| matches(pattern.trim_start_matches('-'), name));
    let mut found = Vec::new();
    for (name, targets) in NAMESPACES.iter().filter(|(name, _)| !excluded(name)) {
        for pattern in with.iter().filter(|pattern| matches(pattern, name)) {
            let level = if pattern.contains('*') { "trace" } else { "debug" };
            found.extend(targets.iter().map(|target| format!("{target}={level}")));
        }
    }
    found
}

/// Returns whether a name matches a pattern in which `*` matches any text.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, rest)) => name.strip_prefix(head).is_some_and(|left| {
            left.char_indices()
                .map(|(at, _)| at)
                .chain([left.len()])
                .any(|at| left.get(at..).is_some_and(|tail| matches(rest, tail)))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_stars() {
        assert_eq!(directives_from_debug(""), Vec::<String>::new());
        assert_eq!(directives_from_debug("express:*"), Vec::<String>::new());
        assert_eq!(directives_from_debug("llxprt:core:hooks:runner"), ["hookrail::runner=debug"]);
        assert!(directives_from_debug("x, llxprt:core:hooks:*").contains(&"hookrail::runner=trace".to_owned()));
        assert!(directives_from_debug("*").contains(&"hookrail::registry=trace".to_owned()));
        assert!(
            !directives_from_debug("llxprt:*,-llxprt:core:hooks:runner").contains(&"hookrail::runner=trace".to_owned())
        );
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, expected) in
            [("a*c", "abc", true), ("a*c", "ac", true), ("a*c", "ab", false), ("*", "", true), ("*b*", "abc", true)]
        {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
