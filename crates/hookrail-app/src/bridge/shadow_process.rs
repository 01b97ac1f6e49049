//! Hooks that are not enforced, when no server runs: a second process runs them, so that the agent does not wait for them.
//!
//! The agent waits until the process that it called has ended and its pipes are closed. The second process has neither, and
//! belongs to another process group, so that it goes on when the agent ends the one it called.

use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use hookrail::{Event, Json};
use hookrail_bridge::Agent;
use serde::{Deserialize, Serialize};

use super::event_input;
use super::fire::own_builder;
use crate::event_draft::find_kind;
use crate::failure::{Failure, Result};
use crate::journal::survive_file_size_limit;
use crate::project::{Project, read_by_agent_now};

/// The hidden option that makes this program the second process.
const OPTION: &str = "--shadow-hooks";

/// How long the second process lives at most, whatever its hooks do.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// What the second process is given.
#[derive(Debug, Deserialize, Serialize)]
struct Given {
    project: PathBuf,
    /// The event's name among the records.
    fire: Option<String>,
    event: String,
    input: Json,
}

/// Starts the second process for an event.
pub(super) fn start(agent: Agent, project: &Path, fire: Option<&str>, event: &Event) -> std::io::Result<()> {
    let given = Given {
        project: project.to_owned(),
        fire: fire.map(str::to_owned),
        event: event.kind().name().to_owned(),
        input: event_input(event),
    };
    // A file without a name: a pipe would have to be written to until the second process has read it.
    let mut file = tempfile::tempfile()?;
    file.write_all(&serde_json::to_vec(&given)?)?;
    file.rewind()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bridge", agent.name(), OPTION]).stdin(file).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map(drop)
}

/// The second process. What its hooks say goes to the journal.
///
/// # Errors
///
/// The event cannot be read, or its project cannot be opened.
pub fn run_shadow_hooks(agent: Agent) -> Result<()> {
    let given = read().map_err(|error| Failure::new(format!("the event cannot be read: {error}")))?;
    let project = Project::open_named(Some(&given.project))?;
    let event = Event::new(find_kind(&given.event)?, project.root()).with_payload(&given.input);
    let event = event.map_err(|error| Failure::new(error.to_string()))?;
    let runtime = crate::runtime::runtime()?;
    runtime.block_on(async {
        survive_file_size_limit();
        let session = event.text("session_id").unwrap_or_default();
        let read = read_by_agent_now(agent, project.root());
        let (builder, _) = own_builder(&project, agent, &session, read)?;
        let system = builder.build();
        system.run_shadow_hooks(event, given.fire.as_deref());
        // Nothing is left that could be told about a hook that goes on for longer.
        let _ = tokio::time::timeout(LONGEST, system.shutdown()).await;
        Ok(())
    })
}

fn read() -> std::io::Result<Given> {
    let mut text = Vec::new();
    std::io::stdin().lock().read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}
