//! Every JSON block is something: settings without findings, a sample of standard input, or a sample project.

use serde_json::Value;

use super::markdown::{blocks, document, documents};
use super::sandbox::Sandbox;
use super::scripts::GUIDES;

#[test]
fn settings_pass_the_check_without_findings() {
    let mut count = 0;
    for name in documents() {
        for block in blocks(&name).iter().filter(|block| block.language == "json") {
            let known = ["stdin", "project"].iter().any(|word| block.value(word).is_some());
            assert!(block.has("settings") || known, "{}: a JSON block without a check", block.place);
            if !block.has("settings") {
                continue;
            }
            let sandbox = Sandbox::new();
            let file = match block.value("layer") {
                Some("user") => "../home/.llxprt/settings.json",
                _ => ".llxprt/settings.json",
            };
            sandbox.write(file, &block.text);
            let found = sandbox.hookrail(&["check", "--json", "--trust-project"]).json()["diagnostics"].clone();
            // A block shows settings alone, so the scripts, programs and servers that they need are not there.
            let expected = ["script-missing", "program-missing", "remote-no-client"];
            let is_expected = |finding: &&Value| expected.iter().any(|code| finding["code"] == *code);
            let found: Vec<&Value> =
                found.as_array().into_iter().flatten().filter(|finding| !is_expected(finding)).collect();
            assert!(found.is_empty(), "{}: {found:#?}", block.place);
            count += 1;
        }
    }
    assert!(count >= 4, "only {count} blocks with settings");
}

#[test]
fn every_block_has_a_language_that_some_test_knows() {
    for name in documents() {
        let indented =
            document(&name).lines().any(|line| line.starts_with(' ') && line.trim_start().starts_with("```"));
        assert!(!indented, "docs/{name}: a block that is indented is not found by these tests");
        for block in blocks(&name) {
            let known = ["console", "json", "sh", "python", "js", "ts", "rust", "text", "toml", "yaml"];
            assert!(known.contains(&block.language.as_str()), "{}: `{}`", block.place, block.language);
            if matches!(block.language.as_str(), "sh" | "python" | "js" | "ts") {
                let executed = GUIDES.contains(&name.as_str()) && block.value("event").is_some();
                assert!(executed || block.value("file").is_some(), "{}: never executed", block.place);
            }
        }
    }
}
