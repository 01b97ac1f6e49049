//! What a module may do to the machine: five capabilities, four of which can be narrowed to paths, hosts or names.
//!
//! Nothing here touches the machine, except for resolving the folders that a scope names. The runner decides what is
//! checked.

use std::path::{Component, Path, PathBuf};

use super::variables::is_harmless;

/// What a module may do to the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Read and watch files.
    pub read: CapabilityScope,
    /// Write, move and delete files, except for hooks and their configuration.
    pub write: CapabilityScope,
    /// Start processes. A process that is not sandboxed can do everything that the user can do.
    pub run: bool,
    /// Use the network.
    pub network: CapabilityScope,
    /// See the environment. Harmless variables such as `PATH` are always visible.
    pub env: CapabilityScope,
}

/// How far a capability reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CapabilityScope {
    /// The capability is not given.
    #[default]
    Nothing,
    /// Only what matches a pattern of every one of these lists is allowed.
    Within(Vec<Vec<String>>),
    /// Everything is allowed.
    Everything,
}

/// The names of the capabilities.
pub const CAPABILITY_NAMES: [&str; 5] = ["read", "write", "run", "network", "env"];

/// Why a text is not a capability.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a capability: {problem}", text.escape_debug())]
pub struct CapabilityError {
    /// The text as it was written.
    pub text: String,
    /// What is wrong with it.
    pub problem: CapabilityProblem,
}

/// What is wrong with the text of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CapabilityProblem {
    /// No capability has this name.
    #[error("there are `read`, `write`, `run`, `network` and `env`")]
    UnknownName,
    /// This capability cannot be narrowed.
    #[error("`run` takes no scope, because a process can do everything that the user can do")]
    TakesNoScope,
    /// The path of a scope is malformed.
    #[error(
        "the path must be relative to the project or begin with `/` or `~/`, without `.` and `..`, and have no \
         wildcard but `*` and `**`, as in `read:src/**`"
    )]
    BadPath,
    /// The host of a scope is malformed.
    #[error(
        "the host must be a name or an address, as in `network:api.example.com`, `network:*.example.com` or \
         `network:localhost:8080`"
    )]
    BadHost,
    /// The variable of a scope is malformed.
    #[error("the variable must be a name, as in `env:GITHUB_SHA` or `env:NPM_*`")]
    BadVariable,
}

impl Capabilities {
    /// Nothing at all.
    pub const NONE: Self = Self::seeing(CapabilityScope::Nothing, CapabilityScope::Nothing);

    /// Reading files, and nothing else.
    pub const READ: Self = Self::seeing(CapabilityScope::Everything, CapabilityScope::Nothing);

    /// Reading without writing, for a module that is only inspected. Nothing that it reads can leave it.
    pub const LOOK: Self = Self::seeing(CapabilityScope::Everything, CapabilityScope::Everything);

    /// Capabilities that change nothing.
    const fn seeing(read: CapabilityScope, env: CapabilityScope) -> Self {
        Self { read, write: CapabilityScope::Nothing, run: false, network: CapabilityScope::Nothing, env }
    }

    /// The capabilities that both allow.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self {
            read: self.read.intersection(&other.read),
            write: self.write.intersection(&other.write),
            run: self.run && other.run,
            network: self.network.intersection(&other.network),
            env: self.env.intersection(&other.env),
        }
    }

    /// Whether `other` allows all of this, as far as a comparison of the patterns shows.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.read.is_within(&other.read)
            && self.write.is_within(&other.write)
            && (other.run || !self.run)
            && self.network.is_within(&other.network)
            && self.env.is_within(&other.env)
    }

    /// Reads capabilities: `read`, `write`, `run`, `network`, `env`, and with a scope `read:src/**`, `write:out/**`,
    /// `network:api.example.com`, `env:GITHUB_SHA`. Several scopes of one capability add up.
    ///
    /// # Errors
    /// The first text that is none of them.
    pub fn parse<'n>(texts: impl IntoIterator<Item = &'n str>) -> Result<Self, CapabilityError> {
        let mut capabilities = Self::NONE;
        for text in texts {
            capabilities.add(text)?;
        }
        Ok(capabilities)
    }

    fn add(&mut self, text: &str) -> Result<(), CapabilityError> {
        let error = |problem| CapabilityError { text: text.to_owned(), problem };
        let (name, scope) = match text.split_once(':') {
            Some((name, scope)) => (name, Some(scope)),
            None => (text, None),
        };
        let (given, is_good, problem): (_, fn(&str) -> bool, _) = match name {
            "read" => (&mut self.read, is_path_pattern, CapabilityProblem::BadPath),
            "write" => (&mut self.write, is_path_pattern, CapabilityProblem::BadPath),
            "network" => (&mut self.network, is_host_pattern, CapabilityProblem::BadHost),
            "env" => (&mut self.env, is_variable_pattern, CapabilityProblem::BadVariable),
            "run" if scope.is_none() => {
                self.run = true;
                return Ok(());
            }
            "run" => return Err(error(CapabilityProblem::TakesNoScope)),
            _ => return Err(error(CapabilityProblem::UnknownName)),
        };
        match scope {
            None => *given = CapabilityScope::Everything,
            Some(pattern) if is_good(pattern) => given.add(pattern),
            Some(_) => return Err(error(problem)),
        }
        Ok(())
    }

    /// The capabilities as they are written in configuration.
    #[must_use]
    pub fn described(&self) -> Vec<String> {
        let run = if self.run { CapabilityScope::Everything } else { CapabilityScope::Nothing };
        let all = [
            ("read", &self.read),
            ("write", &self.write),
            ("run", &run),
            ("network", &self.network),
            ("env", &self.env),
        ];
        all.into_iter().flat_map(|(name, scope)| scope.described(name)).collect()
    }

    /// Whether a module sees the environment variable of this name.
    #[must_use]
    pub fn shows_variable(&self, name: &str) -> bool {
        is_harmless(name) || self.env.allows(|pattern| matches(pattern, name))
    }
}

