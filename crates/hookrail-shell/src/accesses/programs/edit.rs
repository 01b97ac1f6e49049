//! `sed` and `awk`: programs that can write files and run commands.

use super::{Call, divide};
use crate::accesses::evaluate::Evaluator;
use crate::accesses::options::Arg;
use crate::accesses::record::Use;
use crate::facts::{Executed, FactKind, FactSet, Why};
use crate::resolve::Value;
use crate::syntax::Span;

impl Evaluator<'_> {
    pub(super) fn sed(&mut self, call: &Call<'_>) {
        let divided = divide(call.args, "e f l expression file line-length", "i in-place", false);
        if divided.has_any(&["help", "version"]) {
            return;
        }
        let mut scripts: Vec<Arg> = divided.values(&["e", "expression"]).cloned().collect();
        let files: Vec<Arg> = divided.values(&["f", "file"]).cloned().collect();
        for file in &files {
            self.use_value(Use::Read, &file.value, file.span, call.world);
            self.run_script(&file.value, file.span, call.world);
        }
        let mut operands = divided.operands.as_slice();
        if scripts.is_empty()
            && files.is_empty()
            && let Some((first, rest)) = operands.split_first()
        {
            scripts.push(first.clone());
            operands = rest;
        }
        for script in &scripts {
            self.sed_script(script, call);
        }
        let in_place = divided.has_any(&["i", "in-place"]);
        for file in operands {
            if file.text() != "-" && !file.value.is_pipe() {
                self.use_value(Use::Read, &file.value, file.span, call.world);
            }
            if in_place {
                self.use_value(Use::Write, &file.value, file.span, call.world);
            }
        }
    }

    /// Looks for commands of sed that write, read or run.
    fn sed_script(&mut self, script: &Arg, call: &Call<'_>) {
        if script.value.has_hole() {
            // Text in the place of a pattern can hold commands too.
            self.unknown_kinds(&script.value, &[FactKind::Writes, FactKind::Executes], script.span);
        }
        for line in script.text().split(['\n']) {
            let mut rest = line;
            while !rest.is_empty() {
                rest = self.sed_command(rest, script.span, call);
            }
        }
    }

    /// Reads one command and returns what is behind it.
    fn sed_command<'t>(&mut self, text: &'t str, span: Span, call: &Call<'_>) -> &'t str {
        let text = skip_address(text.trim_start_matches([' ', '\t', ';', '{', '}']));
        let mut letters = text.chars();
        let Some(command) = letters.next() else { return "" };
        let rest = letters.as_str();
        match command {
            's' => {
                let Some(delimiter) = rest.chars().next() else { return "" };
                let Some((_, behind)) = sed_parts(rest, delimiter) else { return "" };
                let flags: &str = behind.split([';', '}', ' ']).next().unwrap_or_default();
                if let Some(index) = flags.find('w') {
                    let file = behind.get(index + 1..).unwrap_or_default().trim();
                    self.sed_file(Use::Write, file, span, call);
                    return "";
                }
                if flags.contains('e') {
                    self.executes(Executed::Task("string".to_owned(), "sed".to_owned()), span);
                    self.unknown(Why::CodeFromValue, FactSet::EFFECTS, span);
                }
                behind.get(flags.len()..).unwrap_or_default()
            }
            'y' => {
                let Some(delimiter) = rest.chars().next() else { return "" };
                sed_parts(rest, delimiter).map_or("", |(_, behind)| behind)
            }
            'w' | 'W' => {
                self.sed_file(Use::Write, rest.trim(), span, call);
                ""
            }
            'r' | 'R' => {
                self.sed_file(Use::Read, rest.trim(), span, call);
                ""
            }
            'e' => {
                let code = rest.trim();
                if code.is_empty() {
                    self.unknown(Why::CodeFromValue, FactSet::EFFECTS, span);
                } else {
                    self.code(&Value::known(code), span, call.name, vec![call.world.child()], &Default::default());
                }
                ""
            }
            // Text up to the end of the line, or a label.
            'a' | 'i' | 'c' | '#' | ':' => "",
            _ => rest,
        }
    }

    fn sed_file(&mut self, how: Use, file: &str, span: Span, call: &Call<'_>) {
        if !matches!(file, "" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin") {
            self.use_value(how, &Value::known(file), span, call.world);
        }
    }

    pub(super) fn awk(&mut self, call: &Call<'_>) {
        let divided = divide(call.args, "F v f e i field-separator assign file source include", "", true);
        if divided.has_any(&["help", "version", "V"]) {
            return;
        }
        let mut operands = divided.operands.as_slice();
        let files: Vec<Arg> = divided.values(&["f", "file"]).cloned().collect();
        for file in &files {
            self.use_value(Use::Read, &file.value, file.span, call.world);
            self.run_script(&file.value, file.span, call.world);
        }
        let mut programs: Vec<Arg> = divided.values(&["e", "source"]).cloned().collect();
        if files.is_empty()
            && programs.is_empty()
            && let Some((first, rest)) = operands.split_first()
        {
            programs.push(first.clone());
            operands = rest;
        }
        let in_place = divided.values(&["i", "include"]).any(|value| value.text() == "inplace");
        for program in &programs {
            self.awk_program(program, call);
        }
        for file in
            operands.iter().filter(|file| !super::super::options::is_assignment(file.text()) && file.text() != "-")
        {
            if file.value.is_pipe() {
                continue;
            }
            self.use_value(Use::Read, &file.value, file.span, call.world);
            if in_place {
                self.use_value(Use::Write, &file.value, file.span, call.world);
            }
        }
    }

    /// Looks for what a program of awk runs, reads and writes.
    fn awk_program(&mut self, program: &Arg, call: &Call<'_>) {
        if program.value.has_hole() {
            self.unknown_kinds(
                &program.value,
                &[FactKind::Writes, FactKind::Executes, FactKind::Reads, FactKind::Deletes],
                program.span,
            );
        }
        if program.text().contains(" in ENVIRON") {
            self.facts.env_dump = Some(program.span);
        }
        let found = awk_actions(program.text());
        for code in found.runs {
            match code {
                Some(code) => {
                    self.code(
                        &Value::known(code),
                        program.span,
                        call.name,
                        vec![call.world.child()],
                        &Default::default(),
                    );
                }
                None => {
                    self.executes(Executed::Inline("awk".to_owned()), program.span);
                    self.unknown(Why::InlineCode, FactSet::EFFECTS, program.span);
                }
            }
        }
        for (how, file) in found.files {
            match file {
                Some(file) if matches!(file.as_str(), "/dev/stderr" | "/dev/stdout" | "-") => {}
                Some(file) => self.use_value(how, &Value::known(file), program.span, call.world),
                None => {
                    let kind = if how == Use::Write { FactKind::Writes } else { FactKind::Reads };
                    self.unknown(Why::InlineCode, FactSet::of(&[kind]), program.span);
                }
            }
        }
    }
}

