//! A rule about files below the home, and lines that search from above: at `/`, at the home, or through a link to one of them.

use crate::cli::every_host::{Judged, judged_everywhere};
use crate::cli::sandbox::Sandbox;

const RULES: &str = r#"
[[rule]]
name = "keys"
deny = "keys stay where they are"
when = { touches = "~/.ssh/**" }
"#;

/// A line that comes through the folder, and one like it that does not.
const LINES: &[(&str, &str)] = &[
    ("grep -r KEY ~", "grep -r KEY ~/.config"),
    ("grep -r KEY /", "grep -r KEY src"),
    ("cd / && grep -rn KEY", "cd src && grep -rn KEY"),
    ("find ~ -name id_rsa -exec cat {} +", "find src -name id_rsa -exec cat {} +"),
    ("find / -name id_rsa -exec cat {} +", "find / -name '*.rs' -exec cat {} +"),
    ("find ~ -name 'id_*' -delete", "find ~/.cache -name 'id_*' -delete"),
    ("tar cf home.tar ~", "tar cf src.tar src"),
    ("cp -r ~ backup", "cp -r ~/.config backup"),
    ("rm -rf ~", "rm -rf ~/.cache"),
    ("chmod -R 777 ~/.", "chmod -R 777 ~/.cache"),
    ("rg --hidden KEY ~", "rg KEY ~"),
    ("grep -r KEY above", "grep -r KEY src"),
];

#[test]
fn a_search_from_above_comes_through_the_folder_of_a_rule() {
    let sandbox = Sandbox::new();
    sandbox.write_home(".config/hookrail/rules.toml", RULES);
    sandbox.write_home(".ssh/id_rsa", "a key\n");
    sandbox.write("src/main.rs", "fn main() {}\n");
    std::os::unix::fs::symlink(&sandbox.home, sandbox.project.join("above")).unwrap();
    for (harmful, harmless) in LINES {
        for (line, expected) in [(harmful, true), (harmless, false)] {
            for Judged { host, is_stopped, said } in judged_everywhere(&sandbox, line) {
                assert_eq!(is_stopped, expected, "{host}: {line}: {said}");
                let is_named = said.contains("keys stay where they are") && said.contains("rule `keys`");
                assert_eq!(is_named, expected, "{host}: {line}: {said}");
            }
        }
    }
}
