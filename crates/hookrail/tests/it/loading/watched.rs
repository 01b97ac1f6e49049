//! What has to be watched, and which configuration is in force.

use std::fs;
use std::os::unix::fs::symlink;

use crate::loading::world::{DENY, World, plugin_hooks, settings};

#[test]
fn everything_that_was_read_or_looked_for_is_watched() {
    let world = World::new();
    world.write("system.json", "{}");
    world.install_plugin();
    world.install_extension();
    world.write("project/.x-code/plugins/q/plugin.json", r#"{"name":"q"}"#);
    world.write("project/.x-code/plugins/q/hooks/hooks.json", &plugin_hooks().to_string());
    let watched = world.build().watched_paths();
    for place in [
        "system.json",
        "project/.llxprt/settings.json",
        "home/.llxprt/settings.json",
        "home/.llxprt/extensions",
        "home/.llxprt/extensions/e/llxprt-extension.json",
        "home/.llxprt/extensions/e/hooks/hooks.json",
        "home/.x-code/settings.json",
        "home/.x-code/plugins/installed_plugins.json",
        "home/.x-code/plugins/known_marketplaces.json",
        "home/.x-code/plugins/user-config.json",
        "home/.x-code/plugins/cache/m/p/1.0.0/plugin.json",
        "home/.x-code/plugins/cache/m/p/1.0.0/hooks/hooks.json",
        "project/.x-code/settings.local.json",
        "project/.x-code/plugins",
        "project/.x-code/plugins/q/plugin.json",
        "project/.x-code/plugins/q/hooks/hooks.json",
        "project/.xcsh/hooks",
        "project/.xcsh/hooks/pre",
        "project/.xcsh/hooks/post",
        "home/.xcsh/agent/hooks/pre",
        "home/.claude/hooks/pre",
        "home/.local/state/hookrail/trust.json",
    ] {
        assert!(watched.contains(&world.path(place)), "{place} is not among {watched:#?}");
    }
}

#[test]
fn links_and_what_they_lead_to_are_watched() {
    let world = World::new();
    world.write("dotfiles/llxprt/real.json", &settings(DENY));
    symlink("real.json", world.path("dotfiles/llxprt/settings.json")).unwrap();
    symlink(world.path("dotfiles/llxprt"), world.path("home/.llxprt")).unwrap();
    let system = world.build();
    assert!(world.fire(&system).is_denied());
    let watched = system.watched_paths();
    for place in [
        "home/.llxprt",
        "home/.llxprt/settings.json",
        "dotfiles/llxprt",
        "dotfiles/llxprt/settings.json",
        "dotfiles/llxprt/real.json",
    ] {
        assert!(watched.contains(&world.path(place)), "{place} is not among {watched:#?}");
    }
    fs::write(world.path("dotfiles/llxprt/real.json"), settings("true")).unwrap();
    system.refresh();
    assert!(!world.fire(&system).is_denied());
}

#[test]
fn a_link_that_leads_to_itself_ends() {
    let world = World::new();
    fs::create_dir_all(world.path("home/.llxprt")).unwrap();
    symlink("settings.json", world.path("home/.llxprt/settings.json")).unwrap();
    assert!(world.build().watched_paths().contains(&world.path("home/.llxprt/settings.json")));
}

#[test]
fn the_revision_counts_what_was_in_force_and_the_digest_says_what_was_read() {
    let world = World::new();
    world.write("home/.llxprt/settings.json", &settings(DENY));
    let system = world.build();
    let first = system.configuration();
    assert_eq!(first.revision, 1);
    assert_eq!(first.digest, world.build().configuration().digest, "two processes agree");
    system.refresh();
    system.reload();
    let same = system.configuration();
    assert_eq!((same.revision, same.digest, same.loaded_at), (1, first.digest, first.loaded_at));
    world.write("home/.llxprt/settings.json", &settings("true"));
    system.refresh();
    let second = system.configuration();
    assert_eq!(second.revision, 2);
    assert!(second.digest != first.digest && second.loaded_at >= first.loaded_at);
    world.write("home/.llxprt/settings.json", "");
    system.refresh();
    let kept = system.configuration();
    assert_eq!((kept.digest, kept.kept.len()), (second.digest, 1), "the same text is in force");
}
