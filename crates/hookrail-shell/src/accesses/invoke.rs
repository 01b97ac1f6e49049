//! Runs one simple command: words, assignments, redirections, and then the program that its first word names.

use std::rc::Rc;

use super::evaluate::{After, Downloaded, Evaluator, Input, Output};
use super::hosts::named;
use super::line_files::ScriptReader;
use super::options::{Arg, values};
use super::record::Use;
use super::secrets::is_secret;
use crate::facts::{Accesses, CommandFact, Executed, FactKind, FactSet, FlowKind, NetworkHost, Why};
use crate::resolve::{BRACKET, HOLE, Hole, Origin, PIPE, Value, Variable, World, base_name, is_pattern, shown};
use crate::syntax::Span;
use crate::syntax::{AssignedValue, Assignment, Redirect, RedirectOperator, RedirectTarget, SimpleCommand};
use crate::tables::VariableKind;

/// The most wrappers around a command.
const MOST_WRAPPERS: usize = 40;
/// The last place in an array that a line can name and is known.
const MOST_ELEMENTS: usize = 64;
/// Folders whose programs are those of the tables.
const SYSTEM_FOLDERS: [&str; 8] =
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin", "/snap/bin"];

/// What redirections lead to.
pub(crate) struct Redirected {
    pub(crate) input: Input,
    /// Whether standard output goes elsewhere.
    pub(crate) leaves: bool,
    /// Whether output goes to a connection.
    connects: bool,
    /// The files that standard output goes to.
    pub(crate) targets: Vec<OutputFile>,
}

/// A file that standard output goes to.
pub(crate) struct OutputFile {
    path: String,
    appends: bool,
}

