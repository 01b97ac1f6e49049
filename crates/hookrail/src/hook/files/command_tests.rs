//! Which commands are closed, over the forms that a review found to run another file than they name.

use super::*;

#[test]
fn a_file_below_the_root_of_the_repository_is_named() {
    let project = Project::new();
    for line in [
        "\"$(git rev-parse --show-toplevel)/hooks/guard.sh\"",
        "sh \"$(git rev-parse --show-toplevel 2>/dev/null || pwd)/hooks/guard.sh\"",
        "`git rev-parse --show-toplevel`/hooks/guard.sh",
        "uv run hooks/guard.sh",
        "hooks/guard.sh || ./missing.sh || true",
    ] {
        let variables: Arc<[(String, PathBuf)]> =
            DialectId::project_variables().map(|name| (name.to_owned(), project.root.clone())).collect();
        let text = CommandText::Line(line.into());
        let command = Command { text, folders: variables, search_path: None, home: None };
        let found = command.files(&project.root, &project.root);
        assert!(found.found.iter().any(|file| file.path.ends_with("hooks/guard.sh")), "{line}: {found:?}");
        assert!(found.open_end.is_some(), "{line}");
    }
}

struct Project {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (name, text) in [
            ("README.md", "read me"),
            ("a.sh", "true"),
            ("hooks/guard.sh", "true"),
            ("other/guard.sh", "false"),
            ("other/deep/x", ""),
            ("hooks/guard.py", ""),
            (".llxprt/hooks/guard.py", ""),
            (".llxprt/hooks/helper.py", ""),
            (".llxprt/hooks/package/__init__.py", ""),
            (".llxprt/hooks/__pycache__/helper.pyc", ""),
            (".llxprt/hooks/notes.txt", ""),
            (".llxprt/guard.py", ""),
            ("tools/__main__.py", ""),
            ("it's.sh", "true"),
            ("a\"b.sh", "true"),
            ("a\tb.sh", "true"),
            ("run", "#!/bin/sh\ntrue"),
            ("run-env", "#!/usr/bin/env bash\ntrue"),
            ("run-python", "#!/usr/bin/env python3\n"),
            (".llxprt/hooks/run-python", "#!/usr/bin/env python3\n"),
            ("run-own", "#!./bin/interpreter\n"),
            ("run-split", "#!/usr/bin/env -S bash -c x\n"),
            ("bin/interpreter", "#!/bin/sh\n"),
            ("bin/python3", "#!/bin/sh\n"),
        ] {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("../other/deep", root.join("hooks/lib")).unwrap();
        Self { _folder: folder, root }
    }

    fn command(&self, text: CommandText) -> Command {
        let folders = [("LLXPRT_PROJECT_DIR".to_owned(), self.root.clone())];
        let search_path = Some("/usr/local/bin:/usr/bin:/bin".into());
        Command { text, folders: folders.into(), search_path, home: None }
    }

    fn line(&self, line: &str) -> Option<UncoveredReason> {
        self.command(CommandText::Line(line.into())).open_end(&self.root)
    }

    fn words(&self, words: &[&str]) -> Option<UncoveredReason> {
        self.command(CommandText::Words(words.iter().map(|word| (*word).to_owned()).collect())).open_end(&self.root)
    }
}

#[test]
fn an_interpreter_with_one_script_and_a_program_of_the_project_are_closed() {
    let project = Project::new();
    for line in [
        "sh a.sh",
        "bash hooks/guard.sh",
        "/bin/sh ./a.sh --flag value",
        "bash -eu -o pipefail a.sh",
        "bash -euo pipefail a.sh",
        "sh \"$LLXPRT_PROJECT_DIR/a.sh\"",
        "sh $LLXPRT_PROJECT_DIR/a.sh",
        "sh ${LLXPRT_PROJECT_DIR}/hooks/guard.sh",
        "  sh a.sh\n",
        "./run",
        "./run-env x",
        "\"$LLXPRT_PROJECT_DIR\"/run",
        "sh 'a.sh'",
        "sh README.md",
    ] {
        assert_eq!(project.line(line), None, "{line}");
    }
    for words in [&["sh", "a.sh"][..], &["sh", "it's.sh"], &["sh", "a\"b.sh"], &["./run"]] {
        assert_eq!(project.words(words), None, "{words:?}");
    }
}

