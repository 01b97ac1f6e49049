//! The tools at work, through a guard without hooks: there is no other way to run one.

use std::time::Duration;

use hookrail::guard::{Guard, ToolCall, ToolEnd};
use hookrail::{Environment, HookSystem};
use tempfile::TempDir;

use super::*;

struct World {
    dir: TempDir,
    hooks: HookSystem,
    place: Workspace,
}

fn world() -> World {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let environment = Environment::new().with("HOME", dir.path().join("home")).with("PATH", "/usr/bin:/bin");
    let hooks = HookSystem::builder(&project).environment(environment).build();
    let place = Workspace::new(&hooks).unwrap();
    World { dir, hooks, place }
}

impl World {
    /// Runs a tool; an error result begins with an exclamation mark.
    fn call_with(&self, tool: &str, input: &str, cancel: &CancelToken) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let call = ToolCall::new("c", tool, Json::parse(input).unwrap());
        let guard = Guard::new(self.hooks.clone(), "s");
        let result = runtime.block_on(guard.tool_call(call, |permit| run(permit, &self.place, cancel)));
        let mark = if result.end == ToolEnd::Ran { "" } else { "!" };
        format!("{mark}{}", result.content.as_str().unwrap())
    }

    fn call(&self, tool: &str, input: &str) -> String {
        self.call_with(tool, input, &CancelToken::new())
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.place.root().join(name)
    }
}

