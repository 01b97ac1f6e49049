//! What a tool call would do: the accesses of file tools, patches, fetch tools and shell lines.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::LazyLock;

use hookrail_shell::{Accesses, Fact, FactKind, FactSet, FaultKind, NetworkHost, PathUse, Span, Unknown, Why};

use super::line::accesses_of_line;
use super::scene::{Links, RuleScene};
use crate::config::without_dots;
use crate::event::Event;
use crate::json::{Json, JsonKind, JsonObject};
use crate::tools::{CallTargets, GivenCommand, SoughtTargets, ToolAccess, ToolMeaning, ToolTable, Tools};

/// The names under which a shell tool is told its working directory.
const DIRECTORIES: [&str; 6] = ["workdir", "cwd", "directory", "dir_path", "working_directory", "workingDirectory"];

/// The facts of an event, which are worked out when a rule first asks.
pub(crate) struct CallFacts<'e> {
    pub(crate) event: &'e Event,
    pub(crate) tools: &'e Tools,
    pub(crate) scene: &'e RuleScene,
    pub(crate) meaning: ToolMeaning,
    /// The tool, as the event names it.
    pub(crate) tool_name: Option<String>,
    /// The members of its input. An input that is no object has none.
    members: Option<JsonObject>,
    parts: OnceCell<Vec<FactPart>>,
    kinds: OnceCell<FactSet>,
    content: OnceCell<String>,
    other_names: OnceCell<Vec<&'static str>>,
}

/// The accesses of a tool or of a line.
pub(crate) struct FactPart {
    /// The shell line, or what the tool was given.
    pub(crate) text: String,
    /// The tool, if no line says what happens.
    pub(crate) tool: Option<String>,
    pub(crate) accesses: Accesses,
}

/// The table for hosts that chose none.
static DEFAULT_TABLE: LazyLock<ToolTable> = LazyLock::new(ToolTable::default);

impl<'e> CallFacts<'e> {
    pub(crate) fn new(event: &'e Event, tools: &'e Tools, scene: &'e RuleScene) -> Self {
        // A name that is no text is no name, and the input still says what the call does.
        let tool_name = event.field("tool_name").map(|name| name.as_str().unwrap_or_default());
        let members = event.field("tool_input").map(|input| input.as_object().unwrap_or_default());
        let meaning = match (&tool_name, tools.table()) {
            (None, _) => ToolMeaning::AsGiven,
            (Some(name), Some(_)) => tools.meaning_among(name, members.as_ref()),
            (Some(name), None) => DEFAULT_TABLE.meaning_among(name, members.as_ref()),
        };
        let (parts, kinds, content, other_names) = (OnceCell::new(), OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { event, tools, scene, meaning, tool_name, members, parts, kinds, content, other_names }
    }

    /// Every name that the tool has somewhere, if it is one of the table.
    pub(crate) fn other_names(&self) -> &[&'static str] {
        self.other_names.get_or_init(|| match self.meaning {
            ToolMeaning::Known(tool) => self.table().names_of_tool(tool),
            ToolMeaning::AsGiven | ToolMeaning::Unknown(_) | ToolMeaning::Ambiguous(_) => Vec::new(),
        })
    }

    pub(crate) fn table(&self) -> &'e ToolTable {
        self.tools.table().unwrap_or(&DEFAULT_TABLE)
    }

    pub(crate) fn parts(&self) -> &[FactPart] {
        self.parts.get_or_init(|| self.find_parts())
    }

    /// The kinds of which there is a fact, or may be one that is not known.
    pub(crate) fn kinds(&self) -> FactSet {
        *self.kinds.get_or_init(|| {
            self.parts().iter().map(|part| kinds_of(&part.accesses)).fold(FactSet::default(), FactSet::union)
        })
    }

    /// Whether every fact is known.
    pub(crate) fn is_all_known(&self) -> bool {
        self.parts().iter().all(|part| part.accesses.unknown.is_empty())
    }

    fn find_parts(&self) -> Vec<FactPart> {
        let mut parts = Vec::new();
        if self.event.field("tool_input").is_none() {
            return parts;
        }
        // The calls that a call carries are events of their own.
        if matches!(self.meaning, ToolMeaning::Known(tool) if tool.access == ToolAccess::Calls) {
            return parts;
        }
        let targets = self.tools.targets(self.event, self.meaning, SoughtTargets::All);
        let mut tool = self.tool_part(&targets);
        for command in targets.commands {
            let line = match command {
                GivenCommand::Line(line) => line,
                GivenCommand::Words(words) => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
            };
            let accesses = accesses_of_line(&line, &self.directory(), self.scene);
            parts.push(FactPart { text: line, tool: None, accesses });
        }
        if let Some(tool) = tool.take() {
            parts.push(tool);
        }
        parts
    }

