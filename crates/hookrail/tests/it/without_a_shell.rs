//! `shell: auto` against `shell: always`: the same command through both ways, with real processes. Whatever can be seen
//! of a run must be the same: arguments, environment, directory, input, output and how it ended.

#![cfg(unix)]

use std::cell::Cell;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::common::{hook, json};
use hookrail::hook::ShellUse;
use hookrail::sources::SourceKind;
use hookrail::{Environment, EventKind, HookRun, HookSystem};
use hookrail_testkit::TestProject;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Which shell command lines are given to.
#[derive(Clone, Copy, Debug)]
enum Host {
    Bash,
    OnlySh,
}

/// A folder with a program for every way a start can end, first on the search path.
struct World {
    place: TestProject,
    host: Host,
    extra: Vec<(&'static str, &'static str)>,
}

impl World {
    fn new(host: Host) -> Self {
        let place = TestProject::new();
        // Programs of the project are not on the search path of its user's hooks, so they are elsewhere.
        let bin = place.path("bin");
        std::fs::create_dir_all(bin.join("folder")).unwrap();
        std::os::unix::fs::symlink(&bin, place.project.join("bin")).unwrap();
        std::os::unix::fs::symlink(hookrail_testkit::child(), bin.join("child")).unwrap();
        let script = |name: &str, text: &str, mode: u32| {
            let script = place.write_at(&format!("bin/{name}"), text);
            std::fs::set_permissions(script, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        script("script", "#!/bin/sh\nprintf '<%s>' \"$0\" \"$#\" \"$@\"\n", 0o755);
        script("a b.sh", "#!/bin/sh\nprintf '<%s>' \"$0\" \"$#\" \"$@\"\n", 0o755);
        script("no-shebang", "echo \"$0\" \"$@\"\nexit 3\n", 0o755);
        script("not-executable", "#!/bin/sh\necho never\n", 0o644);
        script("no-interpreter", "#!/no/such/interpreter\n", 0o755);
        script("empty", "", 0o755);
        // A program with a builtin's name, which a shell must not start.
        script("echo", "#!/bin/sh\nprintf 'the program'\n", 0o755);
        // The first of that name on the search path cannot be executed, the second can.
        script("late", "#!/bin/sh\n", 0o644);
        place.write_program_at("second/late", place.read("bin/script"));
        Self { place, host, extra: Vec::new() }
    }

    fn environment(&self) -> Environment {
        let dir = self.place.base.display();
        let path = match self.host {
            Host::Bash => format!("{dir}/bin:{dir}/second:/usr/bin:/bin"),
            Host::OnlySh => format!("{dir}/bin:{dir}/second"),
        };
        let names = [
            ("PATH", path.as_str()),
            ("HOME", path.split(':').next().unwrap_or_default()),
            ("A_VALUE", "with 'quotes' and $signs"),
            ("EMPTY", ""),
        ];
        names.into_iter().chain(self.extra.iter().copied()).collect()
    }

    fn run(&self, command: &str, shell: ShellUse) -> HookRun {
        let mut hook = hook(EventKind::BeforeTool, command, SourceKind::User);
        hook.exec.shell = shell;
        let mut builder = HookSystem::builder(&self.place.project).environment(self.environment()).hook(hook);
        if matches!(self.host, Host::OnlySh) {
            builder = builder.shell("/bin/sh");
        }
        let system = builder.build();
        let event = system.event(EventKind::BeforeTool).session("s").at_time("2026-01-01T00:00:00.000Z");
        let event = event.with_text("tool_name", "t").with("tool_input", json(r#"{"path":"a"}"#));
        let outcome = system.fire_blocking(event);
        outcome.runs.into_iter().next().unwrap_or_else(|| panic!("no run of {command:?}"))
    }
}

/// What can be seen of a run, but for what the guide says differs.
#[derive(Debug, PartialEq)]
struct Seen {
    end: &'static str,
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Seen {
    fn of(run: &HookRun) -> Self {
        let is_the_shells =
            |line: &&str| ["env _=", "env SHLVL=", "env HOOKRAIL_RUN_ID="].iter().any(|own| line.starts_with(own));
        let lines: Vec<&str> = run.stdout.lines().filter(|line| !is_the_shells(line)).collect();
        // A shell that stays makes 128 and the number of a signal, and some say so.
        let by_signal = run.signal.or(run.exit_code.filter(|code| *code > 128).map(|code| code - 128));
        match by_signal {
            Some(signal) => {
                Self { end: "signal", status: Some(signal), stdout: lines.join("\n"), stderr: String::new() }
            }
            None => Self {
                end: run.end.name(),
                status: run.exit_code,
                stdout: lines.join("\n"),
                stderr: run.stderr.clone(),
            },
        }
    }
}

fn program() -> impl Strategy<Value = String> {
    let names = [
        "child report",
        "child report",
        "child report",
        "script",
        "'a b.sh'",
        "\"a b.sh\"",
        "no-shebang",
        "late",
        "not-executable",
        "no-interpreter",
        "empty",
        "missing",
        "folder",
        "./missing",
        "./bin/script",
        "bin/child report",
        "\"$LLXPRT_PROJECT_DIR/bin/child\" report",
        "\"${CLAUDE_PROJECT_DIR}/bin/script\"",
        "./bin/folder",
        "./bin/not-executable",
        "./bin/no-shebang",
        "/no/such/program",
        "echo",
        "true",
        "A=1 child report",
        "child print-and-exit 2 out err",
        "child print-and-exit 7 '' ''",
        "child kill-self 9",
        "child kill-self 15",
        "$LLXPRT_PROJECT_DIR/bin/child report",
        "exec child report",
        "''",
        "if",
        "child",
        "~",
        "-c",
        "%1",
    ];
    proptest::sample::select(names.map(str::to_owned).to_vec())
}

/// A word as a user might write it, nasty ones among them.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[A-Za-z0-9_@%+:,./=-]{1,12}",
        2 => "'[ -&(-~]{0,12}'",
        2 => r#""[ #%-\[\]-_a-~]{0,12}""#,
        1 => r#""[ -~]{0,8}""#,
        // Without redirections, which could reach any file of the machine.
        1 => "[ -;=?-~]{1,6}",
        1 => "[A-Za-z=]{0,3}'[ -&(-~]{0,6}'[a-z.]{0,3}",
        1 => proptest::sample::select(vec![
            "$HOME", "\"$A_VALUE\"", "\"$LLXPRT_PROJECT_DIR\"", "\"${GEMINI_PROJECT_DIR}x\"", "\"$LLXPRT_PROJECT_DIRx\"", "*",
            "b*", "~", "a=~", "#", "a#b", "!", "{a,b}", "[a]", "2>&1", "<bin", ">out", "&", ";", "|", "\\", "\"\"", "''", "\u{e9}", "'\u{e9}'",
            "\t", "\n", "$'a'", "$(true)", "`true`", "\"`true`\"", "!!", "\"!!\"", "^a^b", "=", "==", "-", "--", ")", "%",
        ]).prop_map(str::to_owned),
    ]
}

fn command() -> impl Strategy<Value = String> {
    let blank = proptest::sample::select(vec![" ", " ", "  ", "\t"]);
    (program(), proptest::collection::vec((blank, word()), 0..5), "[ \t]{0,1}").prop_map(|(program, words, end)| {
        words.into_iter().fold(program, |line, (blank, word)| format!("{line}{blank}{word}")) + end.as_str()
    })
}

fn compare(host: Host, cases: u32) {
    let world = World::new(host);
    let (direct, all) = (Cell::new(0), Cell::new(0));
    let config = Config { cases, max_shrink_iters: 200, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let result = runner.run(&command(), |line| {
        // Which of two processes side by side writes first is not defined.
        prop_assume!(!line.replace("2>&1", "").contains(['&', '|']));
        let (always, auto) = (world.run(&line, ShellUse::Always), world.run(&line, ShellUse::Auto));
        // Only bash leaves a trace of itself in the environment.
        let is_report = auto.stdout.starts_with("arg ");
        all.set(all.get() + usize::from(is_report));
        direct.set(direct.get() + usize::from(is_report && !auto.stdout.contains("\nenv SHLVL=")));
        let (always, auto) = (Seen::of(&always), Seen::of(&auto));
        // What differs from itself (a background process) says nothing about the two ways.
        if always == auto || (0..5).any(|_| Seen::of(&world.run(&line, ShellUse::Always)) != always) {
            return Ok(());
        }
        prop_assert_eq!(always, auto, "{:?}", line);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let (direct, all) = (direct.get(), all.get());
    assert!(direct * 10 > all && direct > 30, "only {direct} of {all} reports came without a shell");
    if matches!(host, Host::Bash) {
        assert!(direct < all, "nothing needed a shell");
    }
}

/// How many commands are made: enough to meet every rule, and more where the environment asks for it.
fn cases(normally: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(normally)
}

#[test]
fn a_hook_cannot_tell_whether_bash_was_there() {
    if !["/usr/bin/bash", "/bin/bash"].iter().any(|bash| Path::new(bash).exists()) {
        eprintln!("skipped: there is no bash");
        return;
    }
    compare(Host::Bash, cases(2000));
}

#[test]
fn a_hook_cannot_tell_whether_sh_was_there() {
    compare(Host::OnlySh, cases(600));
}

#[test]
fn what_the_shell_reads_at_its_start_is_still_read() {
    for (name, value) in [
        ("BASH_ENV", "/dev/null"),
        ("BASH_FUNC_child%%", "() { echo a function; }"),
        ("SHELLOPTS", "xtrace"),
        ("IFS", "x"),
        ("OLDPWD", "/no/such/folder"),
        ("an-odd-name", "1"),
        ("OPTIND", "7"),
        ("POSIXLY_CORRECT", "1"),
    ] {
        let mut world = World::new(Host::Bash);
        world.extra.push((name, value));
        for line in ["child report a b", "./bin/child report"] {
            let (always, auto) = (world.run(line, ShellUse::Always), world.run(line, ShellUse::Auto));
            assert_eq!(Seen::of(&always), Seen::of(&auto), "{name}: {line}");
        }
    }
}

#[test]
fn a_plain_command_starts_no_shell() {
    let world = World::new(Host::Bash);
    let shell = world.run("child report", ShellUse::Always);
    let direct = world.run("child report", ShellUse::Auto);
    assert!(shell.stdout.contains("\nenv SHLVL=") && !direct.stdout.contains("\nenv SHLVL="), "{}", direct.stdout);
}
