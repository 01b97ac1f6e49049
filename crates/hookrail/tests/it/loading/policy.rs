//! Sources of the other layers that cannot be used when a process begins.

use hookrail::outcome::Refusal;
use hookrail::{Code, Decision, DialectId, EventKind, Level, OnFailure};

use crate::loading::world::{DENY, World, says, settings};

fn useless() -> Vec<(&'static str, &'static str)> {
    vec![
        ("home/.llxprt/settings.json", "{"),
        ("home/.llxprt/settings.json", ""),
        ("home/.llxprt/extensions/e/llxprt-extension.json", "{"),
        ("home/.x-code/plugins/installed_plugins.json", ""),
        ("home/.x-code/plugins/installed_plugins.json", r#"{"plugins": 5}"#),
        ("home/.x-code/settings.json", "{"),
    ]
}

#[test]
fn by_default_events_go_on_and_an_error_says_what_is_missing() {
    for (source, text) in useless() {
        let world = World::new();
        world.write(source, text);
        let system = world.build();
        let outcome = world.fire(&system);
        assert_eq!(outcome.effects.decision, None, "{source}");
        let errors = system.snapshot().diagnostics().iter().filter(|found| found.level == Level::Error).count();
        assert!(errors > 0, "{source}: {text:?}");
        assert_eq!(system.configuration().unusable.len(), 1, "{source}: {text:?}");
        let start = system.fire_blocking(system.event(EventKind::SessionStart));
        for outcome in [outcome, start] {
            let errors = outcome.diagnostics.iter().filter(|found| found.level == Level::Error).count();
            assert_eq!(errors, 1, "{source}: {text:?}: {:?}", outcome.diagnostics);
        }
    }
}

#[test]
fn the_user_can_ask_to_be_asked_or_to_have_events_denied() {
    for (source, text) in useless() {
        for (policy, decision) in [(OnFailure::Ask, Decision::Ask), (OnFailure::Block, Decision::Deny)] {
            let world = World::new();
            world.write(source, text);
            let outcome = world.fire(&world.builder().on_load_failure(policy).build());
            assert_eq!(outcome.effects.decision, Some(decision), "{source}: {text:?}");
            assert_eq!(outcome.refusal, Some(Refusal::LoadFailure(policy)), "{source}: {text:?}");
            assert!(says(&outcome, Code::LoadFailure), "{source}: {text:?}");
        }
    }
}

#[test]
fn the_users_files_for_other_agents_count_like_any_other_source() {
    for (dialect, source, text) in [
        (DialectId::Claude, "home/.claude/settings.json", "{"),
        (DialectId::Claude, "home/.claude/plugins/installed_plugins.json", "{"),
        (DialectId::Gemini, "home/.gemini/settings.json", "{\"hooks\": {"),
        (DialectId::Codex, "home/.codex/hooks.json", "[]"),
        (DialectId::Codex, "home/.codex/config.toml", "a = "),
    ] {
        let world = World::new();
        world.write(source, text);
        let builder = || world.builder().enable_dialect(dialect);
        let outcome = world.fire(&builder().build());
        let errors = outcome.diagnostics.iter().filter(|found| found.level == Level::Error).count();
        assert_eq!((outcome.effects.decision, errors), (None, 1), "{source}: {:?}", outcome.diagnostics);
        for (policy, decision) in [(OnFailure::Ask, Decision::Ask), (OnFailure::Block, Decision::Deny)] {
            let outcome = world.fire(&builder().on_load_failure(policy).build());
            assert_eq!(outcome.effects.decision, Some(decision), "{source}");
        }
        // The control: the dialect is off, so nothing is read.
        let outcome = world.fire(&world.builder().on_load_failure(OnFailure::Block).build());
        assert_eq!((outcome.effects.decision, outcome.diagnostics), (None, vec![]), "{source}");
    }
}

#[test]
fn hooks_that_can_be_asked_are_asked_and_their_deny_stands() {
    let world = World::new();
    world.write("home/.llxprt/settings.json", &settings(DENY));
    world.write("home/.x-code/settings.json", "{");
    let outcome = world.fire(&world.builder().on_load_failure(OnFailure::Ask).build());
    assert_eq!((outcome.effects.decision, outcome.runs.len()), (Some(Decision::Deny), 1));
}

#[test]
fn sources_of_a_project_that_is_not_trusted_are_not_missed() {
    for source in [
        "project/.llxprt/settings.json",
        "project/.x-code/settings.local.json",
        "project/.x-code/plugins/p/plugin.json",
    ] {
        let world = World::new();
        world.write(source, "{");
        let builder = || world.builder().on_load_failure(OnFailure::Block);
        assert!(!world.fire(&builder().build()).is_denied(), "{source}");
        assert_eq!(world.fire(&world.build()).diagnostics, [], "{source}");
        assert!(world.fire(&builder().trust_project().build()).is_denied(), "{source}");
    }
}

#[test]
fn a_repaired_source_lifts_the_refusal() {
    let world = World::new();
    world.write("home/.llxprt/settings.json", "{");
    let system = world.builder().on_load_failure(OnFailure::Block).build();
    assert!(world.fire(&system).is_denied());
    world.write("home/.llxprt/settings.json", "{}");
    system.refresh();
    assert!(!world.fire(&system).is_denied());
}
