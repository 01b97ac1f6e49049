//! Sessions on disk: taken up again, damaged, branched, cancelled by hooks.

use serde_json::json;

use crate::world::{Shows as _, World, says, turns};

#[test]
fn a_session_is_taken_up_where_it_ended() {
    let world = World::new(says("I am here"));
    world.say("remember the word xylophone").ends_with(0);
    world.script(turns(json!([{"text": "yes", "expect": {"contains": ["xylophone", "I am here", "what word?"]}}])));
    world.run(&["--resume", "--headless", "--prompt", "what word?"]).ends_with(0);
    assert_eq!(world.sessions().len(), 1, "it is the same file");
}

#[test]
fn a_cut_session_file_loses_one_line_and_says_so() {
    let world = World::new(says("answer one"));
    world.say("question one").ends_with(0);
    let file = world.sessions()[0].clone();
    let text = std::fs::read_to_string(&file).unwrap();
    let cut = text.trim_end().len() - 10;
    std::fs::write(&file, &text[..cut]).unwrap();
    world.script(turns(json!([{"text": "go on", "expect": {"contains": ["question one"], "lacks": ["answer one"]}}])));
    let ran = world.run(&["--resume", "--headless", "--prompt", "question two"]).ends_with(0);
    assert_eq!(ran.texts("warning", "code"), ["session-damaged"]);
    world.script(turns(json!([{"text": "fine", "expect": {"contains": ["question one", "question two", "go on"]}}])));
    world.run(&["--resume", "--headless", "--prompt", "question three"]).ends_with(0);
    assert!(std::fs::read_to_string(&file).unwrap().starts_with(&text[..cut]), "a session is only ever added to");
}

#[test]
fn a_session_that_is_not_there_is_a_clear_failure() {
    let ran = World::new(says("x")).run(&["--resume", "nothing", "--prompt", "x"]).ends_with(1);
    assert!(ran.stderr.contains("there is no session `nothing`"), "{}", ran.stderr);
}

#[test]
fn a_module_cancels_moves_and_brings_its_own_compaction() {
    let world = World::new(turns(
        json!([{"text": "one"}, {"text": "two", "expect": {"contains": ["my own summary"], "lacks": ["first prompt"]}}]),
    ));
    world.module(
        r#"export default function (pi) {
            pi.on("session_before_switch", async () => ({ cancel: true }));
            pi.on("session_before_compact", async (event) => ({ compaction: { summary: "my own summary", firstKeptEntryId: event.preparation.firstKeptEntryId, tokensBefore: 1 } }));
        }"#,
    );
    let ran = world.lines(&[], &["first prompt", "/clear", "/compact", "second prompt"]).ends_with(0);
    assert_eq!(ran.texts("warning", "code"), ["cancelled"], "{}", ran.stdout);
    assert_eq!(ran.texts("compacted", "summary"), ["my own summary"]);
    assert_eq!(world.sessions().len(), 1, "the new session was not begun");
}

#[test]
fn a_module_cancels_a_compaction_and_shapes_the_summary() {
    let world = World::new(turns(json!([{"text": "one"}])));
    world.module(r#"export default (pi) => { pi.on("session_before_compact", async () => ({ cancel: true })); };"#);
    let ran = world.lines(&[], &["first", "/compact"]).ends_with(0);
    assert!(ran.shown("compacted").is_empty());
    assert_eq!(ran.texts("warning", "code"), ["not-compacted"], "{}", ran.stdout);
    let world = World::with(&[("BeforeModel", "", "cat >> requests")], turns(json!([{"text": "one"}])));
    world.module(r#"export default (pi) => { pi.on("session.compacting", async () => ({ context: ["mention the tests"], prompt: "Sum up." })); };"#);
    let ran = world.lines(&[], &["first", "/compact"]).ends_with(0);
    assert_eq!(ran.shown("compacted").len(), 1);
    assert!(world.read("requests").contains("Sum up.\\n\\nmention the tests"), "{}", world.read("requests"));
}

#[test]
fn hooks_are_listed_and_turned_off_and_on() {
    let script = turns(json!([
        {"calls": [{"name": "write_file", "args": {"path": "a", "content": ""}}]}, {"text": "1"},
        {"calls": [{"name": "write_file", "args": {"path": "b", "content": ""}}]}, {"text": "2"},
        {"calls": [{"name": "write_file", "args": {"path": "c", "content": ""}}]}, {"text": "3"}
    ]));
    let world = World::with(&[("BeforeTool", "", "exit 2")], script);
    let ran = world
        .lines(
            &[],
            &[
                "/hooks list",
                "one",
                "/hooks disable h1",
                "/hooks",
                "two",
                "/hooks enable h1",
                "three",
                "/hooks disable unknown",
            ],
        )
        .ends_with(0);
    assert_eq!((world.exists("a"), world.exists("b"), world.exists("c")), (false, true, false));
    let lists = ran.shown("listing");
    assert_eq!(lists[0]["lines"][0], "h1  before-tool  llxprt  project  on");
    let off = "h1  before-tool  llxprt  project  off (disabled by the list of disabled hooks in the user settings";
    assert!(lists[1]["lines"][0].as_str().unwrap().starts_with(off), "{}", lists[1]);
    assert_eq!(ran.shown("error").len(), 1);
}

#[test]
fn the_system_s_hooks_are_not_turned_off() {
    let script =
        turns(json!([{"calls": [{"name": "write_file", "args": {"path": "a", "content": ""}}]}, {"text": "1"}]));
    let world = World::new(script);
    let settings = json!({"hooksConfig": {"enabled": true}, "hooks": {"BeforeTool": [{"hooks": [{"type": "command", "name": "floor", "command": "exit 2"}]}]}});
    std::fs::write(world.system_settings(), settings.to_string()).unwrap();
    world.lines(&[], &["/hooks disable floor", "go"]).ends_with(0);
    assert!(!world.exists("a"));
}

#[test]
fn plugins_are_listed_disabled_and_refreshed() {
    let call = |path: &str| json!({"calls": [{"name": "write_file", "args": {"path": path, "content": ""}}]});
    let world =
        World::new(turns(json!([call("a"), {"text": "1"}, call("b"), {"text": "2"}, call("c"), {"text": "3"}])));
    world.plugin(json!({"PreToolUse": [{"matcher": "writeFile", "command": "echo '{\"decision\":\"deny\",\"reason\":\"no\"}'"}]}));
    let ran = world
        .lines(
            &[],
            &["/plugin list", "one", "/plugin disable sample@local", "two", "/plugin refresh", "three", "/plugin list"],
        )
        .ends_with(0);
    assert_eq!(
        (world.exists("a"), world.exists("b"), world.exists("c")),
        (false, false, true),
        "a change is in force after a refresh"
    );
    let lists = ran.shown("listing");
    assert_eq!(lists[0]["lines"][0], "sample@local  on");
    assert_eq!(lists.last().unwrap()["lines"][0], "sample@local  off");
    let off = world.lines(&["--no-plugins"], &["/plugin list"]).ends_with(0);
    assert!(off.texts("error", "text")[0].contains("--no-plugins"));
}
