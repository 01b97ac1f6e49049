//! Programs that take operands from standard input.

use super::{Call, divide};
use crate::accesses::evaluate::{After, Evaluator, Output};
use crate::accesses::options::Arg;
use crate::accesses::record::Use;
use crate::facts::{FactSet, Why};
use crate::resolve::{Hole, Value};

/// The most commands that are made of operands.
const MOST_COMMANDS: usize = 32;

impl Evaluator<'_> {
    pub(super) fn xargs(&mut self, call: &Call<'_>) -> After {
        let divided = divide(
            call.args,
            "I n P L s d a E max-args max-procs max-lines max-chars delimiter arg-file eof replace process-slot-var",
            "i l e",
            true,
        );
        let mut input = call.input.text.clone();
        for file in divided.values(&["a", "arg-file"]) {
            self.use_value(Use::Read, &file.value, file.span, call.world);
            input = None;
        }
        let mark = divided.values(&["I", "replace", "i"]).next().map(|arg| arg.text().to_owned());
        let mark = mark.or_else(|| divided.has_any(&["i", "replace"]).then(|| "{}".to_owned()));
        let hole =
            Hole { why: Why::OperandsFromInput, span: call.span, net: call.input.net, secret: call.input.secret };
        let unknown = || vec![Value::unknown(hole)];
        let items = match input {
            Some(text) if !text.has_hole() => {
                let separator = divided.values(&["d", "delimiter"]).next().map(|arg| arg.text().to_owned());
                items(&text.text, mark.is_some(), divided.has_any(&["0", "null"]), separator.as_deref())
            }
            _ => unknown(),
        };
        let mut command = divided.operands.clone();
        if command.is_empty() {
            return After::same(call.world.clone(), Output { text: call.input.text.clone(), ..Output::default() });
        }
        match mark {
            Some(mark) if !mark.is_empty() => {
                self.limit_items(items.len(), call);
                for item in items.iter().take(MOST_COMMANDS) {
                    let Some(args) = self.with_item(&command, &mark, item) else { break };
                    self.wrapped(call.name, &args, call.span, call.world.child(), &Default::default());
                }
            }
            _ => {
                command.extend(items.into_iter().map(|value| Arg { value, span: call.span }));
                self.wrapped(call.name, &command, call.span, call.world.child(), &Default::default());
            }
        }
        After::same(call.world.clone(), Output::default())
    }

    /// Says that commands of some items are not followed.
    fn limit_items(&mut self, count: usize, call: &Call<'_>) {
        if count > MOST_COMMANDS {
            self.unknown(Why::TooManyCommands, FactSet::EVERYTHING, call.span);
        }
    }

    /// Puts an item in the place of its mark in every word. None if that is too much.
    pub(super) fn with_item(&mut self, command: &[Arg], mark: &str, item: &Value) -> Option<Vec<Arg>> {
        let replaced = |arg: &Arg| {
            let places = arg.text().matches(mark).count();
            if !self.affords(places.saturating_mul(item.text.len())) {
                return None;
            }
            let hole = if places == 0 { arg.value.hole } else { arg.value.hole.or(item.hole) };
            Some(Arg { value: Value { text: arg.text().replace(mark, &item.text), hole }, span: arg.span })
        };
        command.iter().map(replaced).collect()
    }

    pub(super) fn parallel(&mut self, call: &Call<'_>) -> After {
        let divided = divide(
            call.args,
            "j jobs S sshlogin a arg-file joblog results I colsep C d delimiter N n max-args",
            "",
            true,
        );
        if divided.has_any(&["dry-run", "help", "version", "citation"]) {
            return After::same(call.world.clone(), Output::default());
        }
        let is_mark = |arg: &&Arg| matches!(arg.text(), ":::" | ":::+" | "::::");
        let operands = &divided.operands;
        let count = operands.iter().take_while(|arg| !is_mark(arg)).count();
        let command: Vec<Arg> = operands.iter().take(count).cloned().collect();
        let hole =
            Hole { why: Why::OperandsFromInput, span: call.span, net: call.input.net, secret: call.input.secret };
        let mut items: Vec<Value> =
            operands.iter().skip(count).filter(|arg| !is_mark(arg)).map(|arg| arg.value.clone()).collect();
        if operands.iter().any(|arg| arg.text() == "::::") || items.is_empty() {
            items = match &call.input.text {
                Some(text) if !text.has_hole() && count == operands.len() => items_of_lines(&text.text),
                _ => vec![Value::unknown(hole)],
            };
        }
        self.limit_items(items.len(), call);
        for item in items.iter().take(MOST_COMMANDS) {
            if command.is_empty() {
                self.code(item, call.span, call.name, vec![call.world.child()], &Default::default());
                continue;
            }
            let has_mark = command.iter().any(|arg| arg.text().contains("{}"));
            let Some(mut args) = self.with_item(&command, "{}", item) else { break };
            if !has_mark {
                args.push(Arg { value: item.clone(), span: call.span });
            }
            if let [only] = command.as_slice()
                && only.text().contains(' ')
            {
                let code = crate::accesses::carried_code::joined(&args);
                self.code(&code, call.span, call.name, vec![call.world.child()], &Default::default());
                continue;
            }
            self.wrapped(call.name, &args, call.span, call.world.child(), &Default::default());
        }
        After::same(call.world.clone(), Output::default())
    }
}

fn items_of_lines(text: &str) -> Vec<Value> {
    text.lines().filter(|line| !line.is_empty()).map(Value::known).collect()
}

fn items(text: &str, by_line: bool, by_zero: bool, separator: Option<&str>) -> Vec<Value> {
    if by_line {
        return items_of_lines(text);
    }
    let parts: Vec<&str> = match separator {
        Some("\\n") => text.lines().collect(),
        Some(separator) if !separator.is_empty() => text.trim_end_matches('\n').split(separator).collect(),
        _ if by_zero => text.split("\\0").flat_map(str::lines).collect(),
        _ => text.split_whitespace().collect(),
    };
    let unquoted = |part: &str| part.trim_matches(['"', '\'']).to_owned();
    parts.into_iter().filter(|part| !part.is_empty()).map(|part| Value::known(unquoted(part))).collect()
}
