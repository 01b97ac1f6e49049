//! A machine whose `bundle apply` is killed at any moment has the old bundle or the new one, whole.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use hookrail_fleet::archive::{ArchiveLimits, list};
use hookrail_fleet::source::archive_name;
use serde_json::Value;

use crate::fleet::support::{Fleet, denying};

const KILLS: u32 = 40;

/// The version in force, after checking that every file of its folder is the one that was packed.
fn check(fleet: &Fleet) -> u64 {
    let state = fleet.path("machine/var/lib/hookrail");
    let pointer: Value = serde_json::from_slice(&fs::read(state.join("current.json")).unwrap()).unwrap();
    // A folder with a digest for its name is whole, whether it is in force or not.
    for entry in fs::read_dir(state.join("bundles")).unwrap() {
        let folder = entry.unwrap().path();
        let digest = folder.file_name().unwrap().to_str().unwrap().parse().unwrap();
        let archive = fs::read(fleet.project.join("dist").join(archive_name(&digest))).unwrap();
        let files = list(&archive, &ArchiveLimits::DEFAULT).unwrap();
        for file in &files {
            let bytes = fs::read(folder.join(&file.path)).unwrap();
            assert_eq!(hookrail_fleet::ArchiveDigest::of(&bytes), file.digest, "{}", file.path);
        }
    }
    let newest = pointer["bundles"].as_array().unwrap().last().unwrap();
    assert!(state.join("bundles").join(newest["digest"].as_str().unwrap()).is_dir());
    newest["version"].as_u64().unwrap()
}

#[test]
fn a_killed_apply_leaves_the_old_bundle_or_the_new_one() {
    let fleet = Fleet::new();
    let publish = |number: u64| {
        fleet.publish(&denying(&format!("policy number {number}")), &[]);
        // More files, so that unpacking takes a while.
        for script in 0..60 {
            fleet.write(&format!("policy/scripts/{script}.sh"), format!("# {number} {script}\n").repeat(200));
        }
        fleet.build(&["--version", &(number * 2).to_string()]).ends_with(0);
        fleet.sign();
        number * 2
    };
    let mut in_force = publish(1);
    let started = Instant::now();
    assert_eq!(fleet.apply(), "switched");
    let whole = started.elapsed();
    let mut found = BTreeSet::new();
    for kill in 0..KILLS {
        let offered = publish(u64::from(kill) + 2);
        let mut child = fleet.command(&["bundle", "apply"]).spawn().unwrap();
        // Moments all over the run, in an order without a pattern.
        let moment = whole.mul_f64(f64::from(kill * 17 % KILLS) / f64::from(KILLS) * 1.1);
        std::thread::sleep(moment.min(Duration::from_secs(5)));
        let _ = child.kill();
        child.wait().unwrap();
        let now = check(&fleet);
        assert!(now == in_force || now == offered, "version {now} after {in_force} and {offered}");
        found.insert(now == offered);
        let outcome = fleet.fire().1;
        let reason = outcome["reason"].as_str().unwrap();
        assert_eq!(reason, format!("policy number {}", now / 2), "{outcome}");
        in_force = now;
    }
    println!("kills left {found:?}");
    assert_eq!(found.len(), 2, "some came before the switch and some after it");
    publish(u64::from(KILLS) + 2);
    assert_eq!(fleet.apply(), "switched", "nothing that was left behind is in the way");
    assert_eq!(fs::read_dir(fleet.path("machine/var/lib/hookrail/staging")).unwrap().count(), 0);
    let state = fs::read_dir(fleet.path("machine/var/lib/hookrail")).unwrap();
    let mut names: Vec<String> = state.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["bundles", "checked", "current.json", "lock", "staging"]);
}
