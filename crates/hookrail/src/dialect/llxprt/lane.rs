//! The keys of a hook's entry that ask for a faster way. A value that is not one is reported, and the default applies.

use super::settings::with_suggestion;
use crate::config::{Document, Node};
use crate::diagnostic::{Code, Diagnostic};
use crate::lane::{Lane, Life, ShellUse, StdinKind};

/// What an entry asks for, and what is wrong with how it does.
pub(super) fn read(document: &Document, node: &Node) -> (Lane, Vec<Diagnostic>) {
    let mut reader = Reader { document, node, found: Vec::new() };
    let shell = reader.choice("shell", ShellUse::ALL.map(|shell| (shell.name(), shell)));
    let stdin = reader.choice("stdin", StdinKind::ALL.map(|stdin| (stdin.name(), stdin)));
    let life = reader.choice("mode", [("once", Life::Once), ("worker", Life::Worker)]);
    if life == Life::Worker {
        reader.without_effect("stdin", "a worker reads one line after the other from a pipe");
    }
    (Lane { shell, stdin, life }, reader.found)
}

struct Reader<'d> {
    document: &'d Document,
    node: &'d Node,
    found: Vec<Diagnostic>,
}

impl Reader<'_> {
    /// Reports a key that asks for something that another key has ruled out.
    fn without_effect(&mut self, key: &str, why: &str) {
        let Some(value) = self.node.get(key).filter(|value| value.text() == Some("file")) else { return };
        let message = format!("`{key}` has no effect here: {why}");
        self.found.push(self.document.finding(Code::SettingValue, &value.span, message));
    }

    /// One of several words; the first is the default.
    fn choice<T: Copy + Default, const N: usize>(&mut self, key: &str, choices: [(&'static str, T); N]) -> T {
        let Some(value) = self.node.get(key) else { return T::default() };
        let written = value.text().unwrap_or_default();
        if let Some((_, chosen)) = choices.iter().find(|(name, _)| *name == written) {
            return *chosen;
        }
        let names = choices.map(|(name, _)| name);
        let list = names.map(|name| format!("\"{name}\"")).join(" or ");
        let default = names.first().copied().unwrap_or_default();
        let message = format!("`{key}` must be {list}; \"{default}\" applies");
        let finding = self.document.finding(Code::SettingValue, &value.span, message);
        self.found.push(with_suggestion(finding, written, names));
        T::default()
    }
}