impl Default for Capabilities {
    /// Files, processes and the environment, as the modules' own agents give them; no network.
    fn default() -> Self {
        let all = || CapabilityScope::Everything;
        Self { read: all(), write: all(), run: true, network: CapabilityScope::Nothing, env: all() }
    }
}

impl CapabilityScope {
    /// Whether anything is allowed.
    #[must_use]
    pub fn is_given(&self) -> bool {
        *self != Self::Nothing
    }

    fn add(&mut self, pattern: &str) {
        match self {
            Self::Everything => {}
            Self::Within(lists) if !lists.is_empty() => lists.iter_mut().for_each(|list| list.push(pattern.to_owned())),
            Self::Within(_) | Self::Nothing => *self = Self::Within(vec![vec![pattern.to_owned()]]),
        }
    }

    fn intersection(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Nothing, _) | (_, Self::Nothing) => Self::Nothing,
            (Self::Everything, scope) | (scope, Self::Everything) => scope.clone(),
            (Self::Within(mine), Self::Within(others)) => {
                let mut both = mine.clone();
                both.extend(others.iter().filter(|list| !mine.contains(list)).cloned());
                Self::Within(both)
            }
        }
    }

    fn is_within(&self, other: &Self) -> bool {
        let covers = |wide: &String, narrow: &String| {
            wide == narrow || wide.strip_suffix("**").is_some_and(|folder| narrow.starts_with(folder))
        };
        match (self, other) {
            (Self::Nothing, _) | (_, Self::Everything) => true,
            (Self::Everything | Self::Within(_), Self::Nothing) | (Self::Everything, Self::Within(_)) => false,
            (Self::Within(mine), Self::Within(others)) => others.iter().all(|list| {
                mine.iter().any(|mine| mine.iter().all(|narrow| list.iter().any(|wide| covers(wide, narrow))))
            }),
        }
    }

    /// Whether every list has a pattern that matches.
    fn allows(&self, matches: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::Within(lists) => lists.iter().all(|list| list.iter().any(|pattern| matches(pattern))),
        }
    }

    /// Whether the file at this real path is covered. Patterns are relative to the project or to the home directory.
    #[must_use]
    pub fn allows_path(&self, real: &Path, project: &Path, home: Option<&Path>) -> bool {
        self.allows(|pattern| {
            let (Some(pattern), Some(path)) = (anchored(pattern, project, home), parts(real)) else { return false };
            matches_parts(&pattern, &path)
        })
    }

    /// Whether requests to this host are covered. The port is that of the URL, or the default of its scheme.
    #[must_use]
    pub fn allows_host(&self, host: &str, port: u16) -> bool {
        let host = host.to_ascii_lowercase();
        self.allows(|pattern| {
            let pattern = pattern.to_ascii_lowercase();
            let (name, wanted) = host_and_port(&pattern);
            let fits = match name.strip_prefix("*.") {
                Some(domain) => host.strip_suffix(domain).is_some_and(|sub| sub.len() > 1 && sub.ends_with('.')),
                None => name == host,
            };
            fits && wanted.is_none_or(|wanted| wanted.parse() == Ok(port))
        })
    }

    fn described(&self, name: &str) -> Vec<String> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Everything => vec![name.to_owned()],
            Self::Within(lists) => match lists.as_slice() {
                [list] => list.iter().map(|pattern| format!("{name}:{pattern}")).collect(),
                lists => {
                    let lists: Vec<String> = lists.iter().map(|list| list.join(" or ")).collect();
                    vec![format!("{name}:({})", lists.join(") and ("))]
                }
            },
        }
    }
}

