//! Code of another language on a shell line: whether its text names what a rule is about.
//!
//! The code is not interpreted. What its text names is a reason to ask a person, and nothing more.

use hookrail_shell::PathUse;

use super::condition::{Clause, HostCondition, PathCondition, PathKey};
use super::judge::fit_of_path;
use super::path_pattern::{Fit, Reach};
use super::scene::RuleScene;

/// Names by which code deletes or moves files.
const DELETES: &[&str] = &[
    "os.remove",
    "os.unlink",
    "os.rmdir",
    "os.removedirs",
    "os.rename",
    "os.replace",
    "os.truncate",
    "rmtree",
    "shutil.move",
    ".unlink(",
    ".rmdir(",
    "rmSync",
    "unlinkSync",
    "rmdirSync",
    "renameSync",
    "truncateSync",
    "fs.rm",
    "fs.unlink",
    "fs.rename",
    "rimraf",
    "Deno.remove",
    "File.delete",
    "FileUtils",
    "File.unlink",
    "File.rename",
    "Dir.rmdir",
    "unlink",
    "remove_dir",
    "remove_file",
    "os.Remove",
    "File::Path",
    "rmdir(",
    "rm_rf",
    "Remove-Item",
    "Move-Item",
    "file delete",
    "file rename",
];
/// Names by which code starts programs.
const STARTS: &[&str] = &[
    "subprocess",
    "os.system",
    "os.popen",
    "os.exec",
    "os.spawn",
    "os.posix_spawn",
    "pty.spawn",
    "child_process",
    "execSync",
    "spawnSync",
    "execFile",
    "Deno.run",
    "Deno.Command",
    "Bun.spawn",
    "IO.popen",
    "Open3",
    "Process.spawn",
    "%x(",
    "shell_exec",
    "passthru",
    "proc_open",
    "system(",
    "system ",
    "popen(",
    "exec.Command",
    "qx{",
    "qx(",
    "`",
    "spawn ",
    "exec(\"",
    "exec('",
    "do shell script",
    "Start-Process",
    "Invoke-Expression",
];
/// Names by which code opens connections.
const CONNECTS: &[&str] = &[
    "socket",
    "urllib",
    "requests",
    "http.client",
    "httpx",
    "aiohttp",
    "ftplib",
    "smtplib",
    "paramiko",
    "fetch(",
    "http.get",
    "http.request",
    "https.get",
    "https.request",
    "net.connect",
    "axios",
    "XMLHttpRequest",
    "WebSocket",
    "LWP",
    "HTTP::Tiny",
    "IO::Socket",
    "Net::HTTP",
    "open-uri",
    "URI.open",
    "curl_",
    "fsockopen",
    "Net::",
    "http://",
    "https://",
    "ftp://",
    "Invoke-WebRequest",
    "Invoke-RestMethod",
];
/// Names by which code reads all variables. One of them with a name behind it is a single variable.
const VARIABLES: &[&str] =
    &["os.environ", "process.env", "%ENV", "ENV.each", "ENV.to_h", "ENV.map", "getenv()", "Deno.env.toObject"];

/// Whether the text of the code names what a clause is about.
pub(crate) fn code_names(code: &str, clause: &Clause, cwd: &str, scene: &RuleScene) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| code.contains(name));
    match clause {
        Clause::Paths(key, conditions) => {
            let acts = match key {
                PathKey::Deletes => has(DELETES) || has(STARTS),
                PathKey::Writes | PathKey::Touches => has(DELETES),
                PathKey::Reads => false,
            };
            acts || conditions.iter().any(|condition| names_path(code, condition, cwd, scene))
        }
        Clause::Commands(patterns) => has(STARTS) || patterns.iter().any(|pattern| names_word(code, pattern.program())),
        Clause::Git(_) => has(STARTS) && names_word(code, "git"),
        Clause::Network(hosts) => {
            let names_host = |host: &HostCondition| match host {
                HostCondition::Fits(host) => !host.contains('*') && code.contains(host.as_str()),
                HostCondition::Except(_) => false,
            };
            has(CONNECTS) || has(STARTS) || hosts.iter().any(names_host)
        }
        Clause::Flow(_) => has(CONNECTS),
        Clause::EnvDump => names_all_variables(code),
        Clause::Executes(_) => has(STARTS),
        // They are decided by the call and not by what its code does.
        Clause::Event(_)
        | Clause::RunsOrWrites
        | Clause::Tool(_)
        | Clause::Agent(_)
        | Clause::Content(_)
        | Clause::Prompt(_)
        | Clause::Session(_) => false,
        Clause::Not(_) => false,
    }
}

/// Whether code reads all variables.
fn names_all_variables(code: &str) -> bool {
    let is_all = |(at, name): (usize, &str)| {
        let behind = code.get(at + name.len()..).unwrap_or_default();
        !behind.starts_with(['.', '[']) || behind.starts_with(".items") || behind.starts_with(".copy")
    };
    VARIABLES.iter().any(|name| code.match_indices(name).any(is_all))
}

/// Whether a text in quotes is a path that a condition is about, or the code has a name that the condition spells out.
fn names_path(code: &str, condition: &PathCondition, cwd: &str, scene: &RuleScene) -> bool {
    let fits = |text: &str| {
        let text = match (text.strip_prefix("~/"), &scene.home) {
            (Some(rest), Some(home)) => format!("{home}/{rest}"),
            _ => text.to_owned(),
        };
        let path = crate::config::without_dots(&std::path::Path::new(cwd).join(text));
        let Some(path) = path.to_str() else { return true };
        let used = PathUse { path: path.to_owned(), is_partly_unknown: false, covers_hidden: false };
        fit_of_path(condition, &used, Reach::Itself, scene) == Fit::Yes
    };
    quoted_texts(code).any(|text| looks_like_a_path(text) && fits(text))
}

fn looks_like_a_path(text: &str) -> bool {
    let is_path = |letter: char| letter.is_alphanumeric() || "._-/~+@".contains(letter);
    !text.is_empty() && text.len() <= 1024 && text.chars().all(is_path) && text.chars().any(char::is_alphanumeric)
}

/// The texts between quotation marks.
fn quoted_texts(code: &str) -> impl Iterator<Item = &str> {
    ['\'', '"'].into_iter().flat_map(move |mark| {
        let pieces: Vec<&str> = code.split(mark).collect();
        pieces.into_iter().skip(1)
    })
}

fn names_word(code: &str, word: &str) -> bool {
    let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    code.match_indices(word).any(|(at, found)| {
        let before = code.get(..at).and_then(|text| text.chars().next_back());
        let after = code.get(at + found.len()..).and_then(|text| text.chars().next());
        !is_part(before) && !is_part(after)
    })
}
