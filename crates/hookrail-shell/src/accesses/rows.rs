//! Runs programs of the tables.

use std::borrow::Cow;

use super::evaluate::{After, Evaluator, Input, Output};
use super::options::{Arg, Divided, Grammar};
use super::record::{Reach, Use};
use super::roles::Running;
use super::secrets::name_patterns;
use crate::facts::{FactSet, FlowKind, NetworkHost, Why};
use crate::resolve::{ANY, HOLE, TRACKED, Value, Variable, World, join, shown};
use crate::syntax::Span;
use crate::tables::{FixedFacts, Operands, Printed, Role, Row};

impl Evaluator<'_> {
    /// Runs a program by its name.
    pub(crate) fn program(&mut self, name: &str, args: &[Arg], span: Span, world: World, input: &Input) -> After {
        if let Some(after) = self.builtin(name, args, span, &world, input) {
            return after;
        }
        let options: usize = args.iter().map(|arg| option_count(arg.text())).sum();
        if !self.affords(options.saturating_mul(16)) {
            return After::same(world, Output::default());
        }
        if let Some(after) = self.coded_program(name, args, span, &world, input) {
            return after;
        }
        let Some(row) = self.tables.row(name) else {
            self.no_table(Why::NoTable, span);
            self.carried_command(name, args, span, &world, input);
            return After::same(world, Output::default());
        };
        let before = world.clone();
        let after = match self.tables.has_subcommands(name) {
            true => self.program_with_subcommands(name, row, args, span, world, input),
            false => self.apply(name, row, args, span, world, input),
        };
        // These run builtins of this very shell. The variables and the folder of any other program are its own.
        if matches!(name, "builtin" | "command") { after } else { After::same(before, after.output) }
    }

    fn program_with_subcommands(
        &mut self,
        name: &str,
        row: &Row,
        args: &[Arg],
        span: Span,
        mut world: World,
        input: &Input,
    ) -> After {
        let grammar = Grammar { stops: true, ..Grammar::of(row) };
        let divided = grammar.divide(args);
        for (names, role) in &row.options {
            for value in divided.values_of(names) {
                if *role == Role::Folder {
                    self.enter_folder(value, &mut world);
                } else {
                    let mut running = Running::of(name, row, span);
                    self.operand(role, value, &mut running, &world, input);
                }
            }
        }
        let Some((first, rest)) = divided.operands.split_first() else {
            // Without a subcommand it prints help, unless the row says more.
            if divided.options.is_empty() || row.unknown.is_none() || divided.has_any(&["help", "version"]) {
                return After::same(world, Output::default());
            }
            return self.apply(name, row, args, span, world, input);
        };
        self.set_subcommand(first.text());
        if first.value.has_hole() {
            self.unknown_kinds(&first.value, &crate::facts::FactKind::ALL, first.span);
            return After::same(world, Output::default());
        }
        let pair = rest.first().map(|second| format!("{}/{}", first.text(), second.text()));
        if let Some(inner) = pair.and_then(|pair| self.tables.subcommand(name, &pair)) {
            return self.apply(name, inner, rest.get(1..).unwrap_or_default(), span, world, input);
        }
        match self.tables.subcommand(name, first.text()) {
            Some(inner) => self.apply(name, inner, rest, span, world, input),
            None if row.unknown.is_some() || row.operands != Operands::default() => {
                self.apply(name, row, args, span, world, input)
            }
            None => {
                self.no_table(Why::Subcommand, span);
                After::same(world, Output::default())
            }
        }
    }

    pub(crate) fn set_subcommand(&mut self, name: &str) {
        if let Some(fact) = self.command.and_then(|index| self.facts.commands.get_mut(index)) {
            fact.subcommand = Some(crate::resolve::shown(name));
        }
    }

    /// Runs a program as its row says.
    pub(crate) fn apply(
        &mut self,
        name: &str,
        row: &Row,
        args: &[Arg],
        span: Span,
        mut world: World,
        input: &Input,
    ) -> After {
        let divided = Grammar::of(row).divide(args);
        if divided.has_any(&["help", "version"]) {
            return After::same(world, Output::default());
        }
        let mut operand_roles: Option<&Operands> = None;
        let mut input_code = row.input_code.as_deref();
        let mut files: Option<&Operands> = None;
        for when in &row.when {
            let holds = (when.has.is_empty() || divided.has(&when.has))
                && (when.lacks.is_empty() || !divided.has(&when.lacks))
                && (!when.is_bare || divided.operands.is_empty());
            if !holds {
                continue;
            }
            if when.nothing {
                return After::same(world, Output::default());
            }
            if let Some(why) = when.unknown {
                self.unknown(why, FactSet::EFFECTS, span);
            }
            self.fixed_facts(&when.fixed, &divided, span, &world);
            if when.env_dump && divided.operands.is_empty() {
                self.facts.env_dump = Some(span);
            }
            if operand_roles.is_none() {
                operand_roles = when.operands.as_ref();
            }
            input_code = when.input_code.as_deref().or(input_code);
            files = files.or(when.files.as_ref());
        }
        let roles = operand_roles.unwrap_or(&row.operands);
        if row.env_dump && divided.operands.is_empty() {
            self.facts.env_dump = Some(span);
        }
        self.fixed_facts(&row.fixed, &divided, span, &world);
        if let Some((kind, task)) = &row.executes {
            let first = divided.operands.first().map_or("", Arg::text);
            self.task(kind, &task.replace("{1}", first), span);
        }
        if let Some(why) = row.unknown {
            self.unknown(why, FactSet::EFFECTS, span);
        }
        for (argument, fact) in &row.facts {
            if args.iter().any(|arg| arg.text() == argument) {
                self.git(*fact, span);
            }
        }
        let is_recursive = match &row.recursive {
            crate::tables::Recursive::Never => false,
            crate::tables::Recursive::Always => true,
            crate::tables::Recursive::With(names) => divided.has(names),
        };
        // A pattern that is given to a search reaches the hidden files that it names.
        let names_hidden = |arg: &Arg| arg.text().trim_start_matches("**/").starts_with('.');
        let is_revealed =
            divided.has(&row.reveals) || row.tracked && divided.values(&["g", "glob", "iglob"]).any(names_hidden);
        let is_tracked = row.tracked && !is_revealed;
        let narrowed = narrowing(divided.values_of(&row.narrows));
        let mut running =
            Running { is_recursive, is_tracked, narrowed, input_code, files, ..Running::of(name, row, span) };
        let mut has_code = false;
        for (names, role) in &row.options {
            for value in divided.values_of(names) {
                match role {
                    Role::Into => running.into = Some(value.clone()),
                    Role::Module => {
                        self.module(value, &divided.operands, &running, &world, input);
                        return After::same(world, Output::default());
                    }
                    Role::Code(_) | Role::Shell | Role::Sql => {
                        has_code = true;
                        self.operand(role, value, &mut running, &world, input);
                    }
                    Role::Folder => self.enter_folder(value, &mut world),
                    _ => self.operand(role, value, &mut running, &world, input),
                }
            }
        }
        // What a task does stands in a file of its folder.
        if row.executes.is_some() && self.is_downloaded(&join(&world.folder.text, "Makefile")) {
            self.flow(FlowKind::NetToExec, span);
        }
        self.operands(roles, &divided, &mut running, &mut world, input, has_code)
    }

    /// An option that names the folder in which the command works.
    pub(super) fn enter_folder(&mut self, value: &Arg, world: &mut World) {
        if self.affords(world.folder.text.len() / 8) {
            let hole = value.value.hole.or(world.folder.hole);
            world.folder = Value { text: join(&world.folder.text, value.text()), hole };
        }
    }

    fn fixed_facts(&mut self, fixed: &FixedFacts, divided: &Divided, span: Span, world: &World) {
        for host in &fixed.network {
            let host = match host.split_once(':') {
                Some(("registry", name)) => NetworkHost::Registry(name.to_owned()),
                Some(("remote", name)) => NetworkHost::Remote(name.to_owned()),
                _ if host == "?" => NetworkHost::Unknown,
                _ => NetworkHost::Name(host.clone()),
            };
            self.network(host, span);
        }
        for (how, paths) in [(Use::Read, &fixed.reads), (Use::Write, &fixed.writes), (Use::Delete, &fixed.deletes)] {
            for path in paths {
                self.fixed_path(how, path, divided, span, world);
            }
        }
    }

    fn fixed_path(&mut self, how: Use, path: &str, divided: &Divided, span: Span, world: &World) {
        let (path, reach) = match path.strip_suffix("/**") {
            // What is written below the current folder an archive decides.
            Some("." | "./") if how == Use::Write => (".", Reach::TrackedBelow),
            Some(folder) => (folder, Reach::Below),
            None => (path, Reach::Itself),
        };
        let path = match path.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", self.scene.home),
            None => path.to_owned(),
        };
        let value = match divided.operands.first() {
            Some(first) if path.contains("{1}") => {
                Value { text: path.replace("{1}", first.text()), hole: first.value.hole }
            }
            _ => Value::known(path),
        };
        self.use_value_with(how, reach, &value, span, world);
    }

    fn operands(
        &mut self,
        roles: &Operands,
        divided: &Divided,
        running: &mut Running<'_>,
        world: &mut World,
        input: &Input,
        has_code: bool,
    ) -> After {
        let span = running.span;
        for option in divided.options.iter().filter(|option| option.name == "=") {
            if let Some(arg) = &option.value {
                self.environment(arg, world);
            }
        }
        let mut operands = Cow::Borrowed(divided.operands.as_slice());
        if running.row.is_bare(&operands, roles, running.is_recursive)
            && let Some(bare) = &running.row.bare
        {
            operands.to_mut().push(Arg { value: Value::known(bare.as_str()), span });
        }
        if let Some(language) = running.input_code {
            let is_dash = operands.first().is_some_and(|first| first.text() == "-");
            // These read commands whatever their operands are.
            if matches!(language, "editor" | "shell" | "transfer") {
                if language == "shell" && !divided.has_any(&["f"]) {
                    self.code_of_input(running.name, span, world, world.child(), input);
                } else if language == "transfer" {
                    if let Some(text) = input.text.as_ref().filter(|_| input.is_fed) {
                        self.transfer(text, span, running.name, world);
                    }
                } else if language == "editor" && !is_dash {
                    self.editor_script(span, running.name, world, input);
                }
                return self.operand_list(roles, &operands, divided, running, world, input);
            }
            let reads_input = operands.is_empty() || is_dash;
            if !has_code && reads_input {
                self.input_code(language, span, running.name, world, input);
                return After::same(world.clone(), Output::default());
            }
        }
        // Code stands in an option: the operands are its own, or files that it works on.
        let is_own = has_code && running.input_code.is_some();
        let roles = if is_own { running.files.cloned().unwrap_or_default() } else { roles.clone() };
        self.operand_list(&roles, &operands, divided, running, world, input)
    }

    fn operand_list(
        &mut self,
        roles: &Operands,
        operands: &[Arg],
        divided: &Divided,
        running: &mut Running<'_>,
        world: &mut World,
        input: &Input,
    ) -> After {
        let list = if running.into.is_some() {
            let middle = roles.middle.clone().unwrap_or(Role::Nothing);
            vec![middle; operands.len()]
        } else {
            roles.roles(operands.len())
        };
        for (index, (role, operand)) in list.iter().zip(operands).enumerate() {
            if !self.affords(0) {
                break;
            }
            if running.row.plus && operand.text().starts_with('+') {
                self.operand(&Role::EditorCommand, &operand.from(1), running, world, input);
                continue;
            }
            if role.is_rest() {
                let rest = operands.get(index..).unwrap_or_default();
                return self.rest(role, rest, running, world, input);
            }
            self.operand(role, operand, running, world, input);
        }
        let into = running.into.take();
        if let Some(into) = &into {
            self.destination(into, true, running, world);
        }
        self.note_names(running.name, divided, into.as_ref(), world);
        if running.name == "tee" {
            for operand in operands {
                let path = shown(&self.place_of(&operand.value, world).path);
                self.line_files.write(&path, input.text.as_ref(), divided.has_any(&["a", "append"]));
            }
        }
        let text = match running.row.prints {
            _ if divided.has(&running.row.lists) => self.listed(running, world),
            Some(Printed::Name) if !operands.iter().any(|arg| arg.text().contains(['/', HOLE])) => {
                Some(Value::known(ANY))
            }
            _ if passes_input(running.name, divided) => input.text.clone(),
            Some(Printed::Name) | None => None,
        };
        After::same(world.clone(), Output { text, ..Output::default() })
    }

    /// The names of files that are read, as patterns. None if some are not known.
    fn listed(&mut self, running: &Running<'_>, world: &World) -> Option<Value> {
        let mut lines = Value::default();
        for source in &running.sources {
            let path = self.place_of(&source.value, world).path;
            let is_known = !source.value.has_hole() && !world.folder.has_hole();
            if !is_known || !self.affords(running.narrowed.len().saturating_mul(8)) {
                return None;
            }
            let mut line = |text: String| lines.push(&Value::known(format!("{text}\n")));
            match (running.is_recursive, running.narrowed.as_slice()) {
                (false, _) => line(path),
                (true, []) if running.is_tracked => line(format!("{path}/{TRACKED}")),
                (true, []) => line(format!("{path}/{ANY}{ANY}")),
                (true, patterns) => {
                    patterns.iter().for_each(|pattern| line(format!("{path}/{ANY}{ANY}/{}", pattern.text)));
                }
            }
        }
        (!lines.text.is_empty()).then_some(lines)
    }

    /// `NAME=value` before a command: `env`, `sudo`.
    fn environment(&mut self, arg: &Arg, world: &mut World) {
        if !self.affords(48) {
            return;
        }
        if let Some((name, value)) = arg.text().split_once('=') {
            let value = Value { text: value.to_owned(), hole: arg.value.hole };
            self.variable_effect(name, &value, arg.span, world);
            // Functions are handed on so; what they are called for is not looked for.
            let function = name.strip_prefix("BASH_FUNC_").and_then(|rest| rest.split(['%', '(']).next());
            if let Some(function) = function {
                let code = Value { text: format!("{function} {}\n{function}", value.text), hole: value.hole };
                self.code(&code, arg.span, function, vec![world.child()], &Input::default());
            }
            world.set(name, Variable::Text(value));
            world.export(name);
        }
    }
}

