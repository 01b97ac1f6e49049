//! Builtins that change the shell, or that give a text.

use super::carried_code::joined;
use super::evaluate::{After, Evaluator, Input, Output};
use super::line_files::ScriptReader;
use super::options::{Arg, values};
use super::record::Use;
use crate::facts::{Executed, FactSet, FlowKind, Why};
use crate::lexer::{decode_ansi_c, is_mark};
use crate::resolve::{HOLE, Hole, Value, Variable, World, join, normal, parent};
use crate::syntax::Span;

/// The builtins that are followed here.
const NAMES: [&str; 26] = [
    "cd",
    "chdir",
    "pushd",
    "popd",
    "eval",
    ".",
    "source",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "set",
    "shift",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "printf",
    "echo",
    "test",
    "[",
    "let",
    "alias",
    "trap",
];

impl Evaluator<'_> {
    /// Runs a builtin, if the name is one that is not a row of the tables.
    pub(crate) fn builtin(
        &mut self,
        name: &str,
        args: &[Arg],
        span: Span,
        world: &World,
        input: &Input,
    ) -> Option<After> {
        if !NAMES.contains(&name) {
            return None;
        }
        let mut next = world.clone();
        let sets_names = matches!(
            name,
            "export"
                | "declare"
                | "typeset"
                | "local"
                | "readonly"
                | "unset"
                | "read"
                | "mapfile"
                | "readarray"
                | "alias"
        );
        if sets_names && !self.affords(args.len().saturating_mul(16)) {
            return Some(After::same(next, Output::default()));
        }
        Some(match name {
            "cd" | "chdir" => self.change_folder(args, world, false),
            "pushd" => self.change_folder(args, world, true),
            "popd" => match next.folders.pop() {
                Some(folder) => {
                    next.folder = folder;
                    After { success: vec![next], failure: Vec::new(), output: Output::default() }
                }
                // Without a folder to go back to it fails, and changes nothing.
                None => After { success: Vec::new(), failure: vec![next], output: Output::default() },
            },
            "eval" => {
                let code = joined(args.strip_prefix_of("--"));
                let span = args
                    .first()
                    .map_or(span, |first| Span { start: first.span.start, end: span.end.max(first.span.end) });
                self.code(&code, span, name, vec![next], input)
            }
            "." | "source" => self.source(name, args, span, world, input),
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(name, args, span, next),
            "unset" => {
                for arg in args.iter().filter(|arg| !arg.text().starts_with('-')) {
                    self.subscript_text(&arg.value, arg.span);
                    next.set(arg.text(), Variable::Unset);
                    next.forget_function(arg.text());
                }
                After::same(next, Output::default())
            }
            "set" => self.set_options(args, span, next),
            "shift" => {
                let count =
                    args.first().and_then(|arg| arg.text().parse().ok()).unwrap_or(1).min(next.positional.len());
                self.charge(next.positional.len().saturating_mul(8));
                next.positional = next.positional.get(count..).unwrap_or_default().to_vec().into();
                After::same(next, Output::default())
            }
            "read" | "mapfile" | "readarray" | "getopts" => self.read_variables(name, args, span, next, input),
            "printf" => self.printf(args, span, next),
            "echo" => After::same(next, Output { text: Some(echo(args)), ..Output::default() }),
            "test" | "[" => {
                let mut operands = args.iter();
                while let Some(arg) = operands.next() {
                    if matches!(arg.text(), "-v" | "-R")
                        && let Some(operand) = operands.next()
                    {
                        self.subscript_text(&operand.value, operand.span);
                    }
                }
                After::same(next, Output::default())
            }
            "let" => {
                for arg in args {
                    self.subscript_text(&arg.value, arg.span);
                    self.evaluated_names(arg.text(), arg.span, world);
                }
                After::same(next, Output::default())
            }
            "alias" => {
                for (name, value) in args.iter().filter_map(|arg| arg.text().split_once('=')) {
                    next.alias(name, value);
                }
                After::same(next, Output::default())
            }
            "trap" => {
                let operands = args.strip_prefix_of("--");
                if let [code, _, ..] = operands
                    && !matches!(code.text(), "" | "-" | "-l" | "-p")
                {
                    // The function that it calls may be defined later.
                    if is_name(code.text()) && next.function(code.text()).is_none() {
                        next.late_traps.push((code.value.clone(), code.span));
                    } else {
                        self.code(&code.value, code.span, name, vec![next.clone()], input);
                    }
                }
                After::same(next, Output::default())
            }
            _ => return None,
        })
    }

    fn change_folder(&mut self, args: &[Arg], world: &World, keeps: bool) -> After {
        let operand = args.iter().find(|arg| !arg.text().starts_with('-') || arg.text() == "-");
        let mut next = world.clone();
        let target = match operand {
            Some(arg) if arg.text() == "-" => world.last_folder.clone().unwrap_or_else(|| {
                Value::unknown(Hole { why: Why::UnknownFolder, span: arg.span, net: false, secret: false })
            }),
            Some(arg) => arg.value.clone(),
            None => self.lookup("HOME", Span::default(), world),
        };
        let hole = target.hole.or(if target.text.starts_with(['/', HOLE]) { None } else { world.folder.hole });
        let is_searched = world.variable("CDPATH").is_some() && !target.text.starts_with(['/', '.']);
        let hole = if is_searched {
            hole.or_else(|| {
                operand.map(|arg| Hole { why: Why::UnknownFolder, span: arg.span, net: false, secret: false })
            })
        } else {
            hole
        };
        let folder = Value { text: join(&world.folder.text, &target.text), hole };
        self.charge(folder.text.len() / 8);
        let is_certain = hole.is_none() && self.must_exist(&folder.text, world);
        if keeps {
            next.folders.push(world.folder.clone());
        }
        next.last_folder = Some(world.folder.clone());
        next.folder = folder;
        let failure = if is_certain { Vec::new() } else { vec![world.clone()] };
        After { success: vec![next], failure, output: Output::default() }
    }

    /// Whether a folder certainly exists: the root, the home folder, and those around the current one.
    fn must_exist(&self, folder: &str, world: &World) -> bool {
        let here = normal(&world.folder.text);
        let mut current = here.as_str();
        loop {
            if current == folder {
                return true;
            }
            if current == "/" || !current.starts_with('/') {
                break;
            }
            current = parent(current);
        }
        folder == self.scene.home
            || folder == "/tmp"
            || folder == self.scene.project
            || self.scene.surroundings.is_folder(folder)
    }

    fn source(&mut self, name: &str, args: &[Arg], span: Span, world: &World, input: &Input) -> After {
        if let Some(file) = args.first() {
            if matches!(file.text(), "/dev/stdin" | "/dev/fd/0") {
                return self.code_of_input(name, span, world, world.clone(), input);
            }
            if let Some(pipe) = self.pipe(&file.value) {
                self.executes(Executed::Input, span);
                if pipe.net {
                    self.flow(FlowKind::NetToExec, span);
                }
                self.unknown(Why::CodeFromValue, FactSet::EVERYTHING, span);
            } else {
                self.use_value(Use::Read, &file.value, file.span, world);
                let parameters = args.get(1..).unwrap_or_default();
                if let Some(after) = self.run_written(&file.value, ScriptReader::Shell, parameters, span, world.clone())
                {
                    return after;
                }
                self.run_script(&file.value, file.span, world);
            }
        }
        After::same(world.clone(), Output::default())
    }

    fn declare(&mut self, name: &str, args: &[Arg], span: Span, mut world: World) -> After {
        let flags: String = args.iter().map(Arg::text).filter(|text| text.starts_with('-')).collect();
        let exports = name == "export" || flags.contains('x');
        let has_operand = args.iter().any(|arg| !arg.text().starts_with(['-', '+']));
        if !has_operand && !flags.contains(['f', 'F']) && name != "local" {
            self.facts.env_dump = Some(span);
        }
        for arg in args.iter().filter(|arg| !arg.text().starts_with(['-', '+'])) {
            self.subscript_text(&Value::known(arg.text().split('=').next().unwrap_or_default()), arg.span);
            let (name, value) = match arg.text().split_once('=') {
                Some((name, value)) => (name.trim_end_matches('+'), Some(value)),
                None => (arg.text(), None),
            };
            if let Some(value) = value {
                let text = match value.strip_prefix("~/") {
                    Some(rest) => format!("{}/{rest}", self.scene.home),
                    None => value.to_owned(),
                };
                let mut value = Value { text, hole: arg.value.hole };
                if flags.contains(['a', 'A', 'n', 'i']) {
                    value = Value::unknown(Hole { why: Why::UnsetVariable, span: arg.span, net: false, secret: false });
                    if flags.contains('i') {
                        self.subscript_text(&arg.value, arg.span);
                    }
                }
                self.variable_effect(name, &value, arg.span, &world);
                world.set(name, Variable::Text(value));
            }
            if exports {
                world.export(name);
            }
        }
        After::same(world, Output::default())
    }

    fn set_options(&mut self, args: &[Arg], span: Span, mut world: World) -> After {
        if args.is_empty() {
            self.facts.env_dump = Some(span);
        }
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.text() {
                "--" => {
                    world.positional = values(rest.as_slice());
                    world.knows_positional = true;
                    break;
                }
                "-o" | "+o" => {
                    if rest.next().is_some_and(|name| name.text() == "errexit") {
                        world.ends_on_failure = arg.text() == "-o";
                    }
                }
                text if text.starts_with('-') => {
                    world.ends_on_failure |= text.contains('e');
                    if text.ends_with('o') {
                        rest.next();
                    }
                }
                text if text.starts_with('+') => world.ends_on_failure &= !text.contains('e'),
                _ => {
                    let first = args.len() - rest.len() - 1;
                    world.positional = values(args.get(first..).unwrap_or_default());
                    break;
                }
            }
        }
        After::same(world, Output::default())
    }

    fn read_variables(&mut self, builtin: &str, args: &[Arg], span: Span, mut world: World, input: &Input) -> After {
        let valued: &[&str] = if builtin == "read" {
            &["-d", "-i", "-n", "-N", "-p", "-t", "-u"]
        } else {
            &["-d", "-n", "-O", "-s", "-u", "-C", "-c"]
        };
        let mut names = Vec::new();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            if valued.contains(&arg.text()) {
                if arg.text() == "-C"
                    && let Some(code) = rest.next()
                {
                    self.code(&code.value, code.span, builtin, vec![world.clone()], &Input::default());
                } else {
                    rest.next();
                }
            } else if !arg.text().starts_with('-') {
                self.subscript_text(&arg.value, arg.span);
                names.push(arg.text().to_owned());
            }
        }
        if builtin == "getopts" {
            names = names.into_iter().skip(1).take(1).chain(["OPTARG".to_owned(), "OPTIND".to_owned()]).collect();
        }
        if names.is_empty() {
            names.push(if builtin == "read" { "REPLY".to_owned() } else { "MAPFILE".to_owned() });
        }
        let hole = Hole { why: Why::ReadVariable, span, net: input.net, secret: input.secret };
        if let ("read", [name], Some(line)) = (builtin, names.as_slice(), only_line(input)) {
            world.set(name, Variable::Text(line));
            return After::same(world, Output::default());
        }
        for name in names {
            let name = name.split('[').next().unwrap_or_default().to_owned();
            world.set(&name, Variable::Text(Value::unknown(hole)));
        }
        After::same(world, Output::default())
    }

    fn printf(&mut self, args: &[Arg], span: Span, mut world: World) -> After {
        let operands = args.strip_prefix_of("--");
        if let [flag, variable, ..] = operands
            && flag.text() == "-v"
        {
            self.subscript_text(&variable.value, variable.span);
            let hole = Hole { why: Why::ReadVariable, span, net: false, secret: false };
            let (name, is_element) = match variable.text().split_once('[') {
                Some((name, _)) => (name, true),
                None => (variable.text(), false),
            };
            let text = operands.get(2..).and_then(printf_text).filter(|_| !is_element);
            world.set(name, Variable::Text(text.unwrap_or_else(|| Value::unknown(hole))));
            return After::same(world, Output::default());
        }
        let text = printf_text(operands);
        After::same(world, Output { text, ..Output::default() })
    }

    /// Names whose values an arithmetic expression evaluates.
    fn evaluated_names(&mut self, text: &str, span: Span, world: &World) {
        for name in text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_') {
            if let Some(Variable::Text(value)) = world.variable(name)
                && super::expand::has_substitution(&value.text)
            {
                self.unknown(Why::EvaluatedTwice, FactSet::EVERYTHING, span);
            }
        }
    }
}

