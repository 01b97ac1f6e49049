//! What children in a sandbox can and cannot do.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hookrail_spawn::{
    CancelToken, ChildCommand, ChildEnd, ChildResult, Environment, Network, ParkedChild, Readable, Sandbox,
    SandboxRules, run,
};
use hookrail_testkit::TestProject;

/// Ways to change what is outside of the sandbox. All of them work outside.
const WRITES: [&str; 18] = [
    "echo x > kept",
    "echo x >> kept",
    "echo x > new",
    ": > kept",
    "rm kept",
    "mv kept moved",
    "ln kept linked",
    "ln -s kept linked",
    "mkdir folder",
    "mkfifo pipe",
    "chmod 777 kept",
    "touch new",
    "rmdir out",
    "cp kept out/copy",
    "mv kept \"$TMPDIR/stolen\"",
    "echo x > /tmp/hookrail-sandbox-test && rm /tmp/hookrail-sandbox-test",
    "sh -c 'sh -c \"echo x > new\"'",
    "cd / && echo x > \"$OLDPWD/new\"",
];

/// A folder of the user's, with something in it, and a sandbox that cannot write there.
pub(super) struct Lab {
    place: TestProject,
    sandbox: Arc<Sandbox>,
}

pub(super) fn guard() -> SandboxRules {
    SandboxRules { read: Readable::Everything, write: Vec::new(), network: Network::Denied }
}

impl Lab {
    /// A lab; nothing on a kernel that cannot enforce the rules, which is a failure if every test has to run.
    pub(super) fn new(rules: impl FnOnce(&Path) -> SandboxRules) -> Option<Self> {
        let place = TestProject::new();
        place.write("kept", "kept");
        std::fs::create_dir(place.project.join("out")).unwrap();
        let sandbox = Sandbox::start(&rules(&place.project), &std::env::temp_dir()).unwrap();
        if !sandbox.missing().is_empty() {
            let required = std::env::var_os("HOOKRAIL_REQUIRE_ALL").is_some_and(|value| value == "1");
            assert!(!required, "HOOKRAIL_REQUIRE_ALL=1, and the kernel cannot enforce {:?}", sandbox.missing());
            eprintln!("skipped: the kernel cannot enforce {:?}", sandbox.missing());
            return None;
        }
        Some(Self { place, sandbox: Arc::new(sandbox) })
    }

    fn command(&self, script: &str) -> ChildCommand {
        let environment = Environment::new()
            .with("PATH", hookrail_testkit::search_path())
            .with("TMPDIR", self.sandbox.temporary_folder());
        ChildCommand::new("/bin/sh")
            .args(["-c", script])
            .env(Arc::new(environment))
            .cwd(&self.place.project)
            .timeout(Duration::from_secs(60))
            .sandbox(Arc::clone(&self.sandbox))
    }

    pub(super) async fn run(&self, script: &str) -> ChildResult {
        run(&self.command(script), &CancelToken::new()).await.unwrap()
    }

    pub(super) async fn works(&self, script: &str) {
        let finished = self.run(script).await;
        assert_eq!(finished.end, ChildEnd::Exited(0), "`{script}`: {}", finished.stderr.text_lossy());
    }

    pub(super) async fn is_refused(&self, script: &str) {
        let finished = self.run(script).await;
        assert_ne!(finished.end, ChildEnd::Exited(0), "`{script}` worked: {}", finished.stdout.text_lossy());
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.place.project.join(name)
    }
}

/// Runs a script in the folder of a lab, without its sandbox.
pub(super) async fn run_outside(lab: &Lab, script: &str) -> ChildResult {
    let environment = Environment::new().with("PATH", hookrail_testkit::search_path()).with("TMPDIR", &lab.place.home);
    let command = ChildCommand::new("/bin/sh").args(["-c", script]).cwd(&lab.place.project);
    run(&command.env(Arc::new(environment)), &CancelToken::new()).await.unwrap()
}

#[tokio::test]
async fn a_guard_reads_everything_and_writes_its_temporary_folder_only() {
    let Some(lab) = Lab::new(|_| guard()) else { return };
    lab.works("grep -q kept kept && cat /etc/passwd >/dev/null").await;
    lab.works(
        "echo x > \"$TMPDIR/x\" && mkdir \"$TMPDIR/d\" && mv \"$TMPDIR/x\" \"$TMPDIR/d/y\" && rm -r \"$TMPDIR/d\"",
    )
    .await;
    lab.works("f=$(mktemp) && echo x > \"$f\" && rm \"$f\"").await;
    for script in WRITES {
        lab.is_refused(script).await;
    }
    assert_eq!(std::fs::read_to_string(lab.path("kept")).unwrap(), "kept");
    assert!(!lab.path("new").exists() && !lab.path("moved").exists() && lab.path("out").exists());
    // The host itself is not restricted.
    std::fs::write(lab.path("kept"), "by the host").unwrap();
}

