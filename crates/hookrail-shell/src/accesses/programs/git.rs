//! `git`: its own options, and subcommands of the work tree and the repository.

use super::{Call, divide, quoted};
use crate::accesses::evaluate::Evaluator;
use crate::accesses::options::{Arg, Divided};
use crate::accesses::record::{Reach, Use};
use crate::facts::{FactKind, FactSet, GitFact, Why};
use crate::resolve::{ANY, HOLE, TRACKED, Value, Variable, World, join, with_marks};

/// A git command: its subcommand with arguments, and where it works.
pub(super) struct GitCall<'c> {
    pub(super) call: &'c Call<'c>,
    pub(super) args: &'c [Arg],
    pub(super) world: World,
    /// Settings of `-c`, with their names in lower case.
    pub(super) settings: Vec<(String, Value)>,
}

/// Subcommands that only show something, or that change nothing but the repository's own files.
const QUIET: [&str; 43] = [
    "status",
    "rev-parse",
    "describe",
    "shortlog",
    "ls-files",
    "ls-tree",
    "rev-list",
    "show-ref",
    "symbolic-ref",
    "for-each-ref",
    "name-rev",
    "merge-base",
    "var",
    "version",
    "help",
    "count-objects",
    "fsck",
    "whatchanged",
    "cherry",
    "range-diff",
    "check-ignore",
    "check-attr",
    "check-ref-format",
    "write-tree",
    "read-tree",
    "commit-tree",
    "update-index",
    "diff-tree",
    "diff-index",
    "diff-files",
    "show-branch",
    "verify-commit",
    "verify-tag",
    "mktree",
    "mktag",
    "notes",
    "repack",
    "pack-refs",
    "maintenance",
    "unpack-objects",
    "interpret-trailers",
    "stripspace",
    "column",
];

