//! Commands of `vi`, `ex` and `ed`, in options, behind `+`, and on standard input.

use crate::accesses::evaluate::{Evaluator, Input};
use crate::accesses::record::Use;
use crate::facts::{Executed, FactSet, Why};
use crate::resolve::{Value, World};
use crate::syntax::Span;

/// Commands that write the buffer to the file that is named behind them.
const WRITES: [&str; 12] = ["w", "W", "wq", "write", "x", "xit", "up", "update", "sav", "saveas", "wn", "mks"];
/// Commands that read the file that is named behind them.
const READS: [&str; 10] = ["r", "read", "e", "E", "edit", "view", "sp", "split", "tabe", "tabedit"];
/// Commands that run a script of the editor.
const SCRIPTS: [&str; 4] = ["so", "source", "ru", "runtime"];
/// Commands that run code of a language, or functions of the editor.
const CODE: [&str; 16] = [
    "call", "lua", "luado", "luafile", "py", "py3", "python", "python3", "pyx", "perl", "ruby", "tcl", "exe",
    "execute", "echo", "eval",
];

/// The most words before a command that only say where or how it is done.
const MOST_PREFIXES: usize = 16;

impl Evaluator<'_> {
    /// Follows commands of an editor in one text.
    pub(crate) fn editor_command(&mut self, command: &Value, span: Span, name: &str, world: &World) {
        if command.has_hole() {
            self.unknown(Why::CodeFromValue, FactSet::EVERYTHING, span);
        }
        let mut rest = command.text.as_str();
        while !rest.is_empty() {
            let Some(text) = without_prefixes(rest) else {
                self.unknown(Why::CodeTooDeep, FactSet::EVERYTHING, span);
                return;
            };
            if let Some(code) = shell_code(text) {
                let code = Value { text: code.to_owned(), hole: command.hole };
                self.code(&code, span, name, vec![world.child()], &Input::default());
                return;
            }
            let (one, behind) = text.split_once('|').unwrap_or((text, ""));
            self.one_editor_command(one, command, span, world);
            rest = behind;
        }
    }

    fn one_editor_command(&mut self, text: &str, command: &Value, span: Span, world: &World) {
        let length = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (word, behind) = text.split_at_checked(length).unwrap_or((text, ""));
        if CODE.contains(&word) {
            self.executes(Executed::Inline("editor".to_owned()), span);
            self.unknown(Why::InlineCode, FactSet::EFFECTS, span);
        }
        let operand = behind.trim_start_matches('!').trim().trim_start_matches(">>").trim_start();
        if operand.is_empty() {
            return;
        }
        let file = Value { text: operand.to_owned(), hole: command.hole };
        if WRITES.contains(&word) {
            self.use_value(Use::Write, &file, span, world);
        } else if READS.contains(&word) {
            self.use_value(Use::Read, &file, span, world);
        } else if SCRIPTS.contains(&word) {
            self.run_script(&file, span, world);
        }
    }

    /// Follows the commands of an editor on standard input. Text that is put into the file is no command.
    pub(crate) fn editor_script(&mut self, span: Span, name: &str, world: &World, input: &Input) {
        if !input.is_fed {
            return;
        }
        let Some(script) = input.text.clone().filter(|script| !script.has_hole()) else {
            if input.net {
                self.flow(crate::facts::FlowKind::NetToExec, span);
            }
            self.executes(Executed::Input, span);
            self.unknown(Why::TransformedCode, FactSet::EVERYTHING, span);
            return;
        };
        let mut is_text = false;
        for line in script.text.lines() {
            if is_text {
                is_text = line != ".";
                continue;
            }
            self.editor_command(&Value::known(line), span, name, world);
            let command = without_prefixes(line).unwrap_or_default();
            is_text = matches!(command.trim_end(), "a" | "i" | "c" | "append" | "insert" | "change");
        }
    }
}

/// The code of a shell in `!code`, `r !code`, `w !code`. Behind a word without a blank the mark is a stronger form of it: `w!`.
fn shell_code(text: &str) -> Option<&str> {
    let (before, code) = text.split_once('!')?;
    let is_meant = match before.trim_end() {
        "" | "r" | "read" => true,
        "w" | "write" | "e" | "E" => before.ends_with([' ', '\t']),
        _ => false,
    };
    is_meant.then_some(code)
}

/// A command without what says where or how it is done: `1,$`, `g/a/`, `silent`. None if there is too much of that.
fn without_prefixes(text: &str) -> Option<&str> {
    let mut rest = text;
    for _ in 0..MOST_PREFIXES {
        let command = without_address(rest);
        let length = command.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (word, behind) = command.split_at_checked(length)?;
        rest = match word {
            "g" | "v" | "G" | "V" | "global" | "vglobal" => behind.trim_start_matches('!'),
            "silent" | "sil" | "normal" | "norm" | "argdo" | "bufdo" | "windo" | "tabdo" => {
                behind.strip_prefix("! ").unwrap_or(behind)
            }
            _ => return Some(command),
        };
        if behind.is_empty() {
            return Some(command);
        }
    }
    None
}

/// A command without the lines that it is about: `1,$d`, `/a/d`.
fn without_address(text: &str) -> &str {
    let mut rest = text;
    for _ in 0..MOST_PREFIXES {
        rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || ":,.$;%+- \t".contains(letter));
        let behind = match rest.split_at_checked(1) {
            Some(("/", inner)) => inner.split_once('/').map(|(_, behind)| behind),
            // The name of a mark.
            Some(("'", inner)) => inner.get(1..),
            _ => None,
        };
        let Some(behind) = behind else { break };
        rest = behind;
    }
    rest
}
