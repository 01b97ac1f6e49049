//! Shells: code in an option, in a file, or on standard input.

use super::Call;
use crate::accesses::evaluate::{After, Evaluator, Input, Output};
use crate::accesses::line_files::ScriptReader;
use crate::accesses::options::{Arg, values};
use crate::accesses::record::Use;
use crate::facts::{Executed, FactSet, FlowKind, Why};
use crate::resolve::{Variable, World};
use crate::syntax::Span;

impl Evaluator<'_> {
    pub(super) fn shell(&mut self, call: &Call<'_>) -> After {
        let mut rest = call.args.iter();
        let mut has_code = false;
        let mut only_parses = false;
        let mut reads_input = false;
        let mut is_interactive = false;
        let mut start_files: Vec<Arg> = Vec::new();
        let mut operands: Vec<Arg> = Vec::new();
        while let Some(arg) = rest.next() {
            let text = arg.text();
            match text {
                "--" | "-" => {
                    operands.extend(rest.cloned());
                    break;
                }
                "--rcfile" | "--init-file" => start_files.extend(rest.next().cloned()),
                "-O" | "+O" | "-o" | "+o" => {
                    rest.next();
                }
                "--version" | "--help" => return After::same(call.world.clone(), Output::default()),
                "--login" => self.login(call),
                _ if text.starts_with("--") => {}
                _ if text.starts_with(['-', '+']) && text.len() > 1 => {
                    has_code |= text.contains('c') && text.starts_with('-');
                    only_parses |= text.contains('n') && text.starts_with('-');
                    reads_input |= text.contains('s') && text.starts_with('-');
                    is_interactive |= text.contains('i') && text.starts_with('-');
                    if text.contains('l') && text.starts_with('-') {
                        self.login(call);
                    }
                    if text.ends_with('o') {
                        rest.next();
                    }
                }
                _ => {
                    operands.push(arg.clone());
                    operands.extend(rest.cloned());
                    break;
                }
            }
        }
        if only_parses {
            if let (Some(file), false) = (operands.first(), has_code) {
                self.use_value(Use::Read, &file.value, file.span, call.world);
            }
            return After::same(call.world.clone(), Output::default());
        }
        for file in start_files.iter().filter(|_| is_interactive) {
            self.use_value(Use::Read, &file.value, file.span, call.world);
            self.run_script(&file.value, file.span, call.world);
        }
        let mut child = call.world.child();
        let asks = operands.is_empty() && (is_interactive || !call.input.is_fed);
        if asks && !has_code {
            self.prompts(call.span, &child);
        }
        if has_code {
            let Some((code, parameters)) = operands.split_first() else {
                return After::same(call.world.clone(), Output::default());
            };
            if let Some(name) = parameters.first() {
                child.set("0", Variable::Text(name.value.clone()));
            }
            child.positional = values(parameters.get(1..).unwrap_or_default());
            let after = self.code(&code.value, code.span, call.name, vec![child], call.input);
            return After::same(call.world.clone(), after.output);
        }
        match operands.split_first() {
            Some((file, parameters)) if !reads_input && !matches!(file.text(), "/dev/stdin" | "/dev/fd/0") => {
                if file.value.is_pipe() {
                    self.piped_script(file);
                } else {
                    self.use_value(Use::Read, &file.value, file.span, call.world);
                    let reader = ScriptReader::Shell;
                    if let Some(after) = self.run_written(&file.value, reader, parameters, call.span, child) {
                        return After::same(call.world.clone(), after.output);
                    }
                    self.run_script(&file.value, file.span, call.world);
                }
                After::same(call.world.clone(), Output::default())
            }
            found => {
                let parameters = found.map(|(_, rest)| rest).unwrap_or_default();
                let parameters = if reads_input { operands.as_slice() } else { parameters };
                child.positional = values(parameters);
                self.code_of_input(call.name, call.span, call.world, child, call.input)
            }
        }
    }

    fn login(&mut self, call: &Call<'_>) {
        self.executes(Executed::Path("/etc/profile".to_owned()), call.span);
    }

    /// Code on standard input, which runs in a state of its own.
    pub(crate) fn code_of_input(&mut self, via: &str, span: Span, world: &World, child: World, input: &Input) -> After {
        let after = After::same(world.clone(), Output::default());
        if !input.is_fed {
            self.unknown(Why::InteractiveShell, FactSet::EFFECTS, span);
            return after;
        }
        self.executes(Executed::Input, span);
        if let Some(text) = &input.text {
            let inner = self.code(text, span, via, vec![child], &Input::default());
            return After::same(world.clone(), inner.output);
        }
        if input.net {
            self.flow(FlowKind::NetToExec, span);
            self.unknown(Why::DownloadedCode, FactSet::EFFECTS, span);
        } else if let Some(file) = &input.file {
            if let Some(inner) = self.run_written(file, ScriptReader::Shell, &[], span, child) {
                return After::same(world.clone(), inner.output);
            }
            self.run_script(file, span, world);
        } else {
            self.unknown(Why::TransformedCode, FactSet::EVERYTHING, span);
        }
        after
    }
}
