//! The program minisign signs what this crate verifies, and verifies what it signs.

use std::fs;
use std::process::Command;

use crate::bundles::support::{Fleet, Wanted, source};
use hookrail_fleet::publish;
use hookrail_fleet::signature::PublicKey;

fn minisign(fleet: &Fleet, arguments: &[&str]) -> Option<bool> {
    let output = Command::new("minisign").args(arguments).current_dir(fleet.path("")).output().ok()?;
    println!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Some(output.status.success())
}

#[test]
fn the_program_minisign_and_this_crate_accept_each_other() {
    let fleet = Fleet::new();
    fleet.publish("{}", &Wanted::default());
    fleet.write("ours.pub", &fleet.keys.public);
    fleet.write("ours.key", &fleet.keys.secret);
    let Some(verified) = minisign(&fleet, &["-Vm", "dist/manifest.json", "-p", "ours.pub"]) else {
        assert!(std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_none(), "minisign is missing");
        println!("skipped: minisign is missing");
        return;
    };
    assert!(verified, "it verifies our signature");
    // It signs with our key.
    assert_eq!(minisign(&fleet, &["-Sm", "dist/manifest.json", "-s", "ours.key", "-W"]), Some(true));
    let verify = |key: &PublicKey| {
        let mut folder = source(&fleet.path("dist")).open(&fleet.path("scratch"), None).unwrap();
        publish::verify(&mut *folder, std::slice::from_ref(key)).map(|(manifest, _)| manifest.version)
    };
    assert_eq!(verify(&fleet.keys.key).unwrap(), 1);
    // It makes a key of its own. One without a password is in a form that only the program itself can sign with.
    assert_eq!(minisign(&fleet, &["-G", "-W", "-p", "its.pub", "-s", "its.key"]), Some(true));
    let its_key: PublicKey = fs::read_to_string(fleet.path("its.pub")).unwrap().parse().unwrap();
    assert_eq!(verify(&its_key).unwrap_err().reason(), "unknown-key");
    assert_eq!(minisign(&fleet, &["-Sm", "dist/manifest.json", "-s", "its.key", "-W"]), Some(true));
    assert_eq!(verify(&its_key).unwrap(), 1);
    // One changed byte, and neither accepts it.
    let file = fleet.path("dist/manifest.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("acme", "acne")).unwrap();
    assert_eq!(minisign(&fleet, &["-Vm", "dist/manifest.json", "-p", "its.pub"]), Some(false));
    assert_eq!(verify(&its_key).unwrap_err().reason(), "bad-signature");
}
