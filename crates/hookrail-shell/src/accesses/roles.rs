//! What an operand or the value of an option does, by its role.

use super::evaluate::{Evaluator, Input};
use super::hosts::{host_of, remote_host};
use super::options::Arg;
use super::record::{Reach, Use};
use super::secrets::is_secret;
use crate::facts::{Executed, FactSet, FlowKind, Why};
use crate::resolve::{ANY, HOLE, Value, World, base_name};
use crate::syntax::Span;
use crate::tables::{Operands, Role, Row};

/// A command of the tables that is being followed.
pub(super) struct Running<'r> {
    pub(super) name: &'r str,
    pub(super) row: &'r Row,
    pub(super) span: Span,
    pub(super) is_recursive: bool,
    pub(super) is_tracked: bool,
    /// Patterns for the names of the files that are read below a folder; any, if there are none.
    pub(super) narrowed: Vec<Value>,
    pub(super) sources: Vec<Arg>,
    pub(super) into: Option<Arg>,
    /// The language of code on standard input.
    pub(super) input_code: Option<&'r str>,
    /// What operands are if the code stands in an option.
    pub(super) files: Option<&'r Operands>,
}

impl<'r> Running<'r> {
    pub(super) fn of(name: &'r str, row: &'r Row, span: Span) -> Self {
        Self {
            name,
            row,
            span,
            is_recursive: false,
            is_tracked: false,
            narrowed: Vec::new(),
            sources: Vec::new(),
            into: None,
            input_code: None,
            files: None,
        }
    }
}