#[test]
fn everything_else_is_open_ended() {
    let project = Project::new();
    for (line, why) in [
        ("make -s lint README.md", UncoveredReason::ProgramNotCovered),
        ("cat README.md", UncoveredReason::UnknownProgram),
        ("sh -c 'sh a\\\n.sh' README.md", UncoveredReason::HiddenCharacter),
        ("printf 'sh a.%s' sh | sh -s README.md", UncoveredReason::NeedsShell),
        ("find . -name a.sh -execdir sh a.sh ';' -o -name README.md", UncoveredReason::UnknownProgram),
        ("sh -c 'for i in a; do sh ./sub/a.sh; done' README.md", UncoveredReason::InterpreterOption),
        ("PATH=.:/usr/bin:/bin guard README.md", UncoveredReason::NeedsShell),
        ("BASH_ENV=./e README.md; BASH_ENV=./e bash -c :", UncoveredReason::NeedsShell),
        ("sh 'a'\\''b.sh'", UncoveredReason::NeedsShell),
        ("sh a.sh#x", UncoveredReason::NeedsShell),
        ("sh <<E README.md\nsh a.s\\\nh\nE", UncoveredReason::NeedsShell),
        ("sh a.sh\u{200b}", UncoveredReason::HiddenCharacter),
        ("sh a.sh\u{2003}", UncoveredReason::HiddenCharacter),
        ("sh a.sh\u{a0}", UncoveredReason::HiddenCharacter),
        ("sh a.sh\rb", UncoveredReason::HiddenCharacter),
        ("sh a.sh \u{3164}", UncoveredReason::HiddenCharacter),
        ("shopt -s expand_aliases\nalias README.md='sh a\\\n.sh'\nREADME.md", UncoveredReason::NeedsShell),
        ("sh ./missing.sh # hooks/guard.sh", UncoveredReason::NeedsShell),
        ("sed s/x/./ README.md | sh", UncoveredReason::NeedsShell),
        ("sh", UncoveredReason::NoScript),
        ("sh missing.sh README.md", UncoveredReason::NoScript),
        ("sh tools README.md", UncoveredReason::NoScript),
        ("sh -- a.sh", UncoveredReason::InterpreterOption),
        ("sh -i a.sh", UncoveredReason::InterpreterOption),
        ("sh *.sh", UncoveredReason::NeedsShell),
        ("sh ~/a.sh", UncoveredReason::NeedsShell),
        ("sh \"$HOME/a.sh\"", UncoveredReason::NeedsShell),
        ("sh '$LLXPRT_PROJECT_DIR/a.sh'", UncoveredReason::NeedsShell),
        ("sh $LLXPRT_PROJECT_DIRX/a.sh", UncoveredReason::NeedsShell),
        ("sh a.sh &", UncoveredReason::NeedsShell),
        ("no-such-program a.sh", UncoveredReason::ProgramNotCovered),
        ("./run-own", UncoveredReason::UnknownShebang),
        ("./run-split", UncoveredReason::UnknownShebang),
        ("./run-python", UncoveredReason::ImportsFromProject),
        ("", UncoveredReason::NeedsShell),
    ] {
        let found = project.line(line);
        assert!(found.is_some(), "`{line}` is closed");
        // A machine may lack `make`, or have it.
        assert!(found == Some(why) || line.starts_with("make"), "`{line}` is {found:?}");
    }
    for words in [&["sh", "--", "-x=a.sh"][..], &["sh", "-c", "a.sh"], &["sh", "a\tb.sh"], &["env", "sh", "a.sh"]] {
        assert!(project.words(words).is_some(), "{words:?}");
    }
    // A program of the project that has the name of an interpreter is a program of the project.
    let mut command = project.command(CommandText::Line("python3 .llxprt/hooks/guard.py".into()));
    command.search_path = Some(project.root.join("bin").into());
    assert!(command.files(&project.root, &project.root).found.iter().all(|found| !found.path.ends_with("helper.py")));
}

