//! `git push` and other subcommands that talk to remotes.

use super::divide;
use super::git::GitCall;
use crate::accesses::carried_code::joined;
use crate::accesses::evaluate::{Downloaded, Evaluator};
use crate::accesses::hosts::{host_of, remote_host};
use crate::accesses::options::Arg;
use crate::accesses::record::{Reach, Use};
use crate::facts::{FactSet, GitFact, NetworkHost, Why};
use crate::resolve::{HOLE, Value, base_name};

impl Evaluator<'_> {
    pub(super) fn git_remote_command(&mut self, name: &str, git: &GitCall<'_>) {
        match name {
            "push" | "send-pack" => self.git_push(git),
            "fetch" | "pull" | "ls-remote" | "fetch-pack" => self.git_fetch(name, git),
            "clone" => self.git_clone(git),
            "remote" => self.git_remote(git),
            "submodule" => self.git_submodule(git),
            "subtree" => self.git_subtree(git),
            "lfs" => match git.args.first().map_or("", Arg::text) {
                "pull" | "fetch" | "push" | "prune" | "checkout" => {
                    self.git_connects(None, git);
                    self.git_tree(git);
                }
                "install" | "uninstall" if !git.args.iter().any(|arg| arg.text() == "--local") => {
                    let file = Value::known(format!("{}/.gitconfig", self.scene.home));
                    self.use_value(Use::Write, &file, git.call.span, &git.world);
                }
                "track" | "untrack" | "migrate" => self.git_tree(git),
                _ => {}
            },
            _ => {
                self.git_connects(None, git);
                self.unknown(Why::Subcommand, FactSet::EFFECTS, git.call.span);
            }
        }
    }

    /// Connects to a remote that is named by its URL, or by a name of the repository.
    pub(super) fn git_connects(&mut self, remote: Option<&Arg>, git: &GitCall<'_>) {
        let span = remote.map_or(git.call.span, |remote| remote.span);
        let host = match remote.map(Arg::text) {
            Some(text) if text.contains(HOLE) => NetworkHost::Unknown,
            Some(text) if text.contains("://") && !text.starts_with("file://") => host_of(text),
            Some(text) if text.starts_with("file://") || text.starts_with('/') || text.starts_with('.') => {
                // A repository of this machine.
                return;
            }
            Some(text) => remote_host(text).unwrap_or_else(|| NetworkHost::Remote(text.to_owned())),
            None => NetworkHost::Remote("origin".to_owned()),
        };
        self.network(host, span);
    }

    fn git_push(&mut self, git: &GitCall<'_>) {
        let span = git.call.span;
        let divided = divide(
            git.args,
            "o push-option repo receive-pack exec",
            "force-with-lease recurse-submodules signed",
            false,
        );
        if divided.has_any(&["n", "dry-run"]) {
            self.git_connects(divided.operands.first(), git);
            return;
        }
        self.git(GitFact::Push, span);
        let repo = divided.values(&["repo"]).next();
        self.git_connects(divided.operands.first().or(repo), git);
        self.git_run_values(&divided, &["receive-pack", "exec"], git);
        let mut is_forced = false;
        for option in &divided.options {
            let name = option.name.as_str();
            let is_long = |long: &str| name.len() >= 3 && long.starts_with(name);
            match name {
                "no-force" => is_forced = false,
                "f" => is_forced = true,
                _ if is_long("force") || is_long("force-with-lease") || is_long("mirror") => is_forced = true,
                _ => {}
            }
        }
        let references = divided.operands.get(1..).unwrap_or_default();
        let has_plus = references.iter().any(|reference| reference.text().starts_with('+'));
        let settings = git.settings.iter().map(|(name, value)| (name, &value.text));
        let by_setting =
            settings.chain(self.git_settings.iter().map(|(name, value)| (name, value))).any(|(name, value)| {
                (name.starts_with("remote.") && name.ends_with(".mirror") && is_true(value))
                    || (name.starts_with("remote.") && name.ends_with(".push") && value.starts_with('+'))
            });
        if is_forced || has_plus || by_setting {
            self.git(GitFact::PushForce, span);
        }
        let deletes = divided.has_any(&["d", "delete", "prune"])
            || references.iter().any(|reference| {
                reference.text().trim_start_matches('+').starts_with(':') && reference.text().len() > 1
            });
        if deletes {
            self.git(GitFact::PushDelete, span);
        }
        if divided.has_any(&["no-verify"]) {
            self.git(GitFact::NoVerify, span);
        }
        for arg in git.args {
            // An argument that is not known may be an option or a reference with a plus.
            if arg.value.has_hole() && (arg.text().starts_with(HOLE) || arg.value.plain().is_some()) {
                self.unknown_kinds(&arg.value, &[crate::facts::FactKind::Git], arg.span);
            }
        }
    }

    fn git_fetch(&mut self, name: &str, git: &GitCall<'_>) {
        let divided = divide(
            git.args,
            "depth deepen shallow-since upload-pack refmap j jobs o server-option sort exec s strategy X",
            "recurse-submodules S",
            false,
        );
        self.git_connects(divided.operands.first(), git);
        self.git_run_values(&divided, &["upload-pack", "exec"], git);
        if let Some(remote) = divided.operands.first()
            && let Some(code) = remote.text().strip_prefix("ext::")
        {
            let code = Value { text: code.to_owned(), hole: remote.value.hole };
            self.code(&code, remote.span, git.call.name, vec![git.world.child()], &Default::default());
        }
        if name == "pull" {
            self.git_tree(git);
            if divided.has_any(&["r", "rebase"]) {
                self.git(GitFact::Rewrite, git.call.span);
            }
        }
    }

    fn git_clone(&mut self, git: &GitCall<'_>) {
        let valued = "b branch depth o origin u upload-pack reference reference-if-able c config template separate-git-dir j jobs shallow-since \
            server-option filter bundle-uri";
        let divided = divide(git.args, valued, "recurse-submodules", false);
        let Some(url) = divided.operands.first() else { return };
        self.git_connects(Some(url), git);
        self.git_run_values(&divided, &["u", "upload-pack"], git);
        if let Some(code) = url.text().strip_prefix("ext::") {
            let code = Value { text: code.to_owned(), hole: url.value.hole };
            self.code(&code, url.span, git.call.name, vec![git.world.child()], &Default::default());
        }
        let writes = self.facts.writes.len();
        match divided.operands.get(1) {
            Some(folder) => self.use_value(Use::Write, &folder.value, folder.span, &git.world),
            None => {
                let path = url.text().rsplit_once(':').map_or(url.text(), |(_, path)| path);
                let name = base_name(path).trim_end_matches(".git").to_owned();
                let name = if name.contains(HOLE) || name.is_empty() { "?".to_owned() } else { name };
                self.use_value(Use::Write, &Value::known(name), url.span, &git.world);
            }
        }
        let is_remote = remote_host(url.text()).is_some();
        let folders = self.facts.writes.iter().skip(writes).filter(|_| is_remote);
        self.downloaded.extend(folders.map(|fact| Downloaded { path: format!("{}/**", fact.what.path) }));
        for setting in divided.values(&["c", "config"]) {
            self.git_running_setting(setting, git);
        }
    }

    fn git_remote(&mut self, git: &GitCall<'_>) {
        match git.args.first().map_or("", Arg::text) {
            "add" | "set-url" | "rename" | "remove" | "rm" | "set-head" | "set-branches" => {
                self.git(GitFact::RemoteChange, git.call.span);
                self.git(GitFact::ConfigWrite, git.call.span);
                if git.args.iter().any(|arg| arg.text() == "--mirror=push") {
                    self.git_settings.push(("remote.new.mirror".to_owned(), "true".to_owned()));
                }
            }
            "update" | "prune" | "show" => self.git_connects(git.args.get(1), git),
            _ => {}
        }
    }

    fn git_submodule(&mut self, git: &GitCall<'_>) {
        let divided = divide(git.args, "b branch reference depth j jobs name", "", true);
        let Some((action, rest)) = divided.operands.split_first() else { return };
        match action.text() {
            "foreach" => {
                let code: Vec<Arg> = rest
                    .iter()
                    .filter(|arg| !matches!(arg.text(), "--recursive" | "--quiet" | "-q"))
                    .cloned()
                    .collect();
                self.code(&joined(&code), git.call.span, git.call.name, vec![git.world.child()], &Default::default());
            }
            "update" | "add" | "init" | "sync" => {
                let url =
                    if action.text() == "add" { rest.iter().find(|arg| arg.text().contains([':', '/'])) } else { None };
                if action.text() != "init" && action.text() != "sync" {
                    self.git_connects(url, git);
                    self.git_tree(git);
                }
            }
            "deinit" => self.git_use(Use::Delete, Reach::Below, rest.get(..).unwrap_or_default(), git),
            _ => {}
        }
    }

    fn git_subtree(&mut self, git: &GitCall<'_>) {
        let divided = divide(git.args, "P prefix m message b branch onto", "", false);
        let Some((action, rest)) = divided.operands.split_first() else { return };
        match action.text() {
            "push" => {
                self.git(GitFact::Push, git.call.span);
                self.git_connects(rest.first(), git);
                if rest.iter().any(|arg| arg.text().starts_with('+')) {
                    self.git(GitFact::PushForce, git.call.span);
                }
            }
            "pull" | "add" => {
                self.git_connects(rest.first(), git);
                self.git_tree(git);
            }
            _ => {}
        }
    }
}

fn is_true(text: &str) -> bool {
    matches!(text.to_lowercase().as_str(), "true" | "1" | "yes" | "on")
}
