//! Variants that several cases share.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use hookrail::{HookSystem, Json};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::BenchResult;
use crate::floor::BareCommand;
use crate::harness::{PreparedCase, Variant, nanoseconds_each};
use crate::lab::{Lab, Shell, check_answered, event};
use crate::peers::SharedDriver;

/// The floor: the cheapest spawner with a command.
pub(crate) fn floor(
    lab: &Lab,
    (name, what): (&str, &str),
    times: u32,
    program: &Path,
    arguments: &[&str],
    shell: Shell,
) -> BenchResult<Variant> {
    let mut bare = BareCommand::new(program, arguments, &lab.environment(shell))?;
    let input = vec![b'x'; 1200];
    Ok(Variant::timed(name, what, times, move || {
        let answer = bare.round_trip(&input)?;
        if answer.starts_with(b"{}") { Ok(()) } else { Err("the floor's child did not answer".into()) }
    }))
}

/// The engine, called by a thread that blocks.
pub(crate) fn blocking(
    (name, what): (&str, &str),
    times: u32,
    system: &HookSystem,
    input: &Json,
    hooks: usize,
) -> Variant {
    let (system, input) = (system.clone(), input.clone());
    Variant::timed(name, what, times, move || check_answered(&system.fire_blocking(event(&system, &input)), hooks))
}

/// The engine, called by a task of a multi-thread runtime.
pub(crate) fn from_task(
    (name, what): (&str, &str),
    times: u32,
    system: &HookSystem,
    input: &Json,
    hooks: usize,
) -> BenchResult<Variant> {
    let (system, input) = (system.clone(), input.clone());
    let runtime = threads()?;
    Ok(Variant::new(name, what, move || {
        let (system, input) = (system.clone(), input.clone());
        let task = runtime.spawn(async move {
            let began = Instant::now();
            for _ in 0..times {
                check_answered(&system.fire(event(&system, &input)).await, hooks)?;
            }
            Ok(nanoseconds_each(began.elapsed(), times))
        });
        runtime.block_on(task)?
    }))
}

/// A runtime as most hosts have it.
pub(crate) fn threads() -> BenchResult<Arc<Runtime>> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    Ok(Arc::new(runtime))
}

/// The peer from npm, with these hooks and this request.
pub(crate) fn gemini(lab: &Lab, case: &mut PreparedCase, (name, what): (&str, &str), groups: &Value, work: Value) {
    match lab.peers.gemini(&lab.environment(Shell::Bash)) {
        Ok(driver) => driven(lab, case, (name, &format!("gemini-cli-core: {what}")), &driver, groups, work),
        Err(why) => case.absent(why.to_string()),
    }
}

/// The peer from crates.io, with these hooks and this request.
pub(crate) fn opendev(lab: &Lab, case: &mut PreparedCase, (name, what): (&str, &str), groups: &Value, work: Value) {
    match lab.peers.opendev(&lab.environment(Shell::Bash)) {
        Ok(driver) => driven(lab, case, (name, &format!("opendev-hooks: {what}")), &driver, groups, work),
        Err(why) => case.absent(why.to_string()),
    }
}

fn driven(
    lab: &Lab,
    case: &mut PreparedCase,
    (name, what): (&str, &str),
    driver: &SharedDriver,
    groups: &Value,
    mut work: Value,
) {
    let id = lab.new_path("system").display().to_string();
    let off = work.get("off").cloned().unwrap_or(Value::Bool(false));
    let asked = driver.borrow_mut().request(&json!({"do": "prepare", "id": id, "groups": groups, "off": off}));
    if let Err(why) = asked {
        return case.absent(format!("{name}: {why}"));
    }
    if let Some(work) = work.as_object_mut() {
        work.insert("id".to_owned(), Value::String(id));
    }
    let driver = Rc::clone(driver);
    case.add(Variant::new(name, what, move || driver.borrow_mut().time(&work)));
}

/// Builds another program of the workspace with the profile of this one.
pub(crate) fn built(package: &str, program: &str) -> BenchResult<PathBuf> {
    build(package, program, &[])?;
    found(std::env::current_exe()?.with_file_name(program))
}

fn build(package: &str, program: &str, how: &[&str]) -> BenchResult<()> {
    let profile: &[&str] = if cfg!(debug_assertions) { &[] } else { &["--profile", "dist"] };
    eprintln!("      building {program}");
    let made = cargo()
        .args(["build", "--quiet", "--locked", "-p", package, "--bin", program])
        .args(profile)
        .args(how)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()?;
    if made.status.success() {
        return Ok(());
    }
    Err(format!("{program} could not be built: {}", String::from_utf8_lossy(&made.stderr)).into())
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn found(program: PathBuf) -> BenchResult<PathBuf> {
    if program.exists() { Ok(program) } else { Err(format!("{} was not built", program.display()).into()) }
}

/// How `packaging/static.toml` installs hookrail: linked statically, for this machine.
const AS_INSTALLED: [&str; 4] = ["--target", "host-tuple", "--config", "../../packaging/static.toml"];

/// The binary as an installation leaves it. What the linker has written through a mapping stands in the system's cache page
/// by page, and starting that takes half a millisecond longer than starting a copy.
pub(crate) fn installed(lab: &Lab) -> BenchResult<PathBuf> {
    build("hookrail-cli", "hookrail", &AS_INSTALLED)?;
    let about = String::from_utf8(cargo().arg("-vV").output()?.stdout)?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("cargo does not name its host")?;
    // `target/dist/hookrail-bench` becomes `target/HOST/dist/hookrail`.
    let here = std::env::current_exe()?;
    let profile = here.parent().and_then(Path::file_name).ok_or("this program has no folder")?;
    let target = here.ancestors().nth(2).ok_or("this program is in no target folder")?;
    let made = found(target.join(host).join(profile).join("hookrail"))?;
    let folder = lab.new_path("installed");
    std::fs::create_dir_all(&folder)?;
    let binary = folder.join("hookrail");
    std::fs::copy(made, &binary)?;
    Ok(binary)
}
