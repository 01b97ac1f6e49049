//! Builds without a feature know its commands and settings, and say how to get them.

#[cfg(not(all(feature = "fleet", feature = "otel")))]
use crate::cli::sandbox::Sandbox;

#[cfg(not(feature = "fleet"))]
#[test]
fn commands_of_a_missing_feature_say_how_to_get_it() {
    let sandbox = Sandbox::new();
    for args in [
        &["fleet"][..],
        &["fleet", "status", "--json"],
        &["fleet", "--help"],
        &["help", "fleet"],
        &["bundle", "verify", "x"],
        &["serve", "--nats", "tls://h:4222", "--group", "g"],
        &["serve", "--nats=tls://h:4222"],
    ] {
        let said = sandbox.run(args).ends_with(1).stderr;
        assert!(said.contains("needs the feature `fleet`") && said.contains("--features fleet"), "{args:?}: {said}");
    }
    for args in [&["flet"][..], &["serve", "--nat", "x"]] {
        let said = sandbox.run(args).ends_with(1).stderr;
        assert!(!said.contains("feature"), "the control, which no build knows: {said}");
    }
}

#[cfg(not(feature = "otel"))]
#[test]
fn settings_of_a_missing_feature_are_reported_with_how_to_get_it() {
    let sandbox = Sandbox::new();
    let file = sandbox.home.join(".config/hookrail/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    for (text, is_reported) in
        [("[telemetry]\nendpoint = \"http://127.0.0.1:4318\"\n", true), ("[telemetry]\ntraces = false\n", false)]
    {
        std::fs::write(&file, text).unwrap();
        for args in [&["check"][..], &["check", "--json"], &["doctor", "claude"], &["doctor", "claude", "--json"]] {
            let ran = sandbox.run(args);
            let told = ran.stdout.contains("cannot export it") && ran.stdout.contains("--features otel");
            assert_eq!(told, is_reported, "{args:?}: {}", ran.stdout);
            if is_reported {
                ran.ends_with(1);
            }
        }
    }
    sandbox.run(&["check"]).ends_with(0);
}