/// The line that `read` finds on its input, if the line of the shell says it and it is the only one.
fn only_line(input: &Input) -> Option<Value> {
    let text = input.text.as_ref().filter(|text| !text.has_hole())?;
    let line = text.text.trim_end_matches('\n').trim();
    (!line.is_empty() && !line.contains(['\n', '\\'])).then(|| Value::known(line))
}

/// Whether a text is the name of a function or a program.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Arguments without a first word.
trait WithoutFirst {
    fn strip_prefix_of(&self, first: &str) -> &[Arg];
}

impl WithoutFirst for [Arg] {
    fn strip_prefix_of(&self, first: &str) -> &[Arg] {
        match self.split_first() {
            Some((arg, rest)) if arg.text() == first => rest,
            _ => self,
        }
    }
}

fn echo(args: &[Arg]) -> Value {
    let is_flag = |arg: &&Arg| {
        arg.text().strip_prefix('-').is_some_and(|letters| {
            !letters.is_empty() && letters.bytes().all(|byte| matches!(byte, b'n' | b'e' | b'E'))
        })
    };
    let flags = args.iter().take_while(is_flag).count();
    let decodes = args.iter().take(flags).any(|arg| arg.text().contains('e'));
    let ends = !args.iter().take(flags).any(|arg| arg.text().contains('n'));
    let mut text = joined(args.get(flags..).unwrap_or_default());
    if decodes {
        text.text = decoded(&text.text);
    }
    if ends {
        text.text.push('\n');
    }
    text
}

