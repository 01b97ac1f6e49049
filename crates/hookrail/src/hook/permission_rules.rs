//! Permission rules as Claude Code writes them, as the condition `if` of a hook: `Bash(git push *)`, `Edit(src/**)`,
//! `WebFetch(domain:example.com)`, `mcp__server`.
//!
//! A condition decides only whether a hook is asked. Whatever is not certain therefore counts as true.

use std::path::Path;

use hookrail_matcher::{Language, MatchScope, Matcher, OnInvalid};

use super::shown_condition::CallPart;
use crate::dialect_id::DialectId;

/// The dialect whose names of tools the rules have.
pub(crate) const NAMES_OF: DialectId = DialectId::Claude;

/// The rules of a condition, of which one has to match.
#[derive(Clone, Debug)]
pub(crate) struct PermissionRules {
    /// The text, as it was written.
    text: String,
    rules: Vec<Rule>,
    /// What cannot be read of it.
    unreadable: Option<String>,
}

#[derive(Clone, Debug)]
struct Rule {
    tool: String,
    subject: RuleSubject,
    /// What the subject says, in one way to write it.
    part: CallPart,
}

#[derive(Clone, Debug)]
enum RuleSubject {
    /// Every call of the tool.
    Any,
    /// A command of the line, as a pattern.
    Command(Matcher),
    /// A path, as a pattern.
    Path(Matcher),
    /// A host.
    Domain(Matcher),
    /// Another argument.
    Text(Matcher),
}

/// A call, as the rules are compared with it, in the names of Claude Code.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuledCall {
    /// The names of the tool. A patch has those of the file tools that do the same, and a tool that is not known those of every
    /// tool that it may stand for.
    pub(crate) tools: Vec<String>,
    /// What the tool is called by others. Such a name means every call of it: its arguments are those of another form.
    pub(crate) elsewhere: Vec<String>,
    /// The commands of a shell line; none if they are not all known.
    pub(crate) commands: Option<Vec<String>>,
    /// What a file tool reads or writes, in every form in which a rule can name it.
    pub(crate) paths: Vec<String>,
    /// The host of a URL.
    pub(crate) host: Option<String>,
    /// Any other text among the arguments.
    pub(crate) texts: Vec<String>,
}

impl PartialEq for PermissionRules {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for PermissionRules {}

impl PermissionRules {
    /// Reads one or several rules, with commas, bars or blanks between them.
    pub(crate) fn read(text: &str) -> Self {
        let mut unreadable = None;
        let mut rules = Vec::new();
        match parts(text) {
            Some(parts) if !parts.is_empty() => {
                for part in parts {
                    match rule(part) {
                        Some(rule) => rules.push(rule),
                        None => unreadable = Some(part.to_owned()),
                    }
                }
            }
            _ => unreadable = Some(text.to_owned()),
        }
        Self { text: text.to_owned(), rules, unreadable }
    }

    /// What cannot be read of it. Such a condition always holds.
    pub(crate) fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// The text, as it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What each of the rules is about: the names of tools that it covers, and what must fit of a call.
    pub(crate) fn meant(&self) -> impl Iterator<Item = (Vec<&str>, CallPart)> {
        self.rules.iter().map(|rule| (rule.tools(), rule.part.clone()))
    }

    /// Whether a call matches one of the rules.
    pub(crate) fn hold(&self, call: &RuledCall) -> bool {
        self.unreadable.is_some() || self.rules.iter().any(|rule| rule.matches(call))
    }
}

impl Rule {
    fn tools(&self) -> Vec<&str> {
        std::iter::once(self.tool.as_str()).chain(family(&self.tool).iter().copied()).collect()
    }

