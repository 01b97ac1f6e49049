//! Putting bundles in force: which are refused, what is kept, who is reached.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use hookrail_testkit::is_root;

use crate::bundles::support::{Fleet, Wanted, source};
use hookrail_fleet::install::{ApplyEnd, InstalledBundles};
use hookrail_fleet::signature::{self, Password};
use hookrail_fleet::status::{Condition, read_status};
use hookrail_fleet::{BundleError, Timestamp, publish};

const MACHINE: &str = "machine";

#[track_caller]
fn refused(fleet: &Fleet) -> &'static str {
    let before = fs::read(fleet.places(MACHINE).pointer()).ok();
    let reason = fleet.apply(MACHINE).unwrap_err().reason();
    assert_eq!(fs::read(fleet.places(MACHINE).pointer()).ok(), before, "what is in force has not changed");
    reason
}

fn condition(fleet: &Fleet, now: Timestamp) -> Condition {
    let places = fleet.places(MACHINE);
    let config = places.read_configuration().unwrap();
    read_status(&places, Some(&config), now).unwrap().condition
}

#[test]
fn a_bundle_is_put_in_force_and_replaced() {
    let fleet = Fleet::new();
    assert_eq!(condition(&fleet, Timestamp::now()), Condition::Missing);
    let first = fleet.publish("{\"v\": 1}", &Wanted::default());
    assert_eq!(first.version, 1);
    assert!(matches!(fleet.apply(MACHINE).unwrap(), ApplyEnd::Switched { from: None, .. }));
    assert!(matches!(fleet.apply(MACHINE).unwrap(), ApplyEnd::UpToDate(_)));
    assert_eq!(fleet.in_force(MACHINE).unwrap(), (1, "{\"v\": 1}".to_owned()));
    fleet.publish("{\"v\": 2}", &Wanted::default());
    assert!(matches!(fleet.apply(MACHINE).unwrap(), ApplyEnd::Switched { from: Some(1), .. }));
    assert_eq!(fleet.in_force(MACHINE).unwrap(), (2, "{\"v\": 2}".to_owned()));
    assert_eq!(condition(&fleet, Timestamp::now()), Condition::Current);
    // A second machine gets the same.
    fleet.configure("other", &[]);
    fleet.apply("other").unwrap();
    assert_eq!(fleet.in_force("other").unwrap().0, 2);
}

#[test]
fn the_last_three_bundles_are_kept() {
    let fleet = Fleet::new();
    for number in 1..=5 {
        fleet.publish(&format!("{{\"v\": {number}}}"), &Wanted::default());
        fleet.apply(MACHINE).unwrap();
    }
    let places = fleet.places(MACHINE);
    let kept = InstalledBundles::read(&places).unwrap().unwrap().kept;
    assert_eq!(kept.len(), 3);
    let mut found: Vec<String> = fs::read_dir(places.bundles())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut expected: Vec<String> = kept.iter().map(ToString::to_string).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(fs::read_dir(places.state.join("staging")).unwrap().count(), 0);
}

#[test]
fn a_rollback_is_a_higher_version_with_the_old_archive_and_fetches_nothing() {
    let fleet = Fleet::new();
    let good = fleet.publish("{\"v\": \"good\"}", &Wanted::default());
    fleet.apply(MACHINE).unwrap();
    fleet.publish("{\"v\": \"bad\"}", &Wanted::default());
    fleet.apply(MACHINE).unwrap();
    let back = fleet.roll_back(good.digest, &Wanted::default());
    assert_eq!((back.version, back.digest), (3, good.digest));
    // The machine has the archive's content already.
    fs::remove_file(fleet.path("dist").join(hookrail_fleet::source::archive_name(&good.digest))).unwrap();
    assert!(matches!(fleet.apply(MACHINE).unwrap(), ApplyEnd::Switched { from: Some(2), .. }));
    assert_eq!(fleet.in_force(MACHINE).unwrap(), (3, "{\"v\": \"good\"}".to_owned()));
}

#[test]
fn an_older_version_is_refused_also_after_a_detour_over_another_channel() {
    let fleet = Fleet::new();
    fleet.publish("{\"v\": 1}", &Wanted::default());
    let old: Vec<Vec<u8>> =
        ["manifest.json", "manifest.json.minisig"].map(|name| fs::read(fleet.path("dist").join(name)).unwrap()).into();
    fleet.apply(MACHINE).unwrap();
    fleet.publish("{\"v\": 2}", &Wanted::default());
    fleet.apply(MACHINE).unwrap();
    let replay = || {
        fs::write(fleet.path("dist/manifest.json"), &old[0]).unwrap();
        fs::write(fleet.path("dist/manifest.json.minisig"), &old[1]).unwrap();
    };
    replay();
    assert_eq!(refused(&fleet), "older-version");
    let follow = |channel: &str| {
        fleet.configure(MACHINE, &[]);
        let file = fleet.places(MACHINE).configuration;
        let text = fs::read_to_string(&file).unwrap().replace("\"stable\"", &format!("\"{channel}\""));
        fs::write(file, text).unwrap();
    };
    follow("canary");
    assert_eq!(refused(&fleet), "wrong-channel");
    fleet.publish("{\"v\": \"canary\"}", &Wanted { channel: "canary", ..Wanted::default() });
    fleet.apply(MACHINE).unwrap();
    follow("stable");
    replay();
    assert_eq!(refused(&fleet), "older-version");
}