/// Decodes escapes between the characters that stand for what is not known.
fn decoded(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    for part in text.split_inclusive(is_mark) {
        let escaped = part.trim_end_matches(is_mark);
        decoded.push_str(&decode_ansi_c(escaped));
        decoded.push_str(part.get(escaped.len()..).unwrap_or_default());
    }
    decoded
}

/// What `printf` prints, if its format has only texts.
fn printf_text(operands: &[Arg]) -> Option<Value> {
    let (format, values) = operands.split_first()?;
    let format_text = decode_ansi_c(format.value.plain()?);
    let mut result = Value::default();
    let mut values = values.iter();
    loop {
        let before = values.len();
        let mut rest = format_text.as_str();
        while let Some(index) = rest.find('%') {
            result.text.push_str(rest.get(..index)?);
            let letter = rest.get(index + 1..)?.chars().next()?;
            match letter {
                '%' => result.text.push('%'),
                's' | 'd' | 'q' => {
                    if let Some(value) = values.next() {
                        result.push(&value.value);
                    }
                }
                'b' => {
                    if let Some(value) = values.next() {
                        result.push(&Value { text: decoded(value.text()), hole: value.value.hole });
                    }
                }
                _ => return None,
            }
            rest = rest.get(index + 2..)?;
        }
        result.text.push_str(rest);
        if values.len() == 0 || values.len() == before {
            return Some(result);
        }
    }
}
