//! What modules put on a person's terminal: components, dialogs, drawings of messages, a status, prompts. The modules
//! are those of `examples/modules`.

use serde_json::json;

use crate::screen::Screen;
use crate::world::{Shows as _, World, says, turns};

const ESCAPE: &str = "\x1b";
const RIGHT: &str = "\x1b[C";
const ENTER: &str = "\r";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

fn example(name: &str, script: serde_json::Value) -> World {
    let world = World::new(script);
    let path = format!("{}/../../examples/modules/{name}.ts", env!("CARGO_MANIFEST_DIR"));
    world.write(&format!(".xcsh/hooks/{name}.ts"), std::fs::read_to_string(path).unwrap());
    world
}

fn module(source: &str, script: serde_json::Value) -> World {
    let world = World::new(script);
    world.module(source);
    world
}

#[test]
fn a_component_draws_itself_takes_keys_and_goes_away() {
    let world = example("guessing-game", says("x"));
    let mut screen = Screen::start(&world, &[]);
    screen.line("/guess 3");
    screen.sees("Escape gives up");
    insta::assert_snapshot!(screen.text(), @r"
    type a prompt, or /help
    > /guess 3
    Guess the number
     1  2  3  4  5  6  7  8  9
    left and right choose, Enter guesses, Escape gives up
    ");
    screen.keys(ENTER);
    screen.sees("more than that");
    screen.keys(RIGHT);
    screen.keys(RIGHT);
    screen.keys(ENTER);
    screen.sees("right after 2 tries");
    screen.asks(">");
    insta::assert_snapshot!(screen.text(), @r"
    type a prompt, or /help
    > /guess 3
    right after 2 tries
    >
    ");
    screen.line("/guess 3");
    screen.sees("Escape gives up");
    screen.keys(ESCAPE);
    screen.sees("maybe another time");
    screen.exit();
    let session = std::fs::read_to_string(world.sessions().last().unwrap()).unwrap();
    assert!(session.contains(r#""customType":"guess-best","data":2"#), "{session}");
}

#[test]
fn a_component_that_ignores_every_key_is_closed_by_the_person() {
    let world = module(
        r#"export default (pi) => { pi.registerCommand("stuck", { handler: async (_args, ctx) => {
            const result = await ctx.ui.custom(() => ({ render: () => ["\x1b[2J\x1b]0;title\x07stuck"], handleInput() {} }));
            ctx.ui.notify(`closed with ${result}`);
        } }); };"#,
        says("x"),
    );
    let mut screen = Screen::start(&world, &[]);
    screen.line("/stuck");
    screen.sees(r"\x1b[2J\x1b]0;title\x07stuck");
    screen.keys(CTRL_C);
    screen.keys(CTRL_C);
    screen.sees("closed with undefined");
    screen.exit();
}

#[test]
fn what_is_said_while_a_component_is_shown_comes_after_it() {
    let world = module(
        r#"export default (pi) => { pi.registerCommand("busy", { handler: async (_args, ctx) => {
            await ctx.ui.custom((tui, theme, done) => { let keys = 0;
                return { render: () => [`drawn ${keys}`], handleInput() { if (++keys === 1) ctx.ui.notify("said meanwhile"); else done(); } }; });
        } }); };"#,
        says("x"),
    );
    let mut screen = Screen::start(&world, &[]);
    screen.line("/busy");
    screen.sees("drawn 0");
    screen.keys("x");
    screen.sees("drawn 1");
    assert!(!screen.text().contains("said meanwhile"), "{}", screen.text());
    screen.keys("x");
    screen.sees("said meanwhile");
    assert!(!screen.text().contains("drawn 1"), "{}", screen.text());
    screen.exit();
}