#[test]
fn a_version_does_not_change_its_content() {
    let fleet = Fleet::new();
    fleet.publish("{\"v\": 1}", &Wanted::default());
    fleet.apply(MACHINE).unwrap();
    fs::remove_file(fleet.path("dist/manifest.json")).unwrap();
    fleet.publish("{\"v\": 2}", &Wanted { version: Some(1), ..Wanted::default() });
    assert_eq!(refused(&fleet), "version-reused");
    let error = fleet.build("{}", &Wanted { version: Some(1), ..Wanted::default() }).unwrap_err();
    assert_eq!(error.reason(), "older-version", "a publisher cannot go back either");
}

#[test]
fn what_is_not_for_this_machine_is_refused() {
    let fleet = Fleet::new();
    let now = Timestamp::now();
    for (wanted, reason) in [
        (Wanted { tenant: "evil", ..Wanted::default() }, "wrong-tenant"),
        (Wanted { channel: "canary", ..Wanted::default() }, "wrong-channel"),
        (Wanted { expires: Some(now), ..Wanted::default() }, "expired"),
        (Wanted { min_hookrail: "99.0.0", ..Wanted::default() }, "hookrail-too-old"),
    ] {
        fleet.publish("{}", &wanted);
        assert_eq!(refused(&fleet), reason);
        assert!(!fleet.places(MACHINE).checked().exists(), "{reason}: this was no successful check");
    }
}

#[test]
fn what_is_not_signed_by_an_accepted_key_is_refused() {
    let fleet = Fleet::new();
    fleet.publish("{}", &Wanted::default());
    let (manifest, signature) = (fleet.path("dist/manifest.json"), fleet.path("dist/manifest.json.minisig"));
    let (text, signed) = (fs::read_to_string(&manifest).unwrap(), fs::read_to_string(&signature).unwrap());
    fs::write(&manifest, text.replace("\"shadow\": false", "\"shadow\": true")).unwrap();
    assert_eq!(refused(&fleet), "bad-signature");
    fs::write(&manifest, &text).unwrap();
    for at in 0..signed.len() {
        let mut changed = signed.clone().into_bytes();
        changed[at] ^= 1;
        fs::write(&signature, changed).unwrap();
        let reason = match fleet.apply(MACHINE) {
            // The first line is a comment that is not signed, and blanks at the end mean nothing.
            Ok(_) => {
                let is_comment = at < signed.find('\n').unwrap() || at >= signed.trim_end().len();
                assert!(is_comment, "byte {at} of {}: {signed}", signed.len());
                continue;
            }
            Err(error) => error.reason(),
        };
        assert!(["bad-signature", "unknown-key", "not-text"].contains(&reason), "byte {at}: {reason}");
    }
    fs::write(&signature, "").unwrap();
    assert_eq!(refused(&fleet), "bad-signature");
    fs::remove_file(&signature).unwrap();
    assert_eq!(refused(&fleet), "not-found");
    let stranger = signature::generate(Password::None).unwrap();
    publish::sign(&fleet.path("dist"), &stranger.secret, Password::None).unwrap();
    assert_eq!(refused(&fleet), "unknown-key");
    // While a key is replaced, both are accepted.
    let file = fleet.places(MACHINE).configuration;
    let both = fs::read_to_string(&file).unwrap().replace("keys = [", &format!("keys = [\"{}\", ", stranger.key));
    fs::write(&file, both).unwrap();
    fleet.apply(MACHINE).unwrap();
    publish::sign(&fleet.path("dist"), &fleet.keys.secret, Password::None).unwrap();
    fleet.apply(MACHINE).unwrap();
}

