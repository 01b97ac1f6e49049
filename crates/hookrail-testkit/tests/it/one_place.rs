//! What has one implementation is written in one place.

use std::path::{Path, PathBuf};

/// A text that stands in few files of the workspace.
struct OnePlace {
    text: &'static str,
    /// What to use instead.
    instead: &'static str,
    /// The files below `crates` that may have it.
    files: &'static [&'static str],
}

const PLACES: [OnePlace; 4] = [
    OnePlace {
        text: "rename(",
        instead: "`hookrail_spawn::replace_file` or `UnplacedFile`",
        files: &[
            "hookrail-spawn/src/files/replace.rs",
            // Folders, logs, sockets and compressed segments are moved, and what scripts rename.
            "hookrail/src/dialect/xcode/install.rs",
            "hookrail/src/record/breadcrumb.rs",
            "hookrail-bus/src/transport/socket.rs",
            "hookrail-fleet/src/install.rs",
            "hookrail-journal/src/retention.rs",
            "hookrail-js/src/ops/fs.rs",
        ],
    },
    OnePlace { text: "persist(", instead: "`hookrail_spawn::replace_file` or `UnplacedFile`", files: &[] },
    OnePlace {
        text: ":02x",
        instead: "`hookrail::trust::hex`",
        // An escaped character is no text of bytes.
        files: &["hookrail/src/text/digest.rs", "hookrail-agent/src/text.rs"],
    },
    OnePlace {
        text: "\"XDG_",
        instead: "`hookrail_spawn::UserFolders`",
        files: &[
            "hookrail-spawn/src/user_folders.rs",
            // A name that another agent has in the same way, and names that are compared.
            "hookrail-bridge/src/agents/opencode.rs",
            "hookrail-app/src/serve/settings.rs",
        ],
    },
];

/// Crates that are not published; they make environments and play programs.
const UNPUBLISHED: [&str; 2] = ["hookrail-bench", "hookrail-testkit"];

/// The crates that talk to a terminal, or are programs. All others return values.
const WITH_A_TERMINAL: [&str; 4] = ["hookrail-agent", "hookrail-bench", "hookrail-cli", "hookrail-testkit"];

/// What only those crates may use.
const OF_A_TERMINAL: [&str; 7] = ["println!(", "eprintln!(", "print!(", "eprint!(", "dbg!(", "clap::", "anstream::"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The sources of every crate but those, by their names below `crates`, without their tests.
fn sources_without(left_out: &[&str]) -> Vec<(String, String)> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&crates).unwrap() {
        let entry = entry.unwrap();
        if !left_out.iter().any(|name| entry.file_name() == *name) {
            sources(&entry.path().join("src"), &mut files);
        }
    }
    assert!(files.len() > 500, "only {} files are found", files.len());
    let read = files.into_iter().map(|file| {
        let name = file.strip_prefix(&crates).unwrap().to_string_lossy().replace('\\', "/");
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let code = code.split("#[cfg(all(test, unix))]\nmod tests").next().unwrap_or_default();
        (name, code.to_owned())
    });
    read.collect()
}

#[test]
fn what_has_one_implementation_is_written_nowhere_else() {
    let mut problems = Vec::new();
    let mut unused: Vec<(&str, &str)> =
        PLACES.iter().flat_map(|place| place.files.iter().map(|file| (place.text, *file))).collect();
    for (name, code) in sources_without(&UNPUBLISHED) {
        for place in &PLACES {
            // `serde(rename(…))` names a member.
            if !code.replace("rename(serialize", "").contains(place.text) {
                continue;
            }
            unused.retain(|known| *known != (place.text, name.as_str()));
            if !place.files.contains(&name.as_str()) {
                problems.push(format!("{name} has `{}`: use {}", place.text, place.instead));
            }
        }
    }
    problems.extend(unused.iter().map(|(text, file)| format!("{file} no longer has `{text}`: remove it here")));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The lines of code that use what belongs to a terminal. Examples in comments may print.
fn terminal_lines(code: &str) -> Vec<usize> {
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let used = lines.filter(|(_, line)| OF_A_TERMINAL.iter().any(|name| line.contains(name)));
    used.map(|(at, _)| at + 1).collect()
}

#[test]
fn only_programs_print_and_read_arguments() {
    let sources = sources_without(&WITH_A_TERMINAL);
    let found: Vec<String> = sources
        .iter()
        .flat_map(|(name, code)| terminal_lines(code).into_iter().map(move |line| format!("{name}:{line}")))
        .collect();
    assert_eq!(found, Vec::<String>::new());
    let sample = "//! println!();\nuse clap::Parser;\neprintln!(\"a\");\nwriteln!(out, \"b\")\nanstream::stdout()";
    assert_eq!(terminal_lines(sample), [2, 3, 5]);
}