#[test]
fn a_command_selects_asks_the_model_edits_and_fills_the_prompt() {
    let mut script =
        turns(json!([{"text": "one"}, {"text": "two", "expect": {"contains": ["Notes: all is new\nand edited"]}}]));
    script["completions"] = json!(["Notes: all is new"]);
    let world = example("release-notes", script);
    let mut screen = Screen::start(&world, &[]);
    screen.line("hello");
    screen.sees("one");
    screen.line("/notes");
    screen.asks("number:");
    insta::assert_snapshot!(screen.text(), @r"
    type a prompt, or /help
    > hello
    one
    > /notes
    Which kind?
      1. short
      2. long
    number:
    ");
    screen.keys("1\r");
    screen.sees("Ctrl-D accepts, Escape cancels");
    screen.keys("\rand edited");
    screen.sees("and edited");
    insta::assert_snapshot!(screen.text(), @r"
    type a prompt, or /help
    > hello
    one
    > /notes
    Which kind?
      1. short
      2. long
    number: 1
    Release notes
      Notes: all is new
      and edited
    Ctrl-D accepts, Escape cancels
    ");
    screen.keys(CTRL_D);
    screen.sees("> Notes: all is new");
    screen.keys(ENTER);
    screen.sees("two");
    screen.exit();
}

#[test]
fn an_edited_text_can_be_thrown_away_and_a_question_to_the_model_given_up() {
    let mut script = turns(json!([{"text": "one"}]));
    script["completions"] = json!(["never used"]);
    let world = example("release-notes", script);
    let mut screen = Screen::start(&world, &[]);
    screen.line("hello");
    screen.sees("one");
    screen.line("/notes");
    screen.asks("number:");
    screen.keys("2\r");
    screen.sees("Ctrl-D accepts");
    screen.keys(ESCAPE);
    screen.sees("the notes were thrown away");
    screen.asks(">");
    screen.exit();
}

#[test]
fn a_module_draws_the_messages_it_sends() {
    let world = example("build-card", says("x"));
    let mut screen = Screen::start(&world, &[]);
    screen.line("/build echo done");
    screen.sees("the build works");
    screen.asks(">");
    insta::assert_snapshot!(screen.text(), @r"
    type a prompt, or /help
    > /build echo done
     build: exit status 0
       the build works
    >
    ");
    screen.line("/build echo wrong >&2; exit 3");
    screen.sees("build: exit status 3");
    screen.sees("the build fails: wrong");
    screen.exit();
    // Where there is no screen, the message is text.
    let ran = world.lines(&[], &["/build true"]).ends_with(0);
    assert_eq!(ran.texts("system_message", "text"), ["the build works"]);
}

#[test]
fn the_status_stands_above_the_prompt() {
    let world = example("turn-status", turns(json!([{"text": "one"}, {"text": "two"}])));
    let mut screen = Screen::start(&world, &[]);
    screen.sees("[ready]");
    screen.line("go");
    screen.sees("[1 done]");
    screen.asks(">");
    let lines = screen.lines();
    assert_eq!(lines[lines.len() - 2], "[1 done]", "{lines:?}");
    screen.line("/sessions");
    screen.until("the status again", |screen| screen.matches("[1 done]").count() == 2);
    screen.line("go");
    screen.sees("[2 done]");
    screen.exit();
}

#[test]
fn the_status_is_cut_to_the_terminal_with_its_brackets() {
    let set = |length| {
        format!(
            r#"export default (pi) => pi.on("session_start", (_, ctx) => ctx.ui.setStatus("k", "x".repeat({length})));"#
        )
    };
    for (length, shown) in [(200, format!("[{}…]", "x".repeat(67))), (68, format!("[{}]", "x".repeat(68)))] {
        let world = module(&set(length), turns(json!([{"text": "one"}])));
        let mut screen = Screen::start(&world, &[]);
        screen.asks(">");
        let lines = screen.lines();
        assert_eq!(lines[lines.len() - 2], shown, "{lines:?}");
        screen.exit();
    }
}

#[test]
fn a_watcher_wakes_the_agent_while_it_waits_for_input() {
    let world = example(
        "inbox",
        turns(json!([{"text": "I have read it", "expect": {"contains": ["From the inbox: look here"]}}])),
    );
    let mut screen = Screen::start(&world, &[]);
    screen.asks(">");
    screen.keys("half a prom");
    screen.sees("half a prom");
    world.write("inbox.txt", "look here\n");
    screen.sees("I have read it");
    // What was typed so far is still there, below what came meanwhile.
    screen.until("the prompt below", |screen| screen.lines().last().is_some_and(|line| line == "> half a prom"));
    insta::assert_snapshot!(screen.text(), @r"
    type a prompt, or /help
    hook: From the inbox: look here
    I have read it
    > half a prom
    ");
    screen.keys("\x15");
    screen.exit();
}

#[test]
fn a_git_helper_brings_files_back() {
    let world = example(
        "checkpoints",
        turns(
            json!([{"calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "changed"}}]}, {"text": "done"}]),
        ),
    );
    let git = |args: &[&str]| {
        let ran = std::process::Command::new("git").current_dir(&world.project).args(args).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
    };
    world.write("a.txt", "first");
    git(&["init", "--quiet"]);
    git(&["add", "a.txt"]);
    git(&["-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "--quiet", "--message", "m"]);
    git(&["config", "user.name", "n"]);
    git(&["config", "user.email", "e@example.org"]);
    world.write("a.txt", "not committed");
    let mut screen = Screen::start(&world, &[]);
    screen.line("go");
    screen.sees("done");
    assert_eq!(world.read("a.txt"), "changed");
    screen.line("/tree");
    screen.until("the tree", |screen| screen.contains("  go"));
    let prompt = screen.lines().iter().find(|line| line.ends_with("message  go")).unwrap().clone();
    let entry = prompt.split_whitespace().find(|word| word.starts_with('e')).unwrap().to_owned();
    screen.line(&format!("/branch {entry}"));
    screen.asks("number:");
    screen.keys("2\r");
    screen.sees("the files are as they were");
    assert_eq!(world.read("a.txt"), "not committed");
    screen.exit();
}

#[test]
fn a_module_writes_its_own_summary() {
    let world = example("own-summary", turns(json!([{"text": "one"}, {"text": "two"}])));
    let ran = world.lines(&[], &["do the first thing", "and the second", "/compact"]).ends_with(0);
    assert_eq!(ran.texts("compacted", "summary"), ["What was asked for:\n- do the first thing"], "{}", ran.stdout);
}

#[test]
fn modules_read_the_conversation_in_their_own_words() {
    let world = module(
        r#"import { writeFileSync } from "node:fs";
        export default (pi) => {
            const kept = {};
            pi.on("turn_end", (event) => { kept.turn ??= [event.message.role, event.toolResults.map((result) => [result.role, result.toolName, result.content[0].text])]; });
            pi.on("agent_end", (event, ctx) => {
                kept.roles = event.messages.map((message) => message.role);
                kept.entries = ctx.sessionManager.getEntries().map((entry) => entry.message?.role ?? entry.type);
                kept.call = ctx.sessionManager.getBranch().find((entry) => entry.message?.role === "assistant").message.content[0];
                writeFileSync("kept.json", JSON.stringify(kept));
            });
        };"#,
        turns(
            json!([{"calls": [{"id": "c1", "name": "replace", "args": {"path": "a", "old_string": "x", "new_string": "y"}}]}, {"text": "done"}]),
        ),
    );
    world.write("a", "x");
    world.say("go").ends_with(0);
    let kept: serde_json::Value = serde_json::from_str(&world.read("kept.json")).unwrap();
    assert_eq!(kept["roles"], json!(["user", "assistant", "toolResult", "assistant"]));
    assert_eq!(kept["entries"], kept["roles"]);
    assert_eq!(kept["turn"][0], "assistant");
    assert_eq!((&kept["turn"][1][0][0], &kept["turn"][1][0][1]), (&json!("toolResult"), &json!("edit")));
    assert_eq!(
        kept["call"],
        json!({"type": "toolCall", "id": "c1", "name": "edit", "arguments": {"path": "a", "oldText": "x", "newText": "y"}})
    );
}