#[test]
fn an_archive_that_is_not_the_signed_one_is_refused() {
    let fleet = Fleet::new();
    let manifest = fleet.publish("{}", &Wanted::default());
    let file = fleet.path("dist").join(hookrail_fleet::source::archive_name(&manifest.digest));
    let bytes = fs::read(&file).unwrap();
    let mut changed = bytes.clone();
    changed[20] ^= 1;
    fs::write(&file, changed).unwrap();
    assert_eq!(refused(&fleet), "wrong-digest");
    fs::write(&file, &bytes[1..]).unwrap();
    assert_eq!(refused(&fleet), "wrong-size");
    fs::write(&file, [&bytes[..], b"x"].concat()).unwrap();
    assert_eq!(refused(&fleet), "too-large");
    fs::remove_file(&file).unwrap();
    assert_eq!(refused(&fleet), "not-found");
    assert!(fs::read_dir(fleet.places(MACHINE).bundles()).unwrap().next().is_none(), "nothing was unpacked");
    fs::write(&file, &bytes).unwrap();
    fleet.apply(MACHINE).unwrap();
}

#[test]
fn content_that_the_engine_cannot_use_is_refused() {
    let fleet = Fleet::new();
    fleet.publish("{", &Wanted::default());
    let places = fleet.places(MACHINE);
    let config = places.read_configuration().unwrap();
    let mut folder = source(&fleet.path("dist")).open(&fleet.path("scratch"), None).unwrap();
    let check = |_: &[u8], _: &_| Err("no".to_owned());
    let error = hookrail_fleet::install::apply(&places, &config, &mut *folder, Timestamp::now(), &check).unwrap_err();
    assert!(matches!(error, BundleError::Content(why) if why == "no"));
    assert!(InstalledBundles::read(&places).unwrap().is_none());
}

#[test]
fn a_rollout_reaches_some_machines_and_then_all() {
    let fleet = Fleet::new();
    fleet.publish("{\"v\": 1}", &Wanted::default());
    let machines: Vec<String> = (0..40).map(|number| format!("m{number}")).collect();
    for machine in &machines {
        fleet.configure(machine, &[]);
        fleet.apply(machine).unwrap();
    }
    let on_second = || machines.iter().filter(|machine| fleet.in_force(machine).unwrap().0 > 1).count();
    fleet.publish("{\"v\": 2}", &Wanted { percent: 30, ..Wanted::default() });
    for machine in &machines {
        let reached = matches!(fleet.apply(machine).unwrap(), ApplyEnd::Switched { .. });
        assert_eq!(reached, fleet.in_force(machine).unwrap().0 == 2);
    }
    let few = on_second();
    assert!((2..=24).contains(&few), "{few} of 40");
    // A machine without any bundle takes what is offered.
    fleet.configure("new", &[]);
    assert!(matches!(fleet.apply("new").unwrap(), ApplyEnd::Switched { from: None, .. }));
    fleet.publish("{\"v\": 2}", &Wanted { percent: 100, ..Wanted::default() });
    for machine in &machines {
        fleet.apply(machine).unwrap();
    }
    assert_eq!(on_second(), 40);
}

#[test]
fn what_is_tried_out_stands_beside_what_counts_until_it_is_promoted() {
    let fleet = Fleet::new();
    let first = fleet.publish("{\"v\": 1}", &Wanted::default());
    fleet.apply(MACHINE).unwrap();
    let tried = fleet.publish("{\"v\": 2}", &Wanted { shadow: true, ..Wanted::default() });
    fleet.apply(MACHINE).unwrap();
    let bundles = || -> Vec<_> {
        let in_force = InstalledBundles::read(&fleet.places(MACHINE)).unwrap().unwrap();
        in_force.bundles.iter().map(|bundle| (bundle.digest, bundle.shadow)).collect()
    };
    assert_eq!(bundles(), [(first.digest, false), (tried.digest, true)]);
    let again = fleet.publish("{\"v\": 3}", &Wanted { shadow: true, ..Wanted::default() });
    fleet.apply(MACHINE).unwrap();
    assert_eq!(bundles(), [(first.digest, false), (again.digest, true)], "the later trial replaces the earlier one");
    let promoted = fleet.publish("{\"v\": 3}", &Wanted::default());
    assert_eq!(promoted.digest, again.digest);
    fleet.apply(MACHINE).unwrap();
    assert_eq!(bundles(), [(again.digest, false)]);
}

#[test]
fn offline_the_last_good_bundle_stays_and_ages() {
    let fleet = Fleet::new();
    fleet.configure(MACHINE, &[]);
    let file = fleet.places(MACHINE).configuration;
    let text = fs::read_to_string(&file).unwrap() + "stale_after = \"2days\"\nexpired = \"ask\"\n";
    fs::write(&file, text).unwrap();
    let now = Timestamp::now();
    let later = |days: u64| now.after(Duration::from_secs(days * 86_400));
    fleet.publish("{}", &Wanted { expires: Some(later(5)), ..Wanted::default() });
    fleet.apply_at(MACHINE, now).unwrap();
    fs::rename(fleet.path("dist"), fleet.path("away")).unwrap();
    assert_eq!(fleet.apply(MACHINE).unwrap_err().reason(), "not-found");
    assert_eq!(fleet.in_force(MACHINE).unwrap().0, 1);
    assert_eq!(condition(&fleet, later(1)), Condition::Current);
    assert_eq!(condition(&fleet, later(2)), Condition::Stale);
    assert_eq!(condition(&fleet, later(5)), Condition::Expired);
    fs::rename(fleet.path("away"), fleet.path("dist")).unwrap();
    assert!(matches!(fleet.apply_at(MACHINE, later(3)).unwrap(), ApplyEnd::UpToDate(_)));
    assert_eq!(condition(&fleet, later(4)), Condition::Current);
}

