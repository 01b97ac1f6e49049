//! A patch changes many files. A hook that knows file tools is asked about each of them, and a hook that knows patches is asked about
//! a call of a file tool as the patch that does the same.

use std::path::Path;
use std::sync::Arc;

use crate::common::{drive_snapshot, exited, hook, module_end, module_hook, plugin_hook, stdin};
use hookrail::matcher::{Language, MatchScope, Matcher, OnInvalid};
use hookrail::plan::{AskedAbout, Plan, Snapshot};
use hookrail::process::{PlannedRun, RawEnd, RunEnd};
use hookrail::sources::SourceKind;
use hookrail::tools::{ColumnTool, ToolAccess, ToolColumn, ToolTable};
use hookrail::{Code, Decision, DialectId, EndKind, Event, EventKind, Hook, Json, OnFailure, Outcome};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const KIND: EventKind = EventKind::BeforeTool;

static OTHER_AGENT: ToolColumn = ToolColumn {
    whose: "Other Agent",
    tools: &[
        ColumnTool { tool: "apply_patch", name: "apply_patch", arguments: &[("patch", &["command"])] },
        ColumnTool { tool: "write_file", name: "Write", arguments: &[("file_path", &["target"])] },
    ],
    others: &[],
};

const PATCH: &str =
    "*** Begin Patch\n*** Add File: .env\n+KEY=1\n*** Update File: b\n@@\n-x\n+y\n*** Delete File: c\n*** End Patch\n";

fn table() -> ToolTable {
    ToolTable::default().with_agent(&OTHER_AGENT)
}

fn call(kind: EventKind, tool: &str, input: Value) -> Event {
    Event::new(kind, "/p").with_text("tool_name", tool).with("tool_input", Json::from(input))
}

fn patched(patch: &str) -> Event {
    call(KIND, "apply_patch", json!({"command": patch, "workdir": "."}))
}

fn matching(mut hook: Hook, pattern: &str) -> Hook {
    hook.matcher = Matcher::compile(pattern, Language::Regex, MatchScope::Anywhere, OnInvalid::MatchAll).matcher;
    hook
}

fn llxprt(pattern: &str, layer: SourceKind) -> Hook {
    matching(hook(KIND, pattern, layer), pattern)
}

fn snapshot(hooks: Vec<Hook>) -> Arc<Snapshot> {
    Arc::new(Snapshot::new(hooks, Vec::new()).with_tool_table(Some(Arc::new(table()))))
}

/// Fires an event at hooks that answer by what they are told: the tool and its input.
fn fire(
    hooks: Vec<Hook>,
    event: Event,
    mut answer: impl FnMut(&str, &Value) -> RunEnd,
) -> (Outcome, Vec<(String, Value)>) {
    let mut told = Vec::new();
    let mut end = |request: &PlannedRun| {
        let stdin = stdin(request);
        let tool = stdin.get("tool").cloned().unwrap_or(stdin);
        let name = ["tool_name", "name", "toolName"].iter().find_map(|key| tool.get(key)?.as_str()).unwrap().to_owned();
        let input = ["tool_input", "args", "input"].iter().find_map(|key| tool.get(key)).cloned().unwrap();
        let end = answer(&name, &input);
        told.push((name, input));
        if request.hook.dialect == DialectId::Xcsh { module_end(RawEnd::Returned(None)) } else { end }
    };
    let outcome = drive_snapshot(snapshot(hooks), event, &mut end, &mut |_| {});
    (outcome, told)
}

fn silent() -> RunEnd {
    exited(0, "", "")
}

fn rewriting(input: &Value) -> RunEnd {
    exited(0, &json!({"hookSpecificOutput": {"tool_input": input}}).to_string(), "")
}

fn deny(reason: &str) -> RunEnd {
    exited(0, &json!({"decision": "deny", "reason": reason}).to_string(), "")
}

fn new_patch(outcome: &Outcome) -> String {
    let input = outcome.effects.tool_input.as_ref().unwrap().to_value();
    assert_eq!(input["workdir"], ".", "what else the call has stays");
    input["command"].as_str().unwrap().to_owned()
}

