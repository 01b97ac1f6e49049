//! `docs`: every page for users is in the program, and messages name pages by the command that prints them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

/// What is below `docs/` and not for users: indexes, the rules for contributors, what `hookrail reference` prints, and
/// evidence that pages refer to.
const NOT_TOPICS: [&str; 14] = [
    "README.md",
    "SUMMARY.md",
    "STYLE.md",
    "reference/commands.md",
    "reference/events.md",
    "reference/diagnostics.md",
    "reference/bus.md",
    "reference/configuration.md",
    "reference/test-cases.md",
    "performance/",
    "reliability/",
    "pictures/",
    "design/",
    "specification/",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The files below a folder whose name ends so, as paths from that folder.
fn files(folder: &Path, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_str().unwrap().ends_with(ending) {
                found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

fn listed() -> Vec<String> {
    let list = Sandbox::new().run(&["docs"]).ends_with(0).stdout;
    let rows = list.lines().skip(1).take_while(|line| !line.is_empty());
    rows.map(|row| row.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn every_page_for_users_has_a_topic_and_is_printed() {
    let folder = repository().join("docs");
    let is_topic = |file: &String| !NOT_TOPICS.iter().any(|other| file.starts_with(other));
    let pages = files(&folder, ".md").into_iter().filter(is_topic);
    let topics: Vec<String> = pages.map(|file| file.trim_end_matches(".md").to_owned()).collect();
    let mut found = listed();
    found.sort();
    assert_eq!(found, topics, "the table is in crates/hookrail-cli/src/cmd/docs.rs");
    let sandbox = Sandbox::new();
    for topic in topics {
        let printed = sandbox.run(&["docs", &topic]).ends_with(0);
        let page = fs::read_to_string(folder.join(format!("{topic}.md"))).unwrap();
        assert_eq!(printed.stdout.lines().next(), page.lines().next(), "{topic}");
        assert!(!printed.stdout.contains("<!-- "), "{topic}: {}", printed.stdout);
    }
}

#[test]
fn topics_are_listed_completed_and_suggested() {
    let sandbox = Sandbox::new();
    let list = sandbox.run(&["docs"]).ends_with(0).stdout;
    assert!(list.starts_with("topics\n") && list.contains("  cookbook "), "{list}");
    assert!(list.contains("`hookrail docs TOPIC` prints a page"), "{list}");
    let wrong = sandbox.run(&["docs", "cokbook"]).ends_with(1);
    assert_eq!(wrong.stdout, "");
    assert!(wrong.stderr.contains("a similar value exists: 'cookbook'"), "{}", wrong.stderr);
    for shell in ["bash", "zsh", "fish"] {
        let mut command = sandbox.command(&["--", "hookrail", "docs", "cook"]);
        command.env("HOOKRAIL_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", "2");
        let found = ProgramOutput::capture(&mut command).ends_with(0).stdout;
        assert!(found.contains("cookbook"), "{shell}: {found}");
    }
}

/// An installed program comes without the files of the repository.
#[test]
fn no_message_names_a_file_of_the_documentation() {
    let crates = repository().join("crates");
    let mut wrong = Vec::new();
    // The other crates are tools for contributors.
    for name in [
        "hookrail",
        "hookrail-agent",
        "hookrail-bus",
        "hookrail-cli",
        "hookrail-js",
        "hookrail-matcher",
        "hookrail-spawn",
    ] {
        let folder = crates.join(name).join("src");
        for file in [files(&folder, ".rs"), files(&folder, ".js")].concat() {
            let text = fs::read_to_string(folder.join(&file)).unwrap();
            for (line, number) in text.lines().zip(1..) {
                let is_comment = line.trim_start().starts_with("//");
                let names_page = line.split("docs/").skip(1).any(|rest| {
                    rest.split(|c: char| !c.is_alphanumeric() && !"/-_.".contains(c))
                        .next()
                        .is_some_and(|name| name.contains(".md"))
                });
                if names_page && !is_comment {
                    wrong.push(format!("crates/{name}/src/{file}:{number}: {}", line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "name the page as `hookrail docs TOPIC`:\n{}", wrong.join("\n"));
}
