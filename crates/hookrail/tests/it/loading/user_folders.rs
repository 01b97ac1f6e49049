//! Folders of the user that the project could fill: nothing is read from there, and that is reported.

use std::path::PathBuf;

use hookrail::outcome::Refusal;
use hookrail::{Code, HookSystem, OnFailure};

use crate::loading::world::{DENY, World, says, settings};

/// The variables with which nothing of the user can be found, by what is wrong with them.
fn cases(world: &World) -> Vec<(&'static str, PathBuf)> {
    let inside = |name: &str| world.path("project").join(name);
    vec![
        ("HOME", PathBuf::new()),
        ("HOME", "home".into()),
        ("HOME", world.path("none")),
        ("HOME", inside("home")),
        ("XDG_STATE_HOME", inside("state")),
        ("XDG_CONFIG_HOME", inside("later/config")),
        ("LLXPRT_CONFIG_HOME", inside("home/.llxprt")),
    ]
}

/// A project that brings what would be a hook of the user.
fn hostile() -> World {
    let world = World::new();
    world.write("project/home/.llxprt/settings.json", &settings("touch ran"));
    world.write("project/home/.config/llxprt-code/settings.json", &settings("touch ran"));
    world
}

#[test]
fn nothing_is_read_from_there_and_every_outcome_has_the_error() {
    let world = hostile();
    for (variable, value) in cases(&world) {
        let builder = || {
            let environment = world.environment().with(variable, &value);
            HookSystem::builder(world.path("project")).environment(environment)
        };
        let outcome = world.fire(&builder().build());
        assert!(!outcome.is_denied() && outcome.runs.is_empty(), "{variable}: {:?}", outcome.runs);
        assert!(says(&outcome, Code::UserUnusable), "{variable}={}: {:?}", value.display(), outcome.diagnostics);
        let outcome = world.fire(&builder().on_load_failure(OnFailure::Block).build());
        assert_eq!(outcome.refusal, Some(Refusal::LoadFailure(OnFailure::Block)), "{variable}");
        let outcome = world.fire(&builder().require_user_folders().build());
        assert_eq!(outcome.refusal, Some(Refusal::UserUnusable), "{variable}");
        assert!(outcome.effects.reason.unwrap().contains(&format!("set `{variable}`")), "{variable}");
        assert!(!world.path("project/ran").exists(), "{variable}");
    }
}

#[test]
fn folders_outside_of_the_project_and_a_home_that_is_the_project_are_the_users() {
    let world = hostile();
    world.write("home/.llxprt/settings.json", &settings(DENY));
    let outcome = world.fire(&world.builder().require_user_folders().build());
    assert!(outcome.is_denied() && outcome.refusal.is_none() && outcome.diagnostics.is_empty());
    let environment = world.environment().with("XDG_STATE_HOME", world.path("home/.local/state"));
    let at_home = HookSystem::builder(world.path("home")).environment(environment).require_user_folders().build();
    let outcome = world.fire(&at_home);
    assert!(outcome.is_denied() && outcome.refusal.is_none(), "{:?}", outcome.diagnostics);
}