    fn matches(&self, call: &RuledCall) -> bool {
        if !call.tools.iter().any(|tool| covers(&self.tool, tool)) {
            return call.elsewhere.contains(&self.tool);
        }
        match &self.subject {
            RuleSubject::Any => true,
            RuleSubject::Command(pattern) => match &call.commands {
                Some(commands) => commands.iter().any(|command| pattern.test(command).is_match()),
                None => true,
            },
            RuleSubject::Path(pattern) => {
                call.paths.is_empty() || call.paths.iter().any(|path| pattern.test(path).is_match())
            }
            RuleSubject::Domain(pattern) => call.host.as_ref().is_none_or(|host| pattern.test(host).is_match()),
            RuleSubject::Text(pattern) => call.texts.iter().any(|text| pattern.test(text).is_match()),
        }
    }
}

/// The tools that a rule of a name covers beside that tool.
const FAMILIES: [(&str, &[&str]); 4] = [
    ("Edit", &["Write", "MultiEdit", "NotebookEdit"]),
    ("Read", &["Grep", "Glob", "LS"]),
    ("Agent", &["Task"]),
    ("Task", &["Agent"]),
];

/// Tools whose argument is a path.
const FILE_TOOLS: [&str; 8] = ["Edit", "Write", "MultiEdit", "NotebookEdit", "Read", "Grep", "Glob", "LS"];

/// Tools whose argument is a command line.
const SHELL_TOOLS: [&str; 3] = ["Bash", "Monitor", "PowerShell"];

fn family(rule: &str) -> &'static [&'static str] {
    FAMILIES.iter().find(|(name, _)| *name == rule).map_or(&[], |(_, others)| others)
}

fn covers(rule: &str, tool: &str) -> bool {
    // A rule of a server covers its tools.
    let server = || rule.starts_with("mcp__") && tool.strip_prefix(rule).is_some_and(|rest| rest.starts_with("__"));
    let wild = || rule.strip_suffix('*').is_some_and(|prefix| tool.starts_with(prefix));
    rule == tool || family(rule).contains(&tool) || server() || wild()
}

/// The rules of a text: divided outside of brackets. Nothing if brackets do not fit.
fn parts(text: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            ',' | '|' | ' ' | '\t' | '\n' if depth == 0 => {
                parts.push(text.get(start..at)?);
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text.get(start..)?);
    (depth == 0).then(|| parts.into_iter().filter(|part| !part.is_empty()).collect())
}

fn rule(text: &str) -> Option<Rule> {
    let (tool, specifier) = match text.split_once('(') {
        Some((tool, rest)) => (tool, Some(rest.strip_suffix(')')?)),
        None => (text, None),
    };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '*' | '.');
    if tool.is_empty() || !tool.chars().all(is_name) {
        return None;
    }
    let part = match specifier.map(str::trim) {
        None | Some("" | "*") => CallPart::Any,
        // At the end there are two ways to write it.
        Some(pattern) if SHELL_TOOLS.contains(&tool) => CallPart::Command(match pattern.strip_suffix(":*") {
            Some(stem) => format!("{stem} *"),
            None => pattern.to_owned(),
        }),
        Some(pattern) if FILE_TOOLS.contains(&tool) => CallPart::Path(path_of_pattern(pattern)),
        Some(pattern) => match pattern.strip_prefix("domain:") {
            Some(host) => CallPart::Host(host.to_owned()),
            None => CallPart::Text(pattern.to_owned()),
        },
    };
    let subject = match &part {
        CallPart::Any => RuleSubject::Any,
        CallPart::Command(pattern) => RuleSubject::Command(command_pattern(pattern)?),
        CallPart::Path(pattern) => RuleSubject::Path(path_pattern(pattern)?),
        CallPart::Host(pattern) => RuleSubject::Domain(compiled(&wild(pattern))?),
        CallPart::Text(pattern) => RuleSubject::Text(compiled(&wild(pattern))?),
    };
    Some(Rule { tool: tool.to_owned(), subject, part })
}

/// A pattern of commands: `*` is any text, and at the end, behind a blank, also none.
fn command_pattern(pattern: &str) -> Option<Matcher> {
    match pattern.strip_suffix(" *") {
        Some(stem) => compiled(&format!("{}(\\s[\\s\\S]*)?", wild(stem))),
        None => compiled(&wild(pattern)),
    }
}