#[test]
fn a_hook_that_knows_file_tools_is_asked_once_per_file_in_its_own_words() {
    let (outcome, told) = fire(vec![llxprt("write_file|replace", SourceKind::User)], patched(PATCH), |_, _| silent());
    let paths: Vec<(&str, &Value)> =
        told.iter().map(|(name, input)| (name.as_str(), &input["absolute_path"])).collect();
    assert_eq!(paths, [("write_file", &json!("/p/.env")), ("replace", &json!("/p/b")), ("write_file", &json!("/p/c"))]);
    assert_eq!((outcome.runs.len(), outcome.effects.tool_input), (3, None));
    for (hook, expected) in [
        (matching(plugin_hook(KIND, "p"), "^writeFile$"), vec!["writeFile", "writeFile"]),
        (matching(plugin_hook(KIND, "p"), "^edit$"), vec!["edit"]),
        (matching(plugin_hook(KIND, "p"), "^(write_file|replace)$"), vec!["writeFile", "edit", "writeFile"]),
        (matching(plugin_hook(KIND, "p"), "^readFile$"), vec![]),
        // A module has no matcher, and no patch among its tools.
        (module_hook(KIND, "m.ts"), vec!["write", "edit", "write"]),
        // Names of another agent in a plain list.
        (llxprt("Write", SourceKind::User), vec!["write_file", "write_file"]),
        // It names what it does not want to see.
        (llxprt("^(?!apply_patch)", SourceKind::User), vec![]),
    ] {
        let (_, told) = fire(vec![hook], patched(PATCH), |_, _| silent());
        assert_eq!(told.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), expected);
    }
}

/// A module has no matcher, so that it matches the patch itself, too.
#[test]
fn hooks_of_all_dialects_are_asked_about_a_file_in_their_usual_order() {
    let plugin = matching(plugin_hook(KIND, "p"), "^writeFile$");
    let hooks = vec![module_hook(KIND, "m.ts"), plugin, llxprt("write_file", SourceKind::User)];
    let patch = "*** Begin Patch\n*** Add File: a\n+one\n*** End Patch\n";
    let (_, told) = fire(hooks, patched(patch), |name, input| {
        let mut input = input.clone();
        input["content"] = json!("two\n");
        if name == "write_file" { rewriting(&input) } else { silent() }
    });
    let seen: Vec<(&str, &str)> =
        told.iter().map(|(name, input)| (name.as_str(), input["content"].as_str().unwrap().trim_end())).collect();
    assert_eq!(seen, [("write_file", "one"), ("writeFile", "two"), ("write", "two")]);
}

#[test]
fn several_hunks_of_a_file_are_one_question() {
    let patch = "*** Begin Patch\n*** Update File: b\n@@ one\n-x\n+y\n@@ two\n-v\n+w\n*** End Patch\n";
    let (outcome, told) = fire(vec![llxprt("replace", SourceKind::User)], patched(patch), |_, input| {
        let mut input = input.clone();
        input["new_string"] = json!(input["new_string"].as_str().unwrap().replace('w', "[cut]"));
        rewriting(&input)
    });
    assert_eq!(
        (told.len(), &told[0].1["old_string"], &told[0].1["new_string"]),
        (1, &json!("x\nv\n"), &json!("y\nw\n"))
    );
    assert_eq!(new_patch(&outcome), patch.replace("+w", "+[cut]"));
}