impl Evaluator<'_> {
    pub(super) fn git_command(&mut self, call: &Call<'_>) {
        let divided = divide(
            call.args,
            "C c git-dir work-tree namespace super-prefix config-env attr-source list-cmds",
            "exec-path",
            true,
        );
        let mut world = call.world.clone();
        let mut settings: Vec<(String, Value)> = Vec::new();
        for option in &divided.options {
            let Some(value) = &option.value else { continue };
            match option.name.as_str() {
                "C" | "work-tree" => {
                    let hole = value.value.hole.or(world.folder.hole);
                    world.folder = Value { text: join(&world.folder.text, value.text()), hole };
                }
                "c" => {
                    let (name, setting) = value.text().split_once('=').unwrap_or((value.text(), "true"));
                    settings.push((name.to_lowercase(), Value { text: setting.to_owned(), hole: value.value.hole }));
                }
                "config-env" => {
                    let (name, variable) = value.text().split_once('=').unwrap_or((value.text(), ""));
                    settings.push((name.to_lowercase(), self.lookup(variable, value.span, call.world)));
                }
                "exec-path" => self.unknown(Why::VariableRunsCode, FactSet::EFFECTS, value.span),
                _ => {}
            }
        }
        settings.extend(settings_of_variables(&world));
        let Some((subcommand, args)) = divided.operands.split_first() else { return };
        self.set_subcommand(subcommand.text());
        if subcommand.value.has_hole() {
            self.unknown_kinds(&subcommand.value, &FactKind::ALL, subcommand.span);
            return;
        }
        let git = GitCall { call, args, world, settings };
        self.git_running_settings(&git);
        self.git_subcommand(subcommand.text(), &git);
    }

    fn git_subcommand(&mut self, name: &str, git: &GitCall<'_>) {
        let span = git.call.span;
        match name {
            "push" | "send-pack" | "fetch" | "pull" | "clone" | "ls-remote" | "remote" | "submodule" | "subtree"
            | "svn" | "lfs" | "request-pull" | "fetch-pack" => self.git_remote_command(name, git),
            "config" => self.git_config(git),
            "add" | "stage" => {
                self.git(GitFact::Add, span);
                self.git_read_paths(git, "", Reach::Itself);
            }
            "commit" => self.git_commit(git),
            "rm" => {
                let divided = divide(git.args, "pathspec-from-file", "", false);
                if !divided.has_any(&["cached", "n", "dry-run"]) {
                    self.git_use(Use::Delete, Reach::Itself, &divided.operands, git);
                }
            }
            "mv" => self.git_move(git),
            "clean" => self.git_clean(git),
            "checkout" => self.git_checkout(git),
            "restore" => self.git_restore(git),
            "switch" => {
                let divided = divide(git.args, "c C create force-create conflict orphan", "", false);
                if divided.has_any(&["f", "force", "discard-changes"]) {
                    self.git(GitFact::Discard, span);
                    self.git_tree(git);
                }
                if divided.has_any(&["C", "force-create"]) {
                    self.git(GitFact::Rewrite, span);
                }
            }
            "reset" => self.git_reset(git),
            "stash" => self.git_stash(git),
            "branch" => {
                let divided = divide(
                    git.args,
                    "u set-upstream-to contains no-contains merged no-merged points-at format sort",
                    "",
                    false,
                );
                if divided.has_any(&["d", "D", "delete"]) {
                    self.git(GitFact::BranchDelete, span);
                }
                if divided.has_any(&["f", "force", "M", "C"]) {
                    self.git(GitFact::Rewrite, span);
                }
            }
            "tag" => {
                let divided = divide(git.args, "m F u message file local-user sort format", "", false);
                if divided.has_any(&["d", "delete"]) {
                    self.git(GitFact::TagDelete, span);
                }
                self.git_read_values(&divided, &["F", "file"], git);
            }
            "rebase" => {
                let divided = divide(git.args, "x exec s strategy X strategy-option onto C", "", false);
                if !divided.has_any(&["abort", "quit", "show-current-patch"]) {
                    self.git(GitFact::Rewrite, span);
                }
                self.git_tree(git);
                self.git_run_values(&divided, &["x", "exec"], git);
            }
            "filter-branch" => {
                self.git(GitFact::Rewrite, span);
                self.git_tree(git);
                let filters = "env-filter tree-filter index-filter parent-filter msg-filter commit-filter tag-name-filter setup subdirectory-filter d";
                let divided = divide(git.args, filters, "", false);
                let names: Vec<&str> =
                    filters.split_whitespace().filter(|name| !matches!(*name, "d" | "subdirectory-filter")).collect();
                self.git_run_values(&divided, &names, git);
            }
            "filter-repo" | "replace" | "update-ref" | "fast-import" => self.git(GitFact::Rewrite, span),
            "merge" | "cherry-pick" | "revert" | "am" | "apply" | "sparse-checkout" => self.git_apply(name, git),
            "gc" | "prune" | "reflog" => {
                let divided = divide(git.args, "expire expire-unreachable", "prune", false);
                let first = divided.operands.first().map_or("", Arg::text);
                let prunes = name == "prune"
                    || divided.options.iter().any(|option| option.name == "prune")
                    || matches!(first, "expire" | "delete");
                if prunes {
                    self.git(GitFact::GcPrune, span);
                }
            }
            "init" => {
                let divided =
                    divide(git.args, "template separate-git-dir object-format b initial-branch", "shared", false);
                let here = [Arg { value: Value::known("."), span }];
                let folders = if divided.operands.is_empty() { &here } else { divided.operands.as_slice() };
                self.git_use(Use::Write, Reach::Itself, folders, git);
            }
            "bundle" => {
                if let [action, file, ..] = git.args
                    && action.text() == "create"
                {
                    self.use_value(Use::Write, &file.value, file.span, &git.world);
                }
            }
            "worktree" => self.git_worktree(git),
            "bisect" => self.git_bisect(git),
            "grep" => self.git_grep(git),
            "hash-object" => self.git_read_paths(git, "t path", Reach::Itself),
            "show" | "log" | "diff" | "cat-file" | "blame" | "annotate" | "archive" | "format-patch" | "difftool"
            | "mergetool" | "rerere" => {
                self.git_show(name, git);
            }
            _ if QUIET.contains(&name) => {}
            _ => self.git_alias(name, git),
        }
    }

    /// Uses operands as paths of the work tree.
    pub(super) fn git_use(&mut self, how: Use, reach: Reach, operands: &[Arg], git: &GitCall<'_>) {
        for path in operands {
            self.use_value_with(how, reach, &path.value, path.span, &git.world);
        }
    }

    /// Any file of the work tree may be written.
    pub(super) fn git_tree(&mut self, git: &GitCall<'_>) {
        let value = Value { text: git.world.folder.text.clone(), hole: git.world.folder.hole };
        self.use_value_with(Use::Write, Reach::TrackedBelow, &value, git.call.span, &git.world);
    }

    fn git_read_paths(&mut self, git: &GitCall<'_>, valued: &str, reach: Reach) {
        let divided = divide(git.args, valued, "", false);
        // What git adds of a whole folder is not known to hold anything in particular.
        let named: Vec<Arg> =
            divided.operands.iter().filter(|path| !matches!(path.text(), "." | ":/" | "*")).cloned().collect();
        self.git_use(Use::Read, reach, &named, git);
    }

    fn git_read_values(&mut self, divided: &Divided, names: &[&str], git: &GitCall<'_>) {
        for file in divided.values(names).filter(|file| file.text() != "-") {
            self.use_value(Use::Read, &file.value, file.span, &git.world);
        }
    }

    /// Runs values as commands.
    pub(super) fn git_run_values(&mut self, divided: &Divided, names: &[&str], git: &GitCall<'_>) {
        let codes: Vec<Arg> = divided.values(names).cloned().collect();
        for code in codes {
            self.code(&code.value, code.span, git.call.name, vec![git.world.child()], &Default::default());
        }
    }

    fn git_commit(&mut self, git: &GitCall<'_>) {
        let divided = divide(
            git.args,
            "m F C c t author date message file reuse-message reedit-message template fixup squash cleanup trailer",
            "S u",
            false,
        );
        if divided.has_any(&["dry-run"]) {
            return;
        }
        self.git(GitFact::Commit, git.call.span);
        if divided.has_any(&["amend"]) {
            self.git(GitFact::Rewrite, git.call.span);
        }
        if divided
            .options
            .iter()
            .any(|option| option.name == "n" || (option.name.len() > 3 && "no-verify".starts_with(&option.name)))
        {
            self.git(GitFact::NoVerify, git.call.span);
        }
        self.git_read_values(&divided, &["F", "file", "t", "template"], git);
        self.git_use(Use::Read, Reach::Itself, &divided.operands, git);
    }

    fn git_move(&mut self, git: &GitCall<'_>) {
        let divided = divide(git.args, "", "", false);
        if divided.has_any(&["n", "dry-run"]) {
            return;
        }
        if let Some((target, sources)) = divided.operands.split_last() {
            self.git_use(Use::Delete, Reach::Itself, sources, git);
            self.use_value(Use::Write, &target.value, target.span, &git.world);
        }
    }

    fn git_clean(&mut self, git: &GitCall<'_>) {
        let divided = divide(git.args, "e exclude", "", false);
        let is_dry = divided.has_any(&["n", "dry-run"]);
        if is_dry || !divided.has_any(&["f", "force", "i", "interactive"]) {
            return;
        }
        self.git(GitFact::Clean, git.call.span);
        if divided.operands.is_empty() {
            let value = Value { text: git.world.folder.text.clone(), hole: git.world.folder.hole };
            self.use_value_with(Use::Delete, Reach::Below, &value, git.call.span, &git.world);
        }
        self.git_use(Use::Delete, Reach::Below, &divided.operands, git);
    }

    fn git_checkout(&mut self, git: &GitCall<'_>) {
        let divided = divide(git.args, "b B conflict orphan pathspec-from-file", "", false);
        let has_dashes = git.args.iter().any(|arg| arg.text() == "--");
        let creates = divided.has_any(&["b", "orphan"]);
        if divided.has_any(&["B"]) {
            self.git(GitFact::Rewrite, git.call.span);
        }
        if divided.has_any(&["f", "force"]) {
            self.git(GitFact::Discard, git.call.span);
            self.git_tree(git);
            return;
        }
        let behind = git.args.iter().skip_while(|arg| arg.text() != "--").skip(1);
        let paths: Vec<Arg> = if has_dashes {
            behind.cloned().collect()
        } else if divided.operands.len() > 1 && !creates {
            divided.operands.iter().skip(1).cloned().collect()
        } else {
            divided
                .operands
                .iter()
                .filter(|arg| {
                    matches!(arg.text(), "." | "*") || arg.text().starts_with("./") || arg.text().starts_with("../")
                })
                .cloned()
                .collect()
        };
        if !paths.is_empty() {
            self.git(GitFact::Discard, git.call.span);
            self.git_written_paths(&paths, git);
        }
    }

    fn git_written_paths(&mut self, paths: &[Arg], git: &GitCall<'_>) {
        for path in paths {
            let reach = if matches!(path.text(), "." | "..") || path.text().ends_with('/') {
                Reach::Below
            } else {
                Reach::Itself
            };
            self.use_value_with(Use::Write, reach, &path.value, path.span, &git.world);
        }
    }

    fn git_restore(&mut self, git: &GitCall<'_>) {
        let divided = divide(git.args, "s source conflict pathspec-from-file", "", false);
        let only_index = divided.has_any(&["S", "staged"]) && !divided.has_any(&["W", "worktree"]);
        if !only_index {
            self.git(GitFact::Discard, git.call.span);
            self.git_written_paths(&divided.operands, git);
        }
    }

    fn git_reset(&mut self, git: &GitCall<'_>) {
        let divided = divide(git.args, "pathspec-from-file", "", false);
        if divided.has_any(&["hard", "merge", "keep"]) {
            self.git(GitFact::Discard, git.call.span);
            self.git_tree(git);
        }
        // With paths only the index changes.
        let moves = matches!(divided.operands.as_slice(), [only] if only.text() != "HEAD")
            && !git.args.iter().any(|arg| arg.text() == "--");
        if divided.has_any(&["hard", "soft", "mixed", "merge", "keep"]) || moves {
            self.git(GitFact::Rewrite, git.call.span);
        }
    }

    fn git_stash(&mut self, git: &GitCall<'_>) {
        match git.args.first().map_or("push", Arg::text) {
            "drop" | "clear" => self.git(GitFact::StashDrop, git.call.span),
            // What is dropped then stands in the work tree.
            "pop" | "apply" | "branch" => self.git_tree(git),
            "show" => self.git_show("stash", git),
            "list" | "create" | "store" => {}
            _ => {
                self.git(GitFact::Stash, git.call.span);
                self.git_tree(git);
            }
        }
    }

    fn git_apply(&mut self, name: &str, git: &GitCall<'_>) {
        let divided = divide(
            git.args,
            "s strategy X strategy-option m message F file p directory exclude include C whitespace",
            "S",
            false,
        );
        if divided.has_any(&["check", "stat", "numstat", "summary"]) && name == "apply" {
            return;
        }
        if matches!(name, "apply" | "am") {
            self.git_use(Use::Read, Reach::Itself, &divided.operands, git);
        }
        if divided.has_any(&["no-verify"]) {
            self.git(GitFact::NoVerify, git.call.span);
        }
        self.git_tree(git);
    }

    fn git_worktree(&mut self, git: &GitCall<'_>) {
        let Some((action, rest)) = git.args.split_first() else { return };
        let divided = divide(rest, "b B reason", "", false);
        match action.text() {
            "add" => self.git_use(Use::Write, Reach::Itself, divided.operands.get(..1).unwrap_or_default(), git),
            "remove" => self.git_use(Use::Delete, Reach::Itself, &divided.operands, git),
            "move" => {
                self.git_use(Use::Delete, Reach::Itself, divided.operands.get(..1).unwrap_or_default(), git);
                self.git_use(Use::Write, Reach::Itself, divided.operands.get(1..).unwrap_or_default(), git);
            }
            _ => {}
        }
    }

    fn git_bisect(&mut self, git: &GitCall<'_>) {
        let Some((action, rest)) = git.args.split_first() else { return };
        if action.text() == "run" {
            self.wrapped(git.call.name, rest, git.call.span, git.world.child(), &Default::default());
        }
        if action.text() != "log" {
            self.git_tree(git);
        }
    }

    fn git_grep(&mut self, git: &GitCall<'_>) {
        let divided = divide(git.args, "e f A B C m max-depth threads max-count", "O open-files-in-pager", false);
        if let Some(pager) =
            divided.options.iter().find(|option| option.name == "O" || option.name == "open-files-in-pager")
        {
            match &pager.value {
                Some(code) => {
                    self.code(&code.value, code.span, git.call.name, vec![git.world.child()], &Default::default());
                }
                None => self.unknown(Why::Editor, FactSet::EFFECTS, git.call.span),
            }
        }
        let skipped = usize::from(!divided.has_any(&["e", "f"]));
        let paths: Vec<Arg> = divided.operands.iter().skip(skipped).cloned().collect();
        let below = match divided.has_any(&["no-index", "untracked"]) {
            true => Reach::Below,
            false => Reach::TrackedBelow,
        };
        if paths.is_empty() {
            let value = Value { text: git.world.folder.text.clone(), hole: git.world.folder.hole };
            self.use_value_with(Use::Read, below, &value, git.call.span, &git.world);
        }
        for path in &paths {
            let reach = if path.text().contains('.') && path.text() != "." { Reach::Itself } else { below };
            self.use_value_with(Use::Read, reach, &path.value, path.span, &git.world);
        }
    }

    /// Commands that show contents: `HEAD:path`, paths behind `--`, and files with `--output`.
    fn git_show(&mut self, name: &str, git: &GitCall<'_>) {
        let valued = "o n S G L output format pretty since until after before author committer grep max-count skip prefix \
            output-directory remote exec diff-filter word-diff-regex inter-hunk-context extcmd x tool t";
        let divided = divide(git.args, valued, "M C B U O", false);
        for file in divided.values(&["o", "output", "output-directory"]) {
            self.use_value(Use::Write, &file.value, file.span, &git.world);
        }
        self.git_run_values(&divided, &["extcmd", "x"], git);
        if name == "archive" && divided.has_any(&["remote"]) {
            self.git_connects(divided.values(&["remote"]).next(), git);
        }
        let mut is_path = false;
        for arg in git.args {
            if arg.text() == "--" {
                is_path = true;
            } else if is_path {
                self.use_value(Use::Read, &arg.value, arg.span, &git.world);
            } else if !arg.text().starts_with('-')
                && let Some((_, path)) =
                    arg.text().split_once(':').filter(|(_, path)| !path.is_empty() && !path.starts_with('/'))
            {
                let value = Value { text: path.to_owned(), hole: arg.value.hole };
                self.use_value(Use::Read, &value, arg.span, &git.world);
            }
        }
        if matches!(name, "blame" | "annotate") && !is_path {
            let last = divided.operands.get(divided.operands.len().saturating_sub(1)..).unwrap_or_default();
            self.git_use(Use::Read, Reach::Itself, last, git);
        }
        if divided.has_any(&["no-index"]) {
            self.git_use(Use::Read, Reach::Itself, &divided.operands, git);
        }
        if matches!(name, "diff" | "log" | "stash") && !is_path {
            let secret: Vec<Arg> = divided
                .operands
                .iter()
                .filter(|arg| crate::accesses::secrets::is_secret(arg.text()))
                .cloned()
                .collect();
            self.git_use(Use::Read, Reach::Itself, &secret, git);
        }
    }

    /// A subcommand that git does not have: an alias of the line, or of the repository.
    fn git_alias(&mut self, name: &str, git: &GitCall<'_>) {
        let key = format!("alias.{}", name.to_lowercase());
        let of_line = git.settings.iter().rev().find(|(setting, _)| *setting == key).map(|(_, value)| value.clone());
        let of_config = self
            .git_settings
            .iter()
            .rev()
            .find(|(alias, _)| *alias == key)
            .map(|(_, value)| Value::known(value.as_str()));
        let Some(alias) = of_line.or(of_config) else {
            self.unknown(Why::RepositoryAlias, FactSet::EFFECTS, git.call.span);
            return;
        };
        self.git(GitFact::Alias, git.call.span);
        let mut code = match alias.text.strip_prefix('!') {
            Some(code) => Value { text: code.to_owned(), hole: alias.hole },
            None => Value { text: format!("git {}", alias.text), hole: alias.hole },
        };
        for arg in git.args {
            code.text.push(' ');
            code.text.push_str(&quoted(arg.text()));
            code.hole = code.hole.or(arg.value.hole);
        }
        self.code(&code, git.call.span, "git", vec![git.world.child()], &Default::default());
    }
}

