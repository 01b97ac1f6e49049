//! Which paths are secrets, for the flow of secrets to the network.

use crate::resolve::base_name;

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

/// Endings that names of files with secrets have, `.env.local` for one.
const ENDINGS: [&str; 12] =
    ["env", "local", "production", "development", "staging", "test", "dev", "prod", "pem", "key", "bak", "backup"];

/// Whether files with secrets may have an ending: `local`, `{ts,env}`.
pub(crate) fn may_end_secret(ending: &str) -> bool {
    ending.split(['{', ',', '}', '.']).any(|part| ENDINGS.contains(&part)) || ending.contains(['*', '?', '['])
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