#[test]
fn the_strictest_answer_counts_and_what_is_harmless_passes() {
    let answer = |_: &str, input: &Value| if input["path"] == "/p/.env" { deny("secrets") } else { silent() };
    for hook in [llxprt("write_file", SourceKind::User), hook(KIND, "all", SourceKind::User)] {
        let (outcome, _) = fire(vec![hook.clone()], patched(PATCH), answer);
        assert!(outcome.is_denied());
        assert_eq!(outcome.effects.reason.as_deref(), Some("secrets"));
        let (outcome, told) = fire(vec![hook], patched(&PATCH.replace(".env", "notes")), answer);
        assert!(!outcome.is_denied() && told.len() >= 2);
    }
    // A question about one file is not lifted by an allow of the next.
    let (outcome, _) = fire(vec![llxprt("write_file", SourceKind::User)], patched(PATCH), |_, input| {
        let decision = if input["path"] == "/p/.env" { "ask" } else { "allow" };
        exited(0, &json!({"decision": decision, "reason": decision}).to_string(), "")
    });
    assert_eq!(outcome.effects.decision, Some(Decision::Ask));
    assert_eq!(outcome.effects.reason.as_deref(), Some("ask"));
}

#[test]
fn rewrites_of_several_files_by_several_dialects_are_put_back_into_their_parts() {
    let rewriter = matching(plugin_hook(KIND, "p"), "^writeFile$");
    let (outcome, told) =
        fire(vec![llxprt("write_file|replace", SourceKind::User), rewriter], patched(PATCH), |name, input| {
            let mut input = input.clone();
            match name {
                "write_file" if input["content"] == "KEY=1\n" => input["content"] = json!("KEY=[cut]\n"),
                "replace" => input["new_string"] = json!("z\n"),
                "writeFile" if input["content"] == "KEY=[cut]\n" => {
                    input["path"] = json!("/p/sub/.env");
                    return exited(0, &json!({"decision": "modify", "args": input}).to_string(), "");
                }
                _ => return silent(),
            }
            rewriting(&input)
        });
    let expected = PATCH.replace("KEY=1", "KEY=[cut]").replace("+y", "+z").replace(": .env", ": sub/.env");
    assert_eq!(new_patch(&outcome), expected, "{told:?}");
    assert!(!outcome.is_denied());
}

#[test]
fn a_rewrite_that_a_patch_cannot_express_denies() {
    let answer = |_: &str, input: &Value| {
        let mut input = input.clone();
        input["mode"] = json!("0600");
        rewriting(&input)
    };
    let (outcome, _) = fire(vec![llxprt("write_file", SourceKind::User)], patched(PATCH), answer);
    assert!(outcome.is_denied());
    assert!(outcome.diagnostics.iter().any(|found| found.code == Code::PatchUnusable), "{:?}", outcome.diagnostics);
    assert!(outcome.effects.reason.as_deref().unwrap().contains("the rewrite is not the input"), "{outcome:?}");
}

#[test]
fn a_patch_that_cannot_be_read_is_denied_where_a_hook_asks_about_files() {
    let broken = PATCH.replace("*** End Patch\n", "");
    let (outcome, told) = fire(vec![llxprt("write_file", SourceKind::User)], patched(&broken), |_, _| silent());
    assert!(outcome.is_denied() && told.is_empty());
    assert!(outcome.effects.reason.as_deref().unwrap().contains("the patch cannot be read"), "{outcome:?}");
    // A hook that matches the patch gets it as it is, and no other hook is asked.
    for hook in [llxprt("apply_patch", SourceKind::User), hook(KIND, "all", SourceKind::User)] {
        let (outcome, told) = fire(vec![hook], patched(&broken), |_, _| silent());
        assert_eq!((outcome.is_denied(), told.len(), told[0].0.as_str()), (false, 1, "apply_patch"));
    }
    let (outcome, told) = fire(vec![llxprt("read_file", SourceKind::User)], patched(&broken), |_, _| silent());
    assert!(!outcome.is_denied() && told.is_empty());
}

#[test]
fn a_text_that_is_no_patch_belongs_to_the_file_that_the_call_names() {
    let event =
        || call(KIND, "apply_patch", json!({"absolute_path": "/x/a", "patch_content": "--- a\n+++ a\n@@\n-x\n+y"}));
    let (_, told) = fire(vec![llxprt("replace", SourceKind::User)], event(), |_, _| silent());
    assert_eq!((told.len(), &told[0].1["file_path"], &told[0].1["new_string"]), (1, &json!("/x/a"), &json!("y\n")));
    let (_, told) = fire(vec![hook(KIND, "all", SourceKind::User)], event(), |_, _| silent());
    assert_eq!((told.len(), told[0].0.as_str(), &told[0].1["absolute_path"]), (1, "apply_patch", &json!("/x/a")));
}