/// The settings of `GIT_CONFIG_KEY_0` and its like.
fn settings_of_variables(world: &World) -> Vec<(String, Value)> {
    let text = |name: String| match world.variable(&name) {
        Some(Variable::Text(value)) => Some(value.clone()),
        _ => None,
    };
    let pair = |index: usize| {
        let name = text(format!("GIT_CONFIG_KEY_{index}"))?;
        Some((name.text.to_lowercase(), text(format!("GIT_CONFIG_VALUE_{index}"))?))
    };
    (0..).map_while(pair).collect()
}

/// What a command of git prints, where that is known: the name of a branch, a tag or a commit, or paths of the work tree.
pub(super) fn printed(args: &[Arg], world: &World) -> Option<Value> {
    let words: Vec<&str> = args.iter().map(Arg::text).collect();
    let (name, rest) = words.split_first()?;
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(word));
    let is_name = match *name {
        "branch" => rest == ["--show-current"],
        "rev-parse" => {
            let is_quiet =
                |word: &&str| matches!(*word, "--abbrev-ref" | "--verify" | "HEAD") || word.starts_with("--short");
            !rest.is_empty() && rest.iter().all(is_quiet)
        }
        "symbolic-ref" => has(&["--short"]),
        "describe" => true,
        "rev-list" => has(&["--count"]),
        _ => false,
    };
    if is_name {
        return Some(Value::known(ANY));
    }
    let are_paths = match *name {
        "ls-files" => !has(&["-o", "--others", "-i", "--ignored"]),
        "diff" => has(&["--name-only"]),
        "grep" => has(&["-l", "--files-with-matches", "--name-only"]),
        _ => false,
    };
    if !are_paths || world.folder.has_hole() {
        return None;
    }
    let patterns = rest.iter().filter(|word| *name == "ls-files" && !word.starts_with('-'));
    let mut lines = String::new();
    for pattern in patterns {
        let (folder, file) = pattern.rsplit_once('/').unwrap_or(("", pattern));
        if folder.contains(['*', '[', '?', ':', HOLE]) || !file.starts_with("*.") {
            lines.clear();
            break;
        }
        lines.push_str(&format!("{}/{ANY}{ANY}/{}\n", join(&world.folder.text, folder), with_marks(file)));
    }
    if lines.is_empty() {
        lines = format!("{}/{TRACKED}\n", world.folder.text);
    }
    Some(Value::known(lines))
}