#[tokio::test]
async fn a_named_path_can_be_written_and_its_neighbours_cannot() {
    let rules = |folder: &Path| SandboxRules { write: vec![folder.join("out"), folder.join("missing")], ..guard() };
    let Some(lab) = Lab::new(rules) else { return };
    lab.works("echo x > out/new && mkdir out/deep && echo y > out/deep/z && rm out/new").await;
    lab.is_refused("echo x > kept").await;
    lab.is_refused("mkdir missing").await;
    lab.is_refused("echo x > out/../kept").await;
    lab.works("ln -s ../kept out/link").await;
    lab.is_refused("echo x > out/link").await;
    assert_eq!(std::fs::read_to_string(lab.path("kept")).unwrap(), "kept");
}

#[tokio::test]
async fn reading_can_be_limited_to_named_paths() {
    let readable = |folder: &Path| SandboxRules { read: Readable::Only(vec![folder.join("out")]), ..guard() };
    let Some(lab) = Lab::new(readable) else { return };
    std::fs::write(lab.path("out/shown"), "shown").unwrap();
    lab.works("cat out/shown").await;
    lab.works("ls /usr >/dev/null && cat /etc/passwd >/dev/null").await;
    lab.is_refused("cat kept").await;
    lab.is_refused("echo x > out/new").await;
}

#[tokio::test]
async fn no_signal_reaches_a_process_outside() {
    let Some(lab) = Lab::new(|_| guard()) else { return };
    let mut other = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    lab.is_refused(&format!("kill -0 {}", other.id())).await;
    lab.is_refused(&format!("kill -9 {}", other.id())).await;
    lab.is_refused(&format!("kill -9 {}", std::process::id())).await;
    assert!(other.try_wait().unwrap().is_none(), "it still runs");
    other.kill().unwrap();
    other.wait().unwrap();
    lab.works("sleep 600 & kill -9 $!").await;
}

#[tokio::test]
async fn sockets_of_every_family_are_refused_unless_the_network_is_allowed() {
    if !hookrail_testkit::has_program("python3") {
        return;
    }
    let open =
        |family: &str, kind: &str| format!("python3 -c 'import socket; socket.socket(socket.{family}, socket.{kind})'");
    let Some(denied) = Lab::new(|_| guard()) else { return };
    let Some(allowed) = Lab::new(|_| SandboxRules { network: Network::Allowed, ..guard() }) else { return };
    for (family, kind) in [
        ("AF_INET", "SOCK_STREAM"),
        ("AF_INET", "SOCK_DGRAM"),
        ("AF_INET6", "SOCK_STREAM"),
        ("AF_UNIX", "SOCK_STREAM"),
        ("AF_NETLINK", "SOCK_RAW"),
    ] {
        denied.is_refused(&open(family, kind)).await;
        allowed.works(&open(family, kind)).await;
    }
    denied.works("python3 -c 'import socket; socket.socketpair()'").await;
}

#[tokio::test]
async fn limits_of_other_processes_cannot_be_changed_and_own_ones_can() {
    if !hookrail_testkit::has_program("prlimit") {
        return;
    }
    let Some(lab) = Lab::new(|_| guard()) else { return };
    lab.is_refused(&format!("prlimit --pid {} --core=0:0", std::process::id())).await;
    lab.works("ulimit -c 0").await;
}

#[tokio::test]
async fn a_child_that_is_kept_ready_is_restricted_too() {
    let Some(lab) = Lab::new(|_| guard()) else { return };
    let parked = ParkedChild::start(&lab.command("read line; echo x > kept")).unwrap();
    let finished = parked.finish(&lab.command("").stdin(*b"go\n"), &CancelToken::new()).await.unwrap();
    assert_ne!(finished.end, ChildEnd::Exited(0));
    assert_eq!(std::fs::read_to_string(lab.path("kept")).unwrap(), "kept");
}

#[tokio::test]
async fn the_temporary_folder_is_private_and_goes_with_the_sandbox() {
    use std::os::unix::fs::PermissionsExt as _;
    let Some(lab) = Lab::new(|_| guard()) else { return };
    lab.works("echo x > \"$TMPDIR/left\"").await;
    let folder = lab.sandbox.temporary_folder().to_owned();
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    drop(lab);
    assert!(!folder.exists());
}

#[tokio::test]
async fn what_the_sandbox_refuses_works_without_it() {
    for script in WRITES {
        let Some(lab) = Lab::new(|_| guard()) else { return };
        let finished = run_outside(&lab, script).await;
        assert_eq!(finished.end, ChildEnd::Exited(0), "`{script}`: {}", finished.stderr.text_lossy());
    }
}