#[test]
fn a_hook_that_knows_patches_gets_a_file_tools_call_as_a_patch_and_its_rewrite_comes_back() {
    let write = || call(KIND, "Write", json!({"target": "a", "content": "KEY=1", "mode": 7}));
    let cut = |name: &str, input: &Value| {
        assert_eq!(name, "apply_patch");
        rewriting(&json!({"patch_content": input["patch_content"].as_str().unwrap().replace("KEY=1", "KEY=[cut]")}))
    };
    let (outcome, told) = fire(vec![llxprt("apply_patch", SourceKind::User)], write(), cut);
    let expected = "*** Begin Patch\n*** Add File: a\n+KEY=1\n*** End Patch\n";
    assert_eq!(told, [("apply_patch".to_owned(), json!({"patch_content": expected}))]);
    let input = outcome.effects.tool_input.map(|input| input.to_value());
    assert_eq!(input, Some(json!({"target": "a", "content": "KEY=[cut]", "mode": 7})));
    let replace = call(KIND, "replace", json!({"path": "a", "old_string": "x", "new_string": "KEY=1"}));
    let (outcome, _) = fire(vec![llxprt("apply_patch", SourceKind::User)], replace, cut);
    let input = outcome.effects.tool_input.map(|input| input.to_value());
    assert_eq!(input, Some(json!({"path": "a", "old_string": "x", "new_string": "KEY=[cut]"})));
    let (outcome, _) = fire(vec![llxprt("apply_patch", SourceKind::User)], write(), |_, _| deny("no"));
    assert!(outcome.is_denied());
    // A hook that matches the tool itself gets the call, and one that names what it leaves out is not asked.
    for (pattern, expected) in [("apply_patch|write_file", "write_file"), ("", "write_file"), ("^(?!write_file)", "")] {
        let write = call(KIND, "write_file", json!({"path": "a", "content": "x"}));
        let (_, told) = fire(vec![llxprt(pattern, SourceKind::User)], write, |_, _| silent());
        assert_eq!(told.first().map_or("", |(name, _)| name.as_str()), expected, "{pattern}");
    }
    // Tools that change no file are no patches.
    let read = call(KIND, "read_file", json!({"path": "a"}));
    assert!(fire(vec![llxprt("apply_patch", SourceKind::User)], read, |_, _| silent()).1.is_empty());
}