/// A path as it is compared: `//` begins an absolute one, and `/` or `./` one relative to the project.
fn path_of_pattern(pattern: &str) -> String {
    match pattern.strip_prefix("//") {
        Some(rest) => format!("/{rest}"),
        None => pattern.strip_prefix("./").or_else(|| pattern.strip_prefix('/')).unwrap_or(pattern).to_owned(),
    }
}

/// A pattern of paths: `**` is any text, `*` any text without a slash, `?` one character. What names a folder covers all that is in it.
fn path_pattern(pattern: &str) -> Option<Matcher> {
    let mut expression = String::new();
    let mut rest = pattern.trim_end_matches('/');
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("**/") {
            expression.push_str("([\\s\\S]*/)?");
            rest = after;
        } else if let Some(after) = rest.strip_prefix("**") {
            expression.push_str("[\\s\\S]*");
            rest = after;
        } else {
            match letter {
                '*' => expression.push_str("[^/]*"),
                '?' => expression.push_str("[^/]"),
                other => push_literal(&mut expression, other),
            }
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        }
    }
    compiled(&format!("{expression}(/[\\s\\S]*)?"))
}

/// A pattern in which `*` is any text.
fn wild(pattern: &str) -> String {
    let mut expression = String::new();
    for letter in pattern.chars() {
        match letter {
            '*' => expression.push_str("[\\s\\S]*"),
            other => push_literal(&mut expression, other),
        }
    }
    expression
}

fn push_literal(expression: &mut String, letter: char) {
    if r"\^$.|?*+()[]{}/".contains(letter) {
        expression.push('\\');
    }
    expression.push(letter);
}

fn compiled(expression: &str) -> Option<Matcher> {
    let compiled = Matcher::compile(expression, Language::Regex, MatchScope::Whole, OnInvalid::MatchAll);
    compiled.problem.is_none().then_some(compiled.matcher)
}

/// Where rules name paths from.
pub(crate) struct RuleFolders<'f> {
    pub(crate) project: &'f Path,
    pub(crate) cwd: &'f Path,
    pub(crate) home: Option<&'f Path>,
}

