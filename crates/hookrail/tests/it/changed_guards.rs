//! A guard that was granted does not disappear by being changed: it does not run, and fails under the policy it was
//! granted with.

use std::path::Path;

use hookrail::hook::Trust;
use hookrail::plan::SkipReason;
use hookrail::trust::{HookEdit, TrustStore as _};
use hookrail::{Decision, EndKind, Event, EventKind, HookSystem, Outcome};
use serde_json::{Value, json};

use crate::granting::World;

impl World {
    /// A granted project with that hook for BeforeTool.
    fn granted(hook: &Value) -> Self {
        let world = Self::empty();
        world.configure(hook);
        world.write("project/guard.sh", "touch ran; exit 0\n");
        world.grant();
        world
    }

    fn configure(&self, hook: &Value) {
        self.configure_for(hook, "write_.*");
    }

    fn configure_for(&self, hook: &Value, matcher: &str) {
        let groups = json!([{"matcher": matcher, "hooks": [hook]}]);
        let settings = json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": groups}});
        self.write("project/.llxprt/settings.json", &settings.to_string());
    }

    fn system(&self) -> HookSystem {
        self.builder().build()
    }

    fn fire(&self) -> Outcome {
        self.fire_tool(&self.system(), "write_file")
    }

    fn fire_tool(&self, system: &HookSystem, tool: &str) -> Outcome {
        system.fire_blocking(Event::new(EventKind::BeforeTool, self.path("project")).with_text("tool_name", tool))
    }
}

fn guard(on_failure: &str) -> Value {
    json!({"type": "command", "name": "guard", "command": "sh guard.sh", "onFailure": on_failure})
}

/// The outcome of an event whose changed guard failed.
#[track_caller]
fn fails(world: &World, outcome: &Outcome, decision: Decision) {
    assert_eq!(outcome.effects.decision, Some(decision), "{outcome:?}");
    assert_eq!(outcome.runs.len(), 1);
    assert_eq!((outcome.runs[0].end, outcome.runs[0].decision), (EndKind::Unusable, Some(decision)));
    let changed = outcome.diagnostics.iter().filter(|found| found.code.name() == "trust-changed");
    assert_eq!(changed.count(), 1, "{:?}", outcome.diagnostics);
    assert!(!outcome.skipped.iter().any(|skipped| skipped.why == SkipReason::Untrusted));
    assert!(!world.ran(), "changed bytes never run");
}

#[test]
fn a_guard_whose_script_changes_between_loading_and_running_fails_too() {
    for (policy, decision) in [("block", Decision::Deny), ("ask", Decision::Ask)] {
        let world = World::granted(&guard(policy));
        let system = world.system();
        world.write("project/guard.sh", "touch ran; exit 0 # another one\n");
        fails(&world, &world.fire_tool(&system, "write_file"), decision);
    }
}

#[test]
fn a_guard_whose_script_is_gone_fails_too() {
    let world = World::granted(&guard("block"));
    std::fs::remove_file(world.path("project/guard.sh")).unwrap();
    fails(&world, &world.fire(), Decision::Deny);
}

#[test]
fn nothing_in_the_definition_of_a_guard_can_be_changed_to_get_rid_of_it() {
    let block = guard("block");
    let mut changes: Vec<Value> = vec![guard("allow"), guard("ask")];
    for (key, value) in [
        ("timeout", json!(1)),
        ("command", json!("sh guard.sh --quiet")),
        ("command", json!("true")),
        ("name", json!("another name")),
        ("args", json!(["x"])),
    ] {
        let mut changed = block.clone();
        changed[key] = value;
        if key == "name" {
            changed["timeout"] = json!(1);
        }
        changes.push(changed);
    }
    for changed in changes {
        let world = World::granted(&block);
        world.configure(&changed);
        fails(&world, &world.fire(), Decision::Deny);
        // It is shown as what it is, and granting it makes it the guard.
        assert!(matches!(world.system().snapshot().hooks()[0].trust, Trust::Changed(_)), "{changed}");
        world.grant();
        assert!(matches!(world.system().snapshot().hooks()[0].trust, Trust::Granted(_)), "{changed}");
        assert_eq!(world.store().grants(&world.project()).unwrap().hooks.len(), 1, "the old one is superseded");
    }
}

