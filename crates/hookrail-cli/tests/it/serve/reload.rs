//! Reloads by signal, by command and by message; and signals that stay ignored.

use hookrail_testkit::{RunningProgram, Signal, Talk};
use serde_json::{Value, json};

use crate::serve::support::Sandbox;

#[test]
fn sighup_reloads_a_server_on_a_socket() {
    let sandbox = Sandbox::with_user_hook("echo first");
    let (server, _path, mut talk) = sandbox.on_socket(&["--no-watch"]);
    assert_eq!(talk.message(), "first");
    sandbox.edit("echo second");
    assert_eq!(talk.message(), "first");
    server.signal(Signal::HUP);
    talk.until_message("second");
    // The server continues to serve, and still ends normally.
    server.signal(Signal::TERM);
    server.ends_with(0);
}

#[test]
fn sighup_and_sigquit_end_a_server_on_standard_input_and_output() {
    for signal in [Signal::HUP, Signal::QUIT] {
        let sandbox = Sandbox::with_hook("echo first");
        let (server, mut talk) = sandbox.on_stdio(&[]);
        assert_eq!(talk.message(), "first");
        server.signal(signal);
        server.ends_with(0);
    }
}

#[test]
fn sigquit_ends_a_server_on_a_socket() {
    let sandbox = Sandbox::with_hook("echo first");
    let (server, path, mut talk) = sandbox.on_socket(&[]);
    assert_eq!(talk.message(), "first");
    server.signal(Signal::QUIT);
    server.ends_with(0);
    assert!(!path.exists());
}

#[test]
fn signals_that_were_ignored_at_the_start_stay_ignored() {
    let sandbox = Sandbox::with_user_hook("echo first");
    let path = sandbox.base.join("s");
    let ignoring = "trap '' HUP INT QUIT; exec \"$0\" \"$@\"";
    let own = ["-c".as_ref(), ignoring.as_ref(), Sandbox::program().as_os_str()];
    let args = ["--socket", path.to_str().unwrap(), "--trust-project", "--no-watch"];
    let server = RunningProgram::start(&mut sandbox.serve_with("sh", &own, &args));
    let mut talk = Talk::over(&path);
    assert_eq!(talk.message(), "first");
    sandbox.edit("echo second");
    for signal in [Signal::HUP, Signal::INT, Signal::QUIT] {
        server.signal(signal);
        // A server that ends refuses what is new; several messages give it the time to notice the signal.
        for _ in 0..3 {
            assert_eq!(talk.message(), "first", "{signal:?}");
        }
    }
    server.signal(Signal::TERM);
    server.ends_with(0);
}

#[test]
fn nohup_does_not_end_with_its_terminal() {
    let sandbox = Sandbox::with_hook("echo first");
    let path = sandbox.base.join("s");
    let own = [Sandbox::program().as_os_str()];
    let args = ["--socket", path.to_str().unwrap(), "--trust-project"];
    let server = RunningProgram::start(&mut sandbox.serve_with("nohup", &own, &args));
    let mut talk = Talk::over(&path);
    server.signal(Signal::HUP);
    for _ in 0..3 {
        assert_eq!(talk.message(), "first");
    }
}

#[test]
fn the_command_reloads_and_says_what_cannot_be_used() {
    let sandbox = Sandbox::with_user_hook("echo first");
    let (_server, path, mut talk) = sandbox.on_socket(&["--no-watch"]);
    let path = path.to_str().unwrap();
    assert_eq!(talk.message(), "first");
    sandbox.edit("echo second");
    assert_eq!(talk.message(), "first");
    let (status, text) = sandbox.run(&["reload", "--socket", path]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("reloaded: 1 project, revision "), "{text}");
    // What was reported is in force.
    assert_eq!(talk.message(), "second");

    std::fs::write(sandbox.base.join("home/.llxprt/settings.json"), "{ broken").unwrap();
    let (status, text) = sandbox.run(&["reload", "--socket", path]);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains(".llxprt/settings.json") && text.contains("hint: "), "{text}");
    assert_eq!(talk.message(), "second", "a broken file keeps its last good version");
    let kept = talk.hello()["kept"].take();
    assert!(kept.to_string().contains(".llxprt/settings.json"), "{kept}");
}

#[test]
fn without_a_server_there_is_nothing_to_reload() {
    let sandbox = Sandbox::with_hook("true");
    let (status, text) = sandbox.run(&["reload", "--socket", "nothing-here"]);
    assert_eq!(status, Some(1));
    assert!(text.contains("nothing-here") && text.contains("hint: "), "{text}");
    let (status, text) = sandbox.run(&["reload"]);
    assert_eq!(status, Some(1));
    assert!(text.contains("XDG_RUNTIME_DIR") && text.contains("--socket"), "{text}");
}

#[test]
fn the_default_socket_is_the_one_of_the_service() {
    let sandbox = Sandbox::with_hook("true");
    let path = sandbox.base.join("hookrail.sock");
    let args = ["--socket", path.to_str().unwrap(), "--trust-project"];
    let _server = RunningProgram::start(&mut sandbox.serve(&args));
    drop(Talk::over(&path));
    let mut reload = sandbox.command(Sandbox::program());
    let ran = reload.arg("reload").env("XDG_RUNTIME_DIR", &sandbox.base).output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
}

fn reload(talk: &mut Talk) -> Value {
    talk.say("reload", &json!({"correlationId": "r"}));
    let mut answer = talk.next().unwrap();
    assert_eq!(answer["type"], "reload", "{answer}");
    answer["payload"].take()
}

#[test]
fn a_client_reloads_and_sees_which_configuration_is_in_force() {
    let sandbox = Sandbox::with_user_hook("echo first");
    let (_server, mut talk) = sandbox.on_stdio(&["--no-watch"]);
    assert_eq!(talk.message(), "first");
    let before = talk.hello();
    assert_eq!(before["watch"], "off");
    assert_eq!(before["kept"], json!([]));
    assert_eq!(before["systemUnusable"], false);
    assert!(before["configurationAgeMs"].as_f64().is_some(), "{before}");
    assert!(before["capabilities"].to_string().contains("reload"));
    sandbox.edit("echo second");
    let reloaded = reload(&mut talk);
    assert_eq!(reloaded["correlationId"], "r");
    assert_eq!(reloaded["success"], true, "{reloaded}");
    assert_eq!(talk.message(), "second");
    let after = talk.hello();
    assert!(after["revision"].as_u64() > before["revision"].as_u64(), "{before} {after}");
    assert_eq!(after["revision"], reloaded["revision"]);
}
