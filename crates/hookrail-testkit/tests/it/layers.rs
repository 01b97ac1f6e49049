//! Crates and modules of the workspace keep the order in `layers.toml`.

use std::path::{Path, PathBuf};

#[test]
fn crates_and_modules_use_only_what_stands_below_them() {
    let workspace = workspace();
    let violations = hookrail_testkit::layers::check(&workspace).unwrap();
    let texts: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(texts.is_empty(), "{}", texts.join("\n"));
}

/// What has a terminal, or is a tool of this repository.
const TERMINAL_CRATES: [&str; 4] = ["hookrail-cli", "hookrail-agent", "hookrail-bench", "hookrail-testkit"];

/// A library that prints writes into what belongs to its host. Arguments and terminals are a matter of programs.
#[test]
fn only_crates_with_a_terminal_print_and_parse_arguments() {
    for entry in std::fs::read_dir(workspace().join("crates")).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let found = terminal_words(&entry.path());
        if TERMINAL_CRATES.contains(&name.as_str()) {
            // A crate that does not need to be listed must not be.
            assert_ne!(found, Vec::<String>::new(), "{name}");
        } else {
            assert_eq!(found, Vec::<String>::new(), "{name}");
        }
    }
}

/// Returns where the sources of a crate print, and which crates for terminals its manifest names.
fn terminal_words(folder: &Path) -> Vec<String> {
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let dependencies = ["clap", "anstream"].into_iter();
    let named = dependencies.filter(|name| manifest.lines().any(|line| line.starts_with(name)));
    let mut found: Vec<String> = named.map(str::to_owned).collect();
    for file in rust_files(&folder.join("src")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        let prints = code.filter(|(_, line)| line.contains("print!(") || line.contains("println!("));
        found.extend(prints.map(|(index, _)| format!("{}:{}", file.display(), index + 1)));
    }
    found
}

/// What has one place, and the files that have another reason to do it themselves: they move folders, sockets, segments and logs, and
/// name variables that are an agent's or are passed on.
const ONE_PLACE: [(&str, &[&str]); 4] = [
    ("persist(", &[]),
    (
        "fs::rename(",
        &[
            "hookrail-bus/src/transport/socket.rs",
            "hookrail-fleet/src/install.rs",
            "hookrail-journal/src/retention.rs",
            "hookrail-js/src/ops/fs.rs",
            "hookrail-spawn/src/files/replace.rs",
            "hookrail/src/dialect/xcode/install.rs",
            "hookrail/src/record/breadcrumb.rs",
        ],
    ),
    (
        "\"XDG_",
        &[
            "hookrail-app/src/serve/settings.rs",
            "hookrail-bridge/src/agents/opencode.rs",
            "hookrail-spawn/src/user_folders.rs",
        ],
    ),
    (":02x", &["hookrail-agent/src/text.rs", "hookrail/src/text/digest.rs"]),
];

#[test]
fn files_are_replaced_users_folders_found_and_digests_written_in_one_place() {
    let crates = workspace().join("crates");
    let published = std::fs::read_dir(&crates).unwrap().flatten().map(|entry| entry.path());
    let published = published.filter(|path| !path.ends_with("hookrail-testkit") && !path.ends_with("hookrail-bench"));
    let files: Vec<PathBuf> = published.flat_map(|path| rust_files(&path.join("src"))).collect();
    for (words, places) in ONE_PLACE {
        let has_words = |file: &&PathBuf| {
            let text = std::fs::read_to_string(file).unwrap();
            text.split("\nmod tests {").next().unwrap_or_default().contains(words)
        };
        let shown = |file: &PathBuf| file.strip_prefix(&crates).unwrap().to_string_lossy().replace('\\', "/");
        let is_test = |file: &&PathBuf| file.to_string_lossy().ends_with("tests.rs");
        let mut found: Vec<String> = files.iter().filter(|file| !is_test(file)).filter(has_words).map(shown).collect();
        found.sort();
        assert_eq!(found, places, "`{words}`");
    }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let in_path = |path: PathBuf| match path.is_dir() {
        true => rust_files(&path),
        false => vec![path],
    };
    paths.flat_map(in_path).filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