#[test]
fn a_rewritten_patch_that_does_not_fit_the_tool_is_a_failure_of_the_hook() {
    let write = || call(KIND, "Write", json!({"target": "a", "content": "x"}));
    let two = "*** Begin Patch\n*** Add File: a\n+x\n*** Add File: b\n+x\n*** End Patch\n";
    for (policy, denied) in [(OnFailure::Allow, false), (OnFailure::Block, true)] {
        for answer in [json!({"patch_content": two}), json!({"patch_content": "x"}), json!({"other": 1})] {
            let mut hook = llxprt("apply_patch", SourceKind::User);
            hook.on_failure = policy;
            let (outcome, _) = fire(vec![hook], write(), |_, _| rewriting(&answer));
            assert_eq!((outcome.runs[0].end, outcome.is_denied()), (EndKind::BadOutput, denied), "{answer}");
            assert_eq!(outcome.effects.tool_input, None);
        }
    }
    // The control: the same patch again.
    let same = json!({"patch_content": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n"});
    let (outcome, _) = fire(vec![llxprt("apply_patch", SourceKind::User)], write(), |_, _| rewriting(&same));
    assert_eq!((outcome.runs[0].end, outcome.effects.tool_input), (EndKind::Answered, None));
}

#[test]
fn a_guard_of_the_system_judges_again_what_others_made_of_its_file_and_only_that() {
    for (written, denied) in [("EVIL\n", true), ("harmless\n", false)] {
        let hooks = vec![llxprt("write_file", SourceKind::System), matching(plugin_hook(KIND, "p"), "^writeFile$")];
        let mut judged = Vec::new();
        let (outcome, _) = fire(hooks, patched(PATCH), |name, input| match name {
            "write_file" => {
                judged.push(input["path"].as_str().unwrap().to_owned());
                if input["content"] == "EVIL\n" { deny("evil") } else { silent() }
            }
            _ if input["content"] == "KEY=1\n" => {
                let mut input = input.clone();
                input["content"] = json!(written);
                exited(0, &json!({"decision": "modify", "args": input}).to_string(), "")
            }
            _ => silent(),
        });
        assert_eq!((outcome.is_denied(), judged), (denied, vec!["/p/.env".into(), "/p/c".into(), "/p/.env".into()]));
    }
}

#[test]
fn a_plan_has_a_hook_once_and_says_what_it_is_asked_about() {
    let hooks = vec![llxprt("write_file|replace", SourceKind::User), llxprt("apply_patch", SourceKind::User)];
    let about = |event: Event| {
        let plan = Plan::new(&snapshot(hooks.clone()), &event);
        let skipped = plan.skipped.len();
        (plan.hooks().map(|(part, planned)| (part.about, planned.hook.label.to_string())).collect::<Vec<_>>(), skipped)
    };
    let (parts, skipped) = about(Event::new(KIND, "/p").with_text("tool_name", "apply_patch"));
    let kinds: Vec<AskedAbout> = parts.iter().map(|(about, _)| *about).collect();
    assert_eq!((kinds, skipped), (vec![AskedAbout::Event, AskedAbout::EachFile], 0));
    let (parts, skipped) = about(call(KIND, "Write", json!({"target": "a"})));
    let kinds: Vec<AskedAbout> = parts.iter().map(|(about, _)| *about).collect();
    assert_eq!((kinds, skipped), (vec![AskedAbout::Event, AskedAbout::Patch], 0));
}

#[test]
fn hooks_after_the_tool_are_asked_about_each_file_too() {
    let event = call(EventKind::AfterTool, "apply_patch", json!({"command": PATCH}))
        .with("tool_response", Json::from(json!({"llmContent": "done", "returnDisplay": "done"})));
    let after = matching(hook(EventKind::AfterTool, "after", SourceKind::User), "write_file");
    let (_, told) = fire(vec![after], event, |_, _| silent());
    assert_eq!(told.iter().map(|(_, input)| input["path"].clone()).collect::<Vec<_>>(), ["/p/.env", "/p/c"]);
}

#[test]
fn the_accesses_of_a_call_are_those_of_its_arguments() {
    let accesses = |tool: &str, input: Value| {
        let found = table().accesses(tool, &Json::from(input), Path::new("/p")).unwrap();
        found.into_iter().map(|found| (found.access, found.object)).collect::<Vec<_>>()
    };
    let write = |path: &str| (ToolAccess::Write, path.to_owned());
    assert_eq!(accesses("Write", json!({"target": "a"})), [write("/p/a")]);
    assert_eq!(accesses("apply_patch", json!({"command": PATCH})), [write("/p/.env"), write("/p/b"), write("/p/c")]);
    assert_eq!(accesses("read_file", json!({"path": "/a"})), [(ToolAccess::Read, "/a".to_owned())]);
    assert_eq!(accesses("run_shell_command", json!({"command": "ls"})), [(ToolAccess::Run, "ls".to_owned())]);
    assert_eq!(accesses("web_fetch", json!({"url": "u"})), [(ToolAccess::Fetch, "u".to_owned())]);
    assert_eq!(accesses("deploy", json!({"path": "a"})), [(ToolAccess::Read, "/p/a".to_owned()), write("/p/a")]);
    assert_eq!(accesses("deploy", json!({"title": "a"})), []);
    assert!(table().accesses("apply_patch", &Json::from(json!({"command": "x"})), Path::new("/p")).is_err());
}