/// The forms in which a path is compared with a rule: absolute, relative to a folder, below the home as `~/…`, the last part.
pub(crate) fn forms_of_path(path: &Path, folders: &RuleFolders<'_>) -> Vec<String> {
    let mut forms = vec![path.to_string_lossy().into_owned()];
    let below = |folder: &Path| path.strip_prefix(folder).ok().map(|inside| inside.to_string_lossy().into_owned());
    forms.extend(below(folders.project));
    forms.extend(below(folders.cwd));
    forms.extend(folders.home.and_then(below).map(|inside| format!("~/{inside}")));
    forms.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(commands: &[&str]) -> RuledCall {
        let commands = commands.iter().map(|command| (*command).to_owned()).collect();
        RuledCall { commands: Some(commands), ..of_tool("Bash") }
    }

    fn of_tool(name: &str) -> RuledCall {
        RuledCall { tools: vec![name.to_owned()], ..RuledCall::default() }
    }

    fn file(tool: &str, path: &str) -> RuledCall {
        let folders =
            RuleFolders { project: Path::new("/p"), cwd: Path::new("/p/deep"), home: Some(Path::new("/home/u")) };
        RuledCall { paths: forms_of_path(Path::new(path), &folders), ..of_tool(tool) }
    }

    #[test]
    fn a_rule_is_compared_with_every_command_of_a_line() {
        for (rules, holds, fails) in [
            ("Bash(git push *)", &["git push origin", "git push"][..], &["git pushx", "git pull", "git"][..]),
            ("Bash(git push:*)", &["git push origin", "git push"], &["git pull"]),
            ("Bash(git * main)", &["git push main", "git -C x merge main"], &["git push maine"]),
            ("Bash(npm run test)", &["npm run test"], &["npm run test:unit"]),
            ("Bash", &["anything"], &[]),
            ("Bash(*)", &["anything"], &[]),
            ("Bash(git commit *), Bash(git push *)", &["git commit -m x", "git push"], &["git add ."]),
            ("Bash(git commit *)|Bash(git push *)", &["git commit -m x", "git push"], &["git add ."]),
            ("Write", &[], &["ls"]),
        ] {
            let read = PermissionRules::read(rules);
            assert_eq!(read.unreadable(), None, "{rules}");
            for command in holds {
                assert!(read.hold(&shell(&["cd /tmp", command])), "{rules}: {command}");
            }
            for command in fails {
                assert!(!read.hold(&shell(&[command])), "{rules}: {command}");
            }
        }
        assert!(PermissionRules::read("Bash(git push *)").hold(&of_tool("Bash")), "what is not known may match");
    }

    #[test]
    fn a_path_is_compared_whole_relative_and_by_its_last_part() {
        for (rules, holds, fails) in [
            ("Edit(src/**)", &["/p/src/a.rs", "/p/src/b/c.rs"][..], &["/p/tests/a.rs", "/q/src/a.rs"][..]),
            ("Edit(*.ts)", &["/p/a.ts", "/p/deep/b.ts"], &["/p/a.tsx"]),
            ("Edit(**/*.ts)", &["/p/a.ts", "/p/deep/b.ts"], &["/p/a.js"]),
            ("Edit(//etc/**)", &["/etc/passwd"], &["/p/etc/passwd"]),
            ("Edit(/src/*)", &["/p/src/a", "/p/src/b/c"], &["/p/other/src/a", "/p/src"]),
            ("Edit(.env)", &["/p/.env", "/p/sub/.env"], &["/p/.env.local"]),
            ("Edit(secrets)", &["/p/secrets/a/b"], &["/p/secrets.txt", "/p/my/secrets-of/a"]),
            ("Edit(secrets/)", &["/p/secrets/a"], &["/p/secret/a"]),
            ("Edit(~/.ssh/**)", &["/home/u/.ssh/id"], &["/p/.ssh/id", "/home/v/.ssh/id"]),
            ("Edit(notes/*.md)", &["/p/notes/a.md", "/p/deep/notes/a.md"], &["/p/other/notes/a.md"]),
        ] {
            let read = PermissionRules::read(rules);
            for path in holds {
                assert!(read.hold(&file("Write", path)), "{rules}: {path}");
            }
            for path in fails {
                assert!(!read.hold(&file("Write", path)), "{rules}: {path}");
            }
        }
        assert!(
            !PermissionRules::read("Write(src/**)").hold(&file("Edit", "/p/src/a.rs")),
            "only `Edit` covers others"
        );
    }

    #[test]
    fn other_tools_have_hosts_servers_and_texts() {
        let tool = of_tool;
        let fetch = RuledCall { host: Some("api.example.com".to_owned()), ..tool("WebFetch") };
        assert!(PermissionRules::read("WebFetch(domain:*.example.com)").hold(&fetch));
        assert!(!PermissionRules::read("WebFetch(domain:example.com)").hold(&fetch));
        assert!(PermissionRules::read("mcp__git").hold(&tool("mcp__git__push")));
        assert!(PermissionRules::read("mcp__git__*").hold(&tool("mcp__git__push")));
        assert!(!PermissionRules::read("mcp__git").hold(&tool("mcp__github__push")));
        let agent = RuledCall { texts: vec!["Explore".to_owned()], ..tool("Task") };
        assert!(PermissionRules::read("Agent(Explore)").hold(&agent));
        assert!(!PermissionRules::read("Agent(Plan)").hold(&agent));
    }

    #[test]
    fn what_cannot_be_read_holds() {
        for text in ["Bash(git push", "Bash(git))", "", "  ", "no rule!"] {
            let read = PermissionRules::read(text);
            assert!(read.unreadable().is_some() && read.hold(&shell(&["ls"])), "{text}");
        }
    }
}
