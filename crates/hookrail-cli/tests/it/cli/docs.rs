//! `docs`: every page for users is in the program, and messages name pages by the command that prints them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::sandbox::{ProgramOutput, Sandbox};

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

/// The topics that the command lists, without the names of the parts.
fn listed() -> Vec<String> {
    let list = Sandbox::new().run(&["docs"]).ends_with(0).stdout;
    let rows = list.lines().filter_map(|row| row.strip_prefix("  "));
    rows.map(|row| row.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn every_page_for_users_has_a_topic_and_is_printed() {
    let folder = repository().join("docs");
    let topics = listed();
    for topic in ["rules", "agents/claude", "how-to/debug", "reference/settings", "explanation/trust"] {
        assert!(topics.iter().any(|listed| listed == topic), "{topic} is not in {topics:?}");
    }
    assert!(!topics.iter().any(|topic| topic.starts_with("evidence/")), "{topics:?}");
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
    assert!(list.starts_with("Get started\n") && list.contains("  how-to/recipes "), "{list}");
    assert!(list.contains("`hookrail docs WORD` prints the page"), "{list}");
    let wrong = sandbox.run(&["docs", "turst"]).ends_with(1);
    assert_eq!(wrong.stdout, "");
    assert!(wrong.stderr.contains("did you mean `trust`?"), "{}", wrong.stderr);
    for page in ["commands", "events", "bus", "configuration", "test-cases"] {
        let title = sandbox.run(&["reference", page]).ends_with(0).stdout.lines().next().unwrap().to_owned();
        let topic = format!("reference/{page}");
        assert_eq!(sandbox.run(&["docs", &topic]).ends_with(0).stdout.lines().next(), Some(title.as_str()));
    }
    let messages = sandbox.run(&["docs", "diagnostics"]).ends_with(0).stdout;
    assert!(messages.contains("`file-syntax`") && messages.contains("a bracket that is not closed"), "{messages}");
    for shell in ["bash", "zsh", "fish"] {
        let mut command = sandbox.command(&["--", "hookrail", "docs", "how-to/rec"]);
        command.env("HOOKRAIL_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", "2");
        let found = ProgramOutput::capture(&mut command).ends_with(0).stdout;
        assert!(found.contains("how-to/recipes"), "{shell}: {found}");
    }
}

#[test]
fn a_page_is_found_by_a_word_and_rendered_on_a_terminal() {
    let sandbox = Sandbox::new();
    let printed = sandbox.run(&["docs", "claude"]).ends_with(0).stdout;
    assert_eq!(printed, sandbox.run(&["docs", "agents/claude"]).ends_with(0).stdout);
    assert!(printed.contains("```") && printed.starts_with("# "), "{printed}");
    let several = sandbox.run(&["docs", "hook"]).ends_with(0).stdout;
    assert!(several.contains(" pages about `hook`") && several.lines().count() > 2, "{several}");
    #[cfg(target_os = "linux")]
    {
        use crate::cli::pseudo_terminal::OnTerminal;
        let mut command = sandbox.command(&["docs", "claude"]);
        command.env("TERM", "xterm").env("COLUMNS", "80").env("PAGER", "cat");
        let shown = OnTerminal::of(&mut command, "").everything();
        let shown = anstream::adapter::strip_str(&shown).to_string();
        assert!(!shown.contains("```") && !shown.contains("# ") && !shown.contains("]("), "{shown}");
        assert!(shown.contains("hookrail install claude"), "{shown}");
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
