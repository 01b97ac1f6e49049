//! A machine that cannot reach its source keeps its policy.

use std::fs;

use serde_json::json;

use crate::fleet::support::{Fleet, denying, says, settings};

#[test]
fn the_last_good_bundle_stays_in_force_and_warns_when_it_is_stale() {
    let fleet = Fleet::new();
    fleet.enrol("machine/etc/hookrail", "stale_after = \"1h\"\n");
    fleet.publish(&denying("by policy"), &[]);
    assert_eq!(fleet.apply(), "switched");
    fs::remove_dir_all(fleet.project.join("dist")).unwrap();
    assert_eq!(fleet.apply(), "not-found");
    assert_eq!(fleet.fire().1["reason"], "by policy");
    assert!(!says(&fleet.fire().1, "bundle-stale"));
    fleet.write_at("machine/var/lib/hookrail/checked", "1794800000");
    let (code, outcome) = fleet.fire();
    assert_eq!((code, &outcome["reason"]), (2, &json!("by policy")));
    assert!(says(&outcome, "bundle-stale"));
    let status = fleet.hookrail(&["bundle", "status", "--json"]).ends_with(1).json();
    assert_eq!(status["condition"], "stale");
}

#[test]
fn an_expired_bundle_does_what_the_channel_says() {
    for (policy, code) in [("allow", 0), ("ask", 4), ("block", 2)] {
        let fleet = Fleet::new();
        fleet.enrol("machine/etc/hookrail", &format!("expired = \"{policy}\"\n"));
        fleet.publish(&settings("exit 0"), &["--expires", "2099-01-01T00:00:00Z"]);
        assert_eq!(fleet.apply(), "switched");
        assert_eq!(fleet.fire().0, 0, "{policy}");
        // The clock of this machine cannot be set, so the record is.
        let pointer = fleet.path("machine/var/lib/hookrail/current.json");
        let text = fs::read_to_string(&pointer).unwrap();
        fs::write(&pointer, text.replace("\"expires\": 4070908800", "\"expires\": 1")).unwrap();
        let (found, outcome) = fleet.fire();
        assert_eq!(found, code, "{policy}: {outcome}");
        assert!(says(&outcome, "bundle-expired"), "{policy}");
    }
}

#[test]
fn a_bundle_that_is_gone_denies() {
    let fleet = Fleet::new();
    fleet.publish(&settings("exit 0"), &[]);
    assert_eq!(fleet.apply(), "switched");
    fs::remove_dir_all(fleet.path("machine/var/lib/hookrail")).unwrap();
    let (code, outcome) = fleet.fire();
    assert_eq!(code, 2);
    assert!(says(&outcome, "bundle-missing"));
}
