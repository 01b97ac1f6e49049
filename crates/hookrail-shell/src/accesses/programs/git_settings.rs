//! Settings of git, some of which run programs.

use super::divide;
use super::git::GitCall;
use crate::accesses::evaluate::Evaluator;
use crate::accesses::options::Arg;
use crate::accesses::record::Use;
use crate::facts::{FactSet, GitFact, Why};
use crate::resolve::Value;
use crate::syntax::Span;

impl Evaluator<'_> {
    /// What the settings of `-c` run.
    pub(super) fn git_running_settings(&mut self, git: &GitCall<'_>) {
        for (name, value) in &git.settings {
            self.git_setting(name, value, git.call.span, git);
        }
    }

    /// A setting `name=value` in one argument.
    pub(super) fn git_running_setting(&mut self, arg: &Arg, git: &GitCall<'_>) {
        let (name, value) = arg.text().split_once('=').unwrap_or((arg.text(), "true"));
        self.git_setting(name, &Value { text: value.to_owned(), hole: arg.value.hole }, arg.span, git);
    }

    fn git_setting(&mut self, name: &str, value: &Value, span: Span, git: &GitCall<'_>) {
        if !self.tables.is_running_setting(name) {
            return;
        }
        let is_switch = matches!(value.text.as_str(), "" | "true" | "false" | "cat" | "less" | "input");
        if is_switch && value.hole.is_none() {
            return;
        }
        self.task("hook", name, span);
        if name.eq_ignore_ascii_case("core.hookspath") {
            self.unknown(Why::SettingRunsCode, FactSet::EFFECTS, span);
            return;
        }
        let code = Value { text: value.text.trim_start_matches('!').to_owned(), hole: value.hole };
        self.code(&code, span, git.call.name, vec![git.world.child()], &Default::default());
    }

    pub(super) fn git_config(&mut self, git: &GitCall<'_>) {
        let divided = divide(git.args, "f file blob type default comment value", "", false);
        let mut operands = divided.operands.as_slice();
        let mut writes =
            divided.has_any(&["unset", "unset-all", "add", "replace-all", "rename-section", "remove-section"]);
        let edits = divided.options.iter().any(|option| matches!(option.name.as_str(), "e" | "edit"));
        if let Some((action, rest)) = operands.split_first() {
            match action.text() {
                "set" | "unset" => {
                    writes = true;
                    operands = rest;
                }
                "get" | "list" => return,
                _ => {}
            }
        }
        let reads_only = divided.has_any(&["get", "get-all", "get-regexp", "list", "get-urlmatch", "get-color"])
            || divided.options.iter().any(|option| option.name == "l");
        writes |= operands.len() > 1 && !reads_only;
        if edits {
            self.unknown(Why::Editor, FactSet::EFFECTS, git.call.span);
            writes = true;
        }
        if !writes {
            return;
        }
        self.git(GitFact::ConfigWrite, git.call.span);
        let home = self.scene.home;
        for file in divided.values(&["f", "file"]) {
            self.use_value(Use::Write, &file.value, file.span, &git.world);
        }
        if divided.has_any(&["global"]) {
            self.use_value(Use::Write, &Value::known(format!("{home}/.gitconfig")), git.call.span, &git.world);
        }
        if divided.has_any(&["system"]) {
            self.use_value(Use::Write, &Value::known("/etc/gitconfig"), git.call.span, &git.world);
        }
        if let [name, value, ..] = operands {
            let key = name.text().to_lowercase();
            if key.starts_with("alias.") || key.starts_with("remote.") {
                self.git_settings.push((key, value.text().to_owned()));
            } else if self.tables.is_running_setting(&key) {
                // It runs with a later command of git.
                self.git_setting(&key, &value.value, value.span, git);
            }
        }
    }
}