impl Evaluator<'_> {
    pub(crate) fn simple(&mut self, command: &SimpleCommand, mut world: World, input: &Input) -> After {
        let span = self.span(command.span);
        let outer = self.command;
        let index = self.facts.commands.len();
        if !command.words.is_empty() {
            self.facts.commands.push(CommandFact {
                program: String::new(),
                subcommand: None,
                args: Vec::new(),
                via: self.via.clone(),
                fed: None,
                span,
            });
            self.command = Some(index);
        }
        let mut args = Vec::with_capacity(command.words.len());
        self.all_fields(&command.words, &mut world, |value, span| args.push(Arg { value, span }));
        // Words that come to nothing are no command, and what is redirected then is nobody's.
        if args.is_empty() && self.facts.commands.len() == index + 1 && !self.facts.has_fact_of(index) {
            self.facts.commands.truncate(index);
            self.command = outer;
        }
        let redirected = self.redirects(&command.redirects, &mut world, input);
        let before_facts = FactCounts::of(&self.facts);
        let mut after = if args.is_empty() {
            self.command = outer;
            for assignment in &command.assignments {
                self.assign(assignment, &mut world);
            }
            let mut after = After::same(world, Output::default());
            after.failure.clear();
            after
        } else {
            let before = (!command.assignments.is_empty()).then(|| world.clone());
            for assignment in &command.assignments {
                self.assign(assignment, &mut world);
                world.export(&assignment.name);
            }
            let after = self.run(&args, span, world, &redirected.input, true);
            match before {
                Some(before) => restore(after, &command.assignments, &before),
                None => after,
            }
        };
        self.finish(&mut after.output, &args, before_facts, &redirected.input, span);
        self.note_written(&redirected.targets, &after.output);
        if redirected.leaves {
            after.output = Output::default();
        }
        self.command = outer;
        after
    }

    /// Notes what a command got from files and the network, and what it sent.
    fn finish(&mut self, output: &mut Output, args: &[Arg], before: FactCounts, input: &Input, span: Span) {
        let read_secret = self.facts.reads.iter().skip(before.reads).any(|fact| is_secret(&fact.what.path));
        let has_connected =
            self.facts.network.iter().skip(before.hosts).any(|fact| !matches!(fact.what, NetworkHost::Registry(_)));
        self.pass_on_downloads(before, input);
        // What a client of another machine writes may come from there.
        let hosts = self.facts.network.iter().skip(before.hosts);
        if hosts.into_iter().any(|fact| matches!(fact.what, NetworkHost::Name(_) | NetworkHost::Unknown)) {
            let written = self.facts.writes.iter().skip(before.writes);
            self.downloaded.extend(written.map(|fact| Downloaded { path: fact.what.path.clone() }));
        }
        let holds_secret = args.iter().any(|arg| arg.value.hole.is_some_and(|hole| hole.secret));
        output.net |= has_connected || input.net;
        output.secret |= read_secret || input.secret || holds_secret;
        if has_connected && (read_secret || input.secret || holds_secret) {
            self.flow(FlowKind::SecretToNet, span);
        }
    }

    /// What a command writes came from the network, if its input or one of its files did.
    fn pass_on_downloads(&mut self, before: FactCounts, input: &Input) {
        let used = self.facts.reads.len() - before.reads + self.facts.deletes.len() - before.deletes;
        if !input.net && !self.affords(used.saturating_mul(self.downloaded.len())) {
            return;
        }
        let sources = self.facts.reads.iter().skip(before.reads).chain(self.facts.deletes.iter().skip(before.deletes));
        let is_from_net = input.net || sources.into_iter().any(|fact| self.is_downloaded(&fact.what.path));
        if is_from_net {
            let written = self.facts.writes.iter().skip(before.writes);
            self.downloaded.extend(written.map(|fact| Downloaded { path: fact.what.path.clone() }));
        }
    }

    /// Whether the line gets a file from the network.
    pub(super) fn is_downloaded(&self, path: &str) -> bool {
        self.downloaded.iter().any(|file| {
            path == file.path || file.path.strip_suffix("/**").is_some_and(|folder| path.starts_with(folder))
        })
    }

    pub(crate) fn note_written(&mut self, targets: &[OutputFile], output: &Output) {
        for OutputFile { path, appends } in targets {
            if output.net {
                self.downloaded.push(Downloaded { path: path.clone() });
            }
            self.line_files.write(path, output.text.as_ref(), *appends);
        }
    }

    /// Runs arguments as a command behind a wrapper.
    pub(crate) fn wrapped(&mut self, via: &str, args: &[Arg], span: Span, world: World, input: &Input) -> After {
        let Some(first) = args.first() else { return After::same(world, Output::default()) };
        self.charge(args.len().saturating_mul(8));
        if self.via.len() >= MOST_WRAPPERS || self.is_full() {
            self.unknown(Why::CodeTooDeep, FactSet::EVERYTHING, span);
            return After::same(world, Output::default());
        }
        self.note_forgotten(std::slice::from_ref(&world));
        let outer = self.command;
        self.via.push(via.to_owned());
        let span = Span { start: first.span.start, end: args.last().map_or(first.span.end, |last| last.span.end) };
        self.command = Some(self.facts.commands.len());
        self.facts.commands.push(CommandFact {
            program: String::new(),
            subcommand: None,
            args: Vec::new(),
            via: self.via.clone(),
            fed: None,
            span,
        });
        // A program does not know the functions of the shell, and `builtin` and `command` pass them over.
        let after = self.run(args, span, world, input, false);
        self.via.pop();
        self.command = outer;
        after
    }

    /// Runs the program that the first argument names.
    fn run(&mut self, args: &[Arg], span: Span, world: World, input: &Input, calls_functions: bool) -> After {
        let Some((program, rest)) = args.split_first() else { return After::same(world, Output::default()) };
        if let Some(fact) = self.command.and_then(|index| self.facts.commands.get_mut(index)) {
            let name = if program.text().starts_with('/') { base_name(program.text()) } else { program.text() };
            fact.program = shown(name);
            fact.args = rest.iter().map(|arg| shown(arg.text())).collect();
            fact.fed = input.text.as_ref().map(|text| shown(&text.text));
        }
        let hole = program.value.hole;
        if program.value.has_hole() {
            if hole.is_some_and(|hole| hole.net) {
                self.executes(Executed::Input, span);
                self.flow(FlowKind::NetToExec, span);
            }
            let why = match hole.map(|hole| hole.why) {
                Some(Why::Substitution) => Why::ProgramFromSubstitution,
                _ => Why::ProgramFromVariable,
            };
            self.unknown(why, FactSet::EVERYTHING, program.span);
            if program.text().contains(HOLE) {
                // It may run what stands in its arguments: `$SUDO rm x`.
                self.carried_command("?", rest, span, &world, input);
                return After::same(world, Output::default());
            }
        }
        if is_pattern(program.text()) {
            self.unknown(Why::ProgramFromPattern, FactSet::EVERYTHING, program.span);
            return After::same(world, Output::default());
        }
        let text = program.text();
        if let Some(function) = world.function(text).filter(|_| calls_functions) {
            return self.call(text, &function, rest, span, world, input);
        }
        let aliases = world.aliases.iter().filter(|(alias, _)| calls_functions && *alias == text);
        let aliases: Vec<String> = aliases.map(|(_, code)| code.clone()).collect();
        if !aliases.is_empty() {
            return aliases.iter().fold(After::default(), |after, code| {
                let ran = self.alias(text, code, rest, program.span, world.clone(), input);
                self.either(after, ran)
            });
        }
        if text.contains('/') {
            return self.run_path(program, rest, span, world, input);
        }
        self.program(text, rest, span, world, input)
    }

    /// Follows an alias of the line, with its arguments. Whether a shell expands it is not known.
    fn alias(&mut self, name: &str, code: &str, args: &[Arg], span: Span, mut world: World, input: &Input) -> After {
        self.unknown(Why::SessionAlias, FactSet::EFFECTS, span);
        // In its own text the name is the program.
        world.aliases.retain(|(other, _)| other != name);
        let mut code = Value::known(code);
        for arg in args {
            code.text.push_str(" '");
            code.text.push_str(&arg.text().replace('\'', "'\\''"));
            code.text.push('\'');
            code.hole = code.hole.or(arg.value.hole);
        }
        self.code(&code, span, name, vec![world], input)
    }

    fn run_path(&mut self, program: &Arg, rest: &[Arg], span: Span, world: World, input: &Input) -> After {
        let place = self.place_of(&program.value, &world);
        let folder = crate::resolve::parent(&place.path).to_owned();
        if SYSTEM_FOLDERS.contains(&folder.as_str()) && place.why.is_none() {
            return self.program(&shown(base_name(program.text())), rest, span, world, input);
        }
        match self.run_written(&program.value, ScriptReader::FirstLine, rest, span, world.child()) {
            Some(after) => After::same(world, after.output),
            None => {
                self.run_script(&program.value, program.span, &world);
                self.carried_command(&shown(base_name(program.text())), rest, span, &world, input);
                After::same(world, Output::default())
            }
        }
    }

    /// Runs a file that is in no table.
    pub(crate) fn run_script(&mut self, file: &Value, span: Span, world: &World) {
        let place = self.place_of(file, world);
        if let Some(why) = place.why {
            self.unknown(why, FactSet::EVERYTHING, span);
        }
        let path = shown(&place.path);
        if self.is_downloaded(&path) {
            self.flow(FlowKind::NetToExec, span);
        }
        self.executes(Executed::Path(path), span);
        self.unknown(Why::ScriptFile, FactSet::EFFECTS, span);
    }

    fn call(
        &mut self,
        name: &str,
        function: &crate::resolve::Function,
        args: &[Arg],
        span: Span,
        mut world: World,
        input: &Input,
    ) -> After {
        let (positional, known) = (Rc::clone(&world.positional), world.knows_positional);
        world.positional = values(args);
        world.knows_positional = true;
        let mut after = self.nested(name, span, vec![world], |evaluator, worlds| {
            // The body's own spans, unless the call itself comes from one word.
            evaluator.origin = match evaluator.origin {
                Origin::From(word) if function.origin == Origin::At(0) => Origin::From(word),
                _ => function.origin,
            };
            evaluator.node(&function.body, worlds, input)
        });
        for world in after.success.iter_mut().chain(&mut after.failure) {
            world.positional.clone_from(&positional);
            world.knows_positional = known;
        }
        after
    }

    pub(crate) fn redirects(&mut self, redirects: &[Redirect], world: &mut World, input: &Input) -> Redirected {
        let mut result = Redirected { input: input.clone(), leaves: false, connects: false, targets: Vec::new() };
        for redirect in redirects {
            if !self.takes_word(redirect.span) {
                break;
            }
            self.redirect(redirect, world, &mut result);
        }
        result
    }

    fn redirect(&mut self, redirect: &Redirect, world: &mut World, result: &mut Redirected) {
        let span = self.span(redirect.span);
        let word = match &redirect.target {
            RedirectTarget::Word(word) => word,
            RedirectTarget::HereDocument(document) => {
                let text = self.single(&document.word.pieces, world);
                result.input = fed(text);
                return;
            }
        };
        let value = match redirect.operator {
            RedirectOperator::HereString => self.single(&word.pieces, world),
            _ => {
                let mut fields = self.fields(word, world);
                if fields.len() == 1 { fields.pop().unwrap_or_default() } else { self.single(&word.pieces, world) }
            }
        };
        let is_output = redirect.descriptor.is_none_or(|number| number == 1);
        match redirect.operator {
            RedirectOperator::HereString => {
                let mut value = value;
                value.text.push('\n');
                result.input = fed(value);
            }
            RedirectOperator::HereDocument => {}
            RedirectOperator::Duplicate => {
                let is_number = value.text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
                if is_number {
                    result.leaves |= is_output && value.text == "2";
                    let is_open = value.text.parse().is_ok_and(|number: u32| self.connections.contains(&number));
                    // What a connection sends is read.
                    if is_open || result.connects && redirect.descriptor == Some(0) {
                        result.input = Input { is_fed: true, net: true, ..Input::default() };
                    }
                } else {
                    self.output_to(&value, span, world, result, false);
                }
            }
            RedirectOperator::Read => {
                self.open_connection(&value, redirect);
                self.input_from(&value, span, world, result);
            }
            RedirectOperator::ReadWrite => {
                self.open_connection(&value, redirect);
                self.input_from(&value, span, world, result);
                if !value.text.starts_with("/dev/tcp/") {
                    self.use_value(Use::Write, &value, span, world);
                }
            }
            RedirectOperator::Write | RedirectOperator::Append => {
                let (leaves, targets) = (result.leaves, result.targets.len());
                let appends = redirect.operator == RedirectOperator::Append;
                self.output_to(&value, span, world, result, appends);
                if !is_output {
                    result.leaves = leaves;
                    result.targets.truncate(targets);
                }
            }
        }
    }

    /// Remembers the number of a file that is a connection.
    fn open_connection(&mut self, value: &Value, redirect: &Redirect) {
        if device_host(&value.text).is_some() || self.pipe(value).is_some_and(|pipe| pipe.net) {
            self.connections.extend(redirect.descriptor.filter(|number| *number > 2));
        }
    }

    fn output_to(&mut self, value: &Value, span: Span, world: &World, result: &mut Redirected, appends: bool) {
        result.leaves = true;
        if value.is_pipe() {
            return;
        }
        if let Some(host) = device_host(&value.text) {
            self.network(host, span);
            result.connects = true;
            return;
        }
        self.use_value(Use::Write, value, span, world);
        result.targets.push(OutputFile { path: shown(&self.place_of(value, world).path), appends });
    }

    fn input_from(&mut self, value: &Value, span: Span, world: &World, result: &mut Redirected) {
        result.input = Input { is_fed: true, ..Input::default() };
        if let Some(pipe) = self.pipe(value) {
            result.input = Input { is_fed: true, text: pipe.text, net: pipe.net, secret: pipe.secret, file: None };
            return;
        }
        if let Some(host) = device_host(&value.text) {
            self.network(host, span);
            result.input.net = true;
            return;
        }
        self.use_value(Use::Read, value, span, world);
        let path = shown(&self.place_of(value, world).path);
        if path == "/dev/null" {
            result.input.text = Some(Value::default());
        } else {
            result.input.secret = is_secret(&path);
            result.input.net = self.downloaded.iter().any(|file| file.path == path);
            result.input.file = Some(value.clone());
        }
    }

    /// Returns what a pipe of `<(…)` gives.
    pub(crate) fn pipe(&self, value: &Value) -> Option<Output> {
        let number = value.text.strip_prefix(PIPE)?.parse::<usize>().ok()?;
        self.pipes.get(number.checked_sub(1)?).cloned()
    }

    fn assign(&mut self, assignment: &Assignment, world: &mut World) {
        let span = self.span(assignment.span);
        if let Some(subscript) = &assignment.subscript {
            let index = self.single(subscript, world);
            self.subscript_text(&index, span);
        }
        let value = match &assignment.value {
            AssignedValue::Word(word) => Variable::Text(self.single(&word.pieces, world)),
            AssignedValue::Array(words) => {
                let mut fields = Vec::new();
                self.all_fields(words, world, |value, _| fields.push(value));
                Variable::Array(array(fields, span))
            }
        };
        if assignment.subscript.is_some() {
            let hole = self.hole(Why::UnsetVariable, assignment.span);
            world.set(&assignment.name, Variable::Text(Value::unknown(hole)));
            return;
        }
        let value = match (assignment.appends, world.variable(&assignment.name), value) {
            (true, Some(Variable::Text(old)), Variable::Text(new)) => {
                let mut joined = old.clone();
                joined.push(&new);
                Variable::Text(joined)
            }
            (true, Some(Variable::Array(old)), Variable::Array(new)) => {
                Variable::Array(old.iter().cloned().chain(new).collect())
            }
            (true, None, Variable::Text(new)) => {
                let mut joined = self.lookup(&assignment.name, assignment.span, world);
                joined.push(&new);
                Variable::Text(joined)
            }
            (_, _, value) => value,
        };
        if let Variable::Text(value) = &value {
            self.variable_effect(&assignment.name, value, span, world);
        }
        world.set(&assignment.name, value);
    }

    /// What a variable does to programs that run later.
    pub(crate) fn variable_effect(&mut self, name: &str, value: &Value, span: Span, world: &World) {
        let Some(kind) = self.tables.variable(name) else { return };
        match kind {
            VariableKind::Library | VariableKind::ShellScript => {
                let path = shown(&self.place_of(value, world).path);
                self.executes(Executed::Path(path), span);
                self.unknown(Why::VariableRunsCode, FactSet::EFFECTS, span);
            }
            VariableKind::Command => {
                self.task("hook", name, span);
                let text = value.text.trim_start_matches('|').to_owned();
                self.code(&Value { text, hole: value.hole }, span, name, vec![world.clone()], &Input::default());
            }
            // What is found before is still found: only folders behind are new.
            VariableKind::Search if value.text.starts_with(HOLE) => {}
            VariableKind::Search if value.text.split(':').all(|folder| SYSTEM_FOLDERS.contains(&folder)) => {}
            VariableKind::Search => self.unknown(Why::VariableRunsCode, FactSet::EFFECTS, span),
            VariableKind::TraceText => self.expanded_text(name, value, span, world),
            // An interactive shell that gets it runs it.
            VariableKind::Prompt | VariableKind::PromptText => {}
        }
    }

    /// A text that a shell expands later, as between double quotes.
    fn expanded_text(&mut self, name: &str, value: &Value, span: Span, world: &World) {
        if !super::expand::has_substitution(&value.text) {
            return;
        }
        if value.has_hole() || value.text.contains(['"', '\\']) {
            self.unknown(Why::EvaluatedTwice, FactSet::EVERYTHING, span);
            return;
        }
        let code = Value::known(format!(": \"{}\"", value.text));
        self.code(&code, span, name, vec![world.child()], &Input::default());
    }

    /// What the variables of an interactive shell run when it asks for a command.
    pub(crate) fn prompts(&mut self, span: Span, world: &World) {
        let tables = self.tables;
        let values = |name: &str| match world.variable(name) {
            Some(Variable::Text(value)) => vec![value.clone()],
            Some(Variable::Array(values)) => values.clone(),
            Some(Variable::Unset) | None => Vec::new(),
        };
        for name in tables.variables_of(VariableKind::Prompt) {
            for value in values(name) {
                self.code(&value, span, name, vec![world.child()], &Input::default());
            }
        }
        for name in tables.variables_of(VariableKind::PromptText) {
            for value in values(name) {
                self.expanded_text(name, &value, span, world);
            }
        }
    }

    /// Notes that a program in no table runs.
    pub(crate) fn no_table(&mut self, why: Why, span: Span) {
        self.unknown(why, FactSet::EFFECTS, span);
    }

    /// Marks the facts that an unknown argument may decide.
    pub(crate) fn unknown_kinds(&mut self, value: &Value, kinds: &[FactKind], span: Span) {
        if let Some(hole) = value.hole {
            self.unknown(hole.why, FactSet::of(kinds), span);
        }
    }
}