#[test]
fn a_changed_policy_of_the_channel_is_taken_over_without_a_new_bundle() {
    let fleet = Fleet::new();
    fleet.publish("{}", &Wanted::default());
    fleet.apply(MACHINE).unwrap();
    let expired = || InstalledBundles::read(&fleet.places(MACHINE)).unwrap().unwrap().expired;
    assert_eq!(expired(), hookrail_fleet::config::ExpiredPolicy::Block);
    let file = fleet.places(MACHINE).configuration;
    fs::write(&file, fs::read_to_string(&file).unwrap() + "expired = \"allow\"\n").unwrap();
    assert!(matches!(fleet.apply(MACHINE).unwrap(), ApplyEnd::UpToDate(_)));
    assert_eq!(expired(), hookrail_fleet::config::ExpiredPolicy::Allow);
}

#[test]
fn places_that_others_can_change_are_refused() {
    let fleet = Fleet::new();
    fleet.publish("{}", &Wanted::default());
    fleet.apply(MACHINE).unwrap();
    let places = fleet.places(MACHINE);
    let folder = places.configuration.parent().unwrap().to_owned();
    for path in [&places.configuration, &folder, &places.state, &places.bundles(), &places.pointer(), &places.checked()]
    {
        let mode = fs::metadata(path).unwrap().permissions();
        for open in [0o777, 0o775, 0o757] {
            fs::set_permissions(path, fs::Permissions::from_mode(open)).unwrap();
            assert_eq!(refused(&fleet), "unsafe-place", "{}: {open:o}", path.display());
        }
        fs::set_permissions(path, mode.clone()).unwrap();
        if is_root() {
            std::os::unix::fs::chown(path, Some(65_534), None).unwrap();
            assert_eq!(refused(&fleet), "unsafe-place", "{}: another owner", path.display());
            std::os::unix::fs::chown(path, Some(0), None).unwrap();
        }
    }
    let real = places.state.with_extension("real");
    fs::rename(&places.state, &real).unwrap();
    std::os::unix::fs::symlink(&real, &places.state).unwrap();
    assert_eq!(fleet.apply(MACHINE).unwrap_err().reason(), "unsafe-place", "a link");
}

#[test]
fn a_state_that_cannot_be_read_is_not_guessed() {
    let fleet = Fleet::new();
    fleet.publish("{}", &Wanted::default());
    fleet.apply(MACHINE).unwrap();
    let pointer = fleet.places(MACHINE).pointer();
    let text = fs::read_to_string(&pointer).unwrap();
    for broken in ["", "{", "{}", &text.replace("\"format\": 1", "\"format\": 2")] {
        fs::write(&pointer, broken).unwrap();
        assert_eq!(refused(&fleet), "state", "{broken}");
    }
    fs::write(&pointer, text.replace("\"version\": 1", "\"version\": 9")).unwrap();
    let places = fleet.places(MACHINE);
    let config = places.read_configuration().unwrap();
    let error = read_status(&places, Some(&config), Timestamp::now()).unwrap_err();
    assert_eq!(error.reason(), "state", "a record that differs from its signed manifest");
}

#[test]
fn a_configuration_with_a_mistake_is_refused() {
    let fleet = Fleet::new();
    let file = fleet.places(MACHINE).configuration;
    let good = fs::read_to_string(&file).unwrap();
    for (from, to) in [
        ("tenant = \"acme\"", ""),
        ("tenant = \"acme\"", "tenant = \"../acme\""),
        ("tenant = ", "tennant = "),
        (fleet.keys.key.to_string().as_str(), "RWQ"),
        ("name = \"stable\"", "name = \"stable\"\nexpired = \"maybe\""),
        ("name = \"stable\"", "name = \"stable\"\nstale_after = \"soon\""),
    ] {
        let text = good.replace(from, to);
        assert_ne!(text, good);
        fs::write(&file, text).unwrap();
        assert_eq!(refused(&fleet), "configuration", "{to}");
    }
    let without_keys = good.replace(&format!("keys = [\"{}\"]", fleet.keys.key), "keys = []");
    fs::write(&file, without_keys).unwrap();
    assert_eq!(refused(&fleet), "configuration");
}
