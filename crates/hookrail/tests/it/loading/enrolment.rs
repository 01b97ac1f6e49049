//! The enrolment in a fleet: a bundle is a source of its layer, and one that is missing or old never vanishes silently.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hookrail::outcome::Refusal;
use hookrail::sources::SourceKind;
use hookrail::{Code, Environment, Event, EventKind, FireOptions, HookSystem, OnFailure};
use serde_json::{Value, json};

use crate::loading::world::{DENY, WAYS_TO_SPOIL, World, plugin_hooks, says, settings, spoil};

const STATE: &str = "root/var/lib/hookrail";
const USER_STATE: &str = "home/.local/state/hookrail/fleet";

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// The folder of a bundle: a digest that is one letter, 64 times.
fn folder(state: &str, letter: char) -> String {
    format!("{state}/bundles/{}", letter.to_string().repeat(64))
}

fn bundle(letter: char, shadow: bool) -> Value {
    json!({
        "digest": letter.to_string().repeat(64), "channel": "stable", "version": 7, "shadow": shadow, "applied": now(),
    })
}

fn pointer(bundles: &[Value]) -> Value {
    json!({"format": 1, "bundles": bundles, "stale_after": 3600, "expired": "block"})
}

impl World {
    fn enrolled() -> Self {
        let world = Self::new();
        world.write("root/etc/hookrail/fleet.toml", "tenant = \"acme\"\n");
        world
    }

    /// A world with a bundle in force that denies tool calls.
    fn with_bundle() -> Self {
        let world = Self::enrolled();
        world.write(&format!("{}/settings.json", folder(STATE, 'a')), &settings(DENY));
        world.point(STATE, &pointer(&[bundle('a', false)]));
        world
    }

    fn point(&self, state: &str, pointer: &Value) {
        self.write(&format!("{state}/current.new"), &pointer.to_string());
        fs::rename(self.path(&format!("{state}/current.new")), self.path(&format!("{state}/current.json"))).unwrap();
    }

    fn fleet_environment(&self) -> Environment {
        self.environment().with("HOOKRAIL_FLEET_ROOT", self.path("root"))
    }

    fn enrolled_system(&self) -> HookSystem {
        HookSystem::builder(self.path("project")).environment(self.fleet_environment()).build()
    }
}

