//! Runs programs of the tables.

use super::evaluate::{After, Evaluator, Input, Output};
use super::options::{Arg, Divided, Grammar};
use super::record::{Reach, Use};
use crate::facts::{Executed, FactSet, FlowKind, NetworkHost, Why};
use crate::resolve::{ANY, HOLE, Value, Variable, World, base_name, join};
use crate::syntax::Span;
use crate::tables::{FixedFacts, Operands, Role, Row};

/// A command of the tables that is being followed.
struct Running<'r> {
    name: &'r str,
    row: &'r Row,
    span: Span,
    is_recursive: bool,
    is_tracked: bool,
    sources: Vec<Arg>,
    into: Option<Arg>,
    /// The language of code on standard input.
    input_code: Option<&'r str>,
    /// What operands are if the code stands in an option.
    files: Option<&'r Operands>,
}

impl<'r> Running<'r> {
    fn of(name: &'r str, row: &'r Row, span: Span) -> Self {
        Self {
            name,
            row,
            span,
            is_recursive: false,
            is_tracked: false,
            sources: Vec::new(),
            into: None,
            input_code: None,
            files: None,
        }
    }
}

impl Evaluator<'_> {
    /// Runs a program by its name.
    pub(crate) fn program(&mut self, name: &str, args: &[Arg], span: Span, world: World, input: &Input) -> After {
        if let Some(after) = self.builtin(name, args, span, &world, input) {
            return after;
        }
        if let Some(after) = self.coded_program(name, args, span, &world, input) {
            return after;
        }
        let Some(row) = self.tables.row(name) else {
            self.no_table(Why::NoTable, span);
            return After::same(world, Output::default());
        };
        match self.tables.subcommands(name) {
            Some(_) => self.program_with_subcommands(name, row, args, span, world, input),
            None => self.apply(name, row, args, span, world, input),
        }
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
        let rows = self.tables.subcommands(name);
        for (names, role) in &row.options {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            for value in divided.values(&names) {
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
        let two = pair.and_then(|pair| rows.and_then(|rows| rows.get(&pair)));
        if let Some(inner) = two {
            return self.apply(name, inner, rest.get(1..).unwrap_or_default(), span, world, input);
        }
        match rows.and_then(|rows| rows.get(first.text())) {
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
        let is_tracked = row.tracked && !divided.has(&row.reveals);
        let mut running = Running { is_recursive, is_tracked, input_code, files, ..Running::of(name, row, span) };
        let mut has_code = false;
        for (names, role) in &row.options {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            for value in divided.values(&names) {
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
        self.operands(roles, &divided, &mut running, &mut world, input, has_code)
    }

    /// An option that names the folder in which the command works.
    fn enter_folder(&mut self, value: &Arg, world: &mut World) {
        world.folder =
            Value { text: join(&world.folder.text, value.text()), hole: value.value.hole.or(world.folder.hole) };
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
        let mut operands = divided.operands.clone();
        if running.row.is_bare(&operands, roles, running.is_recursive)
            && let Some(bare) = &running.row.bare
        {
            operands.push(Arg { value: Value::known(bare.as_str()), span });
        }
        if let Some(language) = running.input_code {
            let is_dash = operands.first().is_some_and(|first| first.text() == "-");
            // These read commands whatever their operands are.
            if matches!(language, "editor" | "shell") {
                if language == "shell" && !divided.has_any(&["f"]) {
                    self.code_of_input(running.name, span, world, world.child(), input);
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
        if let Some(into) = running.into.take() {
            self.destination(&into, true, running, world);
        }
        let text = if passes_input(running.name, divided) { input.text.clone() } else { None };
        After::same(world.clone(), Output { text, ..Output::default() })
    }

    /// `NAME=value` before a command: `env`, `sudo`.
    fn environment(&mut self, arg: &Arg, world: &mut World) {
        if let Some((name, value)) = arg.text().split_once('=') {
            let value = Value { text: value.to_owned(), hole: arg.value.hole };
            self.variable_effect(name, &value, arg.span, world);
            world.set(name, Variable::Text(value));
            world.export(name);
        }
    }

    fn rest(&mut self, role: &Role, rest: &[Arg], running: &Running<'_>, world: &World, input: &Input) -> After {
        let span = running.span;
        match role {
            Role::Command => {
                // An option with code may follow an operand: `flock FILE -c CODE`.
                if let Some(code) = code_behind_operand(running.row, rest) {
                    self.code(&code.value, code.span, running.name, vec![world.child()], input);
                    return After::same(world.clone(), Output::default());
                }
                let after = self.wrapped(running.name, rest, span, world.clone(), input);
                // These run builtins of this very shell.
                let is_of_shell = matches!(running.name, "builtin" | "command");
                return if is_of_shell { after } else { After::same(world.clone(), after.output) };
            }
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

    /// Code of a database. Clients have commands of their own that run programs and write files.
    fn sql(&mut self, text: &Value, span: Span, name: &str, world: &World) {
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
    fn module(&mut self, module: &Arg, args: &[Arg], running: &Running<'_>, world: &World, input: &Input) {
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

    fn operand(&mut self, role: &Role, arg: &Arg, running: &mut Running<'_>, world: &World, input: &Input) {
        if arg.text().starts_with("pipe:") {
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
            Role::Host => self.network(host_of(arg.text()), arg.span),
            Role::CopySource | Role::CopyTarget => self.copy_place(role, arg, running, world),
            Role::ShellScript if arg.text() == "-" => {}
            Role::ShellScript if arg.text().contains("://") && !arg.text().starts_with("file:") => {
                self.network(host_of(arg.text()), arg.span);
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
            Role::Sql => self.sql(&arg.value, arg.span, running.name, world),
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
            Role::Folder | Role::ShellWords | Role::RemoteWords | Role::Command | Role::RemoteCommand => {}
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

    fn destination(&mut self, arg: &Arg, is_folder: bool, running: &Running<'_>, world: &World) {
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
        self.network(host_of(text), arg.span);
    }

    fn copy_place(&mut self, role: &Role, arg: &Arg, running: &mut Running<'_>, world: &World) {
        if let Some(host) = remote_host(arg.text()) {
            self.network(host, arg.span);
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

    /// Stops writing facts down, but those of commands: they are true elsewhere.
    pub(crate) fn mute(&mut self) -> (crate::facts::Accesses, usize) {
        (self.facts.clone(), self.downloaded.len())
    }

    /// Writes facts down again, and returns those that were left out.
    pub(crate) fn unmute(&mut self, before: (crate::facts::Accesses, usize)) -> crate::facts::Accesses {
        let (facts, downloaded) = before;
        let mut there = std::mem::replace(&mut self.facts, facts);
        std::mem::swap(&mut self.facts.commands, &mut there.commands);
        for list in [
            (&mut there.reads, self.facts.reads.len()),
            (&mut there.writes, self.facts.writes.len()),
            (&mut there.deletes, self.facts.deletes.len()),
        ] {
            let (list, count) = list;
            list.drain(..count.min(list.len()));
        }
        self.downloaded.truncate(downloaded);
        there
    }
}

/// The file that is made of another one: its name goes on, or is without its ending.
fn made_beside(value: &Value) -> Value {
    const ENDINGS: [&str; 10] = [".gz", ".bz2", ".xz", ".zst", ".lz4", ".br", ".Z", ".lzma", ".gpg", ".age"];
    let known = ENDINGS.iter().find_map(|ending| value.text.strip_suffix(ending)).unwrap_or(&value.text);
    Value { text: format!("{known}{ANY}"), hole: value.hole }
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

/// Returns the code of an option that stands behind the operands of a wrapper.
fn code_behind_operand<'a>(row: &Row, rest: &'a [Arg]) -> Option<&'a Arg> {
    let (first, behind) = rest.split_first()?;
    let name = first.text().strip_prefix("--").or_else(|| first.text().strip_prefix('-'))?;
    let is_code = |(names, role): &(Vec<String>, Role)| *role == Role::Shell && names.iter().any(|known| known == name);
    row.options.iter().any(is_code).then(|| behind.first()).flatten()
}

impl Row {
    /// Whether the operand is missing that means the current folder.
    fn is_bare(&self, operands: &[Arg], roles: &Operands, is_recursive: bool) -> bool {
        is_recursive && self.bare.is_some() && operands.len() <= roles.first.len()
    }
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

/// Returns the host of a URL, or of `user@host:port`.
pub(crate) fn host_of(text: &str) -> NetworkHost {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    if host.is_empty() || host.contains(HOLE) {
        NetworkHost::Unknown
    } else {
        NetworkHost::Name(crate::resolve::shown(host))
    }
}

/// Returns the host of `host:path` and of URLs of other machines.
pub(crate) fn remote_host(text: &str) -> Option<NetworkHost> {
    if text.contains("://") {
        return (!text.starts_with("file://")).then(|| host_of(text));
    }
    let (head, _) = text.split_once(':')?;
    (!head.contains('/') && !head.is_empty()).then(|| host_of(head))
}