/// The elements of an array, of which some may name their own place: `([2]=x)`.
fn array(fields: Vec<Value>, span: Span) -> Vec<Value> {
    let mut array: Vec<Value> = Vec::with_capacity(fields.len());
    for field in fields {
        let Some((place, text)) = field.text.strip_prefix(BRACKET).and_then(|rest| rest.split_once("]=")) else {
            array.push(field);
            continue;
        };
        let element = Value { text: text.to_owned(), hole: field.hole };
        match place.parse::<usize>() {
            Ok(place) if place < MOST_ELEMENTS => {
                array.resize(array.len().max(place + 1), Value::default());
                if let Some(old) = array.get_mut(place) {
                    *old = element;
                }
            }
            // A name, or a place that is too far away: only all of them are known, and none by its place.
            Ok(_) | Err(_) => {
                let hole = Hole { why: Why::UnsetVariable, span, net: false, secret: false };
                array.push(Value { hole: element.hole.or(Some(hole)), ..element });
            }
        }
    }
    array
}

/// How many facts there were before a command.
#[derive(Clone, Copy)]
struct FactCounts {
    reads: usize,
    writes: usize,
    deletes: usize,
    hosts: usize,
}

impl FactCounts {
    fn of(facts: &Accesses) -> Self {
        Self {
            reads: facts.reads.len(),
            writes: facts.writes.len(),
            deletes: facts.deletes.len(),
            hosts: facts.network.len(),
        }
    }
}

fn fed(text: Value) -> Input {
    let hole = text.hole;
    Input {
        is_fed: true,
        text: Some(text),
        net: hole.is_some_and(|hole| hole.net),
        secret: hole.is_some_and(|hole| hole.secret),
        file: None,
    }
}

/// Returns the host of `/dev/tcp/host/port`.
fn device_host(path: &str) -> Option<NetworkHost> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    Some(named(rest.split('/').next().unwrap_or_default()))
}

/// Gives variables that were set for one command their old values.
fn restore(mut after: After, assignments: &[Assignment], before: &World) -> After {
    for world in after.success.iter_mut().chain(&mut after.failure) {
        for assignment in assignments {
            world.copy_variable(&assignment.name, before);
        }
    }
    after
}