#[test]
fn files_are_written_read_and_changed() {
    let world = world();
    assert_eq!(world.call("write_file", r#"{"path":"src/a.txt","content":"one\ntwo\n"}"#), "wrote src/a.txt (8 bytes)");
    assert_eq!(world.call("read_file", r#"{"path":"src/a.txt","offset":2,"limit":1}"#), "two\n");
    assert_eq!(
        world.call("replace", r#"{"path":"src/a.txt","old_string":"one","new_string":"1"}"#),
        "replaced 1 in src/a.txt"
    );
    assert_eq!(std::fs::read_to_string(world.file("src/a.txt")).unwrap(), "1\ntwo\n");
    std::fs::write(world.file("twice"), "x x").unwrap();
    assert!(world.call("replace", r#"{"path":"twice","old_string":"x","new_string":"y"}"#).contains("2 times"));
    assert!(world.call("replace", r#"{"path":"twice","old_string":"z","new_string":"y"}"#).starts_with("!"));
    world.call("replace", r#"{"path":"twice","old_string":"x","new_string":"y","all":true}"#);
    assert_eq!(std::fs::read_to_string(world.file("twice")).unwrap(), "y y");
    assert_eq!(world.call("list_directory", "{}"), "src/\ntwice");
    assert!(world.call("read_file", r#"{"path":"missing"}"#).starts_with("!`missing`: "));
}

#[test]
fn files_and_text_are_found() {
    let world = world();
    for (name, text) in [("a.rs", "fn main"), ("src/b.rs", "// main\nfn b"), ("src/c.md", "main")] {
        std::fs::create_dir_all(world.file(name).parent().unwrap()).unwrap();
        std::fs::write(world.file(name), text).unwrap();
    }
    assert_eq!(world.call("glob", r#"{"pattern":"**/*.rs"}"#), "a.rs\nsrc/b.rs");
    assert_eq!(world.call("glob", r#"{"pattern":"*.rs","path":"src"}"#), "src/b.rs");
    assert_eq!(world.call("search_file_content", r#"{"pattern":"^fn"}"#), "a.rs:1: fn main\nsrc/b.rs:2: fn b");
    assert_eq!(world.call("search_file_content", r#"{"pattern":"main","include":"*.md"}"#), "src/c.md:1: main");
    assert!(world.call("search_file_content", r#"{"pattern":"("}"#).starts_with("!"));
}

#[cfg(unix)]
#[test]
fn nothing_outside_the_project_is_touched() {
    use std::os::unix::fs::symlink;
    let world = world();
    let outside = world.dir.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), "s").unwrap();
    symlink(&outside, world.file("link")).unwrap();
    symlink(outside.join("nothing-yet"), world.file("dangling")).unwrap();
    let absolute = outside.join("secret").display().to_string();
    for (tool, path) in [
        ("read_file", "link/secret"),
        ("read_file", "../outside/secret"),
        ("read_file", absolute.as_str()),
        ("list_directory", "link"),
        ("glob", "link"),
        ("write_file", "link/new"),
        ("write_file", "dangling"),
        ("write_file", "../outside/new"),
        ("write_file", "new/../../outside/new"),
        ("replace", "link/secret"),
    ] {
        let more = match tool {
            "write_file" => r#","content":"x""#,
            "replace" => r#","old_string":"s","new_string":"x""#,
            "glob" => r#","pattern":"*""#,
            _ => "",
        };
        let result = world.call(tool, &format!(r#"{{"path":"{path}"{more}}}"#));
        assert!(result.starts_with("!`"), "{tool} {path}: {result}");
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(outside.join("secret")).unwrap(), "s");
    assert_eq!(world.call("search_file_content", r#"{"pattern":"s"}"#), "nothing matches", "links are not followed");
    let allowed = World { place: world.place.clone().allow(&outside).unwrap(), ..world };
    assert_eq!(allowed.call("read_file", r#"{"path":"link/secret"}"#), "s");
}

#[test]
fn what_decides_about_hooks_is_not_written() {
    let world = world();
    for path in [".llxprt/settings.json", ".llxprt/../.llxprt/settings.json"] {
        let result = world.call("write_file", &format!(r#"{{"path":"{path}","content":"x"}}"#));
        assert!(result.starts_with('!'), "{path}: {result}");
    }
    std::fs::create_dir(world.file(".llxprt")).unwrap();
    let result = world.call("write_file", r#"{"path":".llxprt/settings.json","content":"x"}"#);
    assert!(result.contains("decides which hooks run"), "{result}");
    assert!(!world.file(".llxprt/settings.json").exists());
}

/// Whether a tool could write there.
fn is_written(world: &World, path: &str) -> bool {
    let written = world.call("write_file", &format!(r#"{{"path":"{path}","content":"evil"}}"#));
    let replaced = world.call("replace", &format!(r#"{{"path":"{path}","old_string":"granted","new_string":"evil"}}"#));
    !(written.starts_with('!') && replaced.starts_with('!'))
}

#[test]
fn folders_of_hooks_and_git_are_protected_whole() {
    let world = world();
    for folder in hookrail::places::hook_folders().chain([".git"]) {
        for path in [
            format!("{folder}/hooks/shlex.py"),
            format!("{folder}/config"),
            format!("nested/{folder}/x"),
            folder.to_owned(),
        ] {
            assert!(!is_written(&world, &path), "{path}");
            assert!(!world.file(&path).exists(), "{path}");
        }
    }
    assert!(is_written(&world, "git/config") && is_written(&world, ".github/workflows/a.yml"));
}

#[cfg(unix)]
#[test]
fn folders_of_hooks_are_protected_behind_links_and_under_other_names() {
    let world = world();
    std::fs::create_dir_all(world.file(".llxprt/hooks")).unwrap();
    std::fs::write(world.file(".llxprt/hooks/guard.py"), "granted").unwrap();
    std::os::unix::fs::symlink(".llxprt/hooks", world.file("link")).unwrap();
    std::os::unix::fs::symlink("link", world.file("chain")).unwrap();
    for path in ["link/guard.py", "link/shlex.py", "chain/shlex.py", "link/../hooks/shlex.py"] {
        assert!(!is_written(&world, path), "{path}");
    }
    // A folder of hooks that is itself a link is protected where it leads.
    std::fs::create_dir_all(world.file("shared/claude")).unwrap();
    std::os::unix::fs::symlink("shared/claude", world.file(".claude")).unwrap();
    assert!(!is_written(&world, "shared/claude/hooks/shlex.py"));
    // A hard link is another name of the guard itself: the tool may write under that name, and the guard stays.
    std::fs::hard_link(world.file(".llxprt/hooks/guard.py"), world.file("other")).unwrap();
    assert!(is_written(&world, "other"));
    assert_eq!(std::fs::read_to_string(world.file("other")).unwrap(), "evil");
    assert_eq!(std::fs::read_to_string(world.file(".llxprt/hooks/guard.py")).unwrap(), "granted");
    std::fs::hard_link(world.file(".llxprt/hooks/guard.py"), world.file("third")).unwrap();
    world.call("replace", r#"{"path":"third","old_string":"granted","new_string":"evil"}"#);
    assert_eq!(std::fs::read_to_string(world.file(".llxprt/hooks/guard.py")).unwrap(), "granted");
    let leftovers = std::fs::read_dir(world.place.root()).unwrap().flatten();
    assert!(!leftovers.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with(".third")));
}

#[test]
fn arguments_that_do_not_fit_are_an_error() {
    let world = world();
    for (input, problem) in [
        (r#"{"content":"x"}"#, "`path` is missing"),
        (r#"{"path":1,"content":"x"}"#, "`path` must be of type string"),
        (r#"{"path":"a","content":"x","mode":7}"#, "it has no argument `mode`"),
        ("[]", "they must be an object"),
    ] {
        let result = world.call("write_file", input);
        assert!(result.starts_with('!') && result.contains(problem), "{input}: {result}");
    }
    assert!(world.call("unheard_of", "{}").contains("there is no tool"));
    assert_eq!(std::fs::read_dir(world.place.root()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn command_lines_run_fail_time_out_and_are_interrupted() {
    let world = world();
    assert_eq!(
        world.call("run_shell_command", r#"{"command":"pwd"}"#).trim_end(),
        world.place.root().to_str().unwrap()
    );
    assert_eq!(
        world.call("run_shell_command", r#"{"command":"echo o; echo e >&2; exit 3"}"#),
        "!the command exited with 3\no\n[stderr]\ne"
    );
    let late = world.call("run_shell_command", r#"{"command":"sleep 60","timeout_ms":50}"#);
    assert_eq!(late, "!the command timed out after 50 ms");
    let cancel = CancelToken::new();
    let canceller = cancel.clone();
    let marker = world.file("started");
    let watcher = std::thread::spawn(move || {
        while !marker.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        canceller.cancel();
    });
    let result = world.call_with("run_shell_command", r#"{"command":"touch started; sleep 60"}"#, &cancel);
    watcher.join().unwrap();
    assert!(result.starts_with("!the command was interrupted"), "{result}");
}

#[test]
fn a_huge_file_is_read_in_part_and_says_what_is_left_out() {
    let world = world();
    let huge = std::fs::File::create(world.file("huge")).unwrap();
    huge.set_len(3 << 30).unwrap();
    let result = world.call("read_file", r#"{"path":"huge"}"#);
    assert!(result.len() < 1 << 20, "{} bytes", result.len());
    assert!(
        result.contains("[cut in line 1: ") && result.contains("of the file's 3221225472 bytes follow"),
        "{result}"
    );
    let far = world.call("read_file", r#"{"path":"huge","offset":2}"#);
    assert!(far.starts_with("!`huge`: the line is not within the first"), "{far}");
    let changed = world.call("replace", r#"{"path":"huge","old_string":"a","new_string":"b"}"#);
    assert!(changed.starts_with("!`huge`: the file has 3221225472 bytes"), "{changed}");
    assert_eq!(world.call("search_file_content", r#"{"pattern":"a","path":"huge"}"#), "nothing matches");
}

#[test]
fn a_long_file_is_read_in_parts_that_make_up_the_whole() {
    let world = world();
    let text: String = (1..=60_000).map(|number| format!("line ä {number}\n")).collect();
    std::fs::write(world.file("long"), &text).unwrap();
    let (mut read, mut offset, mut calls) = (String::new(), 1, 0);
    loop {
        let part = world.call("read_file", &format!(r#"{{"path":"long","offset":{offset}}}"#));
        calls += 1;
        let Some((whole, note)) = part.split_once("\n[cut in line ") else {
            read.push_str(&part);
            break;
        };
        let (whole, _begun) = whole.rsplit_once('\n').unwrap();
        read.push_str(whole);
        read.push('\n');
        offset = note.split(':').next().unwrap().parse().unwrap();
    }
    assert!(calls > 1);
    assert_eq!(read, text);
}

#[test]
fn a_file_that_is_written_again_is_the_same_file() {
    let world = world();
    for (content, length) in [("first and long", 14), ("short", 5), ("longer than before", 18), ("", 0)] {
        let input = format!(r#"{{"path":"a","content":"{content}"}}"#);
        assert_eq!(world.call("write_file", &input), format!("wrote a ({length} bytes)"));
        assert_eq!(std::fs::read_to_string(world.file("a")).unwrap(), content);
    }
}

#[cfg(unix)]
#[test]
fn pipes_sockets_devices_and_directories_are_refused_by_every_file_tool() {
    let world = world();
    let made = std::process::Command::new("mkfifo").arg(world.file("pipe")).status().unwrap();
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(world.file("socket")).unwrap();
    std::fs::create_dir(world.file("folder")).unwrap();
    let world = World { place: world.place.clone().allow(std::path::Path::new("/dev")).unwrap(), ..world };
    let calls = [
        ("read_file", ""),
        ("write_file", r#","content":"x""#),
        ("replace", r#","old_string":"a","new_string":"b""#),
        ("search_file_content", r#","pattern":"a""#),
        ("glob", r#","pattern":"*""#),
        ("list_directory", ""),
    ];
    for path in ["pipe", "socket", "/dev/zero", "/dev/full"] {
        for (tool, more) in calls {
            let result = world.call(tool, &format!(r#"{{"path":"{path}"{more}}}"#));
            assert!(result.starts_with(&format!("!`{path}`")), "{tool} {path}: {result}");
        }
    }
    for (tool, more) in calls.iter().take(3) {
        let result = world.call(tool, &format!(r#"{{"path":"folder"{more}}}"#));
        assert!(result.contains("it is a directory"), "{tool}: {result}");
    }
    // A folder with a pipe in it is searched without the pipe.
    assert_eq!(world.call("search_file_content", r#"{"pattern":"a"}"#), "nothing matches");
}