/// Whether a text matches a pattern in which `*` matches any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, mut rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut left) = text.strip_prefix(start) else { return false };
    while let Some((middle, after)) = rest.split_once('*') {
        let Some(at) = left.find(middle) else { return false };
        left = left.get(at + middle.len()..).unwrap_or_default();
        rest = after;
    }
    left.ends_with(rest)
}

/// The parts of an absolute path; none if one of them is not text.
fn parts(path: &Path) -> Option<Vec<String>> {
    path.components()
        .filter(|part| !matches!(part, Component::RootDir))
        .map(|part| Some(part.as_os_str().to_str()?.to_owned()))
        .collect()
}

/// The parts of a pattern, from the root. In a pattern that does not start at the project, the folders before the first
/// wildcard are resolved: a link there is the user's own. A link of the project must not widen a scope.
fn anchored(pattern: &str, project: &Path, home: Option<&Path>) -> Option<Vec<String>> {
    let (base, rest) = match (pattern.strip_prefix("~/"), pattern.strip_prefix('/')) {
        (Some(rest), _) => (home?.to_owned(), rest),
        (None, Some(rest)) => (PathBuf::from("/"), rest),
        (None, None) => {
            let mut all = parts(&project.canonicalize().ok()?)?;
            all.extend(pattern.split('/').map(str::to_owned));
            return Some(all);
        }
    };
    let mut folder = base.canonicalize().ok()?;
    let mut rest = rest.split('/').peekable();
    while let Some(part) = rest.next_if(|part| !part.contains('*')) {
        folder.push(part);
        folder = folder.canonicalize().unwrap_or(folder);
    }
    let mut all = parts(&folder)?;
    all.extend(rest.map(str::to_owned));
    Some(all)
}

/// Whether a path matches, part by part. `**` matches any number of parts, also none.
fn matches_parts(pattern: &[String], path: &[String]) -> bool {
    match pattern.split_first() {
        None => path.is_empty(),
        Some((first, rest)) if first == "**" => {
            (0..=path.len()).any(|skipped| matches_parts(rest, path.get(skipped..).unwrap_or_default()))
        }
        Some((first, rest)) => {
            path.split_first().is_some_and(|(part, others)| matches(first, part) && matches_parts(rest, others))
        }
    }
}

/// The highest number of `**` in a pattern: each multiplies the time that matching can take.
const MOST_WILDCARDS: usize = 4;

fn is_path_pattern(text: &str) -> bool {
    let below = text.strip_prefix("~/").or_else(|| text.strip_prefix('/')).unwrap_or(text);
    let is_good = |part: &str| !matches!(part, "" | "." | "..") && (part == "**" || !part.contains("**"));
    let is_plain = |letter: char| !letter.is_control() && !"\\{}[]?".contains(letter);
    let wildcards = below.split('/').filter(|part| *part == "**").count();
    !below.starts_with('~')
        && text.chars().all(is_plain)
        && below.split('/').all(is_good)
        && wildcards <= MOST_WILDCARDS
}

/// A host and its port. An IPv6 address is in brackets.
fn host_and_port(text: &str) -> (&str, Option<&str>) {
    let end = text.rfind(']').map_or(0, |at| at + 1);
    match text.get(end..).and_then(|rest| rest.find(':')) {
        Some(at) => text.split_at_checked(end + at).map_or((text, None), |(host, port)| (host, port.get(1..))),
        None => (text, None),
    }
}

