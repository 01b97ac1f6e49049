//! What a tool call reads, writes and runs, as far as its arguments say.

use serde_json::value::RawValue;

use super::assembled::{ToolMeaning, ToolTable, VAGUE, dialect_column};
use super::names::ToolNames;
use super::table::{COMMAND, NeutralTool, PATCH, PATH, ToolAccess};
use crate::json::{Json, ObjectMembers};

/// What a tool call reads, writes and runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallTargets {
    /// The paths that it reads, as they are given; none where only changes are looked for.
    pub(crate) reads: Vec<String>,
    /// The paths that it writes or deletes, as they are given.
    pub(crate) writes: Vec<String>,
    /// The commands that it runs.
    pub(crate) commands: Vec<GivenCommand>,
}

/// What is looked for in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SoughtTargets {
    /// What it reads, too.
    All,
    /// What it writes and runs: most calls do neither, and their arguments are not looked at.
    Changes,
}

/// A command as it is given to a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GivenCommand {
    Line(String),
    Words(Vec<String>),
}

/// The names under which arguments may be given. A value counts under each of them, because another column may be the one
/// that the tool reads.
#[derive(Clone, Debug, Default)]
pub(super) struct TargetNames {
    paths: Vec<&'static str>,
    commands: Vec<&'static str>,
    patches: Vec<&'static str>,
}

impl TargetNames {
    pub(super) fn of(table: &ToolTable) -> Self {
        let names = |argument| {
            let mut names: Vec<&'static str> = table.names_anywhere(argument).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        Self { paths: names(PATH), commands: names(COMMAND), patches: names(PATCH) }
    }

    /// What a call of a tool with this meaning does.
    pub(super) fn targets(&self, tool: ToolMeaning, input: &Json, sought: SoughtTargets) -> CallTargets {
        match tool {
            ToolMeaning::AsGiven => CallTargets::default(),
            // What is typed into a shell that runs is a command line too.
            ToolMeaning::Known(tool) if tool.access == ToolAccess::Run => {
                self.of_access(tool.access, &VAGUE, input, sought)
            }
            ToolMeaning::Known(tool) => self.of_access(tool.access, &[], input, sought),
            // What it may do counts.
            ToolMeaning::Unknown(carried) | ToolMeaning::Ambiguous(carried) => {
                let mut targets = CallTargets::default();
                let accesses = [ToolAccess::Read, ToolAccess::Write, ToolAccess::Run];
                for access in accesses.into_iter().filter(|access| carried.covers(*access)) {
                    let CallTargets { reads, writes, commands } = self.of_access(access, &[], input, sought);
                    targets.reads.extend(reads);
                    targets.writes.extend(writes);
                    targets.commands.extend(commands);
                }
                targets
            }
        }
    }

    /// What a call of a tool does that the host declared by its name in a dialect.
    pub(super) fn declared_targets(&self, tool: &ToolNames, input: &Json, sought: SoughtTargets) -> CallTargets {
        let known = tool.dialects.iter().find_map(|names| {
            let entry = dialect_column(names.dialect)?.called(&names.name)?;
            let main = NeutralTool::find(entry.tool)?;
            let theirs = entry.names_of(main.main_argument()?);
            let hosts = names.arguments.iter().filter(|(_, dialects)| theirs.contains(&dialects.as_str()));
            Some((main.access, hosts.map(|(host, _)| host.as_str()).collect::<Vec<_>>()))
        });
        known.map_or_else(CallTargets::default, |(access, names)| self.of_access(access, &names, input, sought))
    }

    fn of_access(&self, access: ToolAccess, further: &[&str], input: &Json, sought: SoughtTargets) -> CallTargets {
        let names = match (access, sought) {
            (ToolAccess::Write, _) | (ToolAccess::Read, SoughtTargets::All) => &self.paths,
            (ToolAccess::Run, _) => &self.commands,
            (ToolAccess::Patch, _) => &self.patches,
            (ToolAccess::Read, SoughtTargets::Changes)
            | (ToolAccess::Fetch | ToolAccess::Calls | ToolAccess::Other, _) => return CallTargets::default(),
        };
        // Borrowed, because the input may hold the whole text of a file. A key that comes twice gives both values.
        let members = serde_json::from_str::<ObjectMembers<&RawValue>>(input.text()).map(|members| members.0);
        let mut targets = CallTargets::default();
        for (name, value) in members.unwrap_or_default() {
            if names.contains(&name.as_str()) || further.contains(&name.as_str()) {
                targets.add(access, value.get());
            } else if access == ToolAccess::Patch && self.paths.contains(&name.as_str()) {
                // A text that is no patch is a change of the file that is named beside it.
                targets.add(ToolAccess::Write, value.get());
            }
        }
        targets
    }
}

impl CallTargets {
    fn add(&mut self, access: ToolAccess, value: &str) {
        let text = || serde_json::from_str::<String>(value).ok();
        let words = || serde_json::from_str::<Vec<String>>(value).ok();
        match access {
            ToolAccess::Read => self.reads.extend(text()),
            ToolAccess::Write => self.writes.extend(text()),
            ToolAccess::Run => {
                self.commands.extend(text().map(GivenCommand::Line).or_else(|| words().map(GivenCommand::Words)));
            }
            ToolAccess::Patch => {
                let patch = text().or_else(|| words().map(|words| words.join("\n"))).unwrap_or_default();
                self.writes.extend(patched_files(&patch));
            }
            ToolAccess::Fetch | ToolAccess::Calls | ToolAccess::Other => {}
        }
    }
}

/// The files that a patch names. Lines of a file's text begin with a mark, so no text can pose as one of these.
fn patched_files(patch: &str) -> Vec<String> {
    const HEADS: [&str; 4] = ["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];
    let mut files = Vec::new();
    for line in patch.lines().map(str::trim_start) {
        let named = HEADS.iter().find_map(|head| line.strip_prefix(head));
        files.extend(named.map(|path| path.trim().to_owned()));
    }
    files
}
