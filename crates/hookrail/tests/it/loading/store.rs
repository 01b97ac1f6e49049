//! A trust store that exists and cannot be used: it is not known which hooks guard the project, so gating events are denied.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hookrail::outcome::Refusal;
use hookrail::{Code, Event, EventKind};
use hookrail_testkit::is_root;

use crate::loading::world::{World, says};

/// What happens to a store, and what its user is told to do.
type Damage = (&'static str, fn(&Path), &'static str);

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

const DAMAGES: [Damage; 10] = [
    ("open to a group", |store| chmod(store, 0o660), "chmod go-w"),
    ("in a folder that is open to a group", |store| chmod(store.parent().unwrap(), 0o770), "chmod go-w"),
    ("empty", |store| fs::write(store, "").unwrap(), "trust grant"),
    ("cut", |store| fs::write(store, "{\"version\": 2, \"proj").unwrap(), "trust grant"),
    ("no text", |store| fs::write(store, b"\xff\xfe").unwrap(), "trust.json"),
    (
        "with a capability that is not known",
        |store| {
            let mut all: serde_json::Value = serde_json::from_str(&fs::read_to_string(store).unwrap()).unwrap();
            for project in all["projects"].as_object_mut().unwrap().values_mut() {
                project["hooks"][0]["capabilities"] = serde_json::json!(["raed:../**"]);
            }
            fs::write(store, all.to_string()).unwrap();
        },
        "trust grant",
    ),
    ("of a later version", |store| fs::write(store, "{\"version\": 99}").unwrap(), "later"),
    (
        "a folder",
        |store| {
            fs::remove_file(store).unwrap();
            fs::create_dir(store).unwrap();
        },
        "trust.json",
    ),
    (
        "a link",
        |store| {
            fs::rename(store, store.with_extension("real")).unwrap();
            std::os::unix::fs::symlink(store.with_extension("real"), store).unwrap();
        },
        "replace the link",
    ),
    ("unreadable", |store| chmod(store, 0o000), "chmod u+rw"),
];

/// What only root can do to a store.
const DAMAGES_BY_ROOT: [Damage; 2] = [
    ("of another user", |store| give_away(store), "chown"),
    ("in a folder of another user", |store| give_away(store.parent().unwrap()), "chown"),
];

fn give_away(path: &Path) {
    std::os::unix::fs::chown(path, Some(12345), Some(12345)).unwrap();
}

/// The damages that this user can do; the others are skipped by name.
fn damages() -> Vec<Damage> {
    if is_root() {
        return DAMAGES.into_iter().filter(|(how, ..)| *how != "unreadable").chain(DAMAGES_BY_ROOT).collect();
    }
    DAMAGES_BY_ROOT.iter().for_each(|(how, ..)| eprintln!("skipped without root: a store {how}"));
    DAMAGES.to_vec()
}

#[test]
fn a_store_that_cannot_be_used_denies_gating_events_of_a_project_with_hooks() {
    for (how, damage, repair) in damages() {
        let world = World::new();
        world.grant_project_guard();
        damage(&world.store());
        let system = world.build();
        let outcome = world.fire(&system);
        assert_eq!(outcome.refusal, Some(Refusal::StoreUnusable), "{how}: {:?}", outcome.diagnostics);
        assert!(outcome.is_denied() && says(&outcome, Code::StoreUnusable), "{how}");
        let reason = outcome.effects.reason.unwrap();
        assert!(reason.contains("trust.json") || reason.contains("hookrail`"), "{how}: {reason}");
        assert!(reason.contains(repair), "{how}: {reason}");
        for kind in EventKind::all() {
            let outcome = system.fire_blocking(Event::new(kind, world.path("project")));
            assert_eq!(outcome.is_denied(), kind.spec().is_gating(), "{how}, {kind}");
        }
    }
}

#[test]
fn a_project_without_hooks_needs_no_store_and_trust_for_this_run_replaces_none() {
    for (how, damage, _) in damages() {
        let world = World::new();
        world.grant_project_guard();
        damage(&world.store());
        let outcome = world.fire(&world.builder().trust_project().build());
        assert_eq!(outcome.refusal, Some(Refusal::StoreUnusable), "{how}: a granted guard may be missing");
        fs::remove_dir_all(world.path("project/.llxprt")).unwrap();
        assert!(!world.fire(&world.build()).is_denied(), "{how}");
    }
}

#[test]
fn a_store_that_is_repaired_is_in_force_at_once_and_one_that_was_removed_is_a_first_start() {
    let world = World::new();
    world.grant_project_guard();
    let good = fs::read(world.store()).unwrap();
    fs::write(world.store(), "").unwrap();
    let system = world.build();
    assert_eq!(world.fire(&system).refusal, Some(Refusal::StoreUnusable));
    fs::write(world.store(), good).unwrap();
    system.refresh();
    let outcome = world.fire(&system);
    assert!(outcome.refusal.is_none() && outcome.runs.len() == 1, "{:?}", outcome.diagnostics);
    fs::remove_file(world.store()).unwrap();
    let outcome = world.fire(&world.build());
    assert!(!outcome.is_denied() && outcome.runs.is_empty(), "{:?}", outcome.diagnostics);
}

#[test]
fn hooks_that_are_off_need_no_store() {
    let world = World::new();
    world.grant_project_guard();
    fs::write(world.store(), "").unwrap();
    assert!(!world.fire(&world.builder().hooks_off("`--no-hooks` was given").build()).is_denied());
    let others = world.builder().only_dialects(vec![hookrail::DialectId::Xcode]).build();
    assert!(!world.fire(&others).is_denied(), "the dialect of the hooks does not take part");
}

/// A file whose bytes cannot be read: reading the beginning of a process's memory is an error of the device (EIO).
#[cfg(target_os = "linux")]
#[test]
fn a_store_on_a_broken_disk_denies_gating_events_of_a_project_with_hooks() {
    let world = World::new();
    world.grant_project_guard();
    let on = |place: &Path| world.builder().trust_store(hookrail::trust::FileTrustStore::new(place)).build();
    let outcome = world.fire(&on(Path::new("/proc/self/mem")));
    assert_eq!(outcome.refusal, Some(Refusal::StoreUnusable), "{:?}", outcome.diagnostics);
    let reason = outcome.effects.reason.unwrap();
    assert!(reason.contains("os error 5") && reason.contains("can be read"), "{reason}");
    // The control: the guard itself is asked.
    let outcome = world.fire(&on(&world.store()));
    assert!(outcome.refusal.is_none() && outcome.runs.len() == 1, "{:?}", outcome.diagnostics);
}
