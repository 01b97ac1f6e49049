//! The log on standard error: nothing unless `RUST_LOG`, `DEBUG` or `--plugin-debug` asks for it.
//!
//! `DEBUG` has the form that users of command hooks in settings files know: names with `*`, separated by commas or
//! blanks, such as `llxprt:core:hooks:*`.

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;

use crate::render::text::one_line;

/// What the names of `DEBUG` are in this program.
const NAMESPACES: [(&str, &[&str]); 7] = [
    ("llxprt:core:hooks:registry", &["hookrail::registry"]),
    ("llxprt:core:hooks:planner", &["hookrail::planner"]),
    ("llxprt:core:hooks:runner", &["hookrail::runner"]),
    ("llxprt:core:hooks:aggregator", &["hookrail::aggregator"]),
    ("llxprt:core:hooks:eventHandler", &["hookrail::planner", "hookrail::aggregator"]),
    ("llxprt:core:hooks:system", &["hookrail::registry", "hookrail::planner"]),
    ("llxprt:core:hooks:trust", &["hookrail::trust"]),
];

/// Where breadcrumbs go.
const BREADCRUMBS: &str = "hookrail::breadcrumb=debug";

/// Starts the log, when it is wanted.
pub(crate) fn start(breadcrumbs: bool) {
    let given = |name| std::env::var(name).unwrap_or_default();
    let mut directives = from_debug(&given("DEBUG"));
    directives.extend(breadcrumbs.then(|| BREADCRUMBS.to_owned()));
    directives.extend(Some(given("RUST_LOG")).filter(|text| !text.is_empty()));
    if directives.is_empty() {
        return;
    }
    let filter = EnvFilter::builder().parse_lossy(directives.join(","));
    // It can fail only when there is a log already, and there is none this early.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| Harmless).with_ansi(false).try_init();
}

/// Standard error for a log that quotes what hooks wrote: one line for each event, and nothing in it that a terminal
/// would act on.
struct Harmless;

impl Write for Harmless {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        writeln!(io::stderr(), "{}", one_line(text.trim_end_matches('\n')))?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// What a value of `DEBUG` asks for. A name with `*` shows everything, input and output included.
fn from_debug(value: &str) -> Vec<String> {
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

/// Whether a name fits a pattern in which `*` stands for anything.
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
        assert_eq!(from_debug(""), Vec::<String>::new());
        assert_eq!(from_debug("express:*"), Vec::<String>::new());
        assert_eq!(from_debug("llxprt:core:hooks:runner"), ["hookrail::runner=debug"]);
        assert!(from_debug("x, llxprt:core:hooks:*").contains(&"hookrail::runner=trace".to_owned()));
        assert!(from_debug("*").contains(&"hookrail::registry=trace".to_owned()));
        assert!(!from_debug("llxprt:*,-llxprt:core:hooks:runner").contains(&"hookrail::runner=trace".to_owned()));
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
