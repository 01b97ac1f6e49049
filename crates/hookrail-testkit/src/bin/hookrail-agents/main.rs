//! Runs hooks of four dialects, unchanged, alone and in a chain, in real coding agents, against a scripted model; and follows the page
//! that brings hooks from one agent to another.
//!
//! `scripts/agents.sh` installs the agents and starts this program without a network.

#![forbid(unsafe_code)]

#[cfg(unix)]
mod agent;
#[cfg(unix)]
mod lab;
#[cfg(unix)]
mod matrix;
#[cfg(unix)]
mod page;
#[cfg(unix)]
mod table;

#[cfg(unix)]
use std::path::Path;
use std::process::ExitCode;

#[cfg(unix)]
use agent::LabAgent;

/// Why a run has no result for an agent.
type Error = Box<dyn std::error::Error>;

#[cfg(unix)]
const USAGE: &str = "usage: hookrail-agents HOOKRAIL AGENTS_FOLDER DATA_FOLDER [AGENT…]
       hookrail-agents --packages DATA_FOLDER [AGENT…]";

#[cfg(unix)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.as_slice() {
        [option, data, named @ ..] if option == "--packages" => print_packages(Path::new(data), named),
        [hookrail, agents, data, named @ ..] => run(hookrail, agents, data, named),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("hookrail-agents: {error}");
            ExitCode::from(2)
        }
    }
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    eprintln!("hookrail-agents: this test runs on Unix only");
    ExitCode::from(2)
}

/// Prints what has to be installed for the agents: the folder, the package and the version, in one line each.
#[cfg(unix)]
fn print_packages(data: &Path, named: &[String]) -> Result<bool, Error> {
    for agent in LabAgent::load(&data.join("agents"), named)? {
        for package in &agent.packages {
            println!("{} {} {}", package.folder, package.package, package.version);
        }
    }
    Ok(true)
}

#[cfg(unix)]
fn run(hookrail: &str, agents: &str, data: &str, named: &[String]) -> Result<bool, Error> {
    let absolute = |path: &str| std::fs::canonicalize(path).map_err(|error| format!("{path}: {error}"));
    let (hookrail, agents, data) = (absolute(hookrail)?, absolute(agents)?, absolute(data)?);
    let chosen = LabAgent::load(&data.join("agents"), named)?;
    if let Some(missing) = chosen.iter().find(|agent| !agent.program(&agents).exists()) {
        let program = missing.program(&agents);
        return Err(format!("{} is not installed: {} is missing", missing.name, program.display()).into());
    }
    let work = tempfile::Builder::new().prefix("hookrail-agents").tempdir()?;
    let sources = matrix::HookSources { hooks: data.join("hooks"), page: page::Page::read(&data)? };
    let mut table = table::Table::new(&chosen);
    for agent in &chosen {
        for hooks in matrix::Hooks::ALL {
            if hooks == matrix::Hooks::Page && !sources.page.installs(&agent.name) {
                continue;
            }
            let root = work.path().join(format!("{}-{}", agent.name, hooks.name()));
            let lab = lab::Lab::create(&agents, &hookrail, root)?;
            let cells = matrix::run(agent, hooks, &lab, &sources);
            table.add(agent, hooks, cells);
        }
    }
    print!("{table}");
    if table.has_failures() {
        println!("what the failed runs left is in {}", work.keep().display());
        return Ok(false);
    }
    Ok(true)
}