    /// The directory in which a shell tool runs its line.
    fn directory(&self) -> String {
        let named = || {
            let input = self.members.as_ref()?;
            DIRECTORIES.iter().find_map(|name| input.get(name)?.as_str()).filter(|named| !named.is_empty())
        };
        let cwd = match named() {
            Some(named) => self.event.cwd().join(named),
            None => self.event.cwd().to_owned(),
        };
        self.resolved(&cwd).unwrap_or_else(|| self.scene.project.clone())
    }

    /// A path without dots and, where links are followed, without links.
    fn resolved(&self, path: &Path) -> Option<String> {
        let lexical = without_dots(path);
        let real = match self.scene.links {
            Links::Followed => real(&lexical),
            Links::Ignored => None,
        };
        real.or_else(|| lexical.to_str().map(str::to_owned))
    }

    fn tool_part(&self, targets: &CallTargets) -> Option<FactPart> {
        let name = self.tool_name.clone()?;
        let members = self.members.as_ref()?;
        let mut accesses = Accesses::default();
        let mut paths: Vec<(ToolAccess, String)> = Vec::new();
        let meaning = match self.meaning {
            // What the host declared may be a tool of the table too.
            ToolMeaning::AsGiven => self.table().meaning_among(&name, Some(members)),
            meaning => meaning,
        };
        match self.table().accesses_among(&name, meaning, members, self.event.cwd()) {
            Ok(found) => {
                for access in found {
                    match access.access {
                        ToolAccess::Read | ToolAccess::Write => paths.push((access.access, access.object)),
                        ToolAccess::Fetch => accesses.network.push(fact(host_of(&access.object))),
                        ToolAccess::Run | ToolAccess::Patch | ToolAccess::Calls | ToolAccess::Other => {}
                    }
                }
            }
            Err(_) => {
                // A patch that cannot be read here may be read by the agent.
                let faults = [Why::Fault(FaultKind::Syntax), Why::FormNotKnown];
                let facts = FactSet::of(&[FactKind::Reads, FactKind::Writes, FactKind::Deletes]);
                accesses.unknown.extend(faults.map(|why| Unknown { why, facts, span: Span::new(0, 0) }));
            }
        }
        // As they are given: a tool may know `~` and `@`. Most others are there already, as absolute paths.
        let reads = targets.reads.iter().map(|path| (ToolAccess::Read, path));
        let given = reads.chain(targets.writes.iter().map(|path| (ToolAccess::Write, path)));
        let is_new = |&(access, path): &(ToolAccess, &String)| {
            let absolute = without_dots(&self.event.cwd().join(path));
            path.starts_with(['~', '@'])
                || !paths.iter().any(|(same, known)| *same == access && absolute.as_os_str() == known.as_str())
        };
        let further: Vec<(ToolAccess, String)> =
            given.filter(is_new).map(|(access, path)| (access, path.clone())).collect();
        paths.extend(further);
        let deleted = self.deleted_by_patch();
        let mut text = String::new();
        for (access, path) in paths {
            for used in self.uses(&path) {
                let list = match access {
                    ToolAccess::Read => &mut accesses.reads,
                    // What is neither read nor deleted counts as written.
                    ToolAccess::Write
                    | ToolAccess::Run
                    | ToolAccess::Fetch
                    | ToolAccess::Patch
                    | ToolAccess::Calls
                    | ToolAccess::Other => match deleted.contains(&used.path) {
                        true => &mut accesses.deletes,
                        false => &mut accesses.writes,
                    },
                };
                if !list.iter().any(|known| known.what == used) {
                    list.push(Fact { what: used, span: Span::new(0, path.len()), command: None });
                }
            }
            text = path;
        }
        let is_empty = accesses == Accesses::default();
        (!is_empty).then_some(FactPart { text, tool: Some(name), accesses })
    }

    /// The paths that a path of a tool may mean: as it is written, and where it leads.
    fn uses(&self, path: &str) -> Vec<PathUse> {
        let path = path.strip_prefix('@').unwrap_or(path);
        let path = match (path.strip_prefix("~/"), &self.scene.home) {
            (Some(rest), Some(home)) => format!("{home}/{rest}"),
            _ => path.to_owned(),
        };
        let lexical = without_dots(&self.event.cwd().join(path));
        let mut found: Vec<String> = lexical.to_str().map(str::to_owned).into_iter().collect();
        if self.scene.links == Links::Followed {
            found.extend(real(&lexical).filter(|real| !found.contains(real)));
            // Where the project is reached through a link, its path as it is written is no path outside of it.
            if let [written, real] = found.as_slice()
                && super::path_pattern::below(real, &self.scene.project).is_some()
                && super::path_pattern::below(written, &self.scene.project).is_none()
            {
                found.remove(0);
            }
        }
        let used = |path| PathUse { path, is_partly_unknown: false, covers_hidden: true };
        found.into_iter().map(used).collect()
    }

