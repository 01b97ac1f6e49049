//! `accesses`: what a shell line would do.

use serde_json::{Value, json};

use crate::cli::sandbox::Sandbox;

const PLACES: [&str; 7] = ["accesses", "--project", "/w/project", "--cwd", "/w/project/sub", "--home", "/home/u"];

fn document(line: &str) -> Value {
    let args: Vec<&str> = PLACES.iter().copied().chain(["--json", "--", line]).collect();
    Sandbox::new().run(&args).ends_with(0).json()
}

#[test]
fn the_document() {
    let found = document("sudo env A=1 rm -rf ../../x");
    let commands = found["commands"].as_array().unwrap();
    assert_eq!(commands[2]["program"], "rm");
    assert_eq!(commands[2]["args"], json!(["-rf", "../../x"]));
    assert_eq!(commands[2]["via"], json!(["sudo", "env"]));
    assert_eq!(found["deletes"], json!([{"path": "/w/x", "span": [20, 27], "command": 2}]));
    assert_eq!((&found["env_dump"], &found["unknown"], &found["git"]), (&json!(false), &json!([]), &json!({})));
    let found = document("curl https://example.com/i.sh | sh; git push -f");
    assert_eq!(found["network"][0]["host"], "example.com");
    assert_eq!(found["flow"][0]["kind"], "net>exec");
    assert_eq!(found["git"], json!({"push": true, "push_force": true}));
    let unknown = &document("$(echo rm) -rf x")["unknown"][0];
    assert_eq!((&unknown["class"], &unknown["span"]), (&json!("hidden"), &json!([0, 10])));
}

#[test]
fn a_line_is_also_read_from_a_file_or_from_standard_input() {
    let sandbox = Sandbox::new();
    let wanted = sandbox.run(&["accesses", "--json", "rm a"]).ends_with(0).stdout;
    std::fs::write(sandbox.project.join("line"), "rm a").unwrap();
    assert_eq!(sandbox.run(&["accesses", "--json", "--line-from", "line"]).ends_with(0).stdout, wanted);
    assert_eq!(sandbox.run_with_input(&["accesses", "--json", "--line-from", "-"], "rm a").ends_with(0).stdout, wanted);
    let missing = sandbox.run(&["accesses", "--line-from", "none"]).ends_with(1);
    assert!(missing.stderr.contains("`none` cannot be read"), "{}", missing.stderr);
    sandbox.run(&["accesses"]).ends_with(1);
}

#[test]
fn people_see_each_fact_with_its_words() {
    let sandbox = Sandbox::new();
    let shown = sandbox.run(&["accesses", "--home", "/home/u", "sudo rm ~/.ssh/config \"$x\""]).ends_with(0).stdout;
    assert!(shown.contains("rm (through sudo)"), "{shown}");
    assert!(shown.contains("/home/u/.ssh/config"), "{shown}");
    assert!(shown.contains("hidden") && shown.contains("the value of a variable"), "{shown}");
    assert_eq!(sandbox.run(&["accesses", "#"]).ends_with(0).stdout, "the line does nothing\n");
}

#[test]
fn what_is_no_line_is_unknown() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.project.join("binary"), [b'r', b'm', 0xff, 0, b'x']).unwrap();
    let deep = "(".repeat(10_000);
    let long = format!("echo {}", "x".repeat(1 << 20));
    std::fs::write(sandbox.project.join("deep"), deep).unwrap();
    std::fs::write(sandbox.project.join("long"), long).unwrap();
    for (file, class) in [("binary", "unparsable"), ("deep", "unparsable"), ("long", "bound")] {
        let found = sandbox.run(&["accesses", "--json", "--line-from", file]).ends_with(0).json();
        let classes: Vec<&Value> = found["unknown"].as_array().unwrap().iter().map(|it| &it["class"]).collect();
        assert!(classes.iter().any(|it| **it == class || **it == "bound"), "{file}: {classes:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_out_of_the_project_is_followed() {
    let sandbox = Sandbox::new();
    let outside = sandbox.home.join("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, sandbox.project.join("link")).unwrap();
    let found = sandbox.run(&["accesses", "--json", "rm link/x"]).ends_with(0).json();
    let deleted: Vec<&str> = found["deletes"].as_array().unwrap().iter().filter_map(|it| it["path"].as_str()).collect();
    let real = outside.canonicalize().unwrap().join("x");
    assert!(deleted.contains(&real.to_str().unwrap()), "{deleted:?}");
}
