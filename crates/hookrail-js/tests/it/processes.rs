//! Processes of modules end with their call, with their module and with the program.

#![cfg(target_os = "linux")]

use std::path::Path;

use super::common::{Project, eventually, tool_call};
use hookrail::{Code, EventKind, Level};

/// The number that a process wrote about itself.
fn pid_in(file: &Path) -> Option<u32> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// Fires a tool call, takes the answer away once the process is there, and sees it end; the module stays usable.
fn cancelled(start: &str) {
    let project = Project::new();
    let system = project.module(&format!(
        "import {{ execSync }} from 'node:child_process';\nlet calls = 0;\nexport default (pi) => {{ pi.on('turn_start', () => console.log(calls)); \
         pi.on('tool_call', async () => {{ calls++; {start} }}); }};"
    ));
    let fire = system.fire(tool_call(&system));
    let file = project.project.join("pid");
    eventually("the process is there", || pid_in(&file).is_some());
    let pid = pid_in(&file).unwrap();
    assert!(is_alive(pid));
    drop(fire);
    eventually("it has ended", || !is_alive(pid));
    let next = system.fire_blocking(system.event(EventKind::TurnStart));
    assert_eq!(next.runs[0].stdout, "1\n", "the module has kept its state: {next:?}");
}

#[test]
fn processes_run_in_the_sandbox_that_the_system_layer_imposes() {
    let project = Project::new();
    std::fs::write(project.system_settings(), r#"{"hooksConfig": {"sandbox": {"write": ["out"]}}}"#).unwrap();
    std::fs::create_dir(project.project.join("out")).unwrap();
    project.write(
        "x.ts",
        "import { execSync } from 'node:child_process';
         export default (pi) => { pi.on('tool_call', async () => {
           const codes = [];
           for (const script of ['echo x > new', 'echo x > out/new', 'echo x > \"$TMPDIR/new\"', 'echo x > new && exit 0; exit 7'])
             codes.push((await pi.exec('sh', ['-c', script])).code);
           let sync = 'worked'; try { execSync('echo x > new', { env: { PATH: process.env.PATH } }); } catch { sync = 'refused'; }
           return { block: true, reason: codes.map((code) => code === 0 ? 'worked' : 'refused').join() + ',' + sync };
         }); };",
    );
    let system = project.system(&["x.ts"]);
    let outcome = system.fire_blocking(tool_call(&system));
    if outcome.diagnostics.iter().any(|finding| finding.code == hookrail::Code::SandboxNotEnforced) {
        eprintln!("skipped: the kernel cannot enforce a sandbox");
        return;
    }
    assert_eq!(super::common::reason(&outcome), "refused,worked,worked,refused,refused");
    assert!(!project.project.join("new").exists());
}

#[test]
fn a_process_ends_when_its_call_is_cancelled() {
    cancelled("await pi.exec('sh', ['-c', 'echo $$ > pid; sleep 600']);");
}

#[test]
fn a_process_that_the_module_waits_for_synchronously_ends_when_its_call_is_cancelled() {
    cancelled("try { execSync('echo $$ > pid; sleep 600'); } catch {}");
}

#[test]
fn a_daemon_ends_when_its_call_is_cancelled() {
    cancelled(
        "execSync(\"setsid sh -c 'echo $$ > pid; exec sleep 600' >/dev/null 2>&1 </dev/null & exit 0\"); await new Promise((go) => setTimeout(go, 600_000));",
    );
}

#[test]
fn a_cancelled_call_starts_no_more_processes() {
    let project = Project::new();
    let system = project.module(
        "import { writeFileSync } from 'node:fs';\nexport default (pi) => { pi.on('tool_call', async () => { await pi.exec('sh', ['-c', 'echo $$ > pid; sleep 600']); \
         try { await pi.exec('sh', ['-c', 'echo yes > second']); } catch (e) { writeFileSync('refused', e.code); } }); };",
    );
    let fire = system.fire(tool_call(&system));
    eventually("the process is there", || pid_in(&project.project.join("pid")).is_some());
    drop(fire);
    let refused = project.project.join("refused");
    eventually("it is told so", || std::fs::read_to_string(&refused).is_ok_and(|code| code == "ECANCELED"));
    assert!(!project.project.join("second").exists());
}

#[test]
fn a_process_that_is_cut_off_by_the_shutdown_is_reported_and_one_that_ended_is_not() {
    let project = Project::new();
    let system = project.module(
        "export default (pi) => { pi.on('tool_call', () => { pi.exec('true', []); pi.exec('sleep', ['600']); }); };",
    );
    assert!(!system.fire_blocking(tool_call(&system)).is_denied());
    let findings = system.shutdown_blocking();
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!((finding.code, finding.level), (Code::HookCancelled, Level::Warning));
    assert!(finding.message.contains("its process `sleep` was still running 1500 ms"), "{}", finding.message);
    let module = project.project.join("x.ts");
    assert!(finding.message.contains(&*module.to_string_lossy()), "{}", finding.message);
    assert_eq!(finding.location.as_ref().map(|place| &*place.file), Some(&*module));
}

/// A daemon that its module has started and does not wait for.
const DAEMON: &str = "import { execSync } from 'node:child_process';\nexport default (pi) => { pi.on('tool_call', () => { \
                      execSync(\"setsid sh -c 'echo $$ > pid; exec sleep 600' >/dev/null 2>&1 </dev/null & exit 0\"); }); };";

#[test]
fn a_daemon_ends_when_its_module_is_loaded_anew_and_when_the_host_shuts_down() {
    let project = Project::new();
    let system = project.module(DAEMON);
    let file = project.project.join("pid");
    let start = || {
        let _ = std::fs::remove_file(&file);
        assert!(!system.fire_blocking(tool_call(&system)).is_denied());
        eventually("the daemon is there", || pid_in(&file).is_some_and(is_alive));
        pid_in(&file).unwrap()
    };
    let first = start();
    project.write("x.ts", format!("{DAEMON} // another version"));
    system.reload();
    eventually("the old version's daemon has ended", || !is_alive(first));
    let second = start();
    system.shutdown_blocking();
    assert!(!is_alive(second), "shutdown has waited for its end");
}
