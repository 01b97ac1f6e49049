//! The bridge: what an agent waits for when it calls hookrail as its hook, with a running server and without.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hookrail::Environment;
use serde_json::json;

use super::BenchCase;
use super::support::installed;
use crate::BenchResult;
use crate::floor::BareCommand;
use crate::harness::{PreparedCase, Variant};
use crate::lab::{Lab, Shell};

pub(crate) fn cases() -> Vec<BenchCase> {
    vec![BenchCase { name: "bridge", title: "one call of an agent, with one matching module", prepare: bridge }]
}

/// What the module puts in place of a tool's result. Only an answer that holds it is a measurement.
const REPLACED: &str = "replaced by the module";

/// A server that ends with the case.
struct RunningServer(Child);

impl Drop for RunningServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn bridge(lab: &Lab) -> BenchResult<PreparedCase> {
    let mut case = PreparedCase::default();
    let hookrail = installed(lab)?;
    let project = lab.project(&json!([]))?;
    let module = project.join(".xcsh/hooks/replace.ts");
    std::fs::create_dir_all(module.parent().ok_or("a file has a folder")?)?;
    let result = json!({"content": [{"type": "text", "text": REPLACED}]});
    std::fs::write(&module, format!("export default (pi) => pi.on(\"tool_result\", async () => ({result}));\n"))?;
    let runtime = lab.new_path("run");
    std::fs::create_dir(&runtime)?;
    std::fs::set_permissions(&runtime, std::fs::Permissions::from_mode(0o700))?;
    let environment = lab.environment(Shell::Sh).with("XDG_RUNTIME_DIR", &runtime).with("CLAUDE_PROJECT_DIR", &project);
    let folder = project.to_str().ok_or("the folder's name is not text")?;
    run(&hookrail, &["trust", "grant", "--yes", "--project", folder], &environment)?;
    let server = serve(&hookrail, &runtime.join("hookrail.sock"), folder, &environment)?;

    let mut truth = BareCommand::new(Path::new("/bin/true"), &[], &environment)?;
    case.add(Variant::timed("true", "raw spawn of /bin/true, which is linked dynamically", 5, move || {
        truth.round_trip(b"").map(drop)
    }));
    let payload = json!({
        "session_id": "benchmark", "transcript_path": "/t", "cwd": folder, "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"},
        "tool_response": {"stdout": "a", "stderr": "", "interrupted": false, "isImage": false},
    });
    let asked = ["bridge", "claude", "--event", "PostToolUse"];
    let served = ("served", "`hookrail bridge claude`, a server runs");
    case.add(timed(served, &hookrail, &asked, &payload, &environment, server)?);
    let alone = [&asked[..], &["--alone"]].concat();
    case.add(timed(("alone", "`hookrail bridge claude` alone"), &hookrail, &alone, &payload, &environment, ())?);
    let fired = json!({
        "session_id": "benchmark", "cwd": folder, "tool_name": "bash", "tool_input": {"command": "ls"},
        "tool_response": {"llmContent": "a", "returnDisplay": "a"},
    });
    let fire = ["fire", "AfterTool", "--json", "--project", folder, "--payload", "-"];
    let fire_alike = ("fire", "`hookrail fire` with the same module");
    case.add(timed(fire_alike, &hookrail, &fire, &fired, &environment, ())?);
    Ok(case)
}

/// The program with an input. What is kept lives as long as the variant.
fn timed(
    (name, what): (&str, &str),
    hookrail: &Path,
    arguments: &[&str],
    input: &serde_json::Value,
    environment: &Environment,
    kept: impl Sized + 'static,
) -> BenchResult<Variant> {
    let mut command = BareCommand::new(hookrail, arguments, environment)?;
    let input = input.to_string().into_bytes();
    Ok(Variant::timed(name, what, 3, move || {
        let _kept = &kept;
        let said = command.round_trip(&input)?;
        if said.windows(REPLACED.len()).any(|part| part == REPLACED.as_bytes()) {
            return Ok(());
        }
        Err(format!("the module should have answered: {}", String::from_utf8_lossy(said)).into())
    }))
}

fn command(hookrail: &Path, arguments: &[&str], environment: &Environment) -> Command {
    let mut command = Command::new(hookrail);
    command.args(arguments).env_clear().envs(environment.iter()).stdin(Stdio::null()).stdout(Stdio::null());
    command
}

fn run(hookrail: &Path, arguments: &[&str], environment: &Environment) -> BenchResult<()> {
    let ended = command(hookrail, arguments, environment).status()?;
    if ended.success() { Ok(()) } else { Err(format!("`hookrail {}` failed", arguments.join(" ")).into()) }
}

fn serve(hookrail: &Path, socket: &Path, project: &str, environment: &Environment) -> BenchResult<RunningServer> {
    let path = socket.to_str().ok_or("the socket's name is not text")?;
    let arguments = ["serve", "--socket", path, "--project", project];
    let server = RunningServer(command(hookrail, &arguments, environment).stderr(Stdio::null()).spawn()?);
    if hookrail_testkit::wait_until(|| UnixStream::connect(socket).is_ok(), Duration::from_secs(30)) {
        Ok(server)
    } else {
        Err("the server does not answer".into())
    }
}