/// The patterns of which the names of files that are read fit one. None if they are not known, or any name fits.
fn narrowing<'a>(patterns: impl Iterator<Item = &'a Arg>) -> Vec<Value> {
    let meant = patterns.filter(|arg| !arg.text().starts_with('!'));
    let names: Option<Vec<Vec<String>>> = meant.map(|arg| name_patterns(arg.value.plain()?)).collect();
    names.into_iter().flatten().flatten().map(Value::known).collect()
}

/// How many options an argument may be.
fn option_count(text: &str) -> usize {
    match text.strip_prefix('-') {
        None => 0,
        Some(long) if long.starts_with('-') => 1,
        Some(letters) => letters.bytes().take_while(u8::is_ascii_alphanumeric).count(),
    }
}

/// Whether what a program prints is its input, or some lines of it.
fn passes_input(name: &str, divided: &Divided) -> bool {
    let operands = divided.operands.len();
    match name {
        "tee" => true,
        "cat" => divided.operands.iter().all(|arg| arg.text() == "-"),
        "sort" | "head" | "tail" | "sponge" => operands == 0,
        "uniq" => operands == 0 && !divided.has_any(&["c", "count"]),
        "grep" | "egrep" | "fgrep" => {
            operands <= 1 && !divided.has_any(&["o", "c", "n", "H", "only-matching", "count"])
        }
        _ => false,
    }
}

impl Row {
    /// Whether the operand is missing that means the current folder.
    fn is_bare(&self, operands: &[Arg], roles: &Operands, is_recursive: bool) -> bool {
        is_recursive && self.bare.is_some() && operands.len() <= roles.first.len()
    }
}
