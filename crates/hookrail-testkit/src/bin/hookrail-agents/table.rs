//! The table of results.

use std::fmt;

use crate::Error;
use crate::agent::LabAgent;
use crate::matrix::{Cell, HookWish, Hooks};

pub(crate) struct Table {
    agents: Vec<String>,
    cells: Vec<(String, Hooks, HookWish, Cell)>,
}

impl Table {
    pub(crate) fn new(agents: &[LabAgent]) -> Self {
        Self { agents: agents.iter().map(|agent| agent.name.clone()).collect(), cells: Vec::new() }
    }

    /// Adds the results of a run. A run that failed as a whole has failed in every cell.
    pub(crate) fn add(&mut self, agent: &LabAgent, hooks: Hooks, cells: Result<Vec<(HookWish, Cell)>, Error>) {
        let cells = cells.unwrap_or_else(|error| {
            hooks.wishes().iter().map(|wish| (*wish, Cell::Failed(error.to_string()))).collect()
        });
        let failed = cells.iter().filter(|(_, cell)| matches!(cell, Cell::Failed(_))).count();
        eprintln!("{} with hooks of {}: {} of {} passed", agent.name, hooks.name(), cells.len() - failed, cells.len());
        self.cells.extend(cells.into_iter().map(|(wish, cell)| (agent.name.clone(), hooks, wish, cell)));
    }

    pub(crate) fn has_failures(&self) -> bool {
        self.cells.iter().any(|(.., cell)| matches!(cell, Cell::Failed(_)))
    }

    fn find(&self, agent: &str, hooks: Hooks, wish: HookWish) -> Option<&Cell> {
        let fits = |cell: &&(String, Hooks, HookWish, Cell)| (cell.0.as_str(), cell.1, cell.2) == (agent, hooks, wish);
        self.cells.iter().find(fits).map(|(.., cell)| cell)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<18}", "")?;
        for agent in &self.agents {
            write!(f, " {agent:<9}")?;
        }
        writeln!(f)?;
        let mut notes: Vec<&str> = Vec::new();
        for hooks in Hooks::ALL {
            for wish in hooks.wishes() {
                write!(f, "{:<18}", format!("{} {}", hooks.name(), wish.name()))?;
                for agent in &self.agents {
                    let shown = match self.find(agent, hooks, *wish) {
                        None => "-".to_owned(),
                        Some(Cell::Honoured) => "ok".to_owned(),
                        Some(Cell::Failed(_)) => "FAILED".to_owned(),
                        Some(Cell::Replaced(how)) => {
                            if !notes.contains(&how.as_str()) {
                                notes.push(how);
                            }
                            let at = notes.iter().position(|note| *note == how.as_str()).unwrap_or_default();
                            format!("ok ({})", at + 1)
                        }
                    };
                    write!(f, " {shown:<9}")?;
                }
                writeln!(f)?;
            }
        }
        for (at, note) in notes.iter().enumerate() {
            writeln!(f, "({}) the agent has no way to do it: {note}", at + 1)?;
        }
        for (agent, hooks, wish, cell) in &self.cells {
            if let Cell::Failed(why) = cell {
                writeln!(f, "FAILED {agent} {} {}: {why}", hooks.name(), wish.name())?;
            }
        }
        Ok(())
    }
}