fn skip_address(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        let Some(letter) = rest.chars().next() else { return rest };
        rest = match letter {
            '0'..='9' | '$' | ',' | '!' | '~' | '+' => rest.get(1..).unwrap_or_default(),
            '/' | '\\' => {
                let (delimiter, begin) =
                    if letter == '\\' { (rest.chars().nth(1).unwrap_or('/'), 1) } else { ('/', 0) };
                let inner = rest.get(begin + delimiter.len_utf8()..).unwrap_or_default();
                match end_of(inner, delimiter) {
                    Some(end) => {
                        let behind = inner.get(end + delimiter.len_utf8()..).unwrap_or_default();
                        behind.trim_start_matches(['I', 'M'])
                    }
                    None => return "",
                }
            }
            _ => return rest,
        };
    }
}

/// Returns the offset of the next delimiter that is not escaped or in brackets.
fn end_of(text: &str, delimiter: char) -> Option<usize> {
    let mut is_escaped = false;
    for (index, letter) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if letter == '\\' {
            is_escaped = true;
        } else if letter == delimiter {
            return Some(index);
        }
    }
    None
}

/// Returns the second part of `s/a/b/` and what is behind.
fn sed_parts(text: &str, delimiter: char) -> Option<(&str, &str)> {
    let inner = text.get(delimiter.len_utf8()..)?;
    let first = end_of(inner, delimiter)?;
    let second = inner.get(first + delimiter.len_utf8()..)?;
    let end = end_of(second, delimiter)?;
    Some((second.get(..end)?, second.get(end + delimiter.len_utf8()..)?))
}