#[test]
fn a_guard_with_another_matcher_fails_where_it_was_granted_for() {
    let world = World::granted(&guard("block"));
    world.configure_for(&guard("block"), "no_such_tool");
    let system = world.system();
    fails(&world, &world.fire_tool(&system, "write_file"), Decision::Deny);
    for other in ["no_such_tool", "read_file"] {
        let outcome = world.fire_tool(&system, other);
        assert!(!outcome.is_denied() && outcome.runs.is_empty(), "{other} was never guarded");
    }
    let matcher = system.snapshot().hooks()[0].matcher.pattern().map(str::to_owned);
    assert_eq!(matcher.as_deref(), Some("no_such_tool"), "what is shown is what would be granted");
}

#[test]
fn a_hook_that_was_no_guard_when_it_was_granted_is_skipped() {
    let world = World::granted(&guard("allow"));
    for changed in [guard("block"), json!({"type": "command", "name": "guard", "command": "sh guard.sh -x"})] {
        world.configure(&changed);
        let outcome = world.fire();
        assert!(!outcome.is_denied() && outcome.runs.is_empty());
        let why: Vec<SkipReason> = outcome.skipped.iter().map(|skipped| skipped.why).collect();
        assert_eq!(why, [SkipReason::Untrusted]);
    }
}

#[test]
fn a_guard_that_was_never_granted_guards_nothing() {
    let world = World::granted(&json!({"type": "command", "name": "other", "command": "echo other"}));
    world.configure(&guard("block"));
    let outcome = world.fire();
    assert!(!outcome.is_denied() && outcome.runs.is_empty());
}

#[test]
fn changing_the_policy_or_the_time_of_any_hook_asks_again() {
    let plain = json!({"type": "command", "name": "hook", "command": "sh guard.sh"});
    for (key, value) in [("timeout", json!(1000)), ("onFailure", json!("ask"))] {
        let world = World::granted(&plain);
        assert!(world.system().snapshot().hooks()[0].trust.allows());
        let mut changed = plain.clone();
        changed[key] = value;
        world.configure(&changed);
        assert!(!world.system().snapshot().hooks()[0].trust.allows(), "{key}");
        world.configure(&plain);
        assert!(world.system().snapshot().hooks()[0].trust.allows(), "what was granted is granted again");
    }
}

#[test]
fn two_entries_that_differ_in_their_terms_can_both_be_granted() {
    let world = World::granted(&guard("block"));
    let entries = json!([guard("block"), guard("ask")]);
    let settings = json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": [{"hooks": entries}]}});
    world.write("project/.llxprt/settings.json", &settings.to_string());
    world.grant();
    assert!(world.system().snapshot().hooks().iter().all(|hook| hook.trust.allows()));
    assert!(!world.fire().is_denied());
}

#[test]
fn a_grant_of_an_earlier_version_still_holds_and_its_guard_fails_under_the_present_policy() {
    let world = World::granted(&guard("block"));
    let project = world.project();
    // An earlier version kept no policy, and its digests did not cover it.
    let plain = World::granted(&guard("allow"));
    let earlier = plain.store().grants(&plain.project()).unwrap().hooks[0].clone();
    world
        .store()
        .change(&project, |grants| {
            grants.hooks[0].on_failure = None;
            grants.hooks[0].definition = earlier.definition;
            grants.hooks[0].content = earlier.content;
        })
        .unwrap();
    let outcome = world.fire();
    assert!(!outcome.is_denied() && outcome.runs[0].end == EndKind::Silent, "{outcome:?}");
    std::fs::remove_file(world.path("project/ran")).unwrap();
    world.write("project/guard.sh", "touch ran # changed\n");
    fails(&world, &world.fire(), Decision::Deny);
}

#[test]
fn a_changed_guard_beside_its_double_of_the_user_fails_and_the_double_runs() {
    let world = World::granted(&guard("block"));
    let groups = json!([{"hooks": [{"type": "command", "command": "sh guard.sh"}]}]);
    let settings = json!({"tools": {"enableHooks": true}, "hooks": {"BeforeTool": groups}});
    world.write("home/.llxprt/settings.json", &settings.to_string());
    world.write("project/guard.sh", "touch ran; exit 0 # changed\n");
    let outcome = world.fire();
    assert!(outcome.is_denied());
    let ends: Vec<EndKind> = outcome.runs.iter().map(|run| run.end).collect();
    assert_eq!(ends, [EndKind::Unusable, EndKind::Silent]);
}