    /// The files that a patch deletes.
    fn deleted_by_patch(&self) -> Vec<String> {
        if !matches!(self.meaning, ToolMeaning::Known(tool) if tool.access == ToolAccess::Patch) {
            return Vec::new();
        }
        let mut deleted = Vec::new();
        for text in self.texts() {
            let lines = text.lines().filter_map(|line| line.trim().strip_prefix("*** Delete File:"));
            deleted.extend(lines.flat_map(|path| self.uses(path.trim())).map(|used| used.path));
        }
        deleted
    }

    /// Every text of the tool's input.
    fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        if let Some(input) = self.event.field("tool_input") {
            collect_texts(input, &mut texts);
        }
        texts
    }

    /// The text that would be written or sent.
    pub(crate) fn content(&self) -> &str {
        self.content.get_or_init(|| {
            let mut content = Vec::new();
            for part in self.parts() {
                let accesses = &part.accesses;
                if part.tool.is_none() {
                    let acts = |index: usize| {
                        let is_of = |command: Option<usize>| command == Some(index);
                        accesses.writes.iter().any(|fact| is_of(fact.command))
                            || accesses.network.iter().any(|fact| is_of(fact.command))
                    };
                    for (_, command) in accesses.commands.iter().enumerate().filter(|(index, _)| acts(*index)) {
                        content.extend(command.args.iter().cloned());
                        content.extend(command.fed.clone());
                    }
                    if !accesses.writes.is_empty() || !accesses.network.is_empty() {
                        content.push(part.text.clone());
                    }
                } else if !accesses.writes.is_empty() || !accesses.network.is_empty() {
                    content.extend(self.new_texts());
                }
            }
            content.join("\n")
        })
    }

    /// The texts of a tool that are new: without those that it looks for.
    fn new_texts(&self) -> Vec<String> {
        let is_new = |name: &str| !name.to_ascii_lowercase().starts_with("old");
        let mut texts = Vec::new();
        let members = self.members.iter().flat_map(JsonObject::iter);
        for (_, value) in members.filter(|(name, _)| is_new(name)) {
            collect_texts(value, &mut texts);
        }
        if !matches!(self.meaning, ToolMeaning::Known(tool) if tool.access == ToolAccess::Patch) {
            return texts;
        }
        let added =
            |text: &String| text.lines().filter_map(|line| line.strip_prefix('+')).collect::<Vec<_>>().join("\n");
        texts.iter().map(added).collect()
    }
}

fn kinds_of(accesses: &Accesses) -> FactSet {
    let Accesses { commands, reads, writes, deletes, executes, network, git, flow, env_dump, unknown } = accesses;
    let given = [
        (!commands.is_empty() || !flow.is_empty(), FactKind::Commands),
        (!reads.is_empty() || env_dump.is_some(), FactKind::Reads),
        (!writes.is_empty(), FactKind::Writes),
        (!deletes.is_empty(), FactKind::Deletes),
        (!executes.is_empty(), FactKind::Executes),
        (!network.is_empty(), FactKind::Network),
        (!git.is_empty(), FactKind::Git),
    ];
    let known = given.iter().filter(|(is_given, _)| *is_given).map(|(_, kind)| FactSet::of(&[*kind]));
    known.chain(unknown.iter().map(|unknown| unknown.facts)).fold(FactSet::default(), FactSet::union)
}

fn collect_texts(value: &Json, texts: &mut Vec<String>) {
    match value.kind() {
        JsonKind::String => texts.extend(value.as_str()),
        JsonKind::Array => {
            value.as_array().unwrap_or_default().iter().for_each(|value| collect_texts(value, texts));
        }
        JsonKind::Object => {
            value.as_object().unwrap_or_default().iter().for_each(|(_, value)| collect_texts(value, texts));
        }
        JsonKind::Null | JsonKind::Boolean | JsonKind::Number => {}
    }
}

fn fact<T>(what: T) -> Fact<T> {
    Fact { what, span: Span::new(0, 0), command: None }
}

/// Where a path leads, if that is another one.
fn real(path: &Path) -> Option<String> {
    if hookrail_spawn::has_no_links(path) {
        return None;
    }
    crate::config::real_path(path).to_str().map(str::to_owned)
}

/// The host of a URL.
fn host_of(url: &str) -> NetworkHost {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    if host.is_empty() { NetworkHost::Unknown } else { NetworkHost::Name(host.to_ascii_lowercase()) }
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