#[derive(Default)]
struct AwkActions {
    /// Commands that are run, if they are texts.
    runs: Vec<Option<String>>,
    /// Files that are read or written, if they are texts.
    files: Vec<(Use, Option<String>)>,
}

/// Looks for `system(…)`, pipes, `getline` and redirections outside of texts and patterns.
fn awk_actions(program: &str) -> AwkActions {
    let mut found = AwkActions::default();
    let mut last_text: Option<String> = None;
    let mut rest = program;
    let mut in_print = false;
    let mut before = ' ';
    while let Some(letter) = rest.chars().next() {
        let next = rest.get(letter.len_utf8()..).unwrap_or_default();
        let mut behind = next;
        match letter {
            '"' => {
                let end = end_of(next, '"').unwrap_or(next.len());
                last_text = Some(next.get(..end).unwrap_or_default().replace("\\\"", "\""));
                behind = next.get(end + 1..).unwrap_or_default();
                before = '"';
                rest = behind;
                continue;
            }
            '#' => behind = next.split_once('\n').map_or("", |(_, rest)| rest),
            '/' if !before.is_alphanumeric() && !matches!(before, ')' | ']' | '"' | '_' | '$') => {
                let end = end_of(next, '/').unwrap_or(next.len());
                behind = next.get(end + 1..).unwrap_or_default();
            }
            '|' if next.starts_with('|') => behind = next.get(1..).unwrap_or_default(),
            '|' => {
                let target = next.trim_start_matches(['&', ' ', '\t']);
                if target.starts_with("getline") {
                    found.runs.push(last_text.take());
                } else {
                    found.runs.push(text_at(target).filter(|_| !in_shell(target)));
                }
            }
            '>' if in_print => {
                let target = next.trim_start_matches(['>', ' ', '\t']);
                found.files.push((Use::Write, text_at(target)));
                behind = target;
            }
            '<' if rest_before_is_getline(program, rest) => found.files.push((Use::Read, text_at(next.trim_start()))),
            ';' | '}' | '\n' => in_print = false,
            _ if letter.is_ascii_alphabetic() && !before.is_ascii_alphanumeric() && before != '_' => {
                let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
                let word = rest.get(..length).unwrap_or_default();
                behind = rest.get(length..).unwrap_or_default();
                match word {
                    "system" => {
                        let argument = behind.trim_start_matches([' ', '(']);
                        let text = text_at(argument).filter(|text| {
                            argument.get(text.len() + 2..).is_some_and(|rest| rest.trim_start().starts_with(')'))
                        });
                        found.runs.push(text);
                    }
                    "print" | "printf" => in_print = true,
                    _ => {}
                }
                before = 'a';
                rest = behind;
                continue;
            }
            _ => {}
        }
        if !letter.is_whitespace() {
            before = letter;
        }
        rest = behind;
    }
    found
}

/// Returns the text that begins here, if nothing is joined to it.
fn text_at(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?;
    let end = end_of(inner, '"')?;
    let behind = inner.get(end + 1..)?.trim_start();
    let ends = behind.is_empty() || behind.starts_with([';', '}', ')', '\n', '|', ',']);
    ends.then(|| inner.get(..end).unwrap_or_default().replace("\\\"", "\""))
}

/// Whether a pipe leads into a shell, which runs what is printed.
fn in_shell(target: &str) -> bool {
    let name = target.trim_start_matches('"').split(['"', ' ']).next().unwrap_or_default();
    matches!(crate::resolve::base_name(name), "sh" | "bash" | "dash" | "zsh" | "ksh" | "xargs" | "env" | "sudo")
}

fn rest_before_is_getline(program: &str, rest: &str) -> bool {
    let before = program.get(..program.len() - rest.len()).unwrap_or_default().trim_end();
    let word = before.trim_end_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_').len();
    before.ends_with("getline") || before.get(..word).unwrap_or_default().trim_end().ends_with("getline")
}
