//! A running process: sources that were good keep their last good version.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hookrail::sources::KeptReason;
use hookrail::{Code, Event, EventKind, HookSystem};

use crate::loading::world::{DENY, WAYS_TO_SPOIL, World, plugin_hooks, says, settings, spoil};

/// A source, with what makes a world in which it holds a guard or leads to one.
type Case = (&'static str, fn(&World));

/// Every kind of source.
fn sources() -> Vec<Case> {
    fn user(world: &World) {
        world.write("home/.llxprt/settings.json", &settings(DENY));
    }
    fn system(world: &World) {
        world.write("system.json", &settings(DENY));
    }
    fn project_plugin(world: &World) {
        world.write("project/.x-code/plugins/p/plugin.json", r#"{"name":"p","hooks":"hooks.json"}"#);
        world.write("project/.x-code/plugins/p/hooks.json", &plugin_hooks().to_string());
    }
    vec![
        ("home/.llxprt/settings.json", user),
        ("system.json", system),
        ("home/.llxprt/extensions/e/llxprt-extension.json", World::install_extension),
        ("home/.llxprt/extensions/e/hooks/hooks.json", World::install_extension),
        ("home/.x-code/plugins/installed_plugins.json", World::install_plugin),
        ("home/.x-code/plugins/cache/m/p/1.0.0/plugin.json", World::install_plugin),
        ("home/.x-code/plugins/cache/m/p/1.0.0/hooks/hooks.json", World::install_plugin),
        ("project/.x-code/plugins/p/plugin.json", project_plugin),
        ("project/.x-code/plugins/p/hooks.json", project_plugin),
    ]
}

fn build(world: &World) -> HookSystem {
    world.builder().trust_project().build()
}

#[test]
fn a_source_that_becomes_useless_stays_in_force_and_every_outcome_says_so() {
    for (source, make) in sources() {
        for how in WAYS_TO_SPOIL {
            let world = World::new();
            make(&world);
            let system = build(&world);
            assert!(world.fire(&system).is_denied(), "{source} holds a guard");
            spoil(&world.path(source), how);
            for reload in [HookSystem::refresh, HookSystem::reload] {
                reload(&system);
                for _ in 0..2 {
                    let outcome = world.fire(&system);
                    assert!(outcome.is_denied(), "{source} became {how:?}");
                    assert!(says(&outcome, Code::KeptLastGood), "{source} became {how:?}: {:?}", outcome.diagnostics);
                }
                // An event that no hook takes part in says it too.
                let other = system.fire_blocking(Event::new(EventKind::Notification, world.path("project")));
                assert!(says(&other, Code::KeptLastGood), "{source} became {how:?}");
                assert!(system.configuration().kept.iter().any(|kept| kept.reason == KeptReason::Unusable));
            }
        }
    }
}

#[test]
fn a_source_that_is_gone_stays_until_its_removal_is_accepted() {
    for (source, make) in sources() {
        let world = World::new();
        make(&world);
        let system = build(&world);
        fs::remove_file(world.path(source)).unwrap();
        for _ in 0..2 {
            system.refresh();
            let outcome = world.fire(&system);
            assert!(outcome.is_denied() && says(&outcome, Code::SourceRemoved), "{source}: {:?}", outcome.diagnostics);
        }
        system.reload();
        let outcome = world.fire(&system);
        assert!(!outcome.is_denied() && !says(&outcome, Code::SourceRemoved), "{source}: {:?}", outcome.diagnostics);
    }
}

#[test]
fn a_folder_that_is_gone_keeps_what_was_in_it_until_its_removal_is_accepted() {
    let cases: [Case; 3] = [
        ("home/.llxprt/extensions/e", World::install_extension),
        ("home/.llxprt/extensions", World::install_extension),
        ("home/.x-code/plugins", World::install_plugin),
    ];
    for (folder, make) in cases {
        let world = World::new();
        make(&world);
        let system = build(&world);
        fs::rename(world.path(folder), world.path("elsewhere")).unwrap();
        system.refresh();
        let outcome = world.fire(&system);
        assert!(outcome.is_denied() && says(&outcome, Code::SourceRemoved), "{folder}: {:?}", outcome.diagnostics);
        fs::rename(world.path("elsewhere"), world.path(folder)).unwrap();
        system.refresh();
        let outcome = world.fire(&system);
        assert!(outcome.is_denied() && !says(&outcome, Code::SourceRemoved), "{folder}: {:?}", outcome.diagnostics);
        fs::rename(world.path(folder), world.path("elsewhere")).unwrap();
        system.reload();
        assert!(!world.fire(&system).is_denied(), "{folder}");
    }
}

#[test]
fn a_source_that_is_good_again_is_in_force_at_once() {
    let world = World::new();
    world.write("home/.llxprt/settings.json", &settings(DENY));
    let system = world.build();
    world.write("home/.llxprt/settings.json", "");
    system.refresh();
    assert!(world.fire(&system).is_denied());
    world.write("home/.llxprt/settings.json", &settings("true"));
    assert!(system.refresh().is_empty());
    let outcome = world.fire(&system);
    assert!(!outcome.is_denied() && outcome.diagnostics.is_empty(), "{:?}", outcome.diagnostics);
    // What its owner says is not there any more is gone.
    world.write("home/.llxprt/settings.json", "{}");
    system.refresh();
    assert!(!system.has_hooks_for(EventKind::BeforeTool));
}

#[test]
fn what_cannot_be_read_for_lack_of_permission_stays_in_force() {
    let world = World::new();
    let source = "home/.llxprt/settings.json";
    world.write(source, &settings(DENY));
    let system = world.build();
    fs::set_permissions(world.path(source), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(world.path(source)).is_ok() {
        return; // root reads everything
    }
    system.refresh();
    let outcome = world.fire(&system);
    assert!(outcome.is_denied() && says(&outcome, Code::KeptLastGood));
    fs::set_permissions(world.path("home/.llxprt"), fs::Permissions::from_mode(0o000)).unwrap();
    system.reload();
    let outcome = world.fire(&system);
    fs::set_permissions(world.path("home/.llxprt"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(outcome.is_denied() && says(&outcome, Code::KeptLastGood), "{:?}", outcome.diagnostics);
}

#[test]
fn saves_in_place_never_give_an_unguarded_answer() {
    let world = World::new();
    let source = world.path("home/.llxprt/settings.json");
    world.write("home/.llxprt/settings.json", &settings(DENY));
    let system = world.build();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let writer = std::thread::spawn(move || {
        use std::io::Write as _;
        let mut number = 0;
        while stopped.try_recv().is_err() {
            number += 1;
            let text = settings(&format!("echo {number} >&2; exit 2"));
            let (first, second) = text.split_at(text.len() / 2);
            let mut file = fs::File::create(&source).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(number % 9));
            file.write_all(first.as_bytes()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(number % 5));
            file.write_all(second.as_bytes()).unwrap();
            drop(file);
            std::thread::sleep(std::time::Duration::from_millis(number % 40));
        }
    });
    for _ in 0..30 {
        system.refresh();
        let outcome = world.fire(&system);
        assert!(outcome.is_denied(), "{:?}", outcome.diagnostics);
    }
    stop.send(()).unwrap();
    writer.join().unwrap();
    system.refresh();
    assert!(world.fire(&system).is_denied());
    assert!(system.configuration().kept.is_empty());
}

#[test]
fn a_damaged_store_keeps_its_grants_in_a_running_process_and_denies_in_a_new_one() {
    for damage in ["", "{", r#"{"version":9}"#] {
        let world = World::new();
        world.grant_project_guard();
        let system = world.build();
        assert!(world.fire(&system).is_denied());
        fs::write(world.store(), damage).unwrap();
        system.refresh();
        let outcome = world.fire(&system);
        assert!(outcome.is_denied() && says(&outcome, Code::KeptLastGood), "{damage:?}: {:?}", outcome.diagnostics);
        let outcome = world.fire(&world.build());
        assert!(outcome.is_denied() && says(&outcome, Code::StoreUnusable), "{damage:?}: {:?}", outcome.diagnostics);
    }
}

#[test]
fn a_store_that_is_gone_keeps_its_grants_until_that_is_accepted_and_a_revoked_grant_counts_at_once() {
    let world = World::new();
    world.grant_project_guard();
    let system = world.build();
    fs::rename(world.store(), world.path("elsewhere")).unwrap();
    system.refresh();
    let outcome = world.fire(&system);
    assert!(outcome.is_denied() && says(&outcome, Code::SourceRemoved), "{:?}", outcome.diagnostics);
    fs::rename(world.path("elsewhere"), world.store()).unwrap();
    let store = hookrail::trust::FileTrustStore::new(world.store());
    store.change(&world.path("project"), |grants| *grants = hookrail::trust::Grants::default()).unwrap();
    system.refresh();
    let outcome = world.fire(&system);
    assert!(outcome.runs.is_empty() && !says(&outcome, Code::SourceRemoved), "{:?}", outcome.diagnostics);
}

#[test]
fn a_file_of_the_embedding_program_is_reported_while_it_cannot_be_used() {
    let world = World::new();
    world.write("own.toml", "good");
    let file = world.path("own.toml");
    let check = |text: &str| {
        if text.contains("good") { Ok(()) } else { Err(hookrail::Diagnostic::new(Code::FileSyntax, "not good")) }
    };
    let system = world.builder().described_by_source(&file, check).build();
    assert!(world.fire(&system).diagnostics.is_empty());
    for (text, code) in [("bad", Code::KeptLastGood), ("", Code::KeptLastGood)] {
        fs::write(&file, text).unwrap();
        system.refresh();
        assert!(says(&world.fire(&system), code), "{text:?}");
    }
    fs::remove_file(&file).unwrap();
    system.refresh();
    assert!(says(&world.fire(&system), Code::SourceRemoved));
    fs::write(&file, "good").unwrap();
    system.refresh();
    assert!(world.fire(&system).diagnostics.is_empty());
    assert!(system.watched_paths().contains(&file));
}
