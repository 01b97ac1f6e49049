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

/// Whether a path is one of the sample secrets, or includes one.
fn is_secret(used: &PathUse) -> bool {
    let path = used.path.as_str();
    if let Some(folder) = path.strip_suffix("/**") {
        let places = [
            format!("{PROJECT}/.env"),
            format!("{HOME}/.ssh/id_rsa"),
            format!("{HOME}/.aws/credentials"),
            "/proc/1/environ".to_owned(),
        ];
        return used.covers_hidden && places.iter().any(|place| place.starts_with(&format!("{folder}/")));
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    let is_env = name == ".env"
        || name == ".env*"
        || (name.starts_with(".env.") && !name.ends_with(".example") && !name.ends_with(".md"));
    is_env || path.contains("/.ssh/") || path.contains("/.aws/") || name == "environ"
}