#[test]
fn what_an_interpreter_imports_belongs_to_its_script_in_a_hook_folder_only() {
    let places = ["/usr/local/bin/python3", "/usr/bin/python3", "/bin/python3"];
    if !hookrail_testkit::has_program("python3") || !places.iter().any(|path| Path::new(path).exists()) {
        return;
    }
    let project = Project::new();
    let files = |line: &str| -> Vec<String> {
        let files = project.command(CommandText::Line(line.into())).files(&project.root, &project.root);
        assert!(files.complete);
        let inside =
            |found: ResolvedFile| found.path.strip_prefix(&project.root).unwrap().to_string_lossy().into_owned();
        files.found.into_iter().map(inside).collect()
    };
    let all = [".llxprt/hooks/guard.py", ".llxprt/hooks/helper.py", ".llxprt/hooks/package/__init__.py"];
    assert_eq!(project.line("python3 .llxprt/hooks/guard.py"), None);
    assert_eq!(files("python3 .llxprt/hooks/guard.py"), all);
    assert_eq!(files("python3 -u .llxprt/hooks/guard.py"), all);
    assert_eq!(project.line(".llxprt/hooks/run-python"), None);
    assert_eq!(files(".llxprt/hooks/run-python").len(), 4);
    assert_eq!(files("python3 -I .llxprt/hooks/guard.py"), [".llxprt/hooks/guard.py"]);
    assert_eq!(project.line("python3 hooks/guard.py"), Some(UncoveredReason::ImportsFromProject));
    assert_eq!(project.line("python3 .llxprt/guard.py"), Some(UncoveredReason::ImportsFromProject));
    assert_eq!(project.line("python3 -I hooks/guard.py"), None);
    assert_eq!(project.line("python3 -m guard README.md"), Some(UncoveredReason::InterpreterOption));
    assert_eq!(project.line("python3 tools README.md"), Some(UncoveredReason::NoScript));
}

#[cfg(unix)]
#[test]
fn a_path_leads_where_the_kernel_says() {
    let project = Project::new();
    let found = project
        .command(CommandText::Line("bash hooks/lib/../guard.sh".into()))
        .files(&project.root, &project.root)
        .found;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].real, project.root.join("other/guard.sh"));
    assert_eq!(found[0].path, project.root.join("hooks/lib/../guard.sh"));
}

#[test]
fn a_compiled_library_beside_the_script_leads_to_files_that_nothing_covers() {
    for (script, library) in
        [("guard.py", "rules.so"), ("guard.py", "deep/rules.cpython-312.so"), ("guard.cjs", "a.node")]
    {
        let project = Project::new();
        let folder = project.root.join(".llxprt/hooks");
        std::fs::write(folder.join(script), "").unwrap();
        let program = if script.ends_with("py") { "python3" } else { "node" };
        let line = format!("{program} .llxprt/hooks/{script}");
        if !hookrail_testkit::has_program(program) {
            continue;
        }
        assert_eq!(project.line(&line), None, "{line}");
        std::fs::create_dir_all(folder.join("deep")).unwrap();
        std::fs::write(folder.join(library), "").unwrap();
        assert_eq!(project.line(&line), Some(UncoveredReason::ImportsFromElsewhere), "{library}");
    }
}

#[cfg(unix)]
#[test]
fn a_word_that_is_no_file_hides_no_other_word_that_means_the_same_path() {
    let project = Project::new();
    for line in ["./a.sh/ ; a.sh", "a.sh ; ./a.sh/", "./a.sh/. a.sh"] {
        let found = project.command(CommandText::Line(line.into())).files(&project.root, &project.root).found;
        let real: Vec<PathBuf> = found.into_iter().map(|file| file.real).collect();
        assert_eq!(real, [project.root.join("a.sh")], "{line}");
    }
    let none = project.command(CommandText::Line("./a.sh/".into()));
    assert!(none.files(&project.root, &project.root).found.is_empty());
}