fn is_host_pattern(text: &str) -> bool {
    let (host, port) = host_and_port(text);
    let name = host.strip_prefix("*.").unwrap_or(host);
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let is_address = host
        .strip_prefix('[')
        .and_then(|inner| inner.strip_suffix(']'))
        .is_some_and(|inner| inner.parse::<std::net::Ipv6Addr>().is_ok());
    (is_address || name.split('.').all(is_label)) && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

fn is_variable_pattern(text: &str) -> bool {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'*';
    !text.is_empty()
        && text != "*"
        && text.bytes().all(is_good)
        && !text.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(texts: &[&str]) -> Capabilities {
        Capabilities::parse(texts.iter().copied()).unwrap()
    }

    #[test]
    fn malformed_capabilities_are_refused_with_the_reason() {
        use CapabilityProblem::{BadHost, BadPath, BadVariable, TakesNoScope, UnknownName};
        let rows = [
            ("", UnknownName),
            ("Read", UnknownName),
            ("read ", UnknownName),
            ("exec", UnknownName),
            ("run:git", TakesNoScope),
            ("run:", TakesNoScope),
            ("read:", BadPath),
            ("read:../x", BadPath),
            ("read:src/../../x", BadPath),
            ("read:./src", BadPath),
            ("read:src//x", BadPath),
            ("read:~user/x", BadPath),
            ("write:a**", BadPath),
            ("write:{a,b}", BadPath),
            ("write:a\0", BadPath),
            ("write:**/**/**/**/**", BadPath),
            ("network:", BadHost),
            ("network:*", BadHost),
            ("network:https://x", BadHost),
            ("network:a/b", BadHost),
            ("network:a@b", BadHost),
            ("network:a:99999", BadHost),
            ("network:-o", BadHost),
            ("env:", BadVariable),
            ("env:*", BadVariable),
            ("env:A B", BadVariable),
        ];
        for (text, problem) in rows {
            assert_eq!(Capabilities::parse(["read", text]).unwrap_err().problem, problem, "{text}");
        }
    }

    #[test]
    fn scopes_of_one_capability_add_up_and_those_of_two_layers_both_count() {
        let both = parsed(&["read:src/**", "read:docs/**"]);
        assert_eq!(both.described(), ["read:src/**", "read:docs/**"]);
        assert_eq!(parsed(&["read:src/**", "read"]).read, CapabilityScope::Everything);
        let narrowed = both.intersection(&parsed(&["read:src/a/**", "run"]));
        assert_eq!(narrowed.described(), ["read:(src/** or docs/**) and (src/a/**)"]);
        assert_eq!(Capabilities::default().intersection(&both), both);
        assert_eq!(both.intersection(&Capabilities::NONE), Capabilities::NONE);
        assert!(parsed(&["read:src/a/**"]).is_within(&both) && both.is_within(&both));
        assert!(!parsed(&["read:**"]).is_within(&both) && !parsed(&["read"]).is_within(&both));
        assert!(!parsed(&["read:src/a", "read:x"]).is_within(&both) && !parsed(&["run"]).is_within(&both));
    }

    #[test]
    fn paths_are_matched_part_by_part() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        let allows = |pattern: &str, path: &str| {
            parsed(&[&format!("read:{pattern}")]).read.allows_path(&project.join(path), &project, Some(&project))
        };
        for (pattern, path, is_allowed) in [
            ("src/**", "src", true),
            ("src/**", "src/a/b.ts", true),
            ("src/**", "srcx/a", false),
            ("src/**", "a/src/b", false),
            ("src/*", "src/a", true),
            ("src/*", "src/a/b", false),
            ("src/*.ts", "src/a.ts", true),
            ("src/*.ts", "src/a.js", false),
            ("**/*.md", "a/b/c.md", true),
            ("**/*.md", "c.md", true),
            ("src", "src/a", false),
            ("~/x/**", "x/y", true),
            ("/etc/**", "src/a", false),
        ] {
            assert_eq!(allows(pattern, path), is_allowed, "{pattern} {path}");
        }
        let absolute = format!("{}/out/**", project.display());
        assert!(allows(&absolute, "out/x") && !allows(&absolute, "x"));
    }

    #[test]
    fn hosts_are_matched_whole() {
        let allows = |pattern: &str, host: &str, port: u16| {
            parsed(&[&format!("network:{pattern}")]).network.allows_host(host, port)
        };
        assert!(allows("api.example.com", "API.example.com", 443));
        assert!(!allows("api.example.com", "api.example.com.evil", 443) && !allows("example.com", "xexample.com", 443));
        assert!(allows("*.example.com", "a.b.example.com", 80));
        assert!(!allows("*.example.com", "example.com", 80) && !allows("*.example.com", "xexample.com", 80));
        assert!(allows("localhost:8080", "localhost", 8080) && !allows("localhost:8080", "localhost", 80));
        assert!(allows("[::1]", "[::1]", 80) && allows("[::1]:81", "[::1]", 81) && !allows("[::1]:81", "[::1]", 80));
    }

    #[test]
    fn variables_are_seen_if_they_are_harmless_or_named() {
        let named = parsed(&["env:GITHUB_SHA", "env:NPM_*"]);
        assert!(named.shows_variable("PATH") && named.shows_variable("GITHUB_SHA") && named.shows_variable("NPM_X"));
        assert!(!named.shows_variable("GITHUB_TOKEN") && !named.shows_variable("XNPM_"));
        assert!(Capabilities::NONE.shows_variable("HOME") && !Capabilities::NONE.shows_variable("API_KEY"));
        assert!(Capabilities::default().shows_variable("API_KEY"));
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, fits) in [
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("a*c", "ab", false),
            ("*a*b*", "xaxbx", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }
}
