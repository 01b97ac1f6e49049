//! `stdin: file`: one file for all hooks of an event, each with a position of its own, and no hook can change it.

use hookrail::hook::{GroupOrder, StdinKind};
use hookrail::{Hook, HookSystem};

use super::{call, command, json, system};

fn of_a_file(text: &str) -> Hook {
    let mut hook = command(text);
    hook.exec.stdin = StdinKind::File;
    hook
}

fn outputs(system: &HookSystem) -> Vec<String> {
    let outcome = system.fire_blocking(call(system));
    assert!(outcome.runs.iter().all(|run| run.exit_code == Some(0)), "{:?}", outcome.runs);
    outcome.runs.into_iter().map(|run| run.stdout).collect()
}

#[test]
fn all_hooks_that_ask_for_it_read_one_file_and_others_a_pipe_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let inode = "stat -L -c '%F %i' /dev/stdin";
    let hooks = [of_a_file(inode), of_a_file(&format!("{inode} #")), command(&format!("{inode} ##"))];
    let seen = outputs(&system(dir.path(), hooks));
    assert!(seen[0].starts_with("regular file "), "{seen:?}");
    assert_eq!(seen[0], seen[1], "one file for both");
    assert!(seen[2].starts_with("fifo "), "{seen:?}");
}

#[test]
fn each_reads_it_whole_and_none_can_change_it() {
    let dir = tempfile::tempdir().unwrap();
    let large = "x".repeat(300_000);
    let hooks =
        ["cat > first", "head -c 5 > second; cat >> second", "(echo spoiled > /dev/stdin) 2>/dev/null || cat > third"];
    let system = system(dir.path(), hooks.map(of_a_file));
    let event = call(&system).with("tool_input", json(&format!(r#"{{"content":"{large}"}}"#)));
    let outcome = system.fire_blocking(event);
    assert!(outcome.runs.iter().all(|run| run.exit_code == Some(0)), "{:?}", outcome.diagnostics);
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    let first: serde_json::Value = serde_json::from_str(&read("first")).unwrap();
    assert_eq!(first["tool_input"]["content"], large);
    assert_eq!(read("first"), read("second"));
    assert_eq!(read("first"), read("third"));
}

#[test]
fn in_a_chain_each_link_has_the_input_as_it_is_by_then() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = of_a_file(r#"echo '{"hookSpecificOutput":{"tool_input":{"path":"b"}}}'"#);
    first.order = GroupOrder::Sequential;
    let second = of_a_file("grep -o '\"path\":\"b\"' | tr -d '\"'");
    let seen = outputs(&system(dir.path(), [first, second]));
    assert_eq!(seen[1], "path:b\npath:b\n", "the input, and what was answered before");
}