#[test]
fn a_machine_that_was_never_enrolled_notices_nothing() {
    let world = World::new();
    let system = world.enrolled_system();
    let outcome = world.fire(&system);
    assert!(!outcome.is_denied() && outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
    let wanted = system.snapshot().wanted();
    assert!(EventKind::all().all(|kind| !wanted.contains(kind)));
}

#[test]
fn an_enrolled_machine_without_a_bundle_denies_every_event_that_can_be_denied() {
    let world = World::enrolled();
    let system = world.enrolled_system();
    for kind in EventKind::all() {
        let outcome = system.fire_blocking(Event::new(kind, world.path("project")));
        assert_eq!(outcome.is_denied(), kind.spec().is_gating(), "{kind}");
        assert!(says(&outcome, Code::BundleMissing), "{kind}");
        assert_eq!(outcome.refusal, kind.spec().is_gating().then_some(Refusal::BundleMissing), "{kind}");
    }
    world.point(STATE, &pointer(&[]));
    assert_eq!(world.fire(&world.enrolled_system()).refusal, Some(Refusal::BundleMissing), "a list without a bundle");
}

#[test]
fn no_switch_but_no_hooks_lets_an_enrolled_machine_without_a_bundle_go_on() {
    let world = World::enrolled();
    let environment = world.fleet_environment().with("HOOKRAIL_DISABLE", "1");
    let disabled = HookSystem::builder(world.path("project")).environment(environment).build();
    assert!(world.fire(&disabled).is_denied());
    let builder = || HookSystem::builder(world.path("project")).environment(world.fleet_environment());
    assert!(world.fire(&builder().only_dialects(vec![hookrail::DialectId::Xcsh]).build()).is_denied());
    assert!(!world.fire(&builder().hooks_off("`--no-hooks` was given").build()).is_denied());
    assert!(!world.fire(&builder().no_bundles().build()).is_denied(), "a host that only tries hooks out");
    assert_eq!(builder().build().configuration().refusal, Some(Refusal::BundleMissing));
}

#[test]
fn the_settings_of_a_bundle_are_a_source_of_the_system_layer() {
    let world = World::with_bundle();
    let system = world.enrolled_system();
    let outcome = world.fire(&system);
    assert!(outcome.is_denied() && outcome.refusal.is_none(), "{:?}", outcome.diagnostics);
    assert_eq!(outcome.runs[0].hook.origin.kind, SourceKind::System);
    // No user can disable it.
    world.write(
        "home/.llxprt/settings.json",
        &json!({"hooksConfig": {"enabled": false, "disabled": [DENY]}}).to_string(),
    );
    assert!(world.fire(&world.enrolled_system()).is_denied());
}

/// A bundle that a variable brings adds its hooks. What else it says concerns nothing but them.
#[test]
fn the_switches_of_a_bundle_under_a_named_root_disarm_nothing() {
    let guard = |of: &str| settings(&format!("echo {of} >&2; exit 2"));
    let in_bundle = format!("{}/settings.json", folder(STATE, 'a'));
    let hook = json!([{"hooks": [{"type": "command", "name": "own", "command": "echo the bundle >&2; exit 2"}]}]);
    let loosening = [
        json!({"hooksConfig": {"enabled": false}}),
        json!({"hooksConfig": {"enabled": true, "disabled": ["echo the user >&2; exit 2", "echo the system >&2; exit 2"]}}),
        json!({"hooksConfig": {"enabled": true, "sandbox": {"read": [], "write": [], "network": false}}}),
    ];
    for (layer, file, reason) in
        [("the user", "home/.llxprt/settings.json", "the user"), ("the system", "system.json", "the system")]
    {
        for switches in &loosening {
            let world = World::enrolled();
            world.write(file, &guard(layer));
            world.write(&in_bundle, &switches.to_string());
            world.point(STATE, &pointer(&[bundle('a', false)]));
            let environment = world.fleet_environment().with("LLXPRT_SYSTEM_SETTINGS_PATH", world.path("system.json"));
            let system = HookSystem::builder(world.path("project")).environment(environment).build();
            let outcome = world.fire(&system);
            assert!(outcome.is_denied(), "{layer}, {switches}: {:?}", outcome.diagnostics);
            assert_eq!(outcome.effects.reason.as_deref(), Some(reason), "{switches}");
        }
    }
    // Its own hooks are its own to switch.
    for (is_on, denied) in [(true, true), (false, false)] {
        let world = World::enrolled();
        let text = json!({"hooksConfig": {"enabled": is_on}, "hooks": {"BeforeTool": hook}});
        world.write(&in_bundle, &text.to_string());
        world.point(STATE, &pointer(&[bundle('a', false)]));
        assert_eq!(world.fire(&world.enrolled_system()).is_denied(), denied, "switched on: {is_on}");
    }
}

#[test]
fn a_hook_finds_the_scripts_of_its_own_bundle() {
    let world = World::with_bundle();
    let script = format!("{}/scripts/guard.sh", folder(STATE, 'a'));
    world.write(&script, "#!/bin/sh\necho no >&2; exit 2\n");
    fs::set_permissions(world.path(&script), fs::Permissions::from_mode(0o755)).unwrap();
    let text = settings("\"$HOOKRAIL_BUNDLE_DIR\"/scripts/guard.sh");
    world.write(&format!("{}/settings.json", folder(STATE, 'a')), &text);
    let outcome = world.fire(&world.enrolled_system());
    assert_eq!(outcome.effects.reason.as_deref(), Some("no"), "{outcome:?}");
}

#[test]
fn plugins_of_a_bundle_belong_to_the_system_and_cannot_be_left_out() {
    let world = World::enrolled();
    let dir = format!("{}/plugins/p", folder(STATE, 'a'));
    world.write(&format!("{dir}/plugin.json"), &json!({"name": "p"}).to_string());
    world.write(&format!("{dir}/hooks/hooks.json"), &plugin_hooks().to_string());
    world.point(STATE, &pointer(&[bundle('a', false)]));
    let disabled = json!({"enabledPlugins": {"p@bundle": false}});
    world.write("home/.x-code/settings.json", &disabled.to_string());
    world.write("home/.x-code/plugins/known_marketplaces.json", &json!({"blockedPlugins": ["p@bundle"]}).to_string());
    let builder = || HookSystem::builder(world.path("project")).environment(world.fleet_environment());
    for system in [builder().build(), builder().no_plugins().build()] {
        let outcome = world.fire(&system);
        assert!(outcome.is_denied(), "{:?}", outcome.diagnostics);
        assert_eq!(outcome.runs[0].hook.origin.kind, SourceKind::System);
    }
    fs::remove_file(world.path(&format!("{dir}/plugin.json"))).unwrap();
    assert_eq!(world.fire(&builder().build()).refusal, Some(Refusal::SystemUnusable), "a plugin without a manifest");
}

#[test]
fn a_bundle_that_is_tried_out_changes_nothing() {
    let world = World::enrolled();
    world.write(&format!("{}/settings.json", folder(STATE, 'a')), &settings("exit 0"));
    // It denies, switches other hooks off, and has an entry that cannot be used.
    let deny = json!({"type": "command", "command": DENY});
    let tried = json!({
        "hooksConfig": {"enabled": true, "disabled": ["exit 0"]},
        "hooks": {"BeforeTool": [{"hooks": [deny, {"type": "command"}]}]},
    });
    world.write(&format!("{}/settings.json", folder(STATE, 'b')), &tried.to_string());
    world.point(STATE, &pointer(&[bundle('a', false), bundle('b', true)]));
    let system = world.enrolled_system();
    let event = Event::new(EventKind::BeforeTool, world.path("project")).with_text("tool_name", "t");
    let outcome = system.fire_blocking_with(event, FireOptions::new().wait_for_all());
    assert!(!outcome.is_denied(), "{:?}", outcome.diagnostics);
    assert_eq!(outcome.runs.len(), 1, "the enforced bundle's hook ran");
    assert_eq!(outcome.shadow.len(), 1, "{:?}", outcome.shadow);
    assert_eq!(outcome.shadow[0].effects.reason.as_deref(), Some("no"));
    // A broken file of it has no effect either.
    world.write(&format!("{}/settings.json", folder(STATE, 'b')), "{");
    assert!(!world.fire(&world.enrolled_system()).is_denied());
    // Nor is its folder missed.
    fs::remove_dir_all(world.path(&folder(STATE, 'b'))).unwrap();
    assert!(!world.fire(&world.enrolled_system()).is_denied());
}

#[test]
fn trying_out_what_is_enforced_does_not_disarm_it() {
    let world = World::with_bundle();
    world.point(STATE, &pointer(&[bundle('a', false), bundle('a', true)]));
    assert!(world.fire(&world.enrolled_system()).is_denied());
}

#[test]
fn a_bundle_that_cannot_be_used_denies() {
    for how in WAYS_TO_SPOIL {
        let world = World::with_bundle();
        spoil(&world.path(&format!("{}/settings.json", folder(STATE, 'a'))), how);
        assert_eq!(world.fire(&world.enrolled_system()).refusal, Some(Refusal::SystemUnusable), "{how:?}");
        let world = World::with_bundle();
        spoil(&world.path(&format!("{STATE}/current.json")), how);
        assert_eq!(world.fire(&world.enrolled_system()).refusal, Some(Refusal::SystemUnusable), "{how:?}");
    }
    let world = World::with_bundle();
    fs::remove_dir_all(world.path(&folder(STATE, 'a'))).unwrap();
    assert_eq!(world.fire(&world.enrolled_system()).refusal, Some(Refusal::SystemUnusable));
}

#[test]
fn a_pointer_that_this_version_does_not_understand_denies() {
    let strange =
        [("format", json!(2)), ("bundles", json!({})), ("stale_after", json!("7d")), ("expired", json!("maybe"))];
    for (key, value) in strange {
        let world = World::with_bundle();
        let mut changed = pointer(&[bundle('a', false)]);
        changed[key] = value;
        world.point(STATE, &changed);
        assert_eq!(world.fire(&world.enrolled_system()).refusal, Some(Refusal::SystemUnusable), "{key}");
    }
    for (key, value) in [("digest", json!("../../../evil")), ("shadow", json!("no")), ("expires", json!("later"))] {
        let world = World::with_bundle();
        let mut changed = bundle('a', false);
        changed[key] = value;
        world.point(STATE, &pointer(&[changed]));
        assert_eq!(world.fire(&world.enrolled_system()).refusal, Some(Refusal::SystemUnusable), "{key}");
    }
}

#[test]
fn what_others_can_change_is_not_used() {
    let places = [STATE.to_owned(), format!("{STATE}/current.json"), format!("{STATE}/bundles"), folder(STATE, 'a')];
    for place in places {
        let world = World::with_bundle();
        fs::set_permissions(world.path(&place), fs::Permissions::from_mode(0o777)).unwrap();
        let outcome = world.fire(&world.enrolled_system());
        assert_eq!(outcome.refusal, Some(Refusal::SystemUnusable), "{place}");
    }
    let world = World::with_bundle();
    fs::rename(world.path(STATE), world.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(world.path("elsewhere"), world.path(STATE)).unwrap();
    assert_eq!(world.fire(&world.enrolled_system()).refusal, Some(Refusal::SystemUnusable), "a link");
}

#[test]
fn a_root_that_a_project_could_bring_is_not_used() {
    let world = World::new();
    world.write("project/root/etc/hookrail/fleet.toml", "");
    world.write("project/root/var/lib/hookrail/current.json", "{}");
    for root in [world.path("project/root"), "root".into()] {
        let environment = world.environment().with("HOOKRAIL_FLEET_ROOT", &root);
        let system = HookSystem::builder(world.path("project")).environment(environment).build();
        assert_eq!(world.fire(&system).refusal, Some(Refusal::SystemUnusable), "{}", root.display());
    }
}

#[test]
fn a_running_process_keeps_a_bundle_that_is_spoilt_or_gone_and_takes_a_new_one() {
    let world = World::with_bundle();
    let system = world.enrolled_system();
    for how in WAYS_TO_SPOIL {
        spoil(&world.path(&format!("{STATE}/current.json")), how);
        system.refresh();
        let outcome = world.fire(&system);
        assert!(outcome.is_denied() && outcome.refusal.is_none() && says(&outcome, Code::KeptLastGood), "{how:?}");
        let _ = fs::remove_dir(world.path(&format!("{STATE}/current.json")));
        world.point(STATE, &pointer(&[bundle('a', false)]));
        system.refresh();
    }
    fs::remove_dir_all(world.path("root")).unwrap();
    system.refresh();
    let outcome = world.fire(&system);
    assert!(outcome.is_denied() && outcome.refusal.is_none(), "{:?}", outcome.diagnostics);
    assert!(says(&outcome, Code::SourceRemoved));
    world.write("root/etc/hookrail/fleet.toml", "");
    world.write(&format!("{}/settings.json", folder(STATE, 'c')), &settings("exit 0"));
    world.point(STATE, &pointer(&[bundle('c', false)]));
    system.refresh();
    let outcome = world.fire(&system);
    assert!(!outcome.is_denied() && outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
}

#[test]
fn the_switch_is_a_path_that_is_watched() {
    let world = World::with_bundle();
    let system = world.enrolled_system();
    let watched = system.watched_paths();
    assert!(watched.contains(&world.path(&format!("{STATE}/current.json"))));
    assert!(watched.contains(&world.path("root/etc/hookrail/fleet.toml")));
    assert!(
        !watched.contains(&world.path(&format!("{STATE}/checked"))),
        "a check that finds nothing new reloads nothing"
    );
    assert!(system.protected_paths().contains(&world.path(&format!("{STATE}/current.json"))));
}

#[test]
fn an_expired_bundle_stays_in_force_and_does_what_its_channel_says() {
    for (policy, refusal) in [
        ("allow", None),
        ("ask", Some(Refusal::BundleExpired(OnFailure::Ask))),
        ("block", Some(Refusal::BundleExpired(OnFailure::Block))),
    ] {
        let world = World::with_bundle();
        let mut old = bundle('a', false);
        old["expires"] = json!(now() - 1);
        let mut expired = pointer(&[old]);
        expired["expired"] = json!(policy);
        world.point(STATE, &expired);
        let system = world.enrolled_system();
        let outcome = world.fire(&system);
        assert!(says(&outcome, Code::BundleExpired), "{policy}");
        assert_eq!(outcome.refusal, refusal, "{policy}");
        // Its own hook denies in any case, unless the engine has decided already.
        assert_eq!(outcome.is_denied(), policy != "ask" || !outcome.runs.is_empty(), "{policy}");
        let other = system.fire_blocking(Event::new(EventKind::SessionStart, world.path("project")));
        assert!(says(&other, Code::BundleExpired) && other.refusal.is_none(), "{policy}");
    }
}

#[test]
fn a_process_notices_that_its_bundle_expires_without_any_change_of_a_file() {
    let world = World::with_bundle();
    world.write(&format!("{}/settings.json", folder(STATE, 'a')), &settings("exit 0"));
    let mut short = bundle('a', false);
    short["expires"] = json!(now() + 2);
    world.point(STATE, &pointer(&[short]));
    let system = world.enrolled_system();
    assert_eq!(world.fire(&system).refusal, None);
    let started = std::time::Instant::now();
    while world.fire(&system).refusal != Some(Refusal::BundleExpired(OnFailure::Block)) {
        assert!(started.elapsed() < Duration::from_secs(60), "it never expired");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(system.configuration().revision >= 2);
}

#[test]
fn a_bundle_whose_source_is_out_of_reach_is_reported_until_it_is_reached() {
    let world = World::with_bundle();
    world.write(&format!("{STATE}/checked"), &(now() - 7200).to_string());
    let system = world.enrolled_system();
    let outcome = world.fire(&system);
    assert!(says(&outcome, Code::BundleStale) && outcome.refusal.is_none(), "{:?}", outcome.diagnostics);
    assert!(outcome.is_denied(), "its hooks stay in force");
    assert!(system.watched_paths().contains(&world.path(&format!("{STATE}/checked"))));
    world.write(&format!("{STATE}/checked"), &now().to_string());
    system.refresh();
    assert!(!says(&world.fire(&system), Code::BundleStale));
    fs::remove_file(world.path("root/etc/hookrail/fleet.toml")).unwrap();
    let outcome = world.fire(&world.enrolled_system());
    assert!(outcome.is_denied() && says(&outcome, Code::BundleStale), "a bundle without configuration stays");
}

#[test]
fn without_root_a_bundle_is_a_source_of_the_user_layer() {
    let world = World::new();
    world.write("home/.config/hookrail/fleet.toml", "");
    assert_eq!(world.fire(&world.build()).refusal, Some(Refusal::BundleMissing));
    let environment = world.environment().with("HOOKRAIL_DISABLE", "1");
    let disabled = HookSystem::builder(world.path("project")).environment(environment).build();
    assert!(!world.fire(&disabled).is_denied(), "only the system layer counts then");
    world.write(&format!("{}/settings.json", folder(USER_STATE, 'a')), &settings(DENY));
    world.point(USER_STATE, &pointer(&[bundle('a', false)]));
    let outcome = world.fire(&world.build());
    assert!(outcome.is_denied(), "{:?}", outcome.diagnostics);
    assert_eq!(outcome.runs[0].hook.origin.kind, SourceKind::User);
    // The system layer can switch it off, as it can everything of the user's.
    world.write("system.json", &json!({"hooksConfig": {"enabled": false}}).to_string());
    assert!(!world.fire(&world.build()).is_denied());
}
