//! The page that takes a user of Claude Code to the same guard in another agent: its files and its commands, as they stand there.

use std::fs;
use std::path::Path;

use crate::Error;
use crate::lab::Lab;

/// How many commands the page promises.
const COMMANDS: usize = 5;

/// A command of the page, and the exit status that the page shows for it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PageCommand {
    line: String,
    status: i32,
}

/// The first part of the page: the files of the project, and the commands of the first session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    files: Vec<(String, String)>,
    commands: Vec<PageCommand>,
}

impl Page {
    /// Reads the page beside the folder with the agents' data.
    pub(crate) fn read(data: &Path) -> Result<Self, Error> {
        let file = data.join("../../docs/how-to/bring-your-hooks.md");
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let page = Self::parse(&text);
        if page.commands.len() != COMMANDS || page.files.is_empty() {
            return Err(format!("{} shows {} commands, not {COMMANDS}", file.display(), page.commands.len()).into());
        }
        Ok(page)
    }

    fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(about) = line.strip_prefix("```").filter(|about| !about.is_empty()) else { continue };
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if let Some(file) = about.split(' ').find_map(|word| word.strip_prefix("file=")) {
                page.files.push((file.to_owned(), format!("{}\n", block.join("\n"))));
            } else if about.starts_with("console") {
                page.commands = commands(&block);
                break;
            }
        }
        page
    }

    /// Whether it installs hookrail in this agent.
    pub(crate) fn installs(&self, agent: &str) -> bool {
        self.commands.iter().any(|command| command.line.contains(&format!("hookrail install {agent} ")))
    }

    /// Does what the page says, and fails if a command does not end as the page shows.
    pub(crate) fn follow(&self, lab: &Lab<'_>) -> Result<(), Error> {
        for (name, text) in &self.files {
            let file = lab.project().join(name);
            fs::create_dir_all(file.parent().unwrap_or(&lab.project()))?;
            fs::write(file, text)?;
        }
        for PageCommand { line, status } in &self.commands {
            let ended = lab.shell_line(line)?;
            if ended.status.code() != Some(*status) {
                let said = String::from_utf8_lossy(&ended.stderr);
                return Err(format!("`{line}` ended with {}, not {status}: {said}", ended.status).into());
            }
        }
        Ok(())
    }
}

/// `$ echo $?` and the line after it are the exit status of the command before.
fn commands(block: &[&str]) -> Vec<PageCommand> {
    let mut found: Vec<PageCommand> = Vec::new();
    let mut lines = block.iter();
    while let Some(line) = lines.next() {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some("echo $?"), Some(last)) => {
                last.status = lines.next().and_then(|status| status.parse().ok()).unwrap_or_default();
            }
            (Some(command), _) => found.push(PageCommand { line: command.to_owned(), status: 0 }),
            // What a command prints is compared by a test of the documentation.
            (None, _) => {}
        }
    }
    found
}
