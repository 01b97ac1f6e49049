//! The sessions in `console` blocks: commands, what they print, and their exit status.

use std::collections::HashMap;

use super::markdown::{Block, blocks, documents};
use super::sandbox::{ProgramOutput, Sandbox, missing};

/// The projects of a document, by name. What their commands left running ends with them.
#[derive(Default)]
struct Projects(HashMap<String, Sandbox>);

impl Drop for Projects {
    fn drop(&mut self) {
        for sandbox in self.0.values() {
            for process in hookrail_testkit::processes_with_marker("HOME", &sandbox.home.to_string_lossy()) {
                let _ = std::process::Command::new("kill").args(["-9", &process.to_string()]).status();
            }
        }
    }
}

/// A command with what the document says about it.
struct Entry {
    command: String,
    shown: Vec<String>,
    status: i32,
}

#[test]
fn commands_print_and_end_as_shown() {
    let (mut count, mut wrong) = (0, Vec::new());
    for name in documents() {
        // What is wrong on one page hides nothing of another.
        match std::panic::catch_unwind(|| run_page(&name)) {
            Ok(commands) => count += commands,
            Err(_) => wrong.push(name),
        }
    }
    assert!(wrong.is_empty(), "pages with wrong commands: {wrong:?}");
    assert!(count >= 35, "only {count} commands");
}

/// Runs the commands of a page, and returns how many there were.
fn run_page(name: &str) -> usize {
    let mut count = 0;
    let mut projects = Projects::default();
    for block in blocks(name) {
        let Some(project) = block.value("project") else {
            assert_ne!(block.language, "console", "{}: names no project", block.place);
            continue;
        };
        let sandbox = projects.0.entry(project.to_owned()).or_insert_with(Sandbox::new);
        if block.language != "console" {
            sandbox.write(block.value("file").unwrap_or(".llxprt/settings.json"), &block.text);
            continue;
        }
        if let Some(needed) = block.value("needs").filter(|needed| !missing([*needed]).is_empty()) {
            println!("skipped: {} needs {needed}", block.place);
            continue;
        }
        for entry in entries(&block) {
            check(&block, sandbox, &entry);
            count += 1;
        }
    }
    count
}

/// `$ echo $?` and the line after it are the exit status of the command before.
fn entries(block: &Block) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut lines = block.text.lines();
    while let Some(line) = lines.next() {
        match line.strip_prefix("$ ") {
            Some("echo $?") => {
                entries.last_mut().unwrap().status = lines.next().unwrap().parse().unwrap();
            }
            Some(command) => {
                entries.push(Entry { command: command.to_owned(), shown: Vec::new(), status: 0 });
            }
            None => entries.last_mut().unwrap().shown.push(line.to_owned()),
        }
    }
    entries
}

fn check(block: &Block, sandbox: &Sandbox, entry: &Entry) {
    let ran = ProgramOutput::capture(sandbox.command("sh").args(["-c", &entry.command]));
    let printed = format!("{}{}", ran.stdout, ran.stderr);
    let told = |why: &str| format!("{}: $ {}\n{why}\n{printed}", block.place, entry.command);
    assert_eq!(ran.code, entry.status, "{}", told("another exit status"));
    let printed_lines: Vec<String> = printed.lines().map(steady).filter(|line| !line.is_empty()).collect();
    let mut at = 0;
    let mut gap = false;
    for shown in entry.shown.iter().map(|line| steady(line)).filter(|line| !line.is_empty()) {
        if shown == "…" {
            gap = true;
            continue;
        }
        let fits = |line: &&String| match shown.strip_suffix('…') {
            Some(head) => line.starts_with(head.trim_end()),
            None => **line == shown,
        };
        let rest = &printed_lines[at..];
        let found = if gap { rest.iter().position(|line| fits(&line)) } else { rest.first().filter(fits).map(|_| 0) };
        let found = found.unwrap_or_else(|| panic!("{}", told(&format!("does not print `{shown}` here"))));
        at += found + 1;
        gap = false;
    }
    assert!(gap || at == printed_lines.len(), "{}", told("prints more than is shown"));
}

/// A line with single blanks, and without what differs from run to run.
fn steady(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut kept = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let is_time = |unit: Option<&&str>| matches!(unit, Some(&"ms" | &"s"));
        let time = word.parse::<f64>().is_ok() && is_time(words.get(at + 1));
        kept.push(if time { "N" } else { word });
    }
    kept.join(" ")
}
