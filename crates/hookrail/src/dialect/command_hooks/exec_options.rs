//! The keys of an entry that choose faster ways to run. An invalid value is reported, and the default is used.

use std::num::NonZeroU8;

use crate::config::diagnostic::{Code, Diagnostic};
use crate::config::{Document, Node, Shape};
use crate::hook::exec_options::{ExecOptions, ProcessLifetime, ShellUse, StdinKind};

/// The options of an entry, and the problems with them.
pub(super) fn read(document: &Document, node: &Node) -> (ExecOptions, Vec<Diagnostic>) {
    let mut reader = Reader { document, node, found: Vec::new() };
    let shell = reader.choice("shell", ShellUse::ALL.map(|shell| (shell.name(), shell)));
    let stdin = reader.choice("stdin", StdinKind::ALL.map(|stdin| (stdin.name(), stdin)));
    let mode = reader.choice("mode", [("once", ProcessLifetime::Once), ("worker", ProcessLifetime::Worker)]);
    let life = match (mode, reader.prewarm()) {
        (ProcessLifetime::Once, Some(count)) => ProcessLifetime::Prewarmed(count),
        (mode, _) => mode,
    };
    if life == ProcessLifetime::Worker {
        reader.without_effect("stdin", "a worker reads one line after the other from a pipe");
        reader.without_effect("prewarm", "a worker is started once and stays");
    } else if life != ProcessLifetime::Once {
        reader.without_effect("stdin", "a process that is started before its event waits at a pipe");
    }
    (ExecOptions { shell, stdin, lifetime: life }, reader.found)
}

struct Reader<'d> {
    document: &'d Document,
    node: &'d Node,
    found: Vec<Diagnostic>,
}

impl Reader<'_> {
    /// How many processes are to be started before their event.
    fn prewarm(&mut self) -> Option<NonZeroU8> {
        let value = self.node.get("prewarm")?;
        let Some(count) = whole_number(value) else {
            let message =
                format!("`prewarm` must be a whole number from 0 to {}; 0 applies", ProcessLifetime::MOST_PREWARMED);
            self.found.push(self.document.finding(Code::SettingValue, &value.span, message));
            return None;
        };
        NonZeroU8::new(count)
    }

    /// Reports a key that conflicts with another key.
    fn without_effect(&mut self, key: &str, why: &str) {
        let asks = |value: &&Node| value.text() == Some("file") || whole_number(value).is_some_and(|count| count > 0);
        let Some(value) = self.node.get(key).filter(asks) else { return };
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
        self.found.push(finding.suggest(written, names));
        T::default()
    }
}

/// A number of processes, if it is one.
fn whole_number(value: &Node) -> Option<u8> {
    let Shape::Number(number) = &value.shape else { return None };
    let number: f64 = number.parse().ok()?;
    (0..=ProcessLifetime::MOST_PREWARMED).find(|count| f64::from(*count) == number)
}
