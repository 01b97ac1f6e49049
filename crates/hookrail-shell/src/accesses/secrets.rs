//! Which paths are secrets, for the flow of secrets to the network.

use crate::resolve::{base_name, is_pattern, matches_pattern, with_marks};

/// Folders whose files are secrets.
const FOLDERS: [&str; 5] = ["/.ssh/", "/.aws/", "/.gnupg/", "/.kube/", "/.docker/"];
/// Files that are secrets wherever they stand.
const NAMES: [&str; 10] = [
    ".env",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    "credentials",
    "environ",
    "shadow",
    ".htpasswd",
];

/// Names of files with secrets that begin with a dot, so that a `*` of a shell does not match them.
const HIDDEN: [&str; 11] = [
    ".env",
    ".env.local",
    ".env.production",
    ".env.development",
    ".env.test",
    ".npmrc",
    ".netrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".htpasswd",
];

/// The patterns of a shell for the names that a program means by a pattern of its own, of which `*` matches a dot too. None if it
/// means every name.
pub(crate) fn name_patterns(pattern: &str) -> Option<Vec<String>> {
    if pattern.chars().all(|letter| matches!(letter, '*' | '?')) {
        return None;
    }
    let alternatives = match pattern.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?))) {
        Some((head, (inner, tail))) => inner.split(',').map(|one| format!("{head}{one}{tail}")).collect(),
        None => vec![pattern.to_owned()],
    };
    let mut patterns: Vec<String> = alternatives.iter().map(|one| with_marks(one)).collect();
    let hidden = HIDDEN.iter().filter(|name| patterns.iter().any(|one| is_pattern(one) && matches_pattern(one, name)));
    let hidden: Vec<String> = hidden.map(|name| (*name).to_owned()).collect();
    patterns.extend(hidden);
    Some(patterns)
}

/// Whether a path names a secret.
pub(crate) fn is_secret(path: &str) -> bool {
    let name = base_name(path);
    NAMES.contains(&name)
        || (name.starts_with(".env") && name.get(4..5).is_some_and(|next| matches!(next, "." | "*" | "?")))
        || (name.starts_with("id_") && !name.ends_with(".pub"))
        || name.ends_with(".pem")
        || name.ends_with(".key")
        || FOLDERS.iter().any(|folder| path.contains(folder))
}