impl Evaluator<'_> {
    pub(super) fn operand(&mut self, role: &Role, arg: &Arg, running: &mut Running<'_>, world: &World, input: &Input) {
        if arg.value.is_pipe() {
            if *role == Role::ShellScript {
                self.piped_script(arg);
            }
            return;
        }
        let below = match (running.is_recursive, running.is_tracked) {
            (false, _) => Reach::Itself,
            (true, false) => Reach::Below,
            (true, true) => Reach::TrackedBelow,
        };
        match role {
            Role::Nothing => {}
            Role::Read if arg.text() == "-" => {}
            Role::Read if below == Reach::Below && !running.narrowed.is_empty() => {
                if !self.affords(running.narrowed.len().saturating_mul(16)) {
                    return;
                }
                for pattern in &running.narrowed {
                    self.read_narrowed(arg, pattern, world);
                }
                running.sources.push(arg.clone());
            }
            Role::Read => {
                self.use_value_with(Use::Read, below, &arg.value, arg.span, world);
                running.sources.push(arg.clone());
            }
            Role::ReadBelow => {
                let reach = if running.is_tracked { Reach::TrackedBelow } else { Reach::Below };
                self.use_value_with(Use::Read, reach, &arg.value, arg.span, world);
            }
            Role::Write if arg.text() == "-" => {}
            Role::Write => {
                let reach = if running.row.changes { below } else { Reach::Itself };
                self.use_value_with(Use::Write, reach, &arg.value, arg.span, world);
            }
            Role::WriteBelow => self.use_value_with(Use::Write, Reach::Below, &arg.value, arg.span, world),
            Role::Change => {
                self.use_value(Use::Read, &arg.value, arg.span, world);
                self.use_value(Use::Write, &arg.value, arg.span, world);
            }
            Role::Wipe => {
                self.use_value(Use::Write, &arg.value, arg.span, world);
                self.use_value(Use::Delete, &arg.value, arg.span, world);
            }
            Role::Delete => {
                self.use_value(Use::Delete, &arg.value, arg.span, world);
                running.sources.push(arg.clone());
            }
            Role::Beside | Role::Replace => {
                self.use_value_with(Use::Read, below, &arg.value, arg.span, world);
                if *role == Role::Replace {
                    self.use_value(Use::Delete, &arg.value, arg.span, world);
                }
                match below {
                    Reach::Itself => self.use_value(Use::Write, &made_beside(&arg.value), arg.span, world),
                    Reach::Below | Reach::TrackedBelow => {
                        self.use_value_with(Use::Write, below, &arg.value, arg.span, world);
                    }
                }
            }
            Role::Destination => self.destination(arg, false, running, world),
            Role::Into => running.into = Some(arg.clone()),
            Role::Url => self.url(arg, world),
            Role::RequestItem => match arg.text().split_once('@') {
                Some((name, path)) if !name.contains('/') && !path.is_empty() => {
                    let value = Value { text: path.to_owned(), hole: arg.value.hole };
                    self.use_value(Use::Read, &value, arg.span, world);
                }
                _ if arg.text().contains(['.', ':', HOLE]) => self.url(arg, world),
                _ => {}
            },
            Role::Host => self.host(host_of(arg.text()), arg),
            Role::CopySource | Role::CopyTarget => self.copy_place(role, arg, running, world),
            Role::ShellScript if arg.text() == "-" => {}
            Role::ShellScript if arg.text().contains("://") && !arg.text().starts_with("file:") => {
                self.host(host_of(arg.text()), arg);
                self.executes(Executed::Input, arg.span);
                self.flow(FlowKind::NetToExec, arg.span);
                self.unknown(Why::DownloadedCode, FactSet::EFFECTS, arg.span);
            }
            Role::ShellScript => {
                self.use_value(Use::Read, &arg.value, arg.span, world);
                self.run_script(&arg.value, arg.span, world);
            }
            Role::Code(language) => {
                self.executes(Executed::Inline(language.clone()), arg.span);
                if arg.value.hole.is_some_and(|hole| hole.net) {
                    self.flow(FlowKind::NetToExec, arg.span);
                }
                self.unknown(Why::InlineCode, FactSet::EFFECTS, arg.span);
            }
            Role::Filter if prints_variables(arg.text()) => self.facts.env_dump = Some(arg.span),
            Role::Filter => {}
            Role::Sql => self.sql(&arg.value, arg.span, running.name, world),
            Role::Transfer => self.transfer(&arg.value, arg.span, running.name, world),
            Role::EditorCommand => self.editor_command(&arg.value, arg.span, running.name, world),
            Role::Setting => {
                let (name, value) = arg.text().split_once(['=', ' ']).unwrap_or((arg.text(), ""));
                let is_command =
                    ["proxycommand", "localcommand", "knownhostscommand"].contains(&name.to_lowercase().as_str());
                if is_command && value != "none" {
                    let code = Value { text: value.to_owned(), hole: arg.value.hole };
                    self.code(&code, arg.span, running.name, vec![world.child()], input);
                }
            }
            Role::Module => {}
            Role::Shell => {
                // A shell whose input is a connection runs what the other end sends.
                if matches!(running.name, "nc" | "ncat" | "netcat") {
                    self.flow(FlowKind::NetToExec, arg.span);
                }
                self.code(&arg.value, arg.span, running.name, vec![world.child()], input);
            }
            Role::Task(kind) => self.task(kind, arg.text(), arg.span),
            Role::Folder
            | Role::ShellWords
            | Role::RemoteWords
            | Role::Command
            | Role::SomeCommand
            | Role::RemoteCommand => {}
        }
    }

    /// Reads the files below a folder whose names fit a pattern. The operand can be a file itself.
    fn read_narrowed(&mut self, arg: &Arg, pattern: &Value, world: &World) {
        let text = format!("{}/{ANY}{ANY}/{}", arg.text().trim_end_matches('/'), pattern.text);
        self.use_value(Use::Read, &Value { text, hole: arg.value.hole }, arg.span, world);
        if is_secret(&self.place_of(&arg.value, world).path) {
            self.use_value(Use::Read, &arg.value, arg.span, world);
        }
    }

    pub(super) fn destination(&mut self, arg: &Arg, is_folder: bool, running: &Running<'_>, world: &World) {
        let text = arg.text();
        let is_folder = is_folder || running.sources.len() > 1 || text.ends_with('/') || matches!(text, "." | "..");
        let has_pattern = running.sources.iter().any(|source| crate::resolve::is_pattern(source.text()));
        if !is_folder && !has_pattern || running.sources.is_empty() {
            self.use_value(Use::Write, &arg.value, arg.span, world);
            return;
        }
        for source in &running.sources {
            let name = base_name(source.text());
            let name = if name == "." || name == ".." || name.contains(HOLE) { "" } else { name };
            let text = format!("{}/{name}", text.trim_end_matches('/'));
            let value = Value { text, hole: arg.value.hole };
            self.use_value(Use::Write, &value, arg.span, world);
        }
    }

    /// A URL, or what is meant as one.
    pub(crate) fn url(&mut self, arg: &Arg, world: &World) {
        let text = arg.text();
        if let Some(path) = text.strip_prefix("file://") {
            let value = Value { text: path.to_owned(), hole: arg.value.hole };
            self.use_value(Use::Read, &value, arg.span, world);
            return;
        }
        self.host(host_of(text), arg);
    }

    fn copy_place(&mut self, role: &Role, arg: &Arg, running: &mut Running<'_>, world: &World) {
        if let Some(host) = remote_host(arg.text()) {
            self.host(host, arg);
            running.sources.push(arg.clone());
            return;
        }
        if *role == Role::CopySource {
            let reach = if running.is_recursive { Reach::Below } else { Reach::Itself };
            self.use_value_with(Use::Read, reach, &arg.value, arg.span, world);
            running.sources.push(arg.clone());
        } else {
            self.use_value(Use::Write, &arg.value, arg.span, world);
        }
    }
}

/// Whether a filter of jq gives all variables, and not one of them.
fn prints_variables(filter: &str) -> bool {
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '$' | '"');
    ["$ENV", "env"].iter().any(|name| {
        filter.match_indices(name).any(|(at, _)| {
            let (before, behind) =
                (filter.get(..at).unwrap_or_default(), filter.get(at + name.len()..).unwrap_or_default());
            !before.ends_with(is_name) && !behind.starts_with(is_name) && !behind.trim_start().starts_with(':')
        })
    })
}

/// The file that is made of another one: its name goes on, or is without its ending.
fn made_beside(value: &Value) -> Value {
    const ENDINGS: [&str; 10] = [".gz", ".bz2", ".xz", ".zst", ".lz4", ".br", ".Z", ".lzma", ".gpg", ".age"];
    let known = ENDINGS.iter().find_map(|ending| value.text.strip_suffix(ending)).unwrap_or(&value.text);
    Value { text: format!("{known}{ANY}"), hole: value.hole }
}