#[test]
fn a_plugin_of_the_project_that_blocks_on_failure_is_a_guard() {
    let world = World::granted(&guard("allow"));
    let plugin = |policy: &str| {
        let entry = json!({"command": "sh ${pluginDir}/run.sh", "failurePolicy": policy});
        json!({"name": "p", "version": "1.0.0", "hooks": {"PreToolUse": [entry]}}).to_string()
    };
    world.write("project/.x-code/plugins/p/plugin.json", &plugin("block"));
    world.write("project/.x-code/plugins/p/run.sh", "true\n");
    world.grant();
    assert!(!world.fire().is_denied());
    world.write("project/.x-code/plugins/p/plugin.json", &plugin("allow"));
    let outcome = world.fire();
    assert!(outcome.is_denied(), "{outcome:?}");
    world.write("project/.x-code/plugins/p/plugin.json", &plugin("block"));
    assert!(!world.fire().is_denied());
    world.write("project/.x-code/plugins/p/run.sh", "true # changed\n");
    assert!(world.fire().is_denied());
}

/// The module at that path in a granted project; nothing here can run modules, so a granted one is not executable.
fn module(text: &str) -> World {
    let world = World::granted(&json!({"type": "command", "name": "other", "command": "true"}));
    world.write("project/.xcsh/hooks/pre/a.ts", text);
    world.grant();
    assert!(!world.fire().is_denied());
    world
}

#[test]
fn a_module_that_handled_tool_calls_blocks_them_when_it_has_changed() {
    let world = module("export default (pi) => { pi.on('tool_call', () => undefined); };\n");
    world.write("project/.xcsh/hooks/pre/a.ts", "export default () => {};\n");
    let outcome = world.fire();
    assert!(outcome.is_denied(), "{outcome:?}");
    assert!(outcome.diagnostics.iter().any(|found| found.code.name() == "trust-changed"));
    let run = outcome.runs.iter().find(|run| Path::new(&*run.hook.label).ends_with("a.ts")).unwrap();
    assert_eq!(run.end, EndKind::Unusable);
    let prompt = Event::new(EventKind::Prompt, world.path("project")).with_text("prompt", "p");
    let outcome = world.system().fire_blocking(prompt);
    assert!(!outcome.is_denied() && outcome.runs.is_empty(), "it guards nothing but tool calls");
}

#[test]
fn a_module_that_only_looked_at_results_is_skipped_when_it_has_changed() {
    let world = module("export default (pi) => { pi.on('tool_result', () => undefined); };\n");
    world.write("project/.xcsh/hooks/pre/a.ts", "export default (pi) => { pi.on('tool_call', () => undefined); };\n");
    let outcome = world.fire();
    assert!(!outcome.is_denied(), "{outcome:?}");
    assert!(outcome.skipped.iter().any(|skipped| skipped.why == SkipReason::Untrusted));
}

/// The user and the model learn what happened, and where to look. Only a user may grant the change.
#[test]
fn the_reason_of_a_changed_guard_says_that_it_was_edited() {
    let reason = |world: &World| world.fire().effects.reason.unwrap_or_default();
    let world = World::granted(&guard("block"));
    world.write("project/guard.sh", "exit 1\n");
    world.grant();
    assert_eq!(reason(&world), "hook `guard` failed (exit status 1) and its failure policy is `block`");
    world.write("project/guard.sh", "exit 0\n");
    assert_eq!(
        reason(&world),
        "hook `guard` was edited since you trusted it, so it did not run; `hookrail trust diff` shows the change"
    );
    let hint = world.fire().diagnostics[0].hint.clone().unwrap_or_default();
    assert!(hint.contains("hookrail trust grant"), "{hint}");
    // A hook that was never granted is not called edited.
    world.configure(&json!({"type": "command", "name": "another", "command": "true", "onFailure": "block"}));
    assert!(
        reason(&world).starts_with("hook `another` takes the place of `guard`, which you trusted, so"),
        "{}",
        reason(&world)
    );
    assert_eq!(world.system().snapshot().hooks()[0].edit(), Some(HookEdit::TakesPlaceOf("guard".to_owned())));
    world.grant();
    assert_eq!((reason(&world).as_str(), world.system().snapshot().hooks()[0].edit()), ("", None));
}
