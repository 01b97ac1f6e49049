//! Code that a program of the tables carries: the command of a wrapper, code in an option, and what standard input has.

use super::evaluate::{After, Evaluator, Input, Output};
use super::options::Arg;
use super::roles::Running;
use crate::facts::{Accesses, Executed, FactSet, FlowKind, Why};
use crate::resolve::{HOLE, Value, World, base_name};
use crate::syntax::Span;
use crate::tables::{Role, Row};

impl Evaluator<'_> {
    pub(super) fn rest(
        &mut self,
        role: &Role,
        rest: &[Arg],
        running: &Running<'_>,
        world: &World,
        input: &Input,
    ) -> After {
        let span = running.span;
        // Behind the operands of a wrapper it may say that its own options end.
        let rest = match rest.split_first() {
            Some((first, behind)) if first.text() == "--" => behind,
            Some(_) | None => rest,
        };
        match role {
            Role::Command => {
                // An option with code may follow an operand: `flock FILE -c CODE`.
                if let Some(code) = code_behind_operand(running.row, rest) {
                    self.code(&code.value, code.span, running.name, vec![world.child()], input);
                    return After::same(world.clone(), Output::default());
                }
                let after = self.wrapped(running.name, rest, span, world.clone(), input);
                return after;
            }
            Role::SomeCommand => match rest.split_first() {
                Some((first, _)) if self.is_program(first.text()) => {
                    self.wrapped(running.name, rest, span, world.clone(), input);
                }
                Some((first, behind)) => {
                    self.task("pkg", first.text(), first.span);
                    self.unknown(Why::PackageScript, FactSet::EFFECTS, first.span);
                    self.carried_command(running.name, behind, span, world, input);
                }
                None => {}
            },
            Role::RemoteCommand => {
                let is_muted = self.mute();
                self.wrapped(running.name, rest, span, world.clone(), input);
                self.unmute(is_muted);
            }
            Role::RemoteWords => {
                self.unknown(Why::OtherMachine, FactSet::EFFECTS, span);
                let is_muted = self.mute();
                self.code(&joined(rest), span, running.name, vec![world.clone()], input);
                self.unmute(is_muted);
            }
            _ => {
                self.code(&joined(rest), span, running.name, vec![world.child()], input);
            }
        }
        After::same(world.clone(), Output::default())
    }

    /// Whether a name is one of a program of the tables.
    fn is_program(&self, name: &str) -> bool {
        let name = base_name(name);
        super::programs::is_coded(name) || self.tables.row(name).is_some()
    }

    /// The command that stands in the arguments of a program that is not known, which may run it: behind `--`, with an option or a
    /// path of its own, or as the value of `-c`. Words of which none names a program of the tables are no command.
    pub(super) fn carried_command(&mut self, name: &str, args: &[Arg], span: Span, world: &World, input: &Input) {
        if !self.affords(args.len().saturating_mul(32)) {
            return;
        }
        let begins = |index: usize| {
            let text_at = |index: usize| args.get(index).map_or("", Arg::text);
            let is_behind = |text: &str| index > 0 && text_at(index - 1) == text;
            let (name, next) = (text_at(index), text_at(index + 1));
            let has_own = next.starts_with('-') || next.contains('/') || self.tables.subcommand(name, next).is_some();
            self.is_program(name) && (is_behind("--") || has_own || name == "git")
        };
        if let Some(index) = (0..args.len()).find(|index| begins(*index)) {
            self.wrapped(name, args.get(index..).unwrap_or_default(), span, world.child(), input);
        }
        let is_option = |arg: &Arg| matches!(arg.text(), "-c" | "-lc" | "--command" | "--exec");
        let code = args.windows(2).find_map(|pair| match pair {
            [option, code] if is_option(option) => Some(code),
            _ => None,
        });
        if let Some(code) = code
            && let Some((first, _)) = code.text().split_once(' ')
            && self.is_program(first)
        {
            self.code(&code.value, code.span, name, vec![world.child()], input);
        }
    }

    /// Code of a database. Clients have commands of their own that run programs and write files.
    pub(super) fn sql(&mut self, text: &Value, span: Span, name: &str, world: &World) {
        const STARTS: [&str; 4] = ["\\!", "system ", ".shell ", ".system "];
        for line in text.text.lines().map(str::trim_start) {
            if let Some(code) = STARTS.iter().find_map(|start| line.strip_prefix(start)) {
                let code = Value { text: code.to_owned(), hole: text.hole };
                self.code(&code, span, name, vec![world.child()], &Input::default());
            }
        }
        let text = text.text.to_lowercase();
        let is_own = |line: &str| line.trim_start().starts_with(['.', '\\', HOLE]);
        let words =
            ["\\!", "\\o", "\\copy", "\\g", "system ", "attach", "writefile", "readfile", "load_extension", "edit("];
        if text.contains(HOLE) || text.lines().any(is_own) || words.iter().any(|word| text.contains(word)) {
            self.executes(Executed::Inline("sql".to_owned()), span);
            self.unknown(Why::InlineCode, FactSet::EFFECTS, span);
        }
    }

    /// A module that runs as a program: `python -m pip`.
    pub(super) fn module(&mut self, module: &Arg, args: &[Arg], running: &Running<'_>, world: &World, input: &Input) {
        if self.tables.row(module.text()).is_some() {
            let command: Vec<Arg> = std::iter::once(module).chain(args).cloned().collect();
            self.wrapped(running.name, &command, running.span, world.child(), input);
        } else {
            self.task("module", module.text(), module.span);
            self.unknown(Why::ProjectCode, FactSet::EFFECTS, module.span);
        }
    }

    /// Code that a program reads from standard input.
    pub(crate) fn input_code(&mut self, language: &str, span: Span, name: &str, world: &World, input: &Input) {
        if !input.is_fed {
            self.unknown(Why::InteractiveShell, FactSet::EFFECTS, span);
            return;
        }
        if language == "sql" {
            match &input.text {
                Some(text) => self.sql(text, span, name, world),
                None => self.unknown(Why::InlineCode, FactSet::EFFECTS, span),
            }
            return;
        }
        self.executes(Executed::Input, span);
        if input.net {
            self.flow(FlowKind::NetToExec, span);
            self.unknown(Why::DownloadedCode, FactSet::EFFECTS, span);
        } else if let Some(file) = &input.file {
            self.run_script(file, span, world);
        } else {
            self.executes(Executed::Inline(language.to_owned()), span);
            self.unknown(Why::InlineCode, FactSet::EFFECTS, span);
        }
    }

    /// A script that is a pipe: `bash <(…)`.
    pub(crate) fn piped_script(&mut self, arg: &Arg) {
        self.executes(Executed::Input, arg.span);
        if self.pipe(&arg.value).is_some_and(|pipe| pipe.net) {
            self.flow(FlowKind::NetToExec, arg.span);
            self.unknown(Why::DownloadedCode, FactSet::EFFECTS, arg.span);
        } else {
            self.unknown(Why::TransformedCode, FactSet::EVERYTHING, arg.span);
        }
    }

    /// Begins a list of facts of its own: what follows is true elsewhere. The commands stay in one list.
    pub(crate) fn mute(&mut self) -> (Accesses, usize) {
        let commands = std::mem::take(&mut self.facts.commands);
        let before = std::mem::replace(&mut self.facts, Accesses { commands, ..Accesses::default() });
        (before, self.downloaded.len())
    }

    /// Goes on with the facts from before, and returns those of elsewhere.
    pub(crate) fn unmute(&mut self, before: (Accesses, usize)) -> Accesses {
        let (facts, downloaded) = before;
        let mut there = std::mem::replace(&mut self.facts, facts);
        self.facts.commands = std::mem::take(&mut there.commands);
        self.downloaded.truncate(downloaded);
        // That nothing further is followed is true here too.
        self.note_exhausted();
        there
    }
}

/// Returns the code of an option that stands behind the operands of a wrapper.
fn code_behind_operand<'a>(row: &Row, rest: &'a [Arg]) -> Option<&'a Arg> {
    let (first, behind) = rest.split_first()?;
    let name = first.text().strip_prefix("--").or_else(|| first.text().strip_prefix('-'))?;
    let is_code = |(names, role): &(Vec<String>, Role)| *role == Role::Shell && names.iter().any(|known| known == name);
    row.options.iter().any(is_code).then(|| behind.first()).flatten()
}

/// Joins arguments with blanks.
pub(crate) fn joined(args: &[Arg]) -> Value {
    let mut joined = Value::default();
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            joined.text.push(' ');
        }
        joined.push(&arg.value);
    }
    joined
}
