//! Six sample rules over the accesses of a line, each with three values.

use hookrail_shell::{Accesses, Fact, FactKind, FlowKind, GitFact, PathUse, Scene, accesses, parse};

pub(crate) const PROJECT: &str = "/w/project";
pub(crate) const HOME: &str = "/home/u";
pub(crate) const NAMES: [&str; 6] =
    ["delete outside", "write outside", "read secret", "network", "force push", "net to exec"];

/// Returns the accesses of a line in the project of the samples.
pub(crate) fn of_line(line: &str) -> Accesses {
    let scene = Scene { project: PROJECT, cwd: PROJECT, home: HOME, surroundings: &() };
    accesses(&parse(line), &scene)
}

/// Returns the six answers as a text: `Y` yes, `-` no, `?` unknown.
pub(crate) fn verdicts(facts: &Accesses) -> String {
    let is_unknown = |kind: FactKind| facts.unknown.iter().any(|unknown| unknown.facts.contains(kind));
    let answer = |is_yes: bool, kind: FactKind| match (is_yes, is_unknown(kind)) {
        (true, _) => 'Y',
        (false, true) => '?',
        (false, false) => '-',
    };
    let outside = |list: &[Fact<PathUse>]| list.iter().any(|fact| is_outside(&fact.what.path));
    let secret = facts.reads.iter().any(|fact| is_secret(&fact.what)) || facts.env_dump.is_some();
    let forced = facts.git.iter().any(|fact| fact.what == GitFact::PushForce);
    let flows = facts.flow.iter().any(|flow| flow.kind == FlowKind::NetToExec);
    [
        answer(outside(&facts.deletes), FactKind::Deletes),
        answer(outside(&facts.writes), FactKind::Writes),
        answer(secret, FactKind::Reads),
        answer(!facts.network.is_empty(), FactKind::Network),
        answer(forced, FactKind::Git),
        answer(flows, FactKind::Commands),
    ]
    .iter()
    .collect()
}

/// Whether a path is outside of the project. What begins with an unknown part is neither.
fn is_outside(path: &str) -> bool {
    let is_inside = path == PROJECT || path.starts_with(&format!("{PROJECT}/"));
    let is_device = matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty");
    path.starts_with('/') && !is_inside && !is_device
}

/// Whether a path is one of the sample secrets, or a pattern that fits one.
fn is_secret(used: &PathUse) -> bool {
    let path = used.path.as_str();
    let places = [
        format!("{PROJECT}/.env"),
        format!("{HOME}/.ssh/id_rsa"),
        format!("{HOME}/.aws/credentials"),
        "/proc/1/environ".to_owned(),
    ];
    if path.ends_with("/**") && !used.covers_hidden {
        return false;
    }
    if !used.is_partly_unknown && path.contains(['*', '?', '[']) && places.iter().any(|place| fits(path, place)) {
        return true;
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_env = name == ".env"
        || name == ".env*"
        || (name.starts_with(".env.") && !name.ends_with(".example") && !name.ends_with(".md"));
    is_env || path.contains("/.ssh/") || path.contains("/.aws/") || name == "environ"
}

/// Whether a pattern of a shell fits a path. A list in brackets fits any character.
fn fits(pattern: &str, path: &str) -> bool {
    let Some(first) = pattern.chars().next() else { return path.is_empty() };
    let rest = &pattern[first.len_utf8()..];
    match first {
        '*' => {
            let (rest, is_deep) = rest.strip_prefix('*').map_or((rest, false), |rest| (rest, true));
            let mut ends = path.char_indices().map(|(at, _)| at).chain([path.len()]);
            ends.any(|end| (is_deep || !path[..end].contains('/')) && fits(rest, &path[end..]))
                || (is_deep && rest.strip_prefix('/').is_some_and(|rest| fits(rest, path)))
        }
        '[' if rest.contains(']') => {
            let rest = &rest[rest.find(']').unwrap_or_default() + 1..];
            path.chars().next().is_some_and(|letter| letter != '/' && fits(rest, &path[letter.len_utf8()..]))
        }
        '?' => path.chars().next().is_some_and(|letter| letter != '/' && fits(rest, &path[letter.len_utf8()..])),
        _ => path.strip_prefix(first).is_some_and(|path| fits(rest, path)),
    }
}
