//! Runs hooks of three dialects, unchanged, alone and in a chain, in real coding agents, against a scripted model.
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
mod table;

use std::process::ExitCode;

/// Why a run has no result for an agent.
type Error = Box<dyn std::error::Error>;

#[cfg(unix)]
const USAGE: &str = "usage: hookrail-agents HOOKRAIL AGENTS_FOLDER HOOKS_FOLDER [AGENT…]";

#[cfg(unix)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [hookrail, agents, hooks, named @ ..] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(hookrail, agents, hooks, named) {
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

#[cfg(unix)]
fn run(hookrail: &str, agents: &str, hooks: &str, named: &[String]) -> Result<bool, Error> {
    let absolute = |path: &str| std::fs::canonicalize(path).map_err(|error| format!("{path}: {error}"));
    let (hookrail, agents, hooks) = (absolute(hookrail)?, absolute(agents)?, absolute(hooks)?);
    let unknown = named.iter().find(|name| !agent::LabAgent::ALL.iter().any(|agent| agent.name() == name.as_str()));
    if let Some(name) = unknown {
        return Err(format!("`{name}` is not an agent").into());
    }
    let chosen = agent::LabAgent::ALL
        .into_iter()
        .filter(|agent| named.is_empty() || named.iter().any(|name| name == agent.name()));
    let chosen: Vec<agent::LabAgent> = chosen.collect();
    if let Some(missing) = chosen.iter().find(|agent| !agent.program(&agents).exists()) {
        return Err(
            format!("{} is not installed: {} is missing", missing.name(), missing.program(&agents).display()).into()
        );
    }
    let work = tempfile::Builder::new().prefix("hookrail-agents").tempdir()?;
    let mut table = table::Table::new(&chosen);
    for agent in &chosen {
        for hooks_of in matrix::Hooks::ALL {
            let root = work.path().join(format!("{}-{}", agent.name(), hooks_of.name()));
            let lab = lab::Lab::create(&agents, &hookrail, root, &hooks.join(hooks_of.name()))?;
            let cells = matrix::run(*agent, hooks_of, &lab);
            table.add(*agent, hooks_of, cells);
        }
    }
    print!("{table}");
    if table.has_failures() {
        println!("what the failed runs left is in {}", work.keep().display());
        return Ok(false);
    }
    Ok(true)
}
