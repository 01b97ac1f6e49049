//! What the caller of a request brings in place of the server's own surroundings.

use std::collections::BTreeMap;
use std::fmt;

use hookrail::{Environment, Json, ToolNames};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// The surroundings of the program that sends a request. Its hooks run as if that program ran them itself: in its
/// environment, with its names of tools, and with nothing that the server was started with or remembers.
///
/// The environment holds secrets. It is given to hooks and never logged, measured or recorded.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallerContext {
    /// The environment that hooks inherit, and that says where configuration is.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// The caller's tools with their names in the dialects.
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    tools: Vec<ToolNames>,
    /// The agent whose names the caller's tools have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    /// The files and folders whose hooks that agent runs itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    read_by_agent: Vec<String>,
    /// The name under which the caller records events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    /// Whether the caller writes the records of its events itself. The server then hands them over with its answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    records: bool,
}

impl CallerContext {
    /// The surroundings of a program with this environment.
    #[must_use]
    pub fn new(environment: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { environment: environment.into_iter().collect(), ..Self::default() }
    }

    /// Sets the names of the caller's tools in the dialects.
    #[must_use]
    pub fn with_tools(mut self, tools: impl IntoIterator<Item = ToolNames>) -> Self {
        self.tools = tools.into_iter().collect();
        self
    }

    /// Sets the agent whose names the caller's tools have.
    #[must_use]
    pub fn for_agent(mut self, name: impl Into<String>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Returns the agent whose names the caller's tools have.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Sets the files and folders whose hooks that agent runs itself.
    #[must_use]
    pub fn with_read_by_agent(mut self, places: impl IntoIterator<Item = String>) -> Self {
        self.read_by_agent = places.into_iter().collect();
        self
    }

    /// Returns the files and folders whose hooks that agent runs itself.
    #[must_use]
    pub fn read_by_agent(&self) -> &[String] {
        &self.read_by_agent
    }

    /// Sets the name under which the caller records events.
    #[must_use]
    pub fn with_program(mut self, name: impl Into<String>) -> Self {
        self.program = Some(name.into());
        self
    }

    /// Returns the name under which the caller records events.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.program.as_deref()
    }

    /// Says that the caller writes the records of its events itself.
    #[must_use]
    pub fn recording_itself(mut self) -> Self {
        self.records = true;
        self
    }

    /// Whether the caller writes the records of its events itself.
    #[must_use]
    pub fn records_itself(&self) -> bool {
        self.records
    }

    /// Returns a variable of the environment.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str)
    }

    /// Returns the names of the variables of the environment.
    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.environment.keys().map(String::as_str)
    }

    /// Returns the environment for hooks.
    #[must_use]
    pub fn environment(&self) -> Environment {
        self.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// Returns the names of the caller's tools in the dialects.
    #[must_use]
    pub fn tools(&self) -> &[ToolNames] {
        &self.tools
    }
}

impl fmt::Debug for CallerContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallerContext")
            .field("variables", &self.environment.len())
            .field("tools", &self.tools.len())
            .finish_non_exhaustive()
    }
}

impl<'de> Deserialize<'de> for CallerContext {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Fields {
            #[serde(default)]
            environment: BTreeMap<String, String>,
            #[serde(default)]
            tools: Vec<ToolNames>,
            agent: Option<String>,
            #[serde(default)]
            read_by_agent: Vec<String>,
            program: Option<String>,
            #[serde(default)]
            records: bool,
        }
        let json = Json::deserialize(deserializer)?;
        // An error of the parser quotes the value that it did not expect, and errors are logged.
        let Fields { environment, tools, agent, read_by_agent, program, records } = json.decode().ok_or_else(|| {
            D::Error::custom(
                "`caller` must have an `environment` of strings and `tools` with their names in dialects, `agent` and `program` must be strings, `readByAgent` a list of strings, and `records` true or false",
            )
        })?;
        Ok(Self { environment, tools, agent, read_by_agent, program, records })
    }
}

/// The reason why a server has no hook system for a caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallerRefusal {
    /// The server cannot do what the caller would do itself.
    #[error("{0}")]
    Unsupported(String),
    /// The project cannot be used, by the caller no more than by the server.
    #[error("{0}")]
    Unusable(String),
}
