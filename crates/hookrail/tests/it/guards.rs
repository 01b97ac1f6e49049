//! Guards with real scripts: a tool that does not run, a request that changes, an agent that stops.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::common::{hook, json};
use hookrail::guard::{
    AgentEnd, Approval, Approver, Guard, ModelEnd, PromptEnd, ToolCall, ToolEnd, ToolFailure, ToolOutput, Visibility,
};
use hookrail::sources::SourceKind;
use hookrail::trust::Digest;
use hookrail::{Decision, Effects, Environment, EventKind, Hook, HookSystem, Json, NativeHook, OnFailure};
use pretty_assertions::assert_eq;

fn environment() -> Environment {
    [("PATH", "/usr/bin:/bin")].into_iter().collect()
}

fn guard(hooks: &[(EventKind, &str)]) -> (tempfile::TempDir, Guard) {
    let dir = tempfile::tempdir().unwrap();
    let builder = HookSystem::builder(dir.path()).environment(environment());
    let hooks: Vec<Hook> = hooks.iter().map(|(kind, command)| hook(*kind, command, SourceKind::User)).collect();
    let system = hooks.into_iter().fold(builder, |builder, hook| builder.hook(hook)).build();
    (dir, Guard::new(system, "session"))
}

/// Drives a future on this thread.
fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn call() -> ToolCall {
    ToolCall::new("call-1", "write_file", json(r#"{"path":"a","n":1.0}"#))
}

#[test]
fn a_denied_tool_does_not_run_and_the_model_reads_why() {
    let (_dir, guard) =
        guard(&[(EventKind::BeforeTool, "echo 'not that one' >&2; exit 2"), (EventKind::AfterTool, "touch after")]);
    let ran = AtomicUsize::new(0);
    let result = run(guard.tool_call(call(), |_permit| async {
        ran.fetch_add(1, Ordering::Relaxed);
        Ok(ToolOutput::text("wrote"))
    }));
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    assert_eq!((result.end, result.content.as_str().as_deref()), (ToolEnd::Denied, Some("not that one")));
    assert_eq!(result.receipt.decision, Some(Decision::Deny));
    assert_eq!(result.receipt.input, None, "nothing ran, so no input ran");
    assert!(!guard.hooks().project().join("after").exists(), "after-tool fires only after a tool");
}

#[test]
fn a_tool_runs_with_the_rewritten_input_and_the_receipt_proves_it() {
    let rewrite = r#"echo '{"hookSpecificOutput":{"tool_input":{"path":"b"}}}'"#;
    let (_dir, guard) = guard(&[(EventKind::BeforeTool, rewrite)]);
    let result = run(guard.tool_call(call(), |permit| async move { Ok(ToolOutput::text(permit.input().text())) }));
    assert_eq!(result.content.as_str().unwrap(), r#"{"path":"b"}"#);
    let ran = Digest::of(br#"{"path":"b"}"#);
    assert_eq!(result.receipt.input, Some(ran));
    assert_eq!(result.receipt.ran[0].judged, Some(Digest::of(br#"{"path":"a","n":1.0}"#)), "what the hook judged");
}

#[test]
fn without_a_rewrite_the_tool_gets_the_original_bytes() {
    let (_dir, guard) = guard(&[(EventKind::BeforeTool, "true")]);
    let result = run(guard.tool_call(call(), |permit| async move { Ok(ToolOutput::text(permit.input().text())) }));
    assert_eq!(result.content.as_str().unwrap(), r#"{"path":"a","n":1.0}"#);
}

/// An approver that answers every question the same way, and remembers what was shown.
struct Person {
    answer: Approval,
    shown: Arc<Mutex<Vec<String>>>,
}

impl Approver for Person {
    fn approve<'a>(
        &'a self,
        operation: &'a str,
        input: &'a Json,
        reason: Option<&'a str>,
    ) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
        self.shown.lock().unwrap().push(format!("{operation} {} {}", input.text(), reason.unwrap_or_default()));
        Box::pin(std::future::ready(self.answer.clone()))
    }
}

#[test]
fn ask_shows_the_final_input_and_the_answer_counts() {
    let hooks = [(
        EventKind::BeforeTool,
        r#"echo '{"decision":"ask","reason":"sure?","hookSpecificOutput":{"tool_input":{"path":"b"}}}'"#,
    )];
    for (answer, end) in [
        (Approval::Granted, ToolEnd::Ran),
        (Approval::Refused("no thanks".into()), ToolEnd::Denied),
        (Approval::Unavailable, ToolEnd::Denied),
    ] {
        let (_dir, guard) = guard(&hooks);
        let shown: Arc<Mutex<Vec<String>>> = Arc::default();
        let guard = guard.approver(Person { answer: answer.clone(), shown: Arc::clone(&shown) });
        let result = run(guard.tool_call(call(), |permit| async move { Ok(ToolOutput::text(permit.input().text())) }));
        assert_eq!(result.end, end, "{answer:?}");
        assert_eq!(shown.lock().unwrap()[..], [r#"write_file {"path":"b"} sure?"#.to_owned()]);
    }
    let (_dir, without_user) = guard(&hooks);
    let result = run(without_user.tool_call(call(), |_| async { Ok(ToolOutput::text("ran")) }));
    assert_eq!(result.end, ToolEnd::Denied, "without an approver a question is a deny");
}

/// The end of a call about which a user's hook asks, the input that it ran with, and how often the person was asked. `question` is
/// what a closure says when the host is about to ask; `policy` is that of the hook that asks; `guard` is asked about every call.
fn asked_about(
    question: &Effects,
    policy: OnFailure,
    guarded: impl Fn(&Json) -> Effects + Send + Sync + 'static,
) -> (ToolEnd, String, usize) {
    let dir = tempfile::tempdir().unwrap();
    let mut asking = hook(EventKind::BeforeTool, r#"echo '{"decision":"ask","reason":"sure?"}'"#, SourceKind::User);
    asking.on_failure = policy;
    let question = question.clone();
    let answering = NativeHook::new(move |_| question.clone());
    let guarding = NativeHook::new(move |call| guarded(call.event.field("tool_input").unwrap()));
    let system = HookSystem::builder(dir.path())
        .environment(environment())
        .hook(asking)
        .hook(Hook::native(EventKind::PermissionRequest, "answers", answering))
        .hook(Hook::native(EventKind::BeforeTool, "guards", guarding))
        .build();
    let shown: Arc<Mutex<Vec<String>>> = Arc::default();
    let person = Person { answer: Approval::Refused("no thanks".into()), shown: Arc::clone(&shown) };
    let guard = Guard::new(system, "session").approver(person);
    let result = run(guard.tool_call(call(), |permit| async move { Ok(ToolOutput::text(permit.input().text())) }));
    let content = result.content.as_str().unwrap();
    (result.end, content, shown.lock().unwrap().len())
}

#[test]
fn a_hook_can_answer_the_question_to_the_user_but_not_that_of_a_guard() {
    let original = r#"{"path":"a","n":1.0}"#.to_owned();
    let (allow, refused) = (OnFailure::Allow, "the user refused: no thanks".to_owned());
    let any = |_: &Json| Effects::none();
    assert_eq!(asked_about(&Effects::none(), allow, any), (ToolEnd::Denied, refused.clone(), 1));
    assert_eq!(asked_about(&Effects::allow(), allow, any), (ToolEnd::Ran, original, 0));
    assert_eq!(asked_about(&Effects::allow(), OnFailure::Ask, any), (ToolEnd::Denied, refused.clone(), 1));
    assert_eq!(asked_about(&Effects::ask("really?"), allow, any), (ToolEnd::Denied, refused, 1));
    assert_eq!(asked_about(&Effects::deny("not that"), allow, any), (ToolEnd::Denied, "not that".to_owned(), 0));
    let stop = Effects::allow().and_stop("budget");
    assert_eq!(asked_about(&stop, allow, any), (ToolEnd::Denied, "budget".to_owned(), 0));
}

#[test]
fn a_call_that_is_changed_in_the_answer_to_the_question_is_judged_again() {
    let (allow, changed) = (OnFailure::Allow, r#"{"path":"b"}"#);
    let answer = Effects::allow().with_tool_input(json(changed));
    let any = |_: &Json| Effects::none();
    assert_eq!(asked_about(&answer, allow, any), (ToolEnd::Ran, changed.to_owned(), 0));
    let denies = move |input: &Json| if input.text() == changed { Effects::deny("not b") } else { Effects::none() };
    assert_eq!(asked_about(&answer, allow, denies), (ToolEnd::Denied, "not b".to_owned(), 0));
    let again = move |input: &Json| match input.text() == changed {
        true => Effects::none().with_tool_input(json(r#"{"path":"c"}"#)),
        false => Effects::none(),
    };
    let why = "a hook wants to change an input that was changed after it had answered";
    assert_eq!(asked_about(&answer, allow, again), (ToolEnd::Denied, why.to_owned(), 0));
}

#[test]
fn after_tool_adds_context_hides_and_stops_and_sees_a_failure() {
    let after = r#"cat > seen.json; echo '{"continue":false,"stopReason":"enough","suppressOutput":true,"systemMessage":"m","hookSpecificOutput":{"additionalContext":"note"}}'"#;
    let (dir, guard) = guard(&[(EventKind::AfterTool, after)]);
    let result = run(guard.tool_call(call(), |_| async { Ok(ToolOutput::text("done")) }));
    assert_eq!(result.content.as_str().unwrap(), "done\n\nnote");
    assert_eq!(result.display.as_str().unwrap(), "done");
    assert_eq!(result.visibility, Visibility::Hidden);
    assert_eq!(result.notes.system_messages, ["m"]);
    assert_eq!(result.stop.unwrap().reason, "enough");
    let failed = run(guard.tool_call(call(), |_| async { Err(ToolFailure("disk full".into())) }));
    assert_eq!(failed.end, ToolEnd::Failed);
    let seen: serde_json::Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("seen.json")).unwrap()).unwrap();
    assert_eq!(seen["tool_response"]["error"]["message"], "disk full", "a failed call ends in one after-tool too");
}

#[test]
fn context_keeps_the_parts_that_are_not_text() {
    let (_dir, guard) =
        guard(&[(EventKind::AfterTool, r#"echo '{"hookSpecificOutput":{"additionalContext":"note"}}'"#)]);
    let picture = json(r#"[{"inlineData":{"id":1}}]"#);
    let result = run(guard.tool_call(call(), |_| async move { Ok(ToolOutput::new(picture, Json::null())) }));
    assert_eq!(result.content.text(), r#"[{"inlineData":{"id":1}},{"text":"note"}]"#);
}

fn request() -> Json {
    json(
        r#"{"model":"m","contents":[{"role":"user","parts":[{"text":"hi"},{"inlineData":{"id":1}}]}],"tools":[{"functionDeclarations":[{"name":"read"},{"name":"write"}]}]}"#,
    )
}

#[test]
fn a_model_request_changes_before_it_is_sent_and_its_pictures_survive() {
    let select = r#"echo '{"hookSpecificOutput":{"toolConfig":{"mode":"AUTO","allowedFunctionNames":["read"]}}}'"#;
    let rewrite = r#"echo '{"hookSpecificOutput":{"llm_request":{"messages":[{"role":"user","content":"HI"}],"config":{"temperature":0}}}}'"#;
    let (_dir, guard) = guard(&[(EventKind::ToolSelection, select), (EventKind::BeforeModel, rewrite)]);
    let sent: Arc<Mutex<Option<Json>>> = Arc::default();
    let keep = Arc::clone(&sent);
    let result = run(guard.model_call(request(), |permit| async move {
        *keep.lock().unwrap() = Some(permit.request().clone());
        Ok::<_, ()>(json(r#"{"candidates":[{"content":{"parts":[{"text":"ok"}]}}]}"#))
    }))
    .unwrap();
    let sent = sent.lock().unwrap().clone().unwrap().to_value();
    assert_eq!(sent["contents"][0]["parts"], serde_json::json!([{"text": "HI"}, {"inlineData": {"id": 1}}]));
    assert_eq!(sent["config"]["temperature"], 0);
    assert_eq!(sent["tools"], serde_json::json!([{"functionDeclarations": [{"name": "read"}]}]));
    assert_eq!(result.end, ModelEnd::Answered);
    assert!(guard.may_stream());
}

#[test]
fn a_model_that_is_blocked_or_answered_for_is_not_called() {
    let text = |response: &Json| response.to_value()["text"].as_str().unwrap().to_owned();
    for (answer, end, said) in [
        (r#"{"decision":"deny","reason":"no"}"#, ModelEnd::NotCalled, ""),
        (
            r#"{"decision":"deny","hookSpecificOutput":{"llm_response":{"text":"synthetic"}}}"#,
            ModelEnd::Synthetic,
            "synthetic",
        ),
        (r#"{"hookSpecificOutput":{"llm_response":{"text":"instead"}}}"#, ModelEnd::Synthetic, "instead"),
        (r#"{"continue":false,"stopReason":"over"}"#, ModelEnd::NotCalled, "over"),
    ] {
        let (_dir, guard) = guard(&[(EventKind::BeforeModel, &format!("echo '{answer}'"))]);
        let result = run(guard.model_call(request(), |_| async { Err::<Json, &str>("the model was called") })).unwrap();
        assert_eq!((result.end, text(&result.response).as_str()), (end, said), "{answer}");
    }
}

#[test]
fn a_response_is_rewritten_hidden_or_replaced_by_a_stop() {
    let answer = r#"{"candidates":[{"content":{"parts":[{"text":"secret"},{"functionCall":{"name":"t"}}]}}]}"#;
    let respond = |_permit| async { Ok::<_, ()>(json(answer)) };
    let (_a, redact) = guard(&[(
        EventKind::AfterModel,
        r#"echo '{"suppressOutput":true,"hookSpecificOutput":{"llm_response":{"text":"***"}}}'"#,
    )]);
    let result = run(redact.model_call(request(), respond)).unwrap();
    assert_eq!(
        result.response.to_value()["candidates"][0]["content"]["parts"],
        serde_json::json!([{"text": "***"}, {"functionCall": {"name": "t"}}])
    );
    assert_eq!(result.visibility, Visibility::Hidden);
    assert!(!redact.may_stream(), "nothing may be shown before the hook has answered");
    let (_b, stop) = guard(&[(EventKind::AfterModel, r#"echo '{"continue":false,"stopReason":"budget"}'"#)]);
    let result = run(stop.model_call(request(), respond)).unwrap();
    assert_eq!(result.response.to_value()["text"], "budget");
    assert_eq!(result.stop.unwrap().reason, "budget");
}

#[test]
fn a_prompt_is_denied_or_gets_context() {
    let (_a, denies) = guard(&[(EventKind::Prompt, "echo 'not here' >&2; exit 2")]);
    assert!(matches!(run(denies.prompt("hello")), PromptEnd::Denied { message, .. } if message == "not here"));
    let (_b, adds) =
        guard(&[(EventKind::Prompt, r#"echo '{"hookSpecificOutput":{"additionalContext":"sprint 42"}}'"#)]);
    assert!(matches!(run(adds.prompt("hello")), PromptEnd::Accepted { prompt, .. } if prompt == "hello\n\nsprint 42"));
}

#[test]
fn a_hook_that_always_sends_the_agent_back_is_capped() {
    let script = r#"cat > "seen-$(ls | wc -l).json"; echo '{"decision":"block","reason":"again"}'"#;
    let (dir, guard) = guard(&[(EventKind::AgentEnd, script)]);
    let guard = guard.max_times_sent_back(2);
    let ends: Vec<&str> = (0..4)
        .map(|_| match run(guard.agent_end("p", "r", json("[]"))) {
            AgentEnd::SentBack { message, .. } => {
                assert_eq!(message, "again");
                "back"
            }
            AgentEnd::Capped { .. } => "capped",
            _ => "done",
        })
        .collect();
    assert_eq!(ends, ["back", "back", "capped", "back"], "after the cap a new series begins");
    let active = |name: &str| -> bool {
        let seen: serde_json::Value = serde_json::from_slice(&std::fs::read(dir.path().join(name)).unwrap()).unwrap();
        seen["stop_hook_active"].as_bool().unwrap()
    };
    assert_eq!(
        (active("seen-0.json"), active("seen-1.json")),
        (false, true),
        "the hook is told that it sent the agent back"
    );
}

#[test]
fn too_deep_inside_hooks_every_gate_is_shut() {
    let dir = tempfile::tempdir().unwrap();
    let deep = environment().with("HOOKRAIL_DEPTH", "3");
    let system = HookSystem::builder(dir.path())
        .environment(deep)
        .hook(hook(EventKind::BeforeTool, "true", SourceKind::User))
        .build();
    let result = run(Guard::new(system, "s").tool_call(call(), |_| async { Ok(ToolOutput::text("ran")) }));
    assert_eq!(result.end, ToolEnd::Denied);
}

#[test]
fn too_deep_inside_hooks_a_gate_that_no_hook_guards_stays_open() {
    let dir = tempfile::tempdir().unwrap();
    let deep = environment().with("HOOKRAIL_DEPTH", "3");
    let mut elsewhere = hook(EventKind::BeforeTool, "true", SourceKind::User);
    elsewhere.matcher = hookrail::matcher::Matcher::compile(
        "another_tool",
        hookrail::matcher::Language::GlobOrRegex,
        hookrail::matcher::MatchScope::Anywhere,
        hookrail::matcher::OnInvalid::Literal,
    )
    .matcher;
    let system = HookSystem::builder(dir.path()).environment(deep).hook(elsewhere).build();
    let result = run(Guard::new(system.clone(), "s").tool_call(call(), |_| async { Ok(ToolOutput::text("ran")) }));
    assert_eq!(result.end, ToolEnd::Ran);
    let event = hookrail::Event::new(EventKind::Prompt, dir.path()).with_text("prompt", "p");
    let outcome = system.fire_blocking(event);
    assert!(!outcome.is_denied() && outcome.diagnostics.is_empty());
}

#[test]
fn protected_paths_name_files_that_do_not_exist_yet() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("guard.sh"), "").unwrap();
    let outside = tempfile::tempdir().unwrap();
    let home = outside.path().to_owned();
    let environment = environment().with("HOME", &home);
    let system = HookSystem::builder(dir.path())
        .environment(environment)
        .hook(hook(EventKind::BeforeTool, "./guard.sh", SourceKind::User))
        .build();
    let paths = system.protected_paths();
    for expected in [
        dir.path().join(".llxprt/settings.json"),
        home.join(".llxprt/settings.json"),
        home.join(".local/state/hookrail/trust.json"),
        dir.path().canonicalize().unwrap().join("guard.sh"),
        dir.path().join(".git"),
        dir.path().join(".claude"),
    ] {
        assert!(paths.contains(&expected), "{} in {paths:?}", expected.display());
    }
}

#[cfg(unix)]
#[test]
fn protected_paths_read_nothing_of_a_project_that_is_not_trusted() {
    use std::os::unix::fs::MetadataExt as _;
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().canonicalize().unwrap();
    std::fs::create_dir_all(project.join(".llxprt")).unwrap();
    // To hash all of these would take seconds.
    let hooks: Vec<_> = (0..100)
        .map(|number| {
            let file = std::fs::File::create(project.join(format!("large-{number}"))).unwrap();
            file.set_len(50 << 20).unwrap();
            serde_json::json!({"type": "command", "command": format!("sh large-{number}")})
        })
        .collect();
    let settings = serde_json::json!({"hooks": {"BeforeTool": [{"hooks": hooks}]}});
    std::fs::write(project.join(".llxprt/settings.json"), settings.to_string()).unwrap();
    let system = HookSystem::builder(&project).environment(environment().with("HOME", dir.path().join("home"))).build();
    let accessed =
        || std::fs::metadata(project.join("large-7")).map(|about| (about.atime(), about.atime_nsec())).unwrap();
    let before = accessed();
    let paths = system.protected_paths();
    assert!(paths.contains(&project.join("large-7")) && paths.contains(&project.join("large-99")));
    assert_eq!(accessed(), before, "a file of the untrusted project was read");
    let taken = system.snapshot().hooks()[7].trust.fingerprint().unwrap().files()[0].digest;
    assert!(taken.is_some(), "the same file can be read when a grant asks for it");
}

#[test]
fn an_interrupted_guard_keeps_the_gate_shut() {
    let (dir, guard) = guard(&[(EventKind::BeforeTool, "touch started; sleep 60")]);
    let interrupting = guard.clone();
    let started = dir.path().join("started");
    let result = run(async {
        let mut call = std::pin::pin!(guard.tool_call(call(), |_| async { Ok(ToolOutput::text("ran")) }));
        let mut interrupted = false;
        std::future::poll_fn(|context| {
            if !interrupted && started.exists() {
                assert_eq!(interrupting.cancel_hooks(), 1);
                interrupted = true;
            }
            context.waker().wake_by_ref();
            call.as_mut().poll(context)
        })
        .await
    });
    assert_eq!(result.end, ToolEnd::Denied);
    assert_eq!(guard.cancel_hooks(), 0, "nothing is left to interrupt");
}
